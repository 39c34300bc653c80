// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/binder.h"

#include <algorithm>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/model/codecs.h"
#include "runtime/model/glob.h"

namespace colibri::model {
namespace {

using config::TensorTemplate;
using config::Type;

constexpr size_t kShownTensors = 8;

std::string replaced(std::string_view pattern, std::string_view what, int64_t number) {
  std::string text;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern.substr(at).starts_with(what)) {
      text += std::to_string(number);
      at += what.size();
    } else {
      text += pattern[at++];
    }
  }
  return text;
}

std::string expanded(const std::string& pattern, const RoleKey& key) {
  return replaced(replaced(pattern, "{l}", key.layer), "{e}", key.expert);
}

Role role_of(std::string_view name) {
  int i = 0;
  while (i < kRoles - 1 && name != role_name(static_cast<Role>(i))) ++i;
  return static_cast<Role>(i);
}

constexpr int64_t kFp4Block = 32, kFp4Bytes = 16, kFp8Block = 128;

// The shape in elements: that of blocks stands for so many times 32.
std::optional<std::vector<int64_t>> extents_of(const TensorEntry& tensor, bool blocks) {
  std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  if (!blocks) return shape;
  if (tensor.rank < 2 || shape.back() != kFp4Bytes) return std::nullopt;
  shape.pop_back();
  shape.back() *= kFp4Block;
  return shape;
}

// The matrix that one run of a tensor is, leading dimensions as one; nullopt = the tensor has too
// few dimensions, or another number of runs than there are experts.
std::optional<RowMap> run_of(const std::vector<int64_t>& shape, bool slice, bool vector,
                             const RoleKey& key, int64_t experts) {
  const size_t first = slice ? 1 : 0;
  if (shape.size() <= first || (slice && shape[0] != experts)) return std::nullopt;
  if (vector && shape.size() != first + 1) return std::nullopt;
  RowMap map;
  map.cols = shape.back();
  map.rows = 1;
  for (size_t i = first; i + 1 < shape.size(); ++i) map.rows *= shape[i];
  if (vector) std::swap(map.rows, map.cols);
  map.first = key.expert * (slice ? map.rows : 0);
  return map;
}

struct Size {
  int64_t rows = 0, cols = 0;
};

// What a map makes of its matrix; nullopt = the groups do not fit it.
std::optional<Size> size_of(const RowMap& map) {
  Size size = {map.rows, map.cols};
  if (map.transpose) std::swap(size.rows, size.cols);
  if (size.rows % map.group != 0) return std::nullopt;
  const int64_t groups = size.rows / map.group;
  if (map.transpose_groups) return Size{groups * size.cols, map.count};
  return Size{groups * map.count, size.cols};
}

}  // namespace

Binder::Binder(const ModelSource& source, const config::Architecture& architecture,
               const config::Vocabulary& vocabulary, const Dimensions& dimensions,
               const ModelSpec& spec, Problems* problems)
    : source_(source),
      architecture_(architecture),
      vocabulary_(vocabulary),
      dimensions_(dimensions),
      spec_(spec),
      problems_(*problems),
      used_(source.tensors().size()) {
  for (const TensorTemplate& words : vocabulary.tensors) add_candidate(words);
}

void Binder::add_candidate(const TensorTemplate& words) {
  Candidate candidate = {&words, role_of(words.role)};
  const auto read = [&](const config::Expr& expression, Type type) -> config::Literal {
    Result<Evaluated> value = evaluate(expression, type, false, dimensions_);
    if (value.ok()) return std::move(value->value);
    problems_.add(value.status().text());
    return {};
  };
  const auto flag = [&](const config::Expr& expression) {
    const config::Literal literal = read(expression, Type::kBoolean);
    const bool* boolean = std::get_if<bool>(&literal);
    return boolean != nullptr && *boolean;
  };
  if (!flag(words.when)) return;
  candidate.optional = flag(words.optional);
  if (words.rows) {
    const auto integer = [&](const config::Expr& expression) {
      const config::Literal literal = read(expression, Type::kInteger);
      const int64_t* number = std::get_if<int64_t>(&literal);
      return number == nullptr ? 0 : *number;
    };
    candidate.group = integer(words.rows->group);
    candidate.from = integer(words.rows->from);
    candidate.count = integer(words.rows->count);
    if (candidate.group < 1 || candidate.from < 0 || candidate.count < 1 ||
        candidate.from > candidate.group || candidate.count > candidate.group - candidate.from) {
      problems_.add(words.position.text() + ": " + words.key + ".rows: takes " +
                    std::to_string(candidate.count) + " from " + std::to_string(candidate.from) +
                    " on of every " + std::to_string(candidate.group) + " rows");
      return;
    }
  }
  candidates_.push_back(candidate);
}

