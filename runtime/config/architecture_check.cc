// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture_check.h"

#include <algorithm>

#include "runtime/config/architecture_schema.h"

namespace colibri::config {
namespace {

using Kind = Expr::Kind;
using Need = RoleField::Need;
using Scope = TensorTemplate::Scope;

class VocabularyCheck {
 public:
  VocabularyCheck(const Architecture& architecture, const Vocabulary& vocabulary,
                  Problems& problems)
      : architecture_(architecture), vocabulary_(vocabulary), problems_(problems) {}

  void run() {
    check_options();
    for (const TensorTemplate& tensor : vocabulary_.tensors) check_template(tensor);
    check_roles();
    check_dimensions();
  }

 private:
  bool mla() const { return architecture_.attention.kind == AttentionKind::kMla; }

  void check_options() {
    const Architecture& a = architecture_;
    for (const Expr* number :
         {&a.embedding.scale, &a.norm.eps, &a.residual_scale, &a.logits.scale, &a.attention.mscale,
          &a.rope.theta, &a.rope.factor, &a.rope.original_tokens, &a.rope.low_freq_factor,
          &a.rope.high_freq_factor, &a.rope.beta_fast, &a.rope.beta_slow, &a.ffn.clamp,
          &a.ffn.alpha, &a.ffn.up_offset, &a.router.scale}) {
      expect(*number, Type::kNumber, false);
    }
    for (const Expr* number : {&a.norm.latent_eps, &a.attention.clamp, &a.rope.attention_factor,
                               &a.rope.mscale, &a.rope.mscale_all}) {
      expect(*number, Type::kNumber, true);
    }
    if (a.attention.scale) expect(*a.attention.scale, Type::kNumber, false);
    for (const Expr* integer :
         {&a.layers.first_dense, &a.layers.moe_every, &a.attention.window_from, &a.rope.dims,
          &a.router.groups.count, &a.router.groups.keep}) {
      expect(*integer, Type::kInteger, false);
    }
    expect(a.attention.window, Type::kInteger, true);
    expect(a.attention.window_layers, Type::kBooleans, true);
    expect(a.layers.dense, Type::kIntegers, false);
    expect(a.rope.truncate, Type::kBoolean, false);
    expect(a.router.renormalize, Type::kBoolean, false);
    for (const Word* word : {&a.attention.qk_norm, &a.rope.style, &a.rope.scaling, &a.router.score,
                             &a.router.groups.rule, &a.router.groups.mask}) {
      expect(word->expr, Type::kText, false);
    }
  }

  void check_template(const TensorTemplate& tensor) {
    expect(tensor.when, Type::kBoolean, false);
    expect(tensor.optional, Type::kBoolean, false);
    if (!tensor.rows) return;
    for (const Expr* integer : {&tensor.rows->group, &tensor.rows->from, &tensor.rows->count}) {
      expect(*integer, Type::kInteger, false);
    }
  }

  // Every reference of `expr` is a dimension of the vocabulary and has the wanted type.
  void expect(const Expr& expr, Type wanted, bool nullable) {
    const bool any_type = expr.kind == Kind::kCount || expr.kind == Kind::kGiven;
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      const bool of_map = expr.kind == Kind::kMap && (i > 0 || is_list(wanted));
      const bool null = expr.kind == Kind::kFirst || (nullable && of_map);
      if (any_type) {
        (void)dimension(expr.operands[i]);
      } else {
        expect(expr.operands[i], operand_type(expr, i, wanted), null);
      }
    }
    if (expr.kind != Kind::kReference) return;
    const Dimension* found = dimension(expr);
    if (found == nullptr) return;
    const bool fits = found->type == wanted ||
                      (found->type == Type::kInteger && wanted == Type::kNumber) ||
                      (!is_list(found->type) && wanted == Type::kText);
    if (!fits || (found->nullable && !nullable)) {
      problems_.add(expr.position, expr.key,
                    std::string("expected ") + type_name(wanted) + ", but " + quote(expr.name) +
                        " is " + type_name(found->type) + (found->nullable ? " or null" : ""));
    }
  }

