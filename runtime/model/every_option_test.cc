// SPDX-License-Identifier: Apache-2.0
// Every key of an architecture document, every name of `dims` and every role changes the spec of a
// model or is refused. A key without an entry here fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/base/temporary_folder.h"
#include "runtime/config/architecture_schema.h"
#include "runtime/model/bind.h"
#include "runtime/model/fake_format.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;
using config::Value;

// Everything but latent attention.
constexpr char kGqa[] = R"(apiVersion: colibri/v1
kind: Architecture
metadata: { name: gqa }
match: { hf: { model_type: [test] } }
require: { hf: { extra: [1] } }
dims:
  hf: { layers: 3, hidden: 8, vocabulary: 16, max_tokens: 64, heads: 4, kv_heads: 2, head_dim: 4,
        experts: 4, top_k: 2, expert_inner: 6, shared_inner: 6, dense_inner: 6 }
norm: { kind: rms, eps: 0.001 }
topology: pre
layers: { first_dense: 1 }
attention: { kind: gqa, qk_norm: head, window: 5 }
rope: { style: half, theta: 100.0, scaling: yarn, factor: 4.0, original_tokens: 64, mscale: 0.5,
        mscale_all: 0.25 }
ffn: { activation: silu, gated: true }
router: { score: softmax, renormalize: true, groups: { count: 2, keep: 1 } }
tensors:
  hf:
    embedding: embedding
    head: head
    final_norm: final_norm
    rope_factors: rope_factors
    layer:
      attention_norm: "{l}.hidden"
      q: "{l}.q"
      k: "{l}.k"
      v: "{l}.k"
      q_bias: "{l}.q_bias"
      k_bias: "{l}.k_bias"
      v_bias: "{l}.k_bias"
      q_norm: "{l}.head_dim"
      k_norm: "{l}.head_dim"
      sinks: "{l}.sinks"
      o: "{l}.o"
      o_bias: "{l}.hidden"
      ffn_norm: "{l}.hidden"
      router: "{l}.router"
      router_bias: "{l}.experts"
      select_bias: "{l}.experts"
      shared_gate: "{l}.one"
    dense: { gate: "{l}.in", up: "{l}.in", down: "{l}.out", gate_bias: "{l}.inner",
             up_bias: "{l}.inner", down_bias: "{l}.hidden" }
    shared: { gate: "{l}.in", up: "{l}.in", down: "{l}.out", gate_bias: "{l}.inner",
              up_bias: "{l}.inner", down_bias: "{l}.hidden" }
    expert:
      gate: { name: "{l}.ins", slice: "{e}" }
      up: { name: "{l}.ins", slice: "{e}" }
      down: { name: "{l}.outs", slice: "{e}" }
      gate_bias: { name: "{l}.inners", slice: "{e}" }
      up_bias: { name: "{l}.inners", slice: "{e}" }
      down_bias: { name: "{l}.hiddens", slice: "{e}" }
    ignore: ["*"]
)";

constexpr char kMla[] = R"(apiVersion: colibri/v1
kind: Architecture
metadata: { name: mla }
match: { hf: { model_type: [test] } }
dims:
  hf: { layers: 3, hidden: 8, vocabulary: 16, max_tokens: 64, heads: 4, head_dim: 6, value_dim: 4,
        latent: 10, q_latent: 12, dense_inner: 6 }
norm: { kind: rms, eps: 0.001 }
topology: pre
attention: { kind: mla }
rope: { style: interleaved, dims: 2, theta: 100.0 }
ffn: { activation: silu, gated: true }
tensors:
  hf:
    embedding: embedding
    head: head
    final_norm: final_norm
    layer:
      attention_norm: "{l}.hidden"
      q_down: "{l}.q_down"
      q_down_bias: "{l}.q_down_norm"
      q_down_norm: "{l}.q_down_norm"
      q_up: [{ name: "{l}.q_up", when: { given: $q_latent } }, "{l}.q_up_hidden"]
      kv_down: "{l}.kv_down"
      kv_down_bias: "{l}.kv_down_bias"
      kv_down_norm: "{l}.kv_down_norm"
      k_absorb: "{l}.k_absorb"
      v_up: "{l}.v_up"
      o: "{l}.o"
      ffn_norm: "{l}.hidden"
    dense: { gate: "{l}.in", up: "{l}.in", down: "{l}.out" }
    ignore: ["*"]
)";

