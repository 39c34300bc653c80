// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/install_paths.h"
#include "runtime/base/utf8.h"
#include "runtime/model/bind.h"
#include "runtime/model/references.h"

namespace colibri::model {
namespace {

using config::Architecture;
using config::Condition;

bool is_file(const std::string& wanted) {
  return wanted.ends_with(".yaml");
}

bool fits(const ModelSource& source, const config::Vocabulary& vocabulary) {
  for (const Condition& condition : vocabulary.match) {
    if (!is_met(source, condition)) return false;
  }
  return true;
}

// "mixtral, qwen3_moe": the architectures that know the names of this kind of checkpoint.
std::string names_of(const std::vector<Architecture>& known, std::string_view vocabulary) {
  std::string names;
  for (const Architecture& architecture : known) {
    if (architecture.vocabulary(vocabulary) == nullptr) continue;
    names += (names.empty() ? "" : ", ") + architecture.name;
  }
  return names.empty() ? "none" : names;
}

// "config.json: model_type is the text 'llama'": what the documents look at.
std::string compared(const ModelSource& source, const std::vector<Architecture>& known) {
  std::vector<std::string_view> keys;
  std::string text;
  for (const Architecture& architecture : known) {
    const config::Vocabulary* vocabulary = architecture.vocabulary(source.vocabulary());
    if (vocabulary == nullptr) continue;
    for (const Condition& condition : vocabulary->match) {
      if (std::find(keys.begin(), keys.end(), condition.key) != keys.end()) continue;
      keys.push_back(condition.key);
      const Result<colibri_value> value = source.metadata(condition.key);
      text += (text.empty() ? "" : ", ") + source.place_of(condition.key) +
              (value.ok() ? " is " + value_text(*value) : " is not given");
    }
  }
  return text;
}

}  // namespace

Result<std::vector<Architecture>> known_architectures(const std::string& wanted) {
  if (!is_file(wanted)) return config::load_architectures(architecture_dir());
  COLIBRI_ASSIGN(Architecture architecture, config::load_architecture(wanted));
  return std::vector<Architecture>{std::move(architecture)};
}

Result<const Architecture*> match(const ModelSource& source, const std::vector<Architecture>& known,
                                  const std::string& wanted) {
  const std::string& path = source.files().path();
  const std::string vocabulary(source.vocabulary());
  const bool any_name = wanted == "auto" || is_file(wanted);
  const Architecture* found = nullptr;
  for (const Architecture& architecture : known) {
    const config::Vocabulary* words = architecture.vocabulary(vocabulary);
    if (words == nullptr || (!any_name && architecture.name != wanted)) continue;
    if (wanted == "auto" && !fits(source, *words)) continue;
    if (found != nullptr) {
      return invalid_argument(path + ": the architectures " + found->name + " and " +
                              architecture.name + " both match; choose one by name");
    }
    found = &architecture;
  }
  if (found != nullptr) return found;
  const std::string names = names_of(known, vocabulary);
  if (wanted != "auto") {
    return not_found("there is no architecture " + utf8::printable(wanted) + " for '" + vocabulary +
                     "' checkpoints; known are: " + names);
  }
  if (names == "none") {
    return unsupported(path + ": no architecture has names for checkpoints of the kind " +
                       utf8::printable(vocabulary));
  }
  return unsupported(path + ": no architecture matches: " + compared(source, known) +
                     "; known architectures: " + names);
}

}  // namespace colibri::model
