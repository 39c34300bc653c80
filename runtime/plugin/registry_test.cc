// SPDX-License-Identifier: Apache-2.0
// With plugins that are linked in; tests/bad_plugins does the same with files.
#include "runtime/plugin/registry.h"

#include <gtest/gtest.h>

#include <cstring>

#include "colibri/sampler.h"
#include "runtime/base/log.h"
#include "runtime/plugin/made_up_device.h"
#include "runtime/plugin/static_plugins.h"

namespace colibri::plugin {
namespace {

constexpr char kSampler[] = "colibri.sampler/1";

int opens = 0;
int closes = 0;
double opened_with = 0;

constexpr colibri_sampler_1 kTable = {
    sizeof(colibri_sampler_1),
    [](const colibri_host*, uint32_t) -> uint64_t { return 0; },
    [](const colibri_host*, uint32_t, void*, colibri_error*) -> colibri_status {
      return COLIBRI_OK;
    },
    nullptr,
    [](void*, colibri_candidates*) -> colibri_status { return COLIBRI_OK; },
    nullptr};

const void* interfaces(const char* id) {
  return std::strcmp(id, kSampler) == 0 ? &kTable : nullptr;
}

colibri_status counted_open(const colibri_host* host, colibri_error*) {
  ++opens;
  colibri_value value = {};
  value.struct_size = sizeof(value);
  if (host->option(host, to_c("value"), &value) == COLIBRI_OK) opened_with = value.f;
  return COLIBRI_OK;
}
void counted_close() {
  ++closes;
}

constexpr colibri_plugin plugin_of(const char* id) {
  return {sizeof(colibri_plugin), 0, id, "1.0.0", nullptr, nullptr, interfaces};
}
constexpr colibri_plugin kFirst = plugin_of("first");
constexpr colibri_plugin kSecond = plugin_of("second");
constexpr colibri_plugin kLowest = plugin_of("lowest");
constexpr colibri_plugin kForeign = plugin_of("foreign");
constexpr colibri_plugin kOpened = {
    sizeof(colibri_plugin), 0, "opened", "1.0.0", counted_open, counted_close, interfaces};

constexpr ProbeAnswer kThere = {COLIBRI_OK, 2, ""};
constexpr ProbeAnswer kNotThere = {COLIBRI_UNSUPPORTED, 0, "no such device on this machine"};
constexpr ProbeAnswer kBroken = {COLIBRI_DEVICE_LOST, 0, "the device hangs"};
constexpr ProbeAnswer kNone = {COLIBRI_OK, 0, ""};

template <const colibri_device_0& table>
constexpr colibri_plugin device_plugin(const char* id) {
  return {sizeof(colibri_plugin), 0, id, "1.0.0", nullptr, nullptr, [](const char* interface) {
            return std::strcmp(interface, "colibri.device/0") == 0
                       ? static_cast<const void*>(&table)
                       : interfaces(interface);
          }};
}
constexpr colibri_device_0 incomplete(colibri_device_0 table) {
  table.event_wait = nullptr;
  return table;
}
constexpr colibri_device_0 of_another_draft(colibri_device_0 table) {
  table.draft += 1;
  return table;
}
constexpr colibri_device_0 kThereTable = made_up_device<kThere>();
constexpr colibri_device_0 kNotThereTable = made_up_device<kNotThere>();
constexpr colibri_device_0 kBrokenTable = made_up_device<kBroken>();
constexpr colibri_device_0 kNoneTable = made_up_device<kNone>();
constexpr colibri_device_0 kIncompleteTable = incomplete(kThereTable);
constexpr colibri_device_0 kDraftTable = of_another_draft(kThereTable);
constexpr colibri_plugin kDevices[] = {
    device_plugin<kThereTable>("there"),           device_plugin<kNotThereTable>("not_there"),
    device_plugin<kBrokenTable>("broken"),         device_plugin<kNoneTable>("none"),
    device_plugin<kIncompleteTable>("incomplete"), device_plugin<kDraftTable>("other_draft")};

std::string logged;
void remember(int32_t, std::string_view line) {
  logged += std::string(line) + "\n";
}

std::string manifest(const char* id, const char* rest) {
  return std::string(
             R"({"abi":"1.0","version":"1.0.0","interfaces":["colibri.sampler/1"],"id":")") +
         id + "\"" + rest + "}";
}

class RegistryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto add = [](const colibri_plugin& table, const char* rest) {
      const Status status = register_static(&table, manifest(table.id, rest).c_str());
      ASSERT_TRUE(status.ok()) << status.text();
    };
    add(kLowest, R"(,"rank":-5)");
    add(kSecond, R"(,"rank":1)");
    add(kFirst, R"(,"rank":1)");
    add(kForeign, R"(,"requires":{"arch":"x86_64","cpu":["avx2","amx_int8"]})");
    for (const colibri_plugin& device : kDevices) {
      const std::string text =
          R"({"abi":"1.0","version":"1.0.0","interfaces":["colibri.device/0"],"id":")" +
          std::string(device.id) + "\"}";
      ASSERT_TRUE(register_static(&device, text.c_str()).ok());
    }
    add(kOpened,
        R"(,"rank":-9,"options":[{"name":"value","type":"float","default":0.5,"doc":"d"}])");
  }

  RegistryTest() {
    request_.search_installed = false;
    profile_.architecture = "x86_64";
    profile_.cpu_features = {"avx2"};
  }

  std::unique_ptr<Registry> create() {
    auto registry = Registry::create(request_, profile_);
    EXPECT_TRUE(registry.ok()) << registry.status().text();
    if (!registry.ok()) return nullptr;
    return std::move(*registry);
  }
  Status refusal() { return Registry::create(request_, profile_).status(); }
  config::Value yaml(const std::string& text) {
    config::Problems problems;
    return config::parse_yaml(text, "p.yaml", problems).value();
  }

  Request request_;
  machine::Profile profile_;
};