// What a key is set to, in kGqa, or in kMla if `mla`.
struct Setting {
  std::string value;
  bool refused = false;
  bool mla = false;
};
const std::map<std::string, Setting> kSettings = {
    {"apiVersion", {"colibri/v2", true}},
    {"kind", {"Pipeline", true}},
    {"metadata.name", {"other"}},
    {"match", {"{ hf: { model_type: [other] } }", true}},
    {"require", {"{ hf: { extra: [2] } }", true}},
    {"dims", {"{}", true}},
    {"embedding.scale", {"2.0"}},
    {"norm.kind", {"layer", true}},
    {"norm.eps", {"0.1"}},
    {"norm.latent_eps", {"0.1", false, true}},
    {"topology", {"sandwich", true}},
    {"residual_scale", {"2.0"}},
    {"logits.scale", {"2.0"}},
    {"layers.first_dense", {"2"}},
    {"layers.moe_every", {"3"}},
    {"layers.dense", {"[1]"}},
    {"attention.kind", {"mla", true}},
    {"attention.qk_norm", {"none"}},
    {"attention.scale", {"2.0"}},
    {"attention.mscale", {"1.0"}},
    {"attention.clamp", {"2.0"}},
    {"attention.window", {"7"}},
    {"attention.window_layers", {"[true, false]"}},
    {"attention.window_from", {"1"}},
    {"rope.style", {"interleaved"}},
    {"rope.dims", {"2"}},
    {"rope.theta", {"10.0"}},
    {"rope.scaling", {"linear"}},
    {"rope.factor", {"2.0"}},
    {"rope.original_tokens", {"1000"}},
    {"rope.low_freq_factor", {"3.0"}},
    {"rope.high_freq_factor", {"3.0"}},
    {"rope.beta_fast", {"0.5"}},
    {"rope.beta_slow", {"0.1"}},
    {"rope.truncate", {"false"}},
    {"rope.attention_factor", {"3.0"}},
    {"rope.mscale", {"1.0"}},
    {"rope.mscale_all", {"1.0"}},
    {"ffn.activation", {"relu", true}},
    {"ffn.gated", {"false", true}},
    {"ffn.clamp", {"2.0"}},
    {"ffn.alpha", {"2.0"}},
    {"ffn.up_offset", {"2.0"}},
    {"router.score", {"sigmoid"}},
    {"router.renormalize", {"false"}},
    {"router.scale", {"2.0"}},
    {"router.apply", {"input", true}},
    {"router.groups.count", {"1"}},
    {"router.groups.keep", {"2"}},
    {"router.groups.rule", {"top2_sum"}},
    {"router.groups.mask", {"zero"}},
    {"tensors", {"{}", true}},
};

// Numbers of `dims` that need no reference.
const std::map<std::string, Setting> kDimensions = {
    {"layers", {"2"}},
    {"hidden", {"9", true}},
    {"vocabulary", {"17", true}},
    {"max_tokens", {"65"}},
    {"heads", {"2", true}},
    {"kv_heads", {"4", true}},
    {"head_dim", {"6", true}},
    {"value_dim", {"5", true, true}},
    {"latent", {"11", true, true}},
    {"q_latent", {"null", false, true}},
    {"experts", {"6", true}},
    {"top_k", {"1"}},
    {"expert_inner", {"7", true}},
    {"shared_inner", {"0"}},
    {"dense_inner", {"7", true}},
};

Value parsed(const std::string& text, const std::string& key) {
  config::Problems problems;
  Value value = config::parse_yaml(text, "setting", problems).value_or(Value());
  EXPECT_TRUE(problems.empty()) << text;
  value.key = key;
  return value;
}

// Sets a key of a document; no value = takes it away.
void set(Value& document, const std::string& path, const std::string* value) {
  const size_t dot = path.find('.');
  const std::string step = path.substr(0, dot);
  auto found = std::find_if(document.children.begin(), document.children.end(),
                            [&](const Value& child) { return child.key == step; });
  if (dot != std::string::npos) {
    if (found == document.children.end()) {
      document.children.push_back(parsed("{}", step));
      found = document.children.end() - 1;
    }
    set(*found, path.substr(dot + 1), value);
  } else if (value == nullptr) {
    ASSERT_NE(found, document.children.end()) << path;
    document.children.erase(found);
  } else if (found != document.children.end()) {
    *found = parsed(*value, step);
  } else {
    document.children.push_back(parsed(*value, step));
  }
}

