// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/kernel_chooser.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "runtime/plugin/made_up_device.h"
#include "runtime/plugin/static_plugins.h"

namespace colibri::plugin {
namespace {

// Says yes to one operator.
template <uint32_t yes>
int32_t supports(const colibri_op_desc* desc, char why_not[128]) {
  if (desc->op == yes) return 1;
  std::snprintf(why_not, 128, "only operator %u", yes);
  return 0;
}

constexpr uint32_t kShortSizes[COLIBRI_OP_COUNT] = {0, 0,
                                                    sizeof(uint32_t) * 2};  // before norm had eps

template <uint32_t yes>
constexpr colibri_kernels_0 table_of(uint32_t numerics, const uint32_t* sizes) {
  colibri_kernels_0 table = {};
  table.struct_size = sizeof(table);
  table.draft = COLIBRI_KERNELS_DRAFT;
  table.numerics = numerics;
  table.supports = supports<yes>;
  table.pack_layout = [](const colibri_op_desc*, uint32_t, colibri_layout*, uint64_t*,
                         colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.pack = [](const colibri_layout*, const colibri_tensor*, void*, int64_t) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.op_create = [](const colibri_op_desc*, const colibri_host*, void*, colibri_op_info*,
                       colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.op_tasks = [](const void*, const void*) -> int64_t { return 0; };
  table.op_run = [](const void*, const void*, int64_t, int64_t, void*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.attribute_size = sizes;
  return table;
}

constexpr colibri_kernels_0 kNorm =
    table_of<COLIBRI_OP_NORM>(COLIBRI_NUMERICS_IDENTICAL, colibri_attribute_size);
constexpr colibri_kernels_0 kRope =
    table_of<COLIBRI_OP_ROPE>(COLIBRI_NUMERICS_IDENTICAL, colibri_attribute_size);
constexpr colibri_kernels_0 kOld =
    table_of<COLIBRI_OP_NORM>(COLIBRI_NUMERICS_IDENTICAL, kShortSizes);
constexpr colibri_kernels_0 kDevice =
    table_of<COLIBRI_OP_NORM>(COLIBRI_NUMERICS_DETERMINISTIC, colibri_attribute_size);
constexpr colibri_kernels_0 kFast =
    table_of<COLIBRI_OP_NORM>(COLIBRI_NUMERICS_APPROXIMATE, colibri_attribute_size);

template <const colibri_kernels_0& table>
constexpr colibri_plugin plugin_of(const char* id) {
  return {sizeof(colibri_plugin), 0, id, "1.0.0", nullptr, nullptr, [](const char*) -> const void* {
            return &table;
          }};
}
constexpr colibri_plugin kNormPlugin = plugin_of<kNorm>("norm_only");
constexpr colibri_plugin kRopePlugin = plugin_of<kRope>("rope_only");
constexpr colibri_plugin kOldPlugin = plugin_of<kOld>("old");
constexpr colibri_plugin kDevicePlugin = plugin_of<kDevice>("device");
constexpr colibri_plugin kFastPlugin = plugin_of<kFast>("fast");

constexpr ProbeAnswer kThere = {};
constexpr colibri_device_0 kOwnDevice = made_up_device<kThere>();
constexpr colibri_plugin kOwnMemoryPlugin = {sizeof(colibri_plugin),
                                             0,
                                             "own_memory",
                                             "1.0.0",
                                             nullptr,
                                             nullptr,
                                             [](const char* interface) -> const void* {
                                               if (std::strcmp(interface, "colibri.device/0") == 0)
                                                 return &kOwnDevice;
                                               return &kDevice;
                                             }};

class KernelChooserTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto add = [](const colibri_plugin& table, const char* numerics, int rank) {
      const std::string manifest =
          std::string(
              R"({"abi":"1.0","version":"1.0.0","interfaces":["colibri.kernels/0"],"id":")") +
          table.id + R"(","numerics":")" + numerics + R"(","rank":)" + std::to_string(rank) + "}";
      const Status status = register_static(&table, manifest.c_str());
      ASSERT_TRUE(status.ok()) << status.text();
    };
    add(kFastPlugin, "approximate", 50);
    add(kDevicePlugin, "deterministic", 40);
    add(kRopePlugin, "identical", 30);
    add(kOldPlugin, "identical", 20);
    add(kNormPlugin, "identical", 10);
    const Status status = register_static(
        &kOwnMemoryPlugin,
        R"({"abi":"1.0","version":"1.0.0","id":"own_memory","numerics":"deterministic","rank":-1,)"
        R"("interfaces":["colibri.kernels/0","colibri.device/0"]})");
    ASSERT_TRUE(status.ok()) << status.text();
  }

