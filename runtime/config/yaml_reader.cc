// SPDX-License-Identifier: Apache-2.0
// The only file that knows yaml-cpp. Its nodes are not used, because they keep duplicate keys, type
// scalars by guess and forget positions; its events carry everything that a strict tree needs.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/utf8.h"
#include "runtime/config/value.h"

namespace colibri::config {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Turns yaml-cpp's marks (0-based, in bytes) into positions (1-based, in characters).
class Positions {
 public:
  Positions(std::string_view text, const std::string& name)
      : name_(std::make_shared<const std::string>(name)), column_(text.size() + 1) {
    int column = 1;
    for (size_t i = 0; i < text.size(); ++i) {
      column_[i] = column;
      if (text[i] == '\n') {
        column = 1;
      } else if ((static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u) {
        ++column;
      }
    }
    column_[text.size()] = column;
  }

  Position start() const { return {name_, 1, 1}; }
  Position document() const { return {name_, 0, 0}; }
  Position of(const YAML::Mark& mark) const {
    if (mark.is_null() || mark.pos < 0) return document();
    const size_t at = std::min(static_cast<size_t>(mark.pos), column_.size() - 1);
    return {name_, mark.line + 1, column_[at]};
  }

 private:
  std::shared_ptr<const std::string> name_;
  std::vector<int> column_;  // of every byte and of the end
};

// Thrown out of yaml-cpp's parser to end it; never leaves this file.
struct Stop {};

// Builds the tree from events. The containers that are still open stand on a stack.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const Positions& positions, Problems& problems)
      : positions_(positions), problems_(problems) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) stop(mark, "a second document; a file holds one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (awaits_key()) stop(mark, "a key is missing before ':'");
    Value value;
    value.position = positions_.of(mark);
    add(std::move(value));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(mark, "aliases (*name) are not allowed; repeat the value or use extends");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (awaits_key()) {
      begin_entry(mark, text);
      return;
    }
    Value value;
    value.kind = Value::Kind::kScalar;
    value.text = text;
    value.quoted = tag == "!";
    value.position = positions_.of(mark);
    add(std::move(value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    bool has_key = false;  // of a map: the key stands in `key`, its value comes next
    bool duplicate = false;
    std::string key;
    Position key_position;
  };

  [[noreturn]] void stop(const YAML::Mark& mark, std::string text) {
    problems_.add(positions_.of(mark), "", std::move(text));
    throw Stop();
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) stop(mark, "anchors (&name) are not allowed");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      stop(mark, "tags (!name) are not allowed; the key gives a value its type");
    }
  }

  bool awaits_key() const {
    return !open_.empty() && open_.back().value.is_map() && !open_.back().has_key;
  }

  void begin_entry(const YAML::Mark& mark, const std::string& key) {
    Open& map = open_.back();
    map.has_key = true;
    map.key = key;
    map.key_position = positions_.of(mark);
    const Value* first = map.value.find(key);
    map.duplicate = first != nullptr;
    if (map.duplicate) {
      problems_.add(map.key_position, "",
                    "duplicate key " + quote(key) + "; it already stands at line " +
                        std::to_string(first->key_position.line));
    }
  }

  void open(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (awaits_key())
      stop(mark, "a key must be plain text, not a list or a map (is a bracket not closed?)");
    if (open_.size() == kMaxDocumentDepth) {
      stop(mark, "nested more than " + std::to_string(kMaxDocumentDepth) + " levels deep");
    }
    Open& added = open_.emplace_back();
    added.value.kind = kind;
    added.value.position = positions_.of(mark);
  }

  void close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }

  // A finished value goes into the innermost open container, or becomes the root.
  void add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.is_map()) {
      parent.has_key = false;
      if (parent.duplicate) return;
      value.key = std::move(parent.key);
      value.key_position = parent.key_position;
      // A value that is not there has no place of its own: its mark is that of what comes next.
      if (value.is_null() && value.position.line != value.key_position.line) {
        value.position = value.key_position;
      }
    }
    if (parent.value.children.size() == kMaxChildren) {
      problems_.add(value.position, "",
                    "more than " + std::to_string(kMaxChildren) + " entries in a list or a map");
      throw Stop();
    }
    parent.value.children.push_back(std::move(value));
  }

  const Positions& positions_;
  Problems& problems_;
  std::vector<Open> open_;
  Value root_;
  int documents_ = 0;
};

// Text that yaml-cpp would take and misread. True if there is none of it.
bool check_text(std::string_view text, const Positions& positions, Problems& problems) {
  const size_t bad = std::min(utf8::valid_prefix(text), text.find('\0'));
  if (bad >= text.size()) return true;
  YAML::Mark mark;
  mark.pos = static_cast<int>(bad);
  mark.line = static_cast<int>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n'));
  problems.add(positions.of(mark), "",
               text[bad] == '\0' ? "a NUL byte; a document is text" : "not UTF-8 text");
  return false;
}

// yaml-cpp's messages do not say so when a tab is at fault.
std::string tab_hint(std::string_view text) {
  int line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t indent = text.find_first_not_of(" \t", at);
    if (text.substr(at, indent - at).find('\t') != text.npos) {
      return "; line " + std::to_string(line) + " is indented with a tab, YAML wants spaces";
    }
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return {};
}

}  // namespace

std::optional<Value> parse_yaml(std::string_view text, const std::string& name,
                                Problems& problems) {
  if (text.size() > kMaxDocumentBytes) {
    problems.add(position_of_name(name), "",
                 "has " + std::to_string(text.size()) + " bytes; a document has at most " +
                     std::to_string(kMaxDocumentBytes));
    return {};
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Positions positions(text, name);
  if (!check_text(text, positions, problems)) return {};
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(positions, problems);
    if (!parser.HandleNextDocument(builder)) {
      problems.add(positions.document(), "", "is empty; a document is expected");
      return {};
    }
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    problems.add(positions.of(error.mark), "", "not valid YAML: " + error.msg + tab_hint(text));
  } catch (const std::bad_alloc&) {
    throw;  // says nothing of the document
  } catch (const std::exception& error) {
    problems.add(positions.document(), "", std::string("not valid YAML: ") + error.what());
  }
  return {};
}

}  // namespace colibri::config