void write(const Weight& weight, std::ostream& out) {
  out << role_name(weight.role) << ' ' << (weight ? weight.name() : "-") << ' ' << weight.rows
      << 'x' << weight.cols << '@' << weight.map.first << '\n';
}

void write(const FfnSpec& ffn, std::ostream& out) {
  out << "inner " << ffn.inner << '\n';
  for (const Weight* weight :
       {&ffn.gate, &ffn.up, &ffn.down, &ffn.gate_bias, &ffn.up_bias, &ffn.down_bias}) {
    write(*weight, out);
  }
}

// All that a spec says.
std::string text_of(const ModelSpec& spec) {
  std::ostringstream out;
  out.precision(9);
  out << spec.architecture << ' ' << spec.hidden << ' ' << spec.vocabulary << ' ' << spec.max_tokens
      << ' ' << spec.eps << ' ' << spec.latent_eps << ' ' << spec.embedding_scale << ' '
      << spec.residual_scale << ' ' << spec.logits_scale << ' ' << static_cast<int>(spec.attention)
      << ' ' << spec.heads << ' ' << spec.kv_heads << ' ' << spec.head_dim << ' ' << spec.value_dim
      << ' ' << spec.latent << ' ' << spec.q_latent << ' ' << static_cast<int>(spec.qk_norm) << ' '
      << spec.attention_scale << ' ' << spec.attention_clamp << ' ' << spec.rope.style << ' '
      << spec.rope.dims << ' ' << spec.rope.theta << ' ' << spec.rope.magnitude << ' '
      << spec.activation << ' ' << spec.ffn_clamp << ' ' << spec.ffn_alpha << ' '
      << spec.ffn_up_offset << ' ' << spec.experts << ' ' << spec.top_k << ' ' << spec.router.score
      << ' ' << spec.router.renormalize << ' ' << spec.router.groups << ' '
      << spec.router.keep_groups << ' ' << spec.router.group_rule << ' ' << spec.router.group_mask
      << ' ' << spec.router.scale << ' ' << spec.tied << '\n';
  for (const float frequency : spec.rope.frequencies) out << frequency << ' ';
  for (const Weight* weight : {&spec.embedding, &spec.head, &spec.final_norm}) write(*weight, out);
  for (const LayerSpec& layer : spec.layers) {
    out << "window " << layer.window << '\n';
    for (const Weight* weight :
         {&layer.attention_norm, &layer.q,          &layer.k,       &layer.v,
          &layer.q_bias,         &layer.k_bias,     &layer.v_bias,  &layer.q_norm,
          &layer.k_norm,         &layer.sinks,      &layer.q_down,  &layer.q_down_bias,
          &layer.q_down_norm,    &layer.q_up,       &layer.kv_down, &layer.kv_down_bias,
          &layer.kv_down_norm,   &layer.k_absorb,   &layer.v_up,    &layer.o,
          &layer.o_bias,         &layer.ffn_norm,   &layer.router,  &layer.router_bias,
          &layer.select_bias,    &layer.shared_gate}) {
      write(*weight, out);
    }
    write(layer.dense, out);
    write(layer.shared, out);
    for (const FfnSpec& expert : layer.experts) write(expert, out);
  }
  return out.str();
}

