// SPDX-License-Identifier: Apache-2.0
// What every template knows by name: filters, tests, methods and functions.
#pragma once

#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat/template/loop.h"
#include "runtime/chat/template/value.h"

namespace colibri::chat {

// What one rendering gives to the functions it calls.
struct Host {
  Budget& budget;
  std::tm now;  // for strftime_now
  // All that were made. They may refer to each other in circles, so that values only point to them.
  std::deque<Namespace> namespaces{};
  std::deque<LoopState> loops{};
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// One call of a builtin.
struct Call {
  Host& host;
  const Value& subject;  // what is filtered or tested, or whose method this is
  const Arguments& all;
  std::vector<const Value*> given{};  // by parameter; null = left out

  const Value* operator[](size_t parameter) const { return given[parameter]; }
};

struct BuiltinEntry {
  std::string_view name;
  std::string_view parameters;  // their names, in order; "*" = the function takes what comes
  size_t required;              // how many of them must be given
  Result<Value> (*run)(Call& call);
};
using BuiltinTable = std::vector<BuiltinEntry>;

// One table for each source of them.
const BuiltinTable& text_filters();
const BuiltinTable& number_filters();
const BuiltinTable& list_filters();
const BuiltinTable& choosing_filters();
const BuiltinTable& value_tests();
const BuiltinTable& text_methods();
const BuiltinTable& more_text_methods();
const BuiltinTable& container_methods();
const BuiltinTable& functions();

bool is_filter(std::string_view name);
bool is_test(std::string_view name);
bool is_function(std::string_view name);
bool is_method(std::string_view name);  // of any type
std::vector<std::string_view> filter_names();
std::vector<std::string_view> test_names();
std::vector<std::string_view> function_names();
std::vector<std::string_view> method_names();
// Whether values of this type have the method.
bool has_method(const Value& value, std::string_view name);

// They fail for names that are not known and arguments that do not fit.
Result<Value> call_filter(Host& host, std::string_view name, const Value& subject,
                          const Arguments& arguments);
Result<bool> call_test(Host& host, std::string_view name, const Value& subject,
                       const Arguments& arguments);
Result<Value> call_function(Host& host, std::string_view name, const Arguments& arguments);
Result<Value> call_method(Host& host, std::string_view name, const Value& owner,
                          const Arguments& arguments);

// Reads of arguments, with messages that name the parameter.
Result<int64_t> integer_argument(const Value* given, int64_t fallback, const char* what);
Result<Text> text_argument(Budget& budget, const Value* given, const char* fallback);

}  // namespace colibri::chat
