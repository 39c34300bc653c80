// SPDX-License-Identifier: Apache-2.0
// Models on the made-up device: the answers of the CPU by bytes, and what happens where there is no
// room or no kernel.
#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>
#include <thread>

#include "colibri/kernels.h"
#include "runtime/base/file.h"
#include "runtime/base/log.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

std::string logged;
void remember(int32_t, std::string_view line) {
  logged += std::string(line) + "\n";
}

constexpr char kSearch[] = "plugins.search=[" FOLDER "]";
constexpr char kThere[] = "placement=made_up_device:0";
constexpr char kExpertsHere[] = "placement={dense: made_up_device, experts: cpu}";
// What the device computes with, so that there is nothing else to differ.
constexpr char kReference[] =
    "plugins.operators={embed: cpu_generic, norm: cpu_generic, quantize_rows: cpu_generic, "
    "grouped_matmul: cpu_generic, rope: cpu_generic, kv_write: cpu_generic, attention: "
    "cpu_generic, "
    "mla_attention: cpu_generic, router: cpu_generic, combine: cpu_generic}";

using Texts = std::vector<std::string>;
Texts joined(Texts first, const Texts& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Logits of all positions of a prompt, then those of greedy decoding, one row after another.
std::vector<float> logits_of(const engine::Model& model, std::vector<int32_t>* ids) {
  auto context = model.create_context(std::min<int64_t>(model.plan().max_tokens, 64));
  EXPECT_TRUE(context.ok()) << context.status().text();
  if (!context.ok()) return {};
  const auto vocabulary = static_cast<size_t>(model.spec().vocabulary);
  std::vector<int32_t> prompt(21);
  for (size_t i = 0; i < prompt.size(); ++i) {
    prompt[i] = static_cast<int32_t>((7 * i + 3) % vocabulary);
  }
  std::vector<float> all(vocabulary * prompt.size());
  Status status = (*context)->forward(prompt, engine::LogitsOf::kAll, all.data());
  EXPECT_TRUE(status.ok()) << status.text();
  std::vector<float> last(all.end() - static_cast<std::ptrdiff_t>(vocabulary), all.end());
  for (int i = 0; status.ok() && i < 12; ++i) {
    ids->push_back(argmax(last.data(), vocabulary));
    status = (*context)->forward({&ids->back(), 1}, engine::LogitsOf::kLast, last.data());
    EXPECT_TRUE(status.ok()) << status.text();
    all.insert(all.end(), last.begin(), last.end());
  }
  // A prompt whose last row only is wanted, in a sequence that holds something already.
  (*context)->truncate(5);
  status = (*context)->forward({prompt.data() + 5, 9}, engine::LogitsOf::kNone, nullptr);
  EXPECT_TRUE(status.ok()) << status.text();
  status = (*context)->forward({prompt.data() + 14, 7}, engine::LogitsOf::kLast, last.data());
  EXPECT_TRUE(status.ok()) << status.text();
  all.insert(all.end(), last.begin(), last.end());
  return all;
}

// Settings that leave room on the device for all but the experts and this part of them.
Texts room_for_some(const std::string& path, const Texts& settings, double part) {
  const auto memory = memory_for_some(path, joined(settings, {kSearch, kExpertsHere}), part);
  EXPECT_TRUE(memory.ok()) << memory.status().text();
  return {memory.ok() ? *memory : "", "placement={dense: made_up_device}"};
}

void expect_same_answers(const std::string& path, const Texts& settings) {
  SCOPED_TRACE(path);
  const Texts common = joined({kSearch, "context.prefill_chunk=7", "threads.count=2"}, settings);
  const auto cpu = load_model(path, joined(common, {kReference}));
  ASSERT_TRUE(cpu.ok()) << cpu.status().text();
  std::vector<int32_t> cpu_ids;
  const std::vector<float> want = logits_of(**cpu, &cpu_ids);
  for (const Texts& place : {Texts{kThere}, Texts{kExpertsHere},
                             Texts{kExpertsHere, "experts.budget=80%", "experts.prefetch=idle"}}) {
    SCOPED_TRACE(place[0] + (place.size() > 1 ? ", " + place[1] : ""));
    const auto device = load_model(path, joined(common, place));
    ASSERT_TRUE(device.ok()) << device.status().text();
    EXPECT_EQ((*device)->plan().device->name(), "made_up_device:0");
    const bool has_store = place[0] == kExpertsHere && (*cpu)->store() != nullptr;
    EXPECT_EQ((*device)->store() != nullptr, has_store);
    EXPECT_EQ((*device)->plan().memory.dense, 0u);
    std::vector<int32_t> ids;
    EXPECT_EQ(logits_of(**device, &ids), want);
    EXPECT_EQ(ids, cpu_ids);
  }
  if ((*cpu)->store() == nullptr) return;
  for (const Texts& more :
       {Texts{"experts.budget=all"}, Texts{"experts.budget=60%"},
        Texts{"experts.budget=80%", "experts.prefetch=idle", "experts.policy={plugin: lfu}"}}) {
    SCOPED_TRACE("some on the device, " + more[0]);
    const Texts all = joined(joined(common, more), room_for_some(path, common, 0.5));
    const auto device = load_model(path, all);
    ASSERT_TRUE(device.ok()) << device.status().text();
    const engine::Plan& plan = (*device)->plan();
    ASSERT_GT(plan.device_memory.shared_slots, 0u) << plan.why_not_there;
    std::vector<int32_t> ids;
    EXPECT_EQ(logits_of(**device, &ids), want);
    EXPECT_EQ(ids, cpu_ids);
    // Once more, now that experts have come.
    const experts::Counters before = (*device)->tier()->counters();
    ids.clear();
    EXPECT_EQ(logits_of(**device, &ids), want);
    const experts::Counters after = (*device)->tier()->counters();
    EXPECT_GT(before.loads, 0u);
    EXPECT_GT(after.hits, before.hits);
    EXPECT_GT(after.misses, before.misses);
  }
}

TEST(Placement, TheDemoAnswersAsOnTheCpu) {
  expect_same_answers("models/demo", {});
  expect_same_answers("models/demo", {"context.kv=q8_0", "model.quantize=q8_0"});
}

// Every part of the forward pass: dense and shared ffns, biases, sinks, norms of queries and keys,
// latent attention with and without a latent of the query, float and integer products.
TEST(Placement, FamiliesAnswerAsOnTheCpu) {
  for (const char* name : {"deepseek_v2_lite_bf16", "deepseek_v3_bf16", "gpt_oss_bf16",
                           "invented_f32", "llama_bias_f32", "qwen2_moe_step_f32"}) {
    expect_same_answers(std::string("tests/golden/models/") + name, {"context.kv=f32"});
  }
  expect_same_answers("tests/golden/models/deepseek_v3_bf16", {"model.quantize=q8_0"});
}

TEST(Placement, SequencesOfABatchAnswerAsAlone) {
  const auto model = load_model("models/demo", {kSearch, kThere, "context.max_tokens=64"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  const auto vocabulary = static_cast<size_t>((*model)->spec().vocabulary);
  const std::vector<std::vector<int32_t>> prompts = {{1, 17, 33}, {60}, {25, 40, 2, 9, 11}};
  auto batch = (*model)->create_batch();
  ASSERT_TRUE(batch.ok()) << batch.status().text();
  std::vector<std::unique_ptr<engine::Context>> contexts;
  std::vector<engine::Chunk> chunks;
  std::vector<float> alone, together(vocabulary * prompts.size());
  for (const auto& prompt : prompts) {
    auto single = (*model)->create_context(64);
    ASSERT_TRUE(single.ok()) << single.status().text();
    std::vector<float> logits(vocabulary);
    ASSERT_TRUE((*single)->forward(prompt, engine::LogitsOf::kLast, logits.data()).ok());
    alone.insert(alone.end(), logits.begin(), logits.end());
    contexts.push_back(std::move(*(*model)->create_context(64, *batch)));
    chunks.push_back({contexts.back().get(), prompt, engine::LogitsOf::kLast});
  }
  const Status status = (*batch)->forward(chunks, together.data());
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(together, alone);
}

TEST(Placement, WhatIsPlannedForTheDeviceIsWhatIsTaken) {
  for (const Texts& place :
       {Texts{kThere}, Texts{kExpertsHere}, room_for_some("models/demo", {}, 0.6)}) {
    SCOPED_TRACE(place.back());
    const auto model = load_model("models/demo", joined({kSearch}, place));
    ASSERT_TRUE(model.ok()) << model.status().text();
    const engine::Plan& plan = (*model)->plan();
    const auto context = (*model)->create_context(plan.max_tokens);
    ASSERT_TRUE(context.ok()) << context.status().text();
    const auto free = plan.device->free_memory();
    ASSERT_TRUE(free.ok()) << free.status().text();
    EXPECT_EQ(*free + plan.device_memory.total(), plan.device->info().memory_bytes);
    EXPECT_EQ(plan.memory.dense + plan.memory.kv + plan.memory.rope, 0u);
    EXPECT_EQ(plan.memory.experts, plan.memory.experts_all);
    const uint64_t slots = (*model)->tier() == nullptr ? 0 : (*model)->tier()->slots();
    EXPECT_EQ(plan.device_memory.slots, slots);
    EXPECT_EQ(plan.device_memory.experts, slots * plan.memory.slot);
    const bool all_there = place[0] == kThere;
    EXPECT_EQ(plan.memory.experts_all, all_there ? 0 : plan.all_experts() * plan.memory.slot);
  }
}

TEST(Placement, OfExpertsThatDoNotFitAsManyAsDoComeToTheDevice) {
  const Texts room = joined({kSearch}, room_for_some("models/demo", {}, 0.5));
  const auto plan = make_plan("models/demo", room);
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  const uint64_t all = (*plan)->memory.all_slots();
  EXPECT_EQ((*plan)->device_memory.shared_slots, all / 2);
  EXPECT_EQ((*plan)->device_memory.slots, all / 2);
  EXPECT_LE((*plan)->device_memory.total(), (*plan)->device_memory.granted);
  EXPECT_TRUE(
      (*plan)->why_not_there.starts_with("all experts on made_up_device:0: the model needs "))
      << (*plan)->why_not_there;

  // A device that is merely preferred gets them, too; asked for by name, it has to take them all.
  const Texts settings = {room[0], room[1]};
  const auto preferred =
      make_plan("models/demo", joined(settings, {"plugins.prefer=[made_up_device]"}));
  ASSERT_TRUE(preferred.ok()) << preferred.status().text();
  EXPECT_EQ((*preferred)->device_memory.shared_slots, all / 2);
  EXPECT_EQ(make_plan("models/demo", joined(settings, {"placement={experts: made_up_device}"}))
                .status()
                .code(),
            COLIBRI_OUT_OF_MEMORY);
}

TEST(Placement, WithoutRoomForAnExpertOfEachLayerAllStayInTheHostsMemory) {
  const Texts room = room_for_some("models/demo", {}, 0.01);
  const auto plan = make_plan("models/demo", joined({kSearch}, room));
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_NE((*plan)->device, nullptr);
  EXPECT_EQ((*plan)->device_memory.slots, 0u);
  EXPECT_NE((*plan)->why_not_there.find("; some of them: one of each layer needs "),
            std::string::npos)
      << (*plan)->why_not_there;
}

TEST(Placement, NoTierWhereAnswersWouldDependOnItOrMemoryIsTheHosts) {
  const auto placed = [](const std::string& folder, const std::string& device, Texts settings) {
    settings.push_back("plugins.search=[" + folder + "]");
    const auto memory = memory_for_some(
        "models/demo", joined(settings, {"placement={dense: " + device + ", experts: cpu}"}), 0.5);
    EXPECT_TRUE(memory.ok()) << memory.status().text();
    if (!memory.ok()) return std::string();
    const auto plan =
        make_plan("models/demo", joined(settings, {*memory, "placement={dense: " + device + "}"}));
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    if (!plan.ok()) return std::string();
    return (*plan)->device_memory.shared_slots > 0 ? "shared" : (*plan)->why_not_there;
  };
  const std::string other = FOLDER "/deterministic";
  EXPECT_NE(placed(other, "made_up_deterministic", {})
                .find("; some of them: numerics (default): answers would depend on which experts"),
            std::string::npos);
  EXPECT_EQ(placed(other, "made_up_deterministic", {"numerics=fastest"}), "shared");
  EXPECT_NE(
      placed(FOLDER, "made_up_device", {"plugins.options={made_up_device: {shares_memory: 1}}"})
          .find("; some of them: its memory is the host's"),
      std::string::npos);
}

// Layers whose experts are there, here, and in both places, in one model.
TEST(Placement, LayersOfExpertsLieWhereThePipelineSays) {
  const std::string path = "tests/golden/models/granitemoe_bias_f32";
  const auto whole = load_model(path, {kSearch, "threads.count=2", kReference});
  ASSERT_TRUE(whole.ok()) << whole.status().text();
  const size_t n = (*whole)->spec().layers.size();
  ASSERT_GE(n, 3u);
  std::vector<int32_t> want_ids;
  const std::vector<float> want = logits_of(**whole, &want_ids);
  const Texts settings = {kSearch, "threads.count=2", "experts.budget=60%",
                          "experts.prefetch=idle"};
  const uint64_t of_layer = static_cast<uint64_t>((*whole)->spec().experts);
  const std::string rest = std::to_string(n - 1);
  const std::string others = "2-" + rest;
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    Texts all = settings;
    if (shared)
      all = joined(all, {room_for_some(path, settings, (1.5 / static_cast<double>(n)))[0]});
    const auto model = load_model(
        path,
        joined(all, {"placement={dense: made_up_device, experts: {0: made_up_device, 1: cpu, " +
                     others + (shared ? ": auto}}" : ": cpu}}")}));
    ASSERT_TRUE(model.ok()) << model.status().text();
    const engine::Plan& plan = (*model)->plan();
    EXPECT_EQ(plan.memory.all_slots(), of_layer * (n - 1));
    EXPECT_EQ(plan.device_memory.slots, of_layer + plan.device_memory.shared_slots);
    EXPECT_EQ(plan.device_memory.shared_slots > 0, shared);
    EXPECT_LT(plan.device_memory.shared_slots, of_layer);
    for (int round = 0; round < 2; ++round) {
      std::vector<int32_t> ids;
      EXPECT_EQ(logits_of(**model, &ids), want);
      EXPECT_EQ(ids, want_ids);
    }
  }
  // Layers that are not named go where there is room.
  const auto rest_there =
      make_plan(path, {kSearch, "placement={dense: made_up_device, experts: {1: cpu}}"});
  ASSERT_TRUE(rest_there.ok()) << rest_there.status().text();
  EXPECT_EQ((*rest_there)->device_memory.slots, of_layer * (n - 1));
  EXPECT_EQ((*rest_there)->memory.all_slots(), of_layer);

  const auto refusal = [&](const std::string& placement) {
    return make_plan(path, {kSearch, "placement=" + placement}).status().text();
  };
  EXPECT_EQ(refusal("{experts: {0-99: cpu}}"), "--set: placement.experts.0-99: the model has " +
                                                   std::to_string(n) + " layers, numbered from 0");
  EXPECT_EQ(refusal("{dense: cpu, experts: {0: made_up_device}}"),
            "--set: placement.experts.0: experts lie on the device of all else (placement.dense), "
            "or on the CPU");
  EXPECT_EQ(refusal("{experts: {0: made_up_device, 1: cuda}}"),
            "--set: placement.experts.1: experts lie on the device of all else "
            "(placement.experts), or on the CPU");
}

// What a sequence gets does not depend on what others, at the same time, bring to the device.
TEST(Placement, ParallelSequencesOverOneTierAnswerAsAlone) {
  const Texts settings = {kSearch, "context.max_tokens=64", "threads.count=1"};
  const auto model =
      load_model("models/demo", joined(settings, room_for_some("models/demo", settings, 0.4)));
  ASSERT_TRUE(model.ok()) << model.status().text();
  ASSERT_NE((*model)->tier(), nullptr);
  const auto alone = load_model("models/demo", joined(settings, {kReference}));
  ASSERT_TRUE(alone.ok()) << alone.status().text();
  std::vector<int32_t> want_ids;
  const std::vector<float> want = logits_of(**alone, &want_ids);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        std::vector<int32_t> ids;
        EXPECT_EQ(logits_of(**model, &ids), want);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An expert that cannot be read fails its request and no other, and leaves nothing in the tier that
// was not copied.
TEST(Placement, AReadThatFailsLeavesTheTierUsable) {
  const Texts settings = {kSearch, "context.max_tokens=64", "experts.budget=40%"};
  const auto model =
      load_model("models/demo", joined(settings, room_for_some("models/demo", settings, 0.4)));
  ASSERT_TRUE(model.ok()) << model.status().text();
  std::vector<int32_t> want_ids, ids;
  const auto alone =
      load_model("models/demo", joined({kSearch, "context.max_tokens=64"}, {kReference}));
  ASSERT_TRUE(alone.ok()) << alone.status().text();
  const std::vector<float> want = logits_of(**alone, &want_ids);
  const auto context = (*model)->create_context(64);
  ASSERT_TRUE(context.ok()) << context.status().text();
  std::vector<float> logits(static_cast<size_t>((*model)->spec().vocabulary));
  const std::vector<int32_t> prompt = {5, 9, 20, 33, 47};
  int failures = 0;
  fault_injection::set_read_fault(
      [](const std::filesystem::path&, uint64_t, uint64_t) { return -EIO; });
  for (int i = 0; i < 3; ++i) {
    failures += (*context)->forward(prompt, engine::LogitsOf::kLast, logits.data()).ok() ? 0 : 1;
  }
  fault_injection::set_read_fault({});
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(logits_of(**model, &ids), want);
  EXPECT_EQ(ids, want_ids);
}

TEST(Placement, AModelThatDoesNotFitIsRefusedOrRunsOnTheCpu) {
  constexpr char kSmall[] = "plugins.options={made_up_device: {room_kib: 64}}";
  const Status refusal = make_plan("models/demo", {kSearch, kThere, kSmall}).status();
  EXPECT_EQ(refusal.code(), COLIBRI_OUT_OF_MEMORY);
  EXPECT_TRUE(refusal.text().starts_with("--set: placement: the model needs ")) << refusal.text();
  EXPECT_TRUE(refusal.text().ends_with(
      "devices.memory (default) grants 54.4 KiB of the 64.0 KiB that are free there"))
      << refusal.text();

  set_log_sink(remember);
  logged.clear();
  const auto plan = make_plan("models/demo", {kSearch, kSmall, "plugins.prefer=[made_up_device]"});
  set_log_sink(nullptr);
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_EQ((*plan)->device, nullptr);
  EXPECT_TRUE(logged.starts_with(
      "placement (default): running on the CPU: made_up_device:0: the model needs "))
      << logged;
  EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
}

TEST(Placement, AnOperatorThatTheDeviceLacksIsRefusedOrRunsOnTheCpu) {
  const std::string lacks =
      "plugins.options={made_up_device: {lacks: " + std::to_string(COLIBRI_OP_ROUTER) + "}}";
  const Status refusal = make_plan("models/demo", {kSearch, kThere, lacks}).status();
  EXPECT_EQ(refusal.code(), COLIBRI_UNSUPPORTED);
  EXPECT_TRUE(refusal.text().starts_with(
      "--set: placement: layer 0: router.choice: made_up_device does not compute router"))
      << refusal.text();
  EXPECT_TRUE(refusal.text().ends_with(": was told to lack it")) << refusal.text();

  set_log_sink(remember);
  logged.clear();
  const auto plan = make_plan("models/demo", {kSearch, lacks, "plugins.prefer=[made_up_device]"});
  set_log_sink(nullptr);
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_EQ((*plan)->device, nullptr);
  EXPECT_TRUE(logged.ends_with(": was told to lack it\n")) << logged;
}

TEST(Placement, OnlyADeviceThatIsAskedForIsTaken) {
  const auto where = [](const Texts& settings) -> std::string {
    const auto plan = make_plan("models/demo", joined({kSearch}, settings));
    if (!plan.ok()) return plan.status().text();
    return (*plan)->device == nullptr ? "cpu" : (*plan)->device->name();
  };
  EXPECT_EQ(where({}), "cpu");
  EXPECT_EQ(where({"plugins.prefer=[made_up_device]"}), "made_up_device:0");
  EXPECT_EQ(where({"plugins.operators={norm: made_up_device}"}), "made_up_device:0");
  EXPECT_EQ(where({"numerics=fastest"}), "cpu");
  EXPECT_EQ(where({"plugins.prefer=[made_up_device]", "placement=cpu"}), "cpu");
  EXPECT_EQ(where({"placement=made_up_device"}), "made_up_device:0");
  EXPECT_EQ(where({"placement={dense: made_up_device}"}), "made_up_device:0");
  EXPECT_EQ(where({"placement={experts: made_up_device}"}), "made_up_device:0");
  EXPECT_EQ(where({"placement={dense: cpu, experts: made_up_device}"}),
            "--set: placement.experts: experts lie on the device of all else (placement.dense), or "
            "on the CPU");
  EXPECT_EQ(where({"placement=made_up_device:1"}),
            "--set: placement: made_up_device has 1 device, numbered from 0");
  EXPECT_EQ(where({"placement=cpu_generic"}),
            "--set: placement: plugin cpu_generic does not offer colibri.device/0; these do: "
            "made_up_device");
  EXPECT_TRUE(where({"placement=made_up"}).starts_with("--set: placement: no plugin 'made_up'"))
      << where({"placement=made_up"});
}

TEST(Placement, ExpertsThatStreamAreNotForADevice) {
  const Status refusal = make_plan("models/demo", {kSearch, kThere, "experts.budget=50%"}).status();
  EXPECT_EQ(refusal.code(), COLIBRI_UNSUPPORTED);
  EXPECT_NE(refusal.text().find("experts.budget: a device holds all experts"), std::string::npos)
      << refusal.text();
  auto model = load_model("models/demo", {kSearch, kThere, "experts.budget=all"});
  ASSERT_TRUE(model.ok()) << model.status().text();
  EXPECT_EQ((*model)->set_expert_budget(1 << 20).text(),
            "all experts lie on made_up_device:0: there is no budget to set");
}

TEST(Placement, ADeviceThatHasLessThanItSaidIsAClearError) {
  const Texts settings = {kSearch, kThere,
                          "plugins.options={made_up_device: {room_kib: 64, promised_kib: 65536}}"};
  const Status refusal = load_model("models/demo", settings).status();
  EXPECT_EQ(refusal.code(), COLIBRI_OUT_OF_MEMORY);
  EXPECT_TRUE(refusal.text().starts_with("made_up_device:0: no ")) << refusal.text();
  EXPECT_TRUE(refusal.text().ends_with(": no room")) << refusal.text();
}

}  // namespace
}  // namespace colibri::test