  KernelChooserTest() {
    request_.search_installed = false;
    request_.deny = {"own_memory"};
  }

  Result<KernelChooser> chooser(const std::map<std::string, std::string>& pins = {}) {
    auto registry = Registry::create(request_, machine::Profile());
    if (!registry.ok()) return registry.status();
    return KernelChooser::create(**registry, pins);
  }

  colibri_op_desc norm(float eps) {
    attributes_ = {sizeof(attributes_), COLIBRI_NORM_RMS, eps, 0, 0};
    colibri_op_desc desc = {};
    desc.struct_size = sizeof(desc);
    desc.op = COLIBRI_OP_NORM;
    desc.attributes = &attributes_;
    desc.max_rows = 8;
    return desc;
  }

  Request request_;
  colibri_norm_attributes attributes_ = {};
};

TEST_F(KernelChooserTest, KernelsThatNeedTheMemoryOfADeviceAreRefusedOnTheCpu) {
  request_.deny.clear();
  const auto made = chooser({{"norm", "own_memory"}});
  ASSERT_TRUE(made.ok()) << made.status().text();
  const Status refusal = made->choose(norm(1e-6f)).status();
  EXPECT_EQ(refusal.code(), COLIBRI_UNSUPPORTED);
  EXPECT_NE(refusal.text().find("own_memory: computes in the memory of its device, and the "
                                "model is placed on the CPU"),
            std::string::npos)
      << refusal.text();
}

TEST_F(KernelChooserTest, InTheMemoryOfADeviceOnlyItsPluginComputes) {
  request_.deny.clear();
  request_.prefer = {"norm_only"};
  const auto registry = Registry::create(request_, machine::Profile());
  ASSERT_TRUE(registry.ok()) << registry.status().text();
  EXPECT_EQ((*registry)->device_count("own_memory"), 1u);
  EXPECT_EQ((*registry)->device_count("norm_only"), 0u);
  const auto own = *(*registry)->find("colibri.kernels/0", "own_memory");
  const auto made = KernelChooser::create(**registry, {}, own);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const auto choice = made->choose(norm(1e-6f));
  ASSERT_TRUE(choice.ok()) << choice.status().text();
  EXPECT_EQ(choice->plugin, own);
  ASSERT_FALSE(choice->refusals.empty());
  EXPECT_EQ(choice->refusals[0].plugin_id, "norm_only");
  EXPECT_EQ(choice->refusals[0].reason, "cannot compute in the memory of a device of own_memory");

  const auto pinned = KernelChooser::create(**registry, {{"norm", "norm_only"}}, own);
  ASSERT_TRUE(pinned.ok()) << pinned.status().text();
  const Status elsewhere = pinned->choose(norm(1e-6f)).status();
  EXPECT_EQ(elsewhere.code(), COLIBRI_UNSUPPORTED);
  EXPECT_TRUE(elsewhere.text().starts_with("own_memory does not compute norm")) << elsewhere.text();
  EXPECT_TRUE(elsewhere.text().ends_with(": plugins.operators gives it to norm_only"))
      << elsewhere.text();
}

TEST_F(KernelChooserTest, TheFirstYesAndTheRefusalsBeforeIt) {
  const auto made = chooser();
  ASSERT_TRUE(made.ok()) << made.status().text();
  const auto choice = made->choose(norm(1e-5f));
  ASSERT_TRUE(choice.ok()) << choice.status().text();
  EXPECT_EQ(choice->plugin->id(), "norm_only");
  EXPECT_EQ(choice->table, &kNorm);
  ASSERT_EQ(choice->refusals.size(), 3u);
  EXPECT_EQ(choice->refusals[0].plugin_id, "device");
  EXPECT_EQ(choice->refusals[0].reason,
            "its results are deterministic but its own: plugins.operators must name it");
  EXPECT_EQ(choice->refusals[1].reason, "only operator 5");
  EXPECT_EQ(choice->refusals[2].reason,
            "knows 8 bytes of the attributes, and byte 8 behind them is not zero");
}

TEST_F(KernelChooserTest, AnAttributeThatIsZeroNeedNotBeSeen) {
  EXPECT_EQ(chooser()->choose(norm(0))->plugin->id(), "old");
}

TEST_F(KernelChooserTest, APinLeavesNoOther) {
  EXPECT_EQ(chooser({{"norm", "device"}})->choose(norm(1))->plugin->id(), "device");
  EXPECT_EQ(chooser({{"norm", "rope_only"}})->choose(norm(0.5f)).status().text(),
            "no plugin computes norm (kind rms, eps 0.5, output_dtype codec 0; up to 8 rows):\n"
            "  device: plugins.operators gives it to rope_only\n"
            "  rope_only: only operator 5\n"
            "  old: plugins.operators gives it to rope_only\n"
            "  norm_only: plugins.operators gives it to rope_only");
}

TEST_F(KernelChooserTest, PinsThatCannotBeHonoured) {
  EXPECT_EQ(chooser({{"nrom", "old"}}).status().text(),
            "plugins.operators.nrom: is no operator (did you mean 'norm'? allowed: embed, norm, "
            "quantize_rows, grouped_matmul, rope, kv_write, attention, router, combine, "
            "mla_attention)");
  EXPECT_EQ(chooser({{"norm", "fast"}}).status().text(),
            "plugins.operators.norm: plugin fast cannot be used: its results are approximate, and "
            "the pipeline's numerics are reproducible ((linked in))");
}

TEST_F(KernelChooserTest, FastestTakesApproximateKernels) {
  request_.numerics = config::Numerics::kFastest;
  EXPECT_EQ(chooser()->choose(norm(1))->plugin->id(), "fast");
  request_.deny = {"fast"};
  EXPECT_EQ(chooser()->choose(norm(1))->plugin->id(), "device");
}

TEST_F(KernelChooserTest, WithoutKernelsThereIsAnExplanation) {
  request_.deny = {"fast", "device", "rope_only", "old", "norm_only", "own_memory"};
  const auto made = chooser();
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.status().text().starts_with(
      "no usable plugin offers colibri.kernels/0; candidates:\n  "));
}

