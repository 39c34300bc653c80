// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/overlay.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/config/field_types.h"

namespace colibri::config {
namespace {

constexpr size_t kMostFiles = 32;  // of one pipeline; `extends` can name a file many times over

// The identity of a file, whatever it is called.
std::string identity(const std::string& path) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

class Loader {
 public:
  Loader(const Table& table, Problems& problems) : table_(table), problems_(problems) {}

  std::optional<Value> load(const std::string& path, const Position& where,
                            const std::string& key) {
    if (!enter(path, where, key)) return {};
    std::optional<Value> document = read_document(path, where, key, problems_);
    if (document && !check_kind(table_, *document, problems_)) document.reset();
    if (document) {
      interpolate(*document, "", problems_);
      document = with_bases(std::move(*document));
    }
    open_.pop_back();
    return document;
  }

 private:
  bool enter(const std::string& path, const Position& where, const std::string& key) {
    const std::string file = identity(path);
    const auto same = std::find_if(open_.begin(), open_.end(),
                                   [&](const OpenFile& open) { return open.identity == file; });
    if (same != open_.end()) {
      std::string chain;
      for (auto open = same; open != open_.end(); ++open) chain += open->path + " -> ";
      problems_.add(where, key, "extends itself: " + chain + path);
      return false;
    }
    if (++files_ > kMostFiles) {
      problems_.add(where, key,
                    "more than " + std::to_string(kMostFiles) + " files make up this pipeline");
      return false;
    }
    open_.push_back({path, file});
    return true;
  }

  // The document on top of the files it extends.
  std::optional<Value> with_bases(Value document) {
    const auto extends = std::find_if(document.children.begin(), document.children.end(),
                                      [](const Value& child) { return child.key == "extends"; });
    if (extends == document.children.end()) return document;
    const Value list = std::move(*extends);
    document.children.erase(extends);

    std::vector<std::string> paths;
    const Field& field = *table_.find("extends");
    Problems wrong;
    field.type->read(field, list, "extends", &paths, wrong);
    if (!wrong.empty()) {
      problems_.add_all(wrong);
      return document;
    }
    Value base;
    bool complete = true;
    for (size_t i = 0; i < paths.size() && files_ <= kMostFiles; ++i) {
      const Value& item = list.children[i];
      std::optional<Value> loaded =
          load(resolved_path(item), item.position, join("extends", std::to_string(i)));
      complete = complete && loaded.has_value();
      if (loaded) base = merge(std::move(base), std::move(*loaded));
    }
    if (!complete) return {};
    return merge(std::move(base), std::move(document));
  }

  struct OpenFile {
    std::string path, identity;
  };

  const Table& table_;
  Problems& problems_;
  std::vector<OpenFile> open_;  // the file being read and those that led to it
  size_t files_ = 0;
};

void set_position(Value& value, const Position& position) {
  value.position = value.key_position = position;
  for (Value& child : value.children) set_position(child, position);
}

// The entry of a map, made if need be.
Value& entry(Value& map, std::string_view name, const Position& position) {
  for (Value& child : map.children) {
    if (child.key == name) return child;
  }
  Value& added = map.children.emplace_back();
  added.key = name;
  added.position = added.key_position = position;
  return added;
}

// The part of a value that one step of a dotted path leads to; nullptr and a problem if none can
// be made. `so_far` is the path to the value.
Value* step_into(Value& value, std::string_view step, const std::string& so_far,
                 const Override& change, Problems& problems) {
  const Position position = position_of_name(change.origin);
  if (value.is_list()) {
    for (size_t i = 0; i < value.children.size(); ++i) {
      if (step == std::to_string(i)) return &value.children[i];
    }
    problems.add(position, change.key,
                 quote(step) + " is no item of " + so_far + ", which has " +
                     std::to_string(value.children.size()));
    return nullptr;
  }
  if (value.is_null()) value.kind = Value::Kind::kMap;
  if (value.is_map()) return &entry(value, step, position);
  problems.add(position, change.key, so_far + " is " + describe(value) + ", not a map");
  return nullptr;
}

// What an override says, as the type of its key wants it.
std::optional<Value> value_of(const Field* field, const Override& change, Problems& problems) {
  if (field != nullptr && field->type != nullptr && field->type->verbatim) {
    Value value;
    value.kind = Value::Kind::kScalar;
    value.text = change.value;
    value.quoted = true;
    return value;
  }
  Problems wrong;
  std::optional<Value> value = parse_yaml(change.value, change.origin, wrong);
  for (const Problem& problem : wrong.list()) {
    problems.add(position_of_name(change.origin), change.key, problem.text);
  }
  return value;
}

}  // namespace

std::optional<Value> read_document(const std::string& path, const Position& where,
                                   const std::string& key, Problems& problems) {
  const Result<std::string> text = read_file(path, kMaxDocumentBytes);
  if (text.ok()) return parse_yaml(*text, path, problems);
  std::string reason = text.status().text();
  // The position of the first file is its path: do not name it twice.
  if (where.line == 0 && reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);
  problems.add(where, key, std::move(reason));
  return {};
}

bool check_kind(const Table& table, const Value& document, Problems& problems) {
  if (!document.is_map()) {
    problems.add(document.position, "", "expected a map of keys, found " + describe(document));
    return false;
  }
  Problems wrong;
  for (const std::string_view name : {"apiVersion", "kind"}) {
    const Field& field = *table.find(name);
    const Value* value = document.find(name);
    if (value == nullptr) {
      const std::string expected(field.choices.front().name);
      wrong.add(document.position, name,
                "is missing; write " + std::string(name) + ": " + expected);
    } else {
      read_choice(field, *value, std::string(name), wrong);
    }
  }
  problems.add_all(wrong);
  return wrong.empty();
}

std::optional<Value> load_extended(const Table& table, const std::string& path,
                                   Problems& problems) {
  return Loader(table, problems).load(path, position_of_name(path), "");
}

Value merge(Value weak, Value strong) {
  if (!weak.is_map() || !strong.is_map()) return strong;
  weak.position = strong.position;
  weak.key_position = strong.key_position;
  for (Value& child : strong.children) {
    const auto same = std::find_if(weak.children.begin(), weak.children.end(),
                                   [&](const Value& other) { return other.key == child.key; });
    if (same == weak.children.end()) {
      weak.children.push_back(std::move(child));
    } else {
      *same = merge(std::move(*same), std::move(child));
    }
  }
  return weak;
}

void apply_override(const Table& table, const Override& change, Value& document,
                    Problems& problems) {
  if (change.key == "extends" || change.key.starts_with("extends.")) {
    problems.add(position_of_name(change.origin), change.key, "can be given in a file only");
    return;
  }
  std::optional<Value> value = value_of(find_field(table, change.key), change, problems);
  if (!value) return;
  Value* target = &document;
  std::string so_far;
  for (std::string_view rest = change.key; target != nullptr && !rest.empty();) {
    const size_t dot = rest.find('.');
    const std::string_view step = rest.substr(0, dot);
    rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
    target = step_into(*target, step, so_far, change, problems);
    so_far = join(so_far, step);
  }
  if (target == nullptr) return;
  set_position(*value, position_of_name(change.origin));
  value->key = target->key;
  *target = std::move(*value);
}

}  // namespace colibri::config