Weight Binder::weight(const RoleKey& key, bool is_required) {
  if (source_.names_roles()) return weight_by_role(key, is_required);
  const Candidate* first = nullptr;
  bool may_lack = false;
  for (const Candidate& candidate : candidates_) {
    if (candidate.role != key.role || candidate.words->scope != key.scope) continue;
    const TensorEntry* tensor = source_.find(expanded(candidate.words->pattern, key));
    if (tensor != nullptr) return bound(candidate, key, *tensor);
    if (first == nullptr) first = &candidate;
    may_lack = may_lack || candidate.optional;
  }
  Weight absent;
  absent.role = key.role;
  if (!is_required && (first == nullptr || may_lack)) return absent;
  if (first == nullptr) {
    problems_.add("architecture " + architecture_.name + " gives no name for the role " +
                  role_name(key.role));
    return absent;
  }
  const Shape shape = shape_of(key.role, key.scope, spec_);
  problems_.add(first->words->position.text() + ": " + first->words->key + ": there is no tensor " +
                utf8::printable(expanded(first->words->pattern, key)) + " of the shape " +
                shape.words() + " = " + shape.numbers());
  return absent;
}

Weight Binder::weight_by_role(const RoleKey& key, bool is_required) {
  Weight weight;
  weight.role = key.role;
  const Shape shape = shape_of(key.role, key.scope, spec_);
  const TensorEntry* tensor = source_.find(role_path(key));
  if (tensor == nullptr) {
    if (is_required) {
      problems_.add("there is no tensor " + role_path(key) + " of the shape " + shape.words() +
                    " = " + shape.numbers());
    }
    return weight;
  }
  used_[static_cast<size_t>(tensor - source_.tensors().data())] = true;
  weight.tensor = tensor;
  weight.rows = shape.rows.value;
  weight.cols = shape.cols.value;
  weight.map.rows = shape.vector ? weight.cols : weight.rows;
  weight.map.cols = shape.vector ? 1 : weight.cols;
  const bool fits = shape.vector ? tensor->rank == 1 && tensor->shape[0] == weight.cols
                                 : tensor->rank == 2 && tensor->shape[0] == weight.rows &&
                                       tensor->shape[1] == weight.cols;
  if (!fits) {
    problems_.add("tensor " + utf8::printable(tensor->name) + " has the shape " +
                  shape_text(*tensor) + ", not " + shape.words() + " = " + shape.numbers() +
                  " with " + dimension_texts(shape));
  } else if (!is_weight_codec(tensor->codec) ||
             (shape.vector && codec_block(tensor->codec)->elements != 1)) {
    problems_.add("tensor " + utf8::printable(tensor->name) + " is stored as " +
                  codec_name(tensor->codec) + ", which it cannot be");
  }
  return weight;
}

Weight Binder::bound(const Candidate& candidate, const RoleKey& key, const TensorEntry& tensor) {
  used_[static_cast<size_t>(&tensor - source_.tensors().data())] = true;
  const TensorTemplate& words = *candidate.words;
  const Shape shape = shape_of(key.role, key.scope, spec_);
  Weight weight;
  weight.role = key.role;
  weight.tensor = &tensor;
  weight.rows = shape.rows.value;
  weight.cols = shape.cols.value;
  std::optional<RowMap> map;
  if (const auto extents = extents_of(tensor, words.blocks)) {
    map = run_of(*extents, words.slice, shape.vector, key, spec_.experts);
  }
  std::optional<Size> size;
  if (map) {
    map->transpose = words.transpose;
    map->group = candidate.group;
    map->from = candidate.from;
    map->count = candidate.count;
    map->transpose_groups = words.rows && words.rows->transpose;
    size = size_of(*map);
    weight.map = *map;
  }
  const int64_t rows = shape.vector ? weight.cols : weight.rows;
  const int64_t cols = shape.vector ? 1 : weight.cols;
  const std::string place =
      words.position.text() + ": " + words.key + ": tensor " + utf8::printable(tensor.name);
  if (!size || size->rows != rows || size->cols != cols) {
    std::string parts;
    if (words.slice) parts += " for " + dimensions_.text("experts");
    if (size && (words.transpose || words.rows)) {
      parts +=
          " and gives [" + std::to_string(size->rows) + ", " + std::to_string(size->cols) + "]";
    }
    problems_.add(place + " has the shape " + shape_text(tensor) + parts + ", not " +
                  shape.words() + " = " + shape.numbers() + " with " + dimension_texts(shape));
    return weight;
  }
  if (shape.vector && (weight.map.transpose || weight.map.transpose_groups)) {
    problems_.add(place + " is a vector, which cannot be transposed");
    return weight;
  }
  if (words.blocks || tensor.codec == COLIBRI_CODEC_F8_E4M3) {
    bind_scales(words, key, place, &weight);
    return weight;
  }
  if (!is_weight_codec(tensor.codec)) {
    problems_.add(place + " is stored as " + codec_name(tensor.codec) +
                  ", and no weights are read from that");
  } else if (shape.vector && codec_block(tensor.codec)->elements != 1) {
    problems_.add(place + " is stored as " + codec_name(tensor.codec) +
                  "; a vector is read from f32, f16 and bf16");
  }
  return weight;
}

