// SPDX-License-Identifier: Apache-2.0
// The types of values that documents of both kinds use. Types of one document only stand beside its
// table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/config/schema.h"

namespace colibri::config {

// "expected an integer, 1 to 64, found 'x'": the message for a value of a wrong type.
std::string mismatch(const Field& field, const Value& value);
// The word's choice, or nullptr and a problem.
const Choice* read_choice(const Field& field, const Value& value, const std::string& key,
                          Problems& problems);
std::string choice_text(const Field& field);  // "reproducible | fastest"
nlohmann::ordered_json choice_json(const Field& field);

extern const FieldType kTextType;        // std::string
extern const FieldType kPathType;        // std::filesystem::path, relative to the file it stands in
extern const FieldType kUint32Type;      // uint32_t
extern const FieldType kUint64Type;      // uint64_t, at most INT64_MAX
extern const FieldType kAutoUint32Type;  // std::optional<uint32_t>; "auto" = nullopt
extern const FieldType kTextsType;       // std::vector<std::string>
extern const FieldType kPathsType;       // std::vector<std::filesystem::path>

template <typename T>
void read_choice_into(const Field& field, const Value& value, const std::string& key, void* member,
                      Problems& problems) {
  const Choice* choice = read_choice(field, value, key, problems);
  if (choice != nullptr && member != nullptr) *static_cast<T*>(member) = T(choice->value);
}
// One of the field's choices, stored as T.
template <typename T>
inline constexpr FieldType kChoiceType = {choice_text, choice_json, read_choice_into<T>};

template <>
inline constexpr const FieldType* kTypeOf<std::string> = &kTextType;
template <>
inline constexpr const FieldType* kTypeOf<std::filesystem::path> = &kPathType;
template <>
inline constexpr const FieldType* kTypeOf<uint32_t> = &kUint32Type;
template <>
inline constexpr const FieldType* kTypeOf<uint64_t> = &kUint64Type;
template <>
inline constexpr const FieldType* kTypeOf<std::optional<uint32_t>> = &kAutoUint32Type;
template <>
inline constexpr const FieldType* kTypeOf<std::vector<std::string>> = &kTextsType;
template <>
inline constexpr const FieldType* kTypeOf<std::vector<std::filesystem::path>> = &kPathsType;
template <typename T>
requires std::is_enum_v<T>
inline constexpr const FieldType* kTypeOf<T> = &kChoiceType<T>;

// The path of a value that names a file: relative to the file that the value stands in.
std::string resolved_path(const Value& value);

}  // namespace colibri::config
