// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture.h"

#include <algorithm>
#include <utility>

#include "runtime/base/folder.h"
#include "runtime/config/architecture_check.h"
#include "runtime/config/architecture_schema.h"
#include "runtime/config/overlay.h"

namespace colibri::config {
namespace {

template <typename T, typename Name>
const T* find_by(const std::vector<T>& list, Name T::*name, std::string_view wanted) {
  for (const T& item : list) {
    if (item.*name == wanted) return &item;
  }
  return nullptr;
}

}  // namespace

const Dimension* Vocabulary::dimension(std::string_view dimension_name) const {
  return find_by(dims, &Dimension::name, dimension_name);
}

bool Vocabulary::names(TensorTemplate::Scope scope) const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const TensorTemplate& tensor) { return tensor.scope == scope; });
}

bool Vocabulary::names(TensorTemplate::Scope scope, std::string_view role) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](const TensorTemplate& tensor) {
    return tensor.scope == scope && tensor.role == role;
  });
}

const Vocabulary* Architecture::vocabulary(std::string_view vocabulary_name) const {
  return find_by(vocabularies, &Vocabulary::name, vocabulary_name);
}

Architecture read_architecture(Value document, Problems& problems) {
  Architecture architecture;
  if (!check_kind(kArchitectureTable, document, problems)) return architecture;
  architecture.position = document.position;
  const Value whole = complete(kArchitectureTable, std::move(document), "", problems);
  read(kArchitectureTable, whole, "", &architecture, problems);
  // References can be judged only where all that they may refer to was understood.
  if (problems.empty()) check_architecture(architecture, problems);
  return architecture;
}

Result<Architecture> load_architecture(const std::filesystem::path& file,
                                       std::vector<Problem>* problems) {
  Problems found;
  Architecture architecture;
  const std::string path = file.string();
  if (auto document = read_document(path, position_of_name(path), "", found)) {
    architecture = read_architecture(std::move(*document), found);
  }
  if (problems != nullptr) *problems = found.list();
  if (!found.empty()) return found.status();
  return architecture;
}

Result<std::vector<Architecture>> load_architectures(const std::filesystem::path& folder) {
  COLIBRI_ASSIGN(std::vector<std::filesystem::path> files, list_folder(folder));
  std::erase_if(files, [](const auto& file) { return file.extension() != ".yaml"; });
  std::vector<Architecture> architectures;
  for (const std::filesystem::path& file : files) {
    COLIBRI_ASSIGN(Architecture architecture, load_architecture(file));
    if (const Architecture* same = find_by(architectures, &Architecture::name, architecture.name)) {
      return invalid_argument(file.string() + ": metadata.name: " + quote(architecture.name) +
                              " is already the name of " + *same->position.file);
    }
    architectures.push_back(std::move(architecture));
  }
  return architectures;
}

}  // namespace colibri::config