class EveryOption : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream file(folder_ / "w", std::ios::binary);
    // Ones, so that factors of frequencies are sound.
    for (int i = 0; i < 1 << 14; ++i) file.write("\0\0\x80\x3f", 4);
    file.close();
    format_.values = {{"model_type", std::string("test")}, {"extra", int64_t{1}}};
    format_.add("rope_factors", {2});
    format_.add("rope_factors1", {1});
    format_.add("embedding", {16, 8});
    format_.add("head", {16, 8});
    format_.add("final_norm", {8});
    for (const std::string l : {"0.", "1.", "2."}) {
      const std::pair<const char*, std::vector<int64_t>> tensors[] = {
          {"hidden", {8}},          {"q", {16, 8}},        {"k", {8, 8}},
          {"q_bias", {16}},         {"k_bias", {8}},       {"head_dim", {4}},
          {"sinks", {4}},           {"o", {8, 16}},        {"router", {4, 8}},
          {"experts", {4}},         {"one", {1, 8}},       {"in", {6, 8}},
          {"out", {8, 6}},          {"inner", {6}},        {"ins", {4, 6, 8}},
          {"outs", {4, 8, 6}},      {"inners", {4, 6}},    {"hiddens", {4, 8}},
          {"q_down", {12, 8}},      {"q_down_norm", {12}}, {"q_up", {24, 12}},
          {"q_up_hidden", {24, 8}}, {"kv_down", {12, 8}},  {"kv_down_norm", {10}},
          {"kv_down_bias", {12}},   {"k_absorb", {40, 4}}, {"v_up", {16, 10}}};
      for (const auto& [name_of, shape] : tensors) format_.add(l + name_of, shape);
    }
    auto files = ModelFiles::open(folder_);
    ASSERT_TRUE(files.ok());
    auto source = ModelSource::open(std::move(*files), format_.table());
    ASSERT_TRUE(source.ok()) << source.status().text();
    source_ = std::move(*source);
  }

  Result<std::string> bound(Value document) {
    config::Problems problems;
    std::vector<config::Architecture> known(1);
    known[0] = config::read_architecture(std::move(document), problems);
    COLIBRI_TRY(problems.status());
    COLIBRI_ASSIGN(const config::Architecture* architecture, match(*source_, known, "auto"));
    COLIBRI_ASSIGN(const ModelSpec spec, bind(*source_, *architecture));
    return text_of(spec);
  }

  void expect_change(const std::string& path, const Setting& setting, const std::string* value) {
    Value document = parsed(setting.mla ? kMla : kGqa, "");
    const Result<std::string> before = bound(document);
    ASSERT_TRUE(before.ok()) << before.status().text();
    // Another number of rotated elements needs another tensor of factors.
    const std::string other = "rope_factors1";
    if (path == "rope.dims") set(document, "tensors.hf.rope_factors", &other);
    // llama3 has parameters of its own.
    const std::string llama3 = "llama3";
    if (path.ends_with("_freq_factor")) set(document, "rope.scaling", &llama3);
    const Result<std::string> base = bound(document);
    set(document, path, value);
    const Result<std::string> after = bound(document);
    EXPECT_EQ(after.ok(), !setting.refused) << path << ": " << after.status().text();
    EXPECT_FALSE(base.ok() && after.ok() && *base == *after) << path << " changes nothing";
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  FakeFormat format_;
  std::unique_ptr<ModelSource> source_;
};

TEST_F(EveryOption, ChangesTheSpecOrIsRefused) {
  for (const std::string& key : config::all_keys(config::kArchitectureTable)) {
    const auto setting = kSettings.find(key);
    ASSERT_NE(setting, kSettings.end()) << key << " has no entry in this test";
    expect_change(key, setting->second, &setting->second.value);
  }
}

TEST_F(EveryOption, DimensionsThatCountChangeTheSpecOrAreRefused) {
  for (const config::DimensionField& field : config::kDimensionFields) {
    if (!field.required && !field.counts) continue;  // refused unless an option refers to it
    const auto setting = kDimensions.find(std::string(field.name));
    ASSERT_NE(setting, kDimensions.end()) << field.name << " has no entry in this test";
    expect_change("dims.hf." + setting->first, setting->second, &setting->second.value);
  }
}

TEST_F(EveryOption, RolesThatAreTakenAwayChangeTheSpecOrAreRefused) {
  using Need = config::RoleField::Need;
  for (const config::RoleField& role : config::kRoleFields) {
    Setting setting;
    setting.mla = role.need == Need::kMla || role.need == Need::kOptionalMla;
    const std::string_view name = role.name;
    setting.refused = role.need == Need::kAlways || role.need == Need::kGqa ||
                      role.need == Need::kMla || role.need == Need::kExperts ||
                      // needed by what else this model is
                      name == "q_norm" || name == "k_norm" || name == "q_down" ||
                      name == "q_down_norm" || name == "gate_bias" || name == "up_bias";
    std::string path = std::string("tensors.hf.") + config::scope_key(role.scope);
    if (role.scope != config::TensorTemplate::Scope::kModel) path += '.';
    // Factors of 1 have no effect: here it is enough that the tensor is read.
    if (name == "rope_factors") continue;
    expect_change(path + std::string(name), setting, nullptr);
  }
}

}  // namespace
}  // namespace colibri::model