  const Dimension* dimension(const Expr& reference) {
    const Dimension* found = vocabulary_.dimension(reference.name);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const Dimension& known : vocabulary_.dims) names.push_back(known.name);
      problems_.add(reference.position, reference.key,
                    "dims." + vocabulary_.name + " has no " + quote(reference.name) +
                        suggestion(reference.name, names));
    } else {
      used_.push_back(reference.name);
    }
    return found;
  }

  // Whether this architecture has a use for a role.
  bool has_use(Need need) const {
    switch (need) {
      case Need::kAlways:
      case Need::kOptional:
        return true;
      case Need::kGqa:
      case Need::kOptionalGqa:
        return !mla();
      case Need::kMla:
      case Need::kOptionalMla:
        return mla();
      case Need::kExperts:
      case Need::kOptionalExperts:
        return vocabulary_.names(Scope::kExpert);
      case Need::kOptionalShared:
        return vocabulary_.names(Scope::kShared);
    }
    return false;
  }

  void check_roles() {
    const std::string tensors = "tensors." + vocabulary_.name;
    for (const RoleField& role : kRoleFields) {
      const bool named = vocabulary_.names(role.scope, role.name);
      const bool needed =
          role.need == Need::kGqa || role.need == Need::kMla || role.need == Need::kExperts;
      const std::string key = join(join(tensors, scope_key(role.scope)), role.name);
      if (needed && !named && has_use(role.need)) {
        problems_.add(architecture_.position, key, "is missing; it is required");
      } else if (named && !has_use(role.need)) {
        problems_.add(architecture_.position, key,
                      std::string("has no meaning ") +
                          (role.need == Need::kGqa || role.need == Need::kOptionalGqa
                               ? "with attention.kind mla"
                           : role.need == Need::kMla || role.need == Need::kOptionalMla
                               ? "with attention.kind gqa"
                           : role.need == Need::kOptionalShared ? "without the part `shared`"
                                                                : "without the part `expert`"));
      }
    }
    if (!vocabulary_.names(Scope::kDense) && !vocabulary_.names(Scope::kExpert)) {
      problems_.add(architecture_.position, tensors,
                    "needs a part `expert`, or `dense`, or both: a layer has an ffn");
    }
  }

  void check_dimensions() {
    const auto need = [&](std::string_view name, bool needed, const std::string& why) {
      const Dimension* given = vocabulary_.dimension(name);
      if (needed && given == nullptr) {
        problems_.add(architecture_.position, "dims." + vocabulary_.name + "." + std::string(name),
                      "is missing; " + why + " needs it");
      } else if (!needed && given != nullptr) {
        problems_.add(given->value.position, given->value.key, "has no meaning without " + why);
      }
    };
    const std::string tensors = "tensors." + vocabulary_.name + ".";
    for (const std::string_view name : {"experts", "top_k", "expert_inner"}) {
      need(name, vocabulary_.names(Scope::kExpert), tensors + "expert");
    }
    need("shared_inner", vocabulary_.names(Scope::kShared), tensors + "shared");
    need("dense_inner", vocabulary_.names(Scope::kDense), tensors + "dense");
    for (const std::string_view name : {"latent", "q_latent", "value_dim"}) {
      need(name, mla(), "attention.kind mla");
    }
    need("kv_heads", !mla(), "attention.kind gqa");
    for (const Dimension& given : vocabulary_.dims) {
      const auto field =
          std::find_if(kDimensionFields.begin(), kDimensionFields.end(),
                       [&](const DimensionField& known) { return known.name == given.name; });
      const bool used = std::find(used_.begin(), used_.end(), given.name) != used_.end();
      if (!field->required && !field->counts && !used) {
        problems_.add(given.value.position, given.value.key,
                      "nothing refers to $" + given.name + "; use it or leave it out");
      }
    }
  }

  const Architecture& architecture_;
  const Vocabulary& vocabulary_;
  Problems& problems_;
  std::vector<std::string> used_;
};

}  // namespace

void check_architecture(const Architecture& architecture, Problems& problems) {
  for (const Vocabulary& vocabulary : architecture.vocabularies) {
    VocabularyCheck(architecture, vocabulary, problems).run();
  }
}

}  // namespace colibri::config
