// SPDX-License-Identifier: Apache-2.0
// Plugins compiled from the frozen headers load into this host, and do their work.
#include <gtest/gtest.h>

#include <cstring>

#include "colibri/cache_policy.h"
#include "colibri/format.h"
#include "colibri/sampler.h"
#include "colibri/tokenizer.h"
#include "runtime/plugin/check.h"
#include "runtime/plugin/registry.h"

namespace colibri::plugin {
namespace {

class FrozenPluginsTest : public testing::Test {
 protected:
  FrozenPluginsTest() {
    Request request;
    request.search = {FROZEN_PLUGINS};
    request.search_installed = false;
    auto made = Registry::create(request, *machine::Profile::detect());
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (made.ok()) registry_ = std::move(*made);
  }

  template <typename Table>
  const Table* table(const std::string& kind) {
    const std::string interface_id = "colibri." + kind + "/1";
    auto plugin = registry_->find(interface_id, "frozen_" + kind);
    EXPECT_TRUE(plugin.ok()) << plugin.status().text();
    if (!plugin.ok()) return nullptr;
    plugin_ = *plugin;
    return plugin_->interface<Table>(interface_id);
  }
  static void expect_all_checks_pass(const std::string& kind) {
    const std::string file = std::string(FROZEN_PLUGINS) + "/frozen_" + kind + ".so";
    for (const CheckResult& result : check_plugin(file, *machine::Profile::detect(), {})) {
      EXPECT_NE(result.outcome, CheckResult::Outcome::kFailed)
          << result.group << ": " << result.text;
    }
  }

  std::unique_ptr<Registry> registry_;
  std::shared_ptr<const Plugin> plugin_;
};

TEST_F(FrozenPluginsTest, Sampler) {
  const auto* sampler = table<colibri_sampler_1>("sampler");
  ASSERT_NE(sampler, nullptr);
  int32_t id[] = {3, 5, 9};
  float logit[] = {0.5f, 2, 1};
  colibri_candidates list = {sizeof(list), 0, id, logit, 3};
  EXPECT_EQ(sampler->apply(nullptr, &list), COLIBRI_OK);
  EXPECT_EQ(list.n, 1u);
  EXPECT_EQ(id[0], 5);
  expect_all_checks_pass("sampler");
}

TEST_F(FrozenPluginsTest, CachePolicy) {
  const auto* policy = table<colibri_cache_policy_1>("cache_policy");
  ASSERT_NE(policy, nullptr);
  const uint8_t class_of_layer[] = {0, 1};
  const uint32_t slots[] = {2, 2};
  const colibri_cache_shape shape = {sizeof(shape), 2, 8, 2, 2, class_of_layer, slots};
  std::vector<uint64_t> state(policy->state_bytes(&shape, plugin_->host()) / 8 + 1);
  colibri_error error = empty_error();
  ASSERT_EQ(policy->create(&shape, plugin_->host(), state.data(), &error), COLIBRI_OK);
  const uint64_t evictable[] = {0xff0f};
  uint32_t keys[3] = {};
  EXPECT_EQ(policy->victims(state.data(), 1, evictable, 3, keys), 3u);
  EXPECT_EQ(keys[0], 8u);
  EXPECT_EQ(policy->resize(state.data(), 1, 1), COLIBRI_OK);
  expect_all_checks_pass("cache_policy");
}

TEST_F(FrozenPluginsTest, Tokenizer) {
  const auto* tokenizer = table<colibri_tokenizer_1>("tokenizer");
  ASSERT_NE(tokenizer, nullptr);
  const colibri_resource resource = {sizeof(resource), to_c("bytes.tok"), to_c("")};
  void* made = nullptr;
  colibri_error error = empty_error();
  ASSERT_EQ(tokenizer->create(&resource, 1, plugin_->host(), &made, &error), COLIBRI_OK);
  int32_t ids[4] = {};
  size_t n = 0;
  EXPECT_EQ(tokenizer->encode(made, to_c("Hi!"), 0, ids, 4, &n, &error), COLIBRI_OK);
  EXPECT_EQ(n, 3u);
  EXPECT_EQ(ids[0], 'H');
  char text[4] = {};
  EXPECT_EQ(tokenizer->decode_next(made, nullptr, ids[2], 0, text, sizeof(text), &n), COLIBRI_OK);
  EXPECT_STREQ(text, "!");
  tokenizer->destroy(made);
  expect_all_checks_pass("tokenizer");
}

TEST_F(FrozenPluginsTest, Format) {
  const auto* format = table<colibri_format_1>("format");
  ASSERT_NE(format, nullptr);
  colibri_file files = {};
  files.struct_size = sizeof(files);
  files.count = 1;
  files.name = [](const colibri_file*, uint32_t) { return to_c("weights.toy"); };
  files.size = [](const colibri_file*, uint32_t) -> uint64_t { return 12; };
  files.read = [](const colibri_file*, uint32_t, uint64_t, void* to, uint64_t n,
                  colibri_error*) -> colibri_status {
    std::memcpy(to, "TOY1", n);
    return COLIBRI_OK;
  };
  void* model = nullptr;
  colibri_error error = empty_error();
  ASSERT_EQ(format->open(&files, &model, &error), COLIBRI_OK) << error.text;
  colibri_tensor_entry entry = {};
  entry.struct_size = sizeof(entry);
  EXPECT_EQ(format->tensor(model, 0, &entry), COLIBRI_OK);
  EXPECT_EQ(from_c(entry.name), "row");
  EXPECT_EQ(entry.shape[0], 2);
  EXPECT_EQ(entry.bytes, 8u);
  format->close(model);
  expect_all_checks_pass("format");
}

}  // namespace
}  // namespace colibri::plugin