TEST_F(KernelChooserTest, NonsenseIsRefused) {
  colibri_op_desc desc = norm(1);
  desc.op = COLIBRI_OP_COUNT;
  EXPECT_EQ(chooser()->choose(desc).status().text(), "no such operator: operator 11");
}

TEST(OperatorTextTest, NamesBothWays) {
  for (uint32_t op = 1; op < COLIBRI_OP_COUNT; ++op) {
    EXPECT_EQ(operator_of_name(operator_name(op)), op);
  }
  EXPECT_EQ(operator_of_name("conv"), 0u);
  EXPECT_STREQ(operator_name(COLIBRI_OP_COUNT), "");
}

TEST(OperatorTextTest, DescribesWeights) {
  colibri_grouped_matmul_attributes attributes = {};
  attributes.struct_size = sizeof(attributes);
  attributes.epilogue = COLIBRI_EPILOGUE_GATED;
  attributes.activation = COLIBRI_ACTIVATION_SILU;
  attributes.input_dtype = COLIBRI_CODEC_Q8_32;
  attributes.output_dtype = COLIBRI_CODEC_F32;
  colibri_tensor weights[2] = {};
  for (colibri_tensor& weight : weights) {
    weight.dtype = COLIBRI_CODEC_Q4_0;
    weight.rank = 2;
    weight.shape[0] = 768;
    weight.shape[1] = 2048;
  }
  colibri_op_desc desc = {};
  desc.op = COLIBRI_OP_GROUPED_MATMUL;
  desc.attributes = &attributes;
  desc.weights = weights;
  desc.weight_count = 2;
  desc.max_rows = 512;
  EXPECT_EQ(describe(desc),
            "grouped_matmul (epilogue gated, activation silu, input_dtype q8_32, output_dtype f32; "
            "weight q4_0 [768, 2048]; weight q4_0 [768, 2048]; up to 512 rows)");
}

TEST(OperatorTextTest, OptionsThatAreOffAreLeftOut) {
  colibri_router_attributes attributes = {};
  attributes.struct_size = sizeof(attributes);
  attributes.score = COLIBRI_SCORE_SIGMOID;
  attributes.top_k = 4;
  attributes.select_bias = 1;
  attributes.groups = 8;
  attributes.keep_groups = 3;
  attributes.group_rule = COLIBRI_GROUP_RULE_TOP2_SUM;
  attributes.group_mask = 7;  // no mask: the number says so
  attributes.scale = 2.5f;
  colibri_op_desc desc = {};
  desc.op = COLIBRI_OP_ROUTER;
  desc.attributes = &attributes;
  desc.max_rows = 3;
  EXPECT_EQ(describe(desc),
            "router (score sigmoid, top_k 4, select_bias, groups 8, keep_groups 3, group_rule "
            "top2_sum, group_mask 7, scale 2.5; up to 3 rows)");
}

}  // namespace
}  // namespace colibri::plugin