// Finds the scales of a tensor that has them apart, and checks both.
void Binder::bind_scales(const TensorTemplate& words, const RoleKey& key, const std::string& place,
                         Weight* weight) {
  const TensorEntry& tensor = *weight->tensor;
  const uint32_t codec = words.blocks ? COLIBRI_CODEC_U8 : COLIBRI_CODEC_F8_E4M3;
  const uint32_t scale_codec = words.blocks ? COLIBRI_CODEC_U8 : COLIBRI_CODEC_F32;
  if (tensor.codec != codec) {
    problems_.add(place + " is stored as " + codec_name(tensor.codec) + "; blocks are u8");
    return;
  }
  if (words.scales.empty()) {
    problems_.add(place + " is stored as f8_e4m3, and the document names no scales of it");
    return;
  }
  const std::string name = expanded(words.scales, key);
  const TensorEntry* scales = source_.find(name);
  if (scales == nullptr) {
    problems_.add(place + ": there is no tensor " + utf8::printable(name) + " of its scales");
    return;
  }
  used_[static_cast<size_t>(scales - source_.tensors().data())] = true;
  std::vector<int64_t> wanted;
  if (words.blocks) {
    wanted.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank - 1);
  } else {
    if (words.slice) {
      problems_.add(place + ": of f8_e4m3 one tensor is read for each expert");
      return;
    }
    wanted = {(weight->map.rows + kFp8Block - 1) / kFp8Block,
              (weight->map.cols + kFp8Block - 1) / kFp8Block};
  }
  const std::vector<int64_t> shape(scales->shape.begin(), scales->shape.begin() + scales->rank);
  if (shape != wanted || scales->codec != scale_codec) {
    std::string text;
    for (const int64_t extent : wanted) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    problems_.add(place + ": its scales " + utf8::printable(name) + " are " +
                  codec_name(scales->codec) + " " + shape_text(*scales) + ", not " +
                  codec_name(scale_codec) + " [" + text + "]");
    return;
  }
  weight->scales = scales;
}

bool Binder::is_tied() const {
  if (source_.names_roles()) return source_.find(role_path({Role::kHead})) == nullptr;
  for (const Candidate& candidate : candidates_) {
    if (candidate.role != Role::kHead) continue;
    if (source_.find(candidate.words->pattern) != nullptr) return false;
  }
  return std::any_of(candidates_.begin(), candidates_.end(), [](const Candidate& candidate) {
    return candidate.role == Role::kHead && candidate.optional && !candidate.words->tied_to.empty();
  });
}

std::string Binder::dimension_texts(const Shape& shape) const {
  std::string texts;
  for (const Extent* extent : {&shape.rows, &shape.cols}) {
    for (const std::string_view name : extent->dims) {
      texts += (texts.empty() ? "" : ", ") + dimensions_.text(name);
    }
  }
  return texts;
}

void Binder::report_unused() {
  std::vector<std::string> globs;
  for (const std::string& glob : vocabulary_.ignore) {
    globs.push_back(replaced(glob, "{layers}", static_cast<int64_t>(spec_.layers.size())));
  }
  std::string names;
  size_t count = 0;
  for (size_t i = 0; i < used_.size(); ++i) {
    const std::string_view name = source_.tensors()[i].name;
    const auto covers = [&](const std::string& glob) { return glob_matches(glob, name); };
    if (used_[i] || std::any_of(globs.begin(), globs.end(), covers)) continue;
    if (++count <= kShownTensors) names += (names.empty() ? "" : ", ") + utf8::printable(name);
  }
  if (count == 0) return;
  if (count > kShownTensors) names += " and " + std::to_string(count - kShownTensors) + " more";
  const std::string text = std::to_string(count) + (count == 1 ? " tensor is" : " tensors are") +
                           " not used by the architecture " + architecture_.name + ": " + names;
  if (source_.names_roles()) return problems_.add(text);
  problems_.add(text + "; what makes no difference to the results may be listed in tensors." +
                vocabulary_.name + ".ignore of " + *architecture_.position.file);
}

}  // namespace colibri::model
