// SPDX-License-Identifier: Apache-2.0
// Schema: tables that say which keys a document may have. One table per struct drives the reading
// of files, the defaults, `colibri config explain`, the JSON Schema for editors and the reference
// pages in docs/, so that none of them can disagree.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/problem.h"
#include "runtime/config/value.h"

namespace colibri::config {

struct Field;
struct Table;

// What the position of a value that nobody gave calls its source.
inline constexpr char kDefault[] = "default";

// An allowed word, and the number or enumerator it stands for.
struct Choice {
  std::string_view name;
  int64_t value = 0;
  std::string_view doc = {};
};

// A name that a type knows, and what it means.
struct Name {
  std::string_view name;
  std::string_view doc;
};

// What a value of some type looks like, and how it becomes a member of a struct.
struct FieldType {
  // For people: "an integer, 1 to 1024, or auto".
  std::string (*text)(const Field& field);
  // For editors: a JSON Schema (draft-07) of the value.
  nlohmann::ordered_json (*json)(const Field& field);
  // Checks the value and stores it in *member; a problem leaves the member as it is.
  void (*read)(const Field& field, const Value& value, const std::string& key, void* member,
               Problems& problems);
  // Makes the value independent of the file it stands in (paths); null = it already is.
  void (*normalise)(Value& value) = nullptr;
  // --set takes the text as it is, where other types read it as YAML.
  bool verbatim = false;
  // Keys of a map that the type itself knows, for `explain` and docs; null = none.
  std::vector<Name> (*names)() = nullptr;
};

// One key.
struct Field {
  std::string_view name;
  std::string_view fallback = {};  // the default, as YAML; none = the key is required
  std::string_view doc;
  int64_t min = 0, max = 0;              // of integers; of texts and lists, min is the least size
  std::span<const Choice> choices = {};  // of types that are words, in part or in all
  const Table* table = nullptr;          // the value is a map with these keys,
  bool list = false;                     // or a list of such maps
  const FieldType* type = nullptr;
  void* (*member)(void* object) = nullptr;  // null = checked but stored nowhere

  bool required() const { return fallback.data() == nullptr; }
};

struct Table {
  std::string_view name;  // of the kind of document, or the key of the part
  std::span<const Field> fields;
  std::string_view doc = {};  // of a kind of document: the head of its reference page, Markdown

  // Whether documents are made of several sources: `extends`, ${env:NAME}.
  bool composed() const { return find("extends") != nullptr; }

  const Field* find(std::string_view field_name) const;
};

namespace internal {
template <typename Pointer>
struct MemberPointer;
template <typename O, typename M>
struct MemberPointer<M O::*> {
  using Object = O;
  using Member = M;
};
}  // namespace internal

extern const FieldType kTableType;  // a struct with a table of its own

// The type of a member: specialised where types are described; any other is a struct with a table.
template <typename Member>
inline constexpr const FieldType* kTypeOf = &kTableType;

// Ties a field to the member it fills: field<&Threads::count>({.name = "count", ...}).
template <auto member, const FieldType* type =
                           kTypeOf<typename internal::MemberPointer<decltype(member)>::Member>>
consteval Field field(Field description) {
  using Object = typename internal::MemberPointer<decltype(member)>::Object;
  description.type = type;
  description.member = [](void* object) -> void* {
    return &(static_cast<Object*>(object)->*member);
  };
  return description;
}

// The value with every default filled in, keys in the order of the table and paths normalised.
// Reports unknown and missing keys and what is no map; those are left out of the result.
Value complete(const Table& table, Value value, const std::string& key, Problems& problems);
// Fills the struct that the table describes from a completed value; reports every value of a wrong
// type or out of range.
void read(const Table& table, const Value& value, const std::string& key, void* object,
          Problems& problems);

// The field of a dotted path. Indices of lists may be left out; the path of a plugin's own option
// ends at "options". nullptr = there is no such key.
const Field* find_field(const Table& table, std::string_view path);
// Every key that holds a value, in order; "*" stands for an index.
std::vector<std::string> all_keys(const Table& table);

}  // namespace colibri::config
