// SPDX-License-Identifier: Apache-2.0
// Finds the tensor of every role, and keeps account of which tensors are used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/problems.h"
#include "runtime/model/references.h"
#include "runtime/model/role_path.h"
#include "runtime/model/shapes.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"

namespace colibri::model {

class Binder {
 public:
  // The numbers of the spec are sound. All of these outlive the binder.
  Binder(const ModelSource& source, const config::Architecture& architecture,
         const config::Vocabulary& vocabulary, const Dimensions& dimensions, const ModelSpec& spec,
         Problems* problems);

  // The weight of a role; if there is none, an absent one and a problem.
  Weight required(const RoleKey& key) { return weight(key, true); }
  // The same where the document may leave the role out, and the checkpoint a tensor that the
  // document calls optional.
  Weight optional(const RoleKey& key) { return weight(key, false); }
  // Whether the head is the embedding: the document allows it and there is no tensor of the head.
  bool is_tied() const;

  // Adds one problem that names the tensors no role has asked for.
  void report_unused();

 private:
  // A template of this model, its expressions evaluated.
  struct Candidate {
    const config::TensorTemplate* words;
    Role role;
    bool optional = false;
    int64_t group = 1, from = 0, count = 1;
  };

  void add_candidate(const config::TensorTemplate& words);
  Weight weight(const RoleKey& key, bool is_required);
  // The tensor that a .colibri file names by its role; its form is the weight's own.
  Weight weight_by_role(const RoleKey& key, bool is_required);
  Weight bound(const Candidate& candidate, const RoleKey& key, const TensorEntry& tensor);
  void bind_scales(const config::TensorTemplate& words, const RoleKey& key,
                   const std::string& place, Weight* weight);
  std::string dimension_texts(const Shape& shape) const;

  const ModelSource& source_;
  const config::Architecture& architecture_;
  const config::Vocabulary& vocabulary_;
  const Dimensions& dimensions_;
  const ModelSpec& spec_;
  Problems& problems_;
  std::vector<Candidate> candidates_;  // those of a role in the order of preference
  std::vector<bool> used_;             // by index in source_.tensors()
};

}  // namespace colibri::model
