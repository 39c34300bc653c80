// SPDX-License-Identifier: Apache-2.0
// Templates that loop for ever, nest without end, fill the memory, or are no templates: each is
// refused in the words of golden.txt. COLIBRI_UPDATE_GOLDENS=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chat/template/json_text.h"
#include "runtime/chat/template/template.h"
#include "tests/chat/fixed_date.h"

namespace colibri::chat {
namespace {

constexpr const char* kGolden = "tests/bad_templates/golden.txt";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

using Cases = std::vector<std::pair<std::string, std::string>>;

Cases endless() {
  return {
      {"loops_within_loops",
       repeated("{% for i in range(90000) %}", 4) + "x" + repeated("{% endfor %}", 4)},
      {"empty_loops",
       "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"},
      {"macro_calls_itself", "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"},
      {"macros_call_each_other",
       "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}"},
      {"macro_as_its_own_default", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}"},
      {"macro_doubles_itself",
       "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) "
       "}}"},
      {"range_too_long", "{% for i in range(1000000000) %}{% endfor %}"},
      {"range_beyond_64_bits", "{{ range(0, 9223372036854775807, 4611686018427387904)[5] + 'x' }}"},
      {"large_text_compared",
       "{% set s = 'ab' * 20000000 %}{% for i in range(99999) %}{{ s == 'ab' * 3 ~ s[6:] }}{% "
       "endfor %}"},
      {"text_looked_through",
       "{% set s = 'a' * 10000000 %}{% for i in range(99999) %}{{ 'b' in s }}{% endfor %}"},
      {"list_looked_through",
       "{% set l = range(99999) | list %}{% for i in l %}{{ -1 in l }}{% endfor %}"},
      {"unique_of_many", "{{ range(99999) | unique | list | length }}"},
  };
}

Cases filling() {
  return {
      {"text_times_number", "{{ 'x' * 100000000000 }}"},
      {"text_times_largest", "{{ 'xxxxxxxx' * 9223372036854775807 }}"},
      {"list_times_number", "{{ ([1, 2, 3] * 1000000000) | length }}"},
      {"text_doubles",
       "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% "
       "endfor %}"},
      {"list_doubles",
       "{% set ns = namespace(l=[1]) %}{% for i in range(64) %}{% set ns.l = ns.l + ns.l %}{% "
       "endfor %}"},
      {"output_grows", "{% set s = 'x' * 1000000 %}{% for i in range(1000) %}{{ s }}{% endfor %}"},
      {"replace_multiplies", "{{ ('a' * 100000) | replace('', 'b' * 100000) }}"},
      {"join_multiplies", "{{ ('x' * 100000).join('y' * 100000) }}"},
      {"indent_multiplies", "{{ ('a\\n' * 100000) | indent(1000000) }}"},
      {"indent_is_huge", "{{ 'a' | indent(9000000000, true) }}"},
      {"justified_far", "{{ 'a'.ljust(9000000000) }}"},
      {"zeros", "{{ '1'.zfill(9223372036854775807) }}"},
      {"tojson_indents", "{{ range(100000) | list | tojson(indent='x' * 100000) }}"},
      {"block_set_doubles",
       "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set t %}{{ ns.s }}{{ ns.s }}{% "
       "endset %}"
       "{% set ns.s = t %}{% endfor %}"},
      {"lists_in_lists",
       "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}{% set ns.l = [ns.l] %}{% endfor "
       "%}{{ ns.l }}"},
      {"dicts_in_dicts",
       "{% set ns = namespace(d={}) %}{% for i in range(5000) %}{% set ns.d = {'a': ns.d} %}{% "
       "endfor %}"},
      {"namespace_in_itself",
       "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me | tojson }}"},
  };
}

Cases nested() {
  return {
      {"brackets", "{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"},
      {"list_brackets", "{{ " + repeated("[", 100000) + " }}"},
      {"braces", "{{ " + repeated("{1: ", 5000) + " }}"},
      {"nots", "{{ " + repeated("not ", 5000) + "1 }}"},
      {"minuses", "{{ " + repeated("-", 5000) + "1 }}"},
      {"sums", "{{ 1" + repeated(" + 1", 5000) + " }}"},
      {"attributes", "{{ a" + repeated(".a", 5000) + " }}"},
      {"filters", "{{ 1" + repeated(" | abs", 5000) + " }}"},
      {"calls", "{% macro m() %}{% endmacro %}{{ m" + repeated("()", 5000) + " }}"},
      {"conditions", "{{ 1" + repeated(" if 1 else 1", 5000) + " }}"},
      {"ifs", repeated("{% if 1 %}", 5000)},
      {"fors", repeated("{% for a in [1] %}", 5000)},
      {"targets",
       "{% for " + repeated("(", 5000) + "a" + repeated(")", 5000) + " in b %}{% endfor %}"},
  };
}

Cases malformed() {
  return {
      {"unknown_filter", "a\n  {{ messages | pprint }}"},
      {"unknown_filter_near", "{{ messages | uper }}"},
      {"unknown_filter_in_map", "{{ messages | map('urlize') | list }}"},
      {"unknown_test", "{% if messages is cheap %}{% endif %}"},
      {"unknown_function", "{{ lipsum(5) }}"},
      {"unknown_function_in_dead_branch", "{% if false %}{{ open('/etc/passwd') }}{% endif %}"},
      {"unknown_method", "{{ 'a'.format_map({}) }}"},
      {"python_internals", "{{ ''.__class__.__mro__[1] }}"},
      {"python_internals_called", "{{ ''.__class__() }}"},
      {"changes_a_list", "{{ messages.append(1) }}"},
      {"unknown_statement", "{% include '/etc/passwd' %}"},
      {"import_statement", "\n\n {% import 'x' as y %}"},
      {"unpacked_arguments", "{{ dict(**messages) }}"},
      {"recursive_loop", "{% for a in messages recursive %}{{ loop(a) }}{% endfor %}"},
      {"macro_in_a_loop", "{% for a in messages %}{% macro m() %}{% endmacro %}{% endfor %}"},
      {"break_outside", "{% break %}"},
      {"break_out_of_a_macro", "{% for a in [1] %}{% set x %}{% break %}{% endset %}{% endfor %}"},
      {"no_end_of_print", "{{ messages"},
      {"no_end_of_block", "{% if messages"},
      {"no_end_of_comment", "text {# comment"},
      {"no_end_of_raw", "{% raw %} {{ x }}"},
      {"no_end_of_text", "{{ 'abc }}"},
      {"no_endif", "{% if 1 %}\n{% for a in [] %}{% endif %}"},
      {"wrong_bracket", "{{ (1] }}"},
      {"control_character", "{{ \x01 }}"},
      {"not_utf8", "caf\xe9"},
      {"half_an_escape", "{{ '\\x4' }}"},
      {"surrogate_escape", "{{ '\\ud800' }}"},
      {"huge_integer", "{{ 99999999999999999999 }}"},
      {"overflow", "{{ 9223372036854775807 + 1 }}"},
      {"divides_lowest", "{{ (-9223372036854775807 - 1) // -1 }}"},
      {"power_tower", "{{ 9 ** 9 ** 9 }}"},
      {"division_by_zero", "line\n{{ 1 % 0 }}"},
      {"raises", "{{ raise_exception('Only \x07 users\nmay speak') }}"},
      {"huge_source", std::string((1 << 20) + 1, 'x')},
      {"strange_date", "{{ strftime_now('%Q') }}"},
  };
}

Cases all_cases() {
  Cases all;
  for (const Cases& group : {endless(), filling(), nested(), malformed()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

// Empty if the template was taken.
std::string refusal(const std::string& source) {
  const auto compiled = Template::compile("chat_template.jinja", source);
  if (!compiled.ok()) return compiled.status().text();
  Limits limits;  // so that the test is quick
  limits.steps = 500'000;
  limits.memory = 32u << 20;
  limits.output = 8u << 20;
  Budget budget(limits);
  const auto messages =
      from_json(budget, nlohmann::ordered_json::parse(R"([{"role": "user", "content": "x"}])"));
  const auto text = compiled->render({{"messages", *messages}}, testing::fixed_date(), budget);
  return text.ok() ? "" : text.status().text();
}

TEST(BadTemplates, EachIsRefusedInTheseWords) {
  std::string text;
  for (const auto& [name, source] : all_cases()) {
    const std::string refused = refusal(source);
    EXPECT_TRUE(refused.starts_with("chat_template.jinja:")) << name << ": '" << refused << "'";
    text += "== " + name + "\n" + refused + "\n";
  }
  if (std::getenv("COLIBRI_UPDATE_GOLDENS") != nullptr) std::ofstream(kGolden) << text;
  std::ostringstream golden;
  golden << std::ifstream(kGolden).rdbuf();
  EXPECT_EQ(text, golden.str());
}

TEST(BadTemplates, AHostileConversationIsRefused) {
  Budget budget{Limits()};
  nlohmann::ordered_json deep = "x";
  for (int i = 0; i < 100; ++i) deep = nlohmann::ordered_json::array({deep});
  EXPECT_EQ(from_json(budget, deep).status().text(), "the JSON is nested more than 64 deep");
  EXPECT_EQ(from_json(budget, 18446744073709551615u).status().text(),
            "18446744073709551615 is beyond the integers of 64 bits");
  Limits small;
  small.memory = 1000;
  Budget tight(small);
  EXPECT_EQ(from_json(tight, std::string(2000, 'x')).status().text(),
            "the template makes more than 1000 bytes of values");
}

}  // namespace
}  // namespace colibri::chat
