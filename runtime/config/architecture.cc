// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/config/architecture_schema.h"
#include "runtime/config/overlay.h"

namespace colibri::config {
namespace {

// Checks that the names of `dims` and what refers to them agree, for one vocabulary.
class ReferenceCheck {
 public:
  ReferenceCheck(const Vocabulary& vocabulary, Problems& problems)
      : vocabulary_(vocabulary), problems_(problems) {}

  // Every reference of `expr` is a dimension of the vocabulary and has the wanted type.
  void expect(const Expr& expr, Type wanted, bool nullable) {
    for (const Expr& operand : expr.operands) expect(operand, wanted, nullable);
    if (expr.kind != Expr::Kind::kReference) return;
    const Dimension* dimension = vocabulary_.dimension(expr.name);
    if (dimension == nullptr) {
      std::vector<std::string_view> names;
      for (const Dimension& known : vocabulary_.dims) names.push_back(known.name);
      problems_.add(expr.position, expr.key,
                    "dims." + vocabulary_.name + " has no " + quote(expr.name) +
                        suggestion(expr.name, names));
      return;
    }
    used_.push_back(expr.name);
    const bool fits =
        dimension->type == wanted || (dimension->type == Type::kInteger && wanted == Type::kNumber);
    if (!fits || (dimension->nullable && !nullable)) {
      problems_.add(expr.position, expr.key,
                    std::string("expected ") + type_name(wanted) + ", but " + quote(expr.name) +
                        " is " + type_name(dimension->type) +
                        (dimension->nullable ? " or null" : ""));
    }
  }

  void report_unused() const {
    for (const Dimension& dimension : vocabulary_.dims) {
      const auto field =
          std::find_if(kDimensionFields.begin(), kDimensionFields.end(),
                       [&](const DimensionField& known) { return known.name == dimension.name; });
      const bool used = std::find(used_.begin(), used_.end(), dimension.name) != used_.end();
      if (!field->required && !used) {
        problems_.add(dimension.value.position, dimension.value.key,
                      "nothing refers to $" + dimension.name + "; use it or leave it out");
      }
    }
  }

 private:
  const Vocabulary& vocabulary_;
  Problems& problems_;
  std::vector<std::string> used_;
};

void check_references(const Architecture& architecture, Problems& problems) {
  for (const Vocabulary& vocabulary : architecture.vocabularies) {
    ReferenceCheck check(vocabulary, problems);
    check.expect(architecture.embedding.scale, Type::kNumber, false);
    check.expect(architecture.norm.eps, Type::kNumber, false);
    if (architecture.attention.scale) {
      check.expect(*architecture.attention.scale, Type::kNumber, false);
    }
    check.expect(architecture.attention.window, Type::kInteger, true);
    check.expect(architecture.rope.dims, Type::kInteger, false);
    check.expect(architecture.rope.theta, Type::kNumber, false);
    check.expect(architecture.router.renormalize, Type::kBoolean, false);
    for (const TensorTemplate& tensor : vocabulary.tensors) {
      check.expect(tensor.optional, Type::kBoolean, false);
    }
    check.report_unused();
  }
}

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

const TensorTemplate* Vocabulary::tensor(std::string_view role) const {
  return find_by(tensors, &TensorTemplate::role, role);
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
  if (problems.empty()) check_references(architecture, problems);
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
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".yaml") files.push_back(entry->path());
  }
  if (error) {
    return io_error(folder.string() +
                    ": the folder of architecture documents cannot be read: " + error.message());
  }
  std::sort(files.begin(), files.end());
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