std::vector<std::string> ids(const std::vector<std::shared_ptr<const Plugin>>& plugins) {
  std::vector<std::string> all;
  for (const auto& plugin : plugins) all.push_back(plugin->id());
  return all;
}
using Ids = std::vector<std::string>;

TEST_F(RegistryTest, RankThenIdDecides) {
  EXPECT_EQ(ids(create()->offers(kSampler)), (Ids{"first", "second", "lowest", "opened"}));
  EXPECT_TRUE(create()->offers("colibri.format/1").empty());
}

TEST_F(RegistryTest, PreferredOnesStandFirst) {
  request_.prefer = {"lowest", "second"};
  EXPECT_EQ(ids(create()->offers(kSampler)), (Ids{"lowest", "second", "first", "opened"}));
}

TEST_F(RegistryTest, RefusalsKeepTheirReason) {
  request_.deny = {"second"};
  const auto registry = create();
  std::map<std::string, std::string> reasons;
  for (const Decision& decision : registry->decisions()) reasons[decision.id] = decision.reason;
  EXPECT_EQ(reasons["first"], "");
  EXPECT_EQ(reasons["second"], "denied by plugins.deny");
  EXPECT_EQ(reasons["foreign"], "needs amx_int8, which this machine lacks");
  profile_.architecture = "aarch64";
  profile_.cpu_features = {"asimd"};
  const auto elsewhere = create();
  for (const Decision& decision : elsewhere->decisions()) reasons[decision.id] = decision.reason;
  EXPECT_EQ(reasons["foreign"], "for x86_64, this machine is aarch64");
}

TEST_F(RegistryTest, FindSaysWhyNot) {
  request_.deny = {"second"};
  const auto registry = create();
  EXPECT_EQ((*registry->find(kSampler, "first"))->id(), "first");
  EXPECT_EQ(registry->find(kSampler, "second").status().text(),
            "plugin second cannot be used: denied by plugins.deny ((linked in))");
  EXPECT_EQ(
      registry->find(kSampler, "frist").status().text(),
      "no plugin 'frist' for colibri.sampler/1 (did you mean 'first'? allowed: first, lowest, "
      "opened)");
  EXPECT_EQ(registry->find("colibri.format/1", "first").status().text(),
            "plugin first does not offer colibri.format/1; these do: none");
}

TEST_F(RegistryTest, DevicesAreAskedWhetherTheyAreThere) {
  const auto registry = create();
  std::map<std::string, std::string> reasons;
  for (const Decision& decision : registry->decisions()) reasons[decision.id] = decision.reason;
  EXPECT_TRUE(registry->find("colibri.device/0", "there").ok());
  EXPECT_EQ(reasons["there"], "");
  EXPECT_EQ(reasons["not_there"], "no such device on this machine");
  EXPECT_EQ(reasons["broken"], "the device hangs");
  EXPECT_EQ(reasons["none"], "probe found no device and gave no reason");
  EXPECT_EQ(reasons["incomplete"], "colibri_device_0.event_wait is null");
  EXPECT_EQ(reasons["other_draft"],
            "built from draft 2 of device.h, this host from draft 1; rebuild the plugin");
}

TEST_F(RegistryTest, AMachineThatLacksWhatIsPreferredRunsWithoutIt) {
  set_log_sink(remember);
  logged.clear();
  request_.prefer = {"not_there", "foreign", "there", "second"};
  EXPECT_EQ(ids(create()->offers(kSampler)).front(), "second");
  set_log_sink(nullptr);
  EXPECT_EQ(logged,
            "plugins.prefer: running without plugin not_there: no such device on this machine\n"
            "plugins.prefer: running without plugin foreign: needs amx_int8, which this machine "
            "lacks\n");
}

