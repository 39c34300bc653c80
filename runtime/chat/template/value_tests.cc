// SPDX-License-Identifier: Apache-2.0
// What stands behind `is`.
#include "runtime/chat/template/arithmetic.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/compare.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

template <bool (*answer)(const Value&)>
Result<Value> test_by(Call& call) {
  return Value(answer(call.subject));
}

bool defined(const Value& value) {
  return !is_undefined(value);
}
bool text(const Value& value) {
  return as_text(value) != nullptr;
}
bool mapping(const Value& value) {
  return as_dict(value) != nullptr;
}
bool boolean(const Value& value) {
  return as<bool>(value) != nullptr;
}
bool integer(const Value& value) {
  return as<int64_t>(value) != nullptr;
}
bool real(const Value& value) {
  return as<double>(value) != nullptr;
}
bool is_true(const Value& value) {
  return boolean(value) && *as<bool>(value);
}
bool is_false(const Value& value) {
  return boolean(value) && !*as<bool>(value);
}
bool iterable(const Value& value) {
  return as_text(value) || as_list(value) || as_dict(value) || is_undefined(value);
}
// What has a length and items.
bool sequence(const Value& value) {
  const List* list = as_list(value);
  return list == nullptr ? iterable(value) : list->kind <= List::Kind::kRange;
}
bool callable(const Value& value) {
  return as<Builtin>(value) || as<const Macro*>(value) || is_undefined(value);
}
bool never(const Value&) {
  return false;
}

Result<Value> remainder_is(Call& call, int64_t divisor, int64_t wanted) {
  COLIBRI_ASSIGN(const Value rest, arithmetic(call.host.budget, "%", call.subject, Value(divisor)));
  return Value(same_scalar(rest, Value(wanted)));
}
Result<Value> even(Call& call) {
  return remainder_is(call, 2, 0);
}
Result<Value> odd(Call& call) {
  return remainder_is(call, 2, 1);
}
Result<Value> divisible_by(Call& call) {
  COLIBRI_ASSIGN(const Value rest, arithmetic(call.host.budget, "%", call.subject, *call[0]));
  return Value(same_scalar(rest, Value(int64_t{0})));
}

// str.islower and str.isupper: all cased characters are so, and there is one.
Result<Value> all_cased(Call& call, bool (*is)(char32_t)) {
  COLIBRI_ASSIGN(const Text subject, to_text(call.host.budget, call.subject));
  bool any = false;
  for (size_t at = 0; at < subject.size();) {
    const utf8::Character c = utf8::decode(subject.view(), at);
    at += c.size;
    if (!is_cased(c.code_point)) continue;
    if (!is(c.code_point)) return Value(false);
    any = true;
  }
  return Value(any);
}
Result<Value> lower_test(Call& call) {
  return all_cased(call, is_lower);
}
Result<Value> upper_test(Call& call) {
  return all_cased(call, is_upper);
}

Result<Value> same_as(Call& call) {
  // Scalars of one type and value are one object as far as templates can rely on it.
  return Value(call.subject.index() == call[0]->index() && same_scalar(call.subject, *call[0]));
}

Result<Value> as_value(Result<bool> answer) {
  if (!answer.ok()) return answer.status();
  return Value(*answer);
}
Result<Value> in_test(Call& call) {
  return as_value(contains(call.host.budget, *call[0], call.subject));
}
Result<Value> eq(Call& call) {
  return as_value(equal(call.host.budget, call.subject, *call[0]));
}
Result<Value> ne(Call& call) {
  COLIBRI_ASSIGN(const bool same, equal(call.host.budget, call.subject, *call[0]));
  return Value(!same);
}
Result<Value> lt(Call& call) {
  return as_value(less(call.host.budget, call.subject, *call[0]));
}
Result<Value> gt(Call& call) {
  return as_value(less(call.host.budget, *call[0], call.subject));
}
Result<Value> or_equal(Call& call, Result<Value> (*strictly)(Call&)) {
  COLIBRI_ASSIGN(const Value answer, strictly(call));
  return truth(answer) ? Result<Value>(answer) : eq(call);
}
Result<Value> le(Call& call) {
  return or_equal(call, lt);
}
Result<Value> ge(Call& call) {
  return or_equal(call, gt);
}

Result<Value> known_name(Call& call, bool (*known)(std::string_view)) {
  const Text* name = as_text(call.subject);
  return Value(name != nullptr && known(name->view()));
}
Result<Value> filter_test(Call& call) {
  return known_name(call, is_filter);
}
Result<Value> test_test(Call& call) {
  return known_name(call, is_test);
}

}  // namespace

const BuiltinTable& value_tests() {
  static const BuiltinTable table = {
      {"boolean", "", 0, test_by<boolean>},
      {"callable", "", 0, test_by<callable>},
      {"defined", "", 0, test_by<defined>},
      {"divisibleby", "num", 1, divisible_by},
      {"eq", "other", 1, eq},
      {"equalto", "other", 1, eq},
      {"escaped", "", 0, test_by<never>},
      {"even", "", 0, even},
      {"false", "", 0, test_by<is_false>},
      {"filter", "", 0, filter_test},
      {"float", "", 0, test_by<real>},
      {"ge", "other", 1, ge},
      {"greaterthan", "other", 1, gt},
      {"gt", "other", 1, gt},
      {"in", "seq", 1, in_test},
      {"integer", "", 0, test_by<integer>},
      {"iterable", "", 0, test_by<iterable>},
      {"le", "other", 1, le},
      {"lessthan", "other", 1, lt},
      {"lower", "", 0, lower_test},
      {"lt", "other", 1, lt},
      {"mapping", "", 0, test_by<mapping>},
      {"ne", "other", 1, ne},
      {"none", "", 0, test_by<is_none>},
      {"number", "", 0, test_by<is_number>},
      {"odd", "", 0, odd},
      {"sameas", "other", 1, same_as},
      {"sequence", "", 0, test_by<sequence>},
      {"string", "", 0, test_by<text>},
      {"test", "", 0, test_test},
      {"true", "", 0, test_by<is_true>},
      {"undefined", "", 0, test_by<is_undefined>},
      {"upper", "", 0, upper_test},
  };
  return table;
}

}  // namespace colibri::chat