TEST_F(RegistryTest, APreferenceThatCannotBeHonouredAnywhereIsAnError) {
  request_.prefer = {"first"};
  request_.deny = {"first"};
  EXPECT_EQ(refusal().text(),
            "plugins.prefer: plugin first cannot be used: denied by plugins.deny");
  request_.deny.clear();
  request_.prefer = {"broken"};
  EXPECT_EQ(refusal().text(), "plugins.prefer: plugin broken cannot be used: the device hangs");
  request_.prefer = {"secnd"};
  EXPECT_EQ(refusal().code(), COLIBRI_NOT_FOUND);
  EXPECT_TRUE(refusal().text().starts_with(
      "plugins.prefer: no plugin has the id 'secnd' (did you mean 'second'?"));
}

TEST_F(RegistryTest, ADeniedIdThatNobodyHasIsAnError) {
  request_.deny = {"lowst"};
  EXPECT_TRUE(refusal().text().starts_with(
      "plugins.deny: no plugin has the id 'lowst' (did you mean 'lowest'?"))
      << refusal().text();
}

TEST_F(RegistryTest, OptionsAreCheckedEvenOfRefusedPlugins) {
  request_.options["foreign"] = yaml("{x: 1}");
  EXPECT_EQ(refusal().text(),
            "p.yaml:1:2: plugins.options.foreign.x: plugin foreign has no such option; it has none "
            "at all");
  request_.options.clear();
  request_.options["nobody"] = yaml("{}");
  EXPECT_EQ(refusal().code(), COLIBRI_INVALID_ARGUMENT);
}

TEST_F(RegistryTest, OpenOnceForAllUsersAndCloseAfterTheLast) {
  auto one = create();
  opens = closes = 0;
  auto two = create();
  auto kept = *two->find(kSampler, "opened");
  EXPECT_EQ(opens, 0) << "it is open already";
  one.reset();
  two.reset();
  EXPECT_EQ(closes, 0) << "still in use";
  kept.reset();
  EXPECT_EQ(closes, 1);
  request_.options["opened"] = yaml("{value: 2}");
  one = create();
  EXPECT_EQ(opens, 1);
  EXPECT_EQ(opened_with, 2);
}

TEST_F(RegistryTest, TwoModelsCannotGiveOnePluginDifferentOptions) {
  const auto one = create();
  request_.options["opened"] = yaml("{value: 2}");
  EXPECT_EQ(create()->find(kSampler, "opened").status().text(),
            "plugin opened cannot be used: another model of this process uses it with other "
            "plugins.options ((linked in))");
}

TEST_F(RegistryTest, InstancesHaveTheirOwnOptions) {
  request_.options["opened"] = yaml("{value: 2}");
  const auto plugin = *create()->find(kSampler, "opened");
  const auto plain = Instance::create(plugin, config::Value(), "sampling.0.options");
  const auto own = Instance::create(plugin, yaml("{value: 3}"), "sampling.1.options");
  const auto wrong = Instance::create(plugin, yaml("{valu: 3}"), "sampling.2.options");
  ASSERT_TRUE(plain.ok() && own.ok());
  const auto value_of = [](const Instance& instance) {
    colibri_value value = {};
    value.struct_size = sizeof(value);
    EXPECT_EQ(instance.host()->option(instance.host(), to_c("value"), &value), COLIBRI_OK);
    EXPECT_EQ(value.kind, uint32_t{COLIBRI_VALUE_FLOAT});
    EXPECT_EQ(instance.host()->option(instance.host(), to_c("other"), &value), COLIBRI_NOT_FOUND);
    return value.f;
  };
  EXPECT_EQ(value_of(**plain), 2);
  EXPECT_EQ(value_of(**own), 3);
  EXPECT_EQ(wrong.status().text(),
            "p.yaml:1:2: sampling.2.options.valu: plugin opened has no such option (did you mean "
            "'value'? allowed: value)");
}

TEST_F(RegistryTest, ASearchFolderThatIsNotThereIsAnError) {
  request_.search = {"/nowhere/at/all"};
  EXPECT_EQ(refusal().text(), "plugins.search: no folder /nowhere/at/all");
}

TEST_F(RegistryTest, ExplainTellsEveryCandidate) {
  request_.deny = {"second", "lowest", "opened", "first"};
  EXPECT_EQ(create()->explain(kSampler),
            "no usable plugin offers colibri.sampler/1; candidates:\n"
            "  first, (linked in): denied by plugins.deny\n"
            "  second, (linked in): denied by plugins.deny\n"
            "  foreign, (linked in): needs amx_int8, which this machine lacks\n"
            "  lowest, (linked in): denied by plugins.deny\n"
            "  opened, (linked in): denied by plugins.deny");
}

TEST_F(RegistryTest, RegisteringIsChecked) {
  EXPECT_EQ(register_static(nullptr, "{}").code(), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(register_static(&kFirst, "{}").text(), "manifest: id is missing");
  EXPECT_EQ(register_static(&kFirst, manifest("first", "").c_str()).text(),
            "a plugin with the id first is already registered");
  EXPECT_EQ(register_static(&kFirst, manifest("other", "").c_str()).text(),
            "the manifest says id other, the code says first");
}

}  // namespace
}  // namespace colibri::plugin
