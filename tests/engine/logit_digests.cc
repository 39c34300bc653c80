// SPDX-License-Identifier: Apache-2.0
// The invariance matrix: the bytes of all logits are the same for any number of threads, prefill
// chunk, expert budget and CPU plugin, and on every machine.
//
//   colibri_logit_digests GOLDEN_FOLDER [--quick] [--write]
//
// Compares digests of logits with GOLDEN_FOLDER/digests.txt, in every configuration and with every
// kernel plugin that this machine can run. --quick: few models and configurations, for emulators.
// --write: makes the file from the scalar reference. Exit 0 if all agree.
#include <xxhash.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/machine/profile.h"
#include "runtime/plugin/registry.h"
#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using Settings = std::vector<std::string>;

constexpr size_t kPrompt = 33;  // longer than two KV blocks and the windows
constexpr int kDecoded = 12;

// The digest of all logits of a prompt and some greedy tokens behind it.
Result<uint64_t> digest(const std::filesystem::path& folder, const Settings& settings) {
  COLIBRI_ASSIGN(const auto model, load_model(folder, settings));
  COLIBRI_ASSIGN(const auto context, model->create_context(kPrompt + kDecoded));
  const auto vocabulary = static_cast<size_t>(model->spec().vocabulary);
  std::vector<int32_t> prompt(kPrompt);
  for (size_t i = 0; i < kPrompt; ++i) {
    prompt[i] = static_cast<int32_t>((i * i + 7 * i + 3) % vocabulary);
  }
  std::vector<float> logits(kPrompt * vocabulary);
  COLIBRI_TRY(context->forward(prompt, engine::LogitsOf::kAll, logits.data()));
  XXH64_hash_t hash = XXH3_64bits(logits.data(), logits.size() * sizeof(float));
  logits.erase(logits.begin(), logits.end() - static_cast<std::ptrdiff_t>(vocabulary));
  for (int i = 0; i < kDecoded; ++i) {
    const int32_t id = argmax(logits.data(), vocabulary);
    COLIBRI_TRY(context->forward({&id, 1}, engine::LogitsOf::kLast, logits.data()));
    hash = XXH3_64bits_withSeed(logits.data(), logits.size() * sizeof(float), hash);
  }
  return uint64_t{hash};
}

// What changes the answer: each has a digest of its own.
struct Mode {
  std::string name;
  Settings settings;
};
const std::vector<Mode> kModes = {
    {"stored-f32", {"context.kv=f32"}},      {"stored-f16", {"context.kv=f16"}},
    {"stored-kv-q8_0", {"context.kv=q8_0"}}, {"q8_0", {"model.quantize=q8_0"}},
    {"q4_0", {"model.quantize=q4_0"}},
};

// What must not change it.
enum class Extent { kOne, kTwo, kAll };
std::vector<Settings> placements(Extent extent) {
  const Settings unusual = {"threads.count=2", "context.prefill_chunk=7", "experts.budget=floor"};
  if (extent == Extent::kOne) return {unusual};
  if (extent == Extent::kTwo) return {{}, unusual};
  std::vector<Settings> all;
  for (const char* threads : {"1", "2", "4"}) {
    for (const char* chunk : {"1", "7", "512"}) {
      all.push_back(
          {std::string("threads.count=") + threads, std::string("context.prefill_chunk=") + chunk});
    }
  }
  for (const char* budget : {"floor", "top_k-1", "half", "all"}) {
    all.push_back(
        {"threads.count=2", "context.prefill_chunk=7", std::string("experts.budget=") + budget});
  }
  return all;
}

// Budgets in experts become bytes once the size of one is known.
Status resolve_budget(const std::filesystem::path& folder, const Settings& mode,
                      Settings& settings) {
  for (std::string& setting : settings) {
    const std::string prefix = "experts.budget=";
    const std::string value =
        setting.starts_with(prefix) ? setting.substr(prefix.size()) : std::string("all");
    if (value == "all") continue;
    COLIBRI_ASSIGN(const auto plan, make_plan(folder, mode));
    const uint64_t all = plan->memory.all_slots();
    const auto top_k = static_cast<uint64_t>(plan->spec.top_k);
    if (all == 0) {  // no layer has experts
      setting = prefix + "all";
      continue;
    }
    uint64_t slots = 2;
    if (value == "half") slots = all / 2;
    if (value == "top_k-1") slots = std::max<uint64_t>(top_k - 1, 2);
    setting = prefix + std::to_string(slots * plan->memory.slot);
  }
  return {};
}

Result<std::vector<std::string>> kernel_plugins() {
  COLIBRI_ASSIGN(const machine::Profile profile, machine::Profile::detect());
  COLIBRI_ASSIGN(const auto registry, plugin::Registry::create({}, profile));
  std::vector<std::string> ids;
  for (const auto& offer : registry->offers("colibri.kernels/0")) ids.push_back(offer->id());
  return ids;
}

// Only this plugin, and behind it the reference for what it does not offer.
std::string deny_others(const std::vector<std::string>& all, const std::string& kept) {
  std::string list;
  for (const std::string& id : all) {
    if (id != kept && id != "cpu_generic") list += (list.empty() ? "" : ", ") + id;
  }
  return "plugins.deny=[" + list + "]";
}

// One checkpoint of each family walks through every placement.
const std::set<std::string> kWhole = {"deepseek_v2_groups_f32",
                                      "deepseek_v3_bf16",
                                      "glm4_moe_groups_f32",
                                      "gpt_oss_yarn_f32",
                                      "granitemoe_bf16",
                                      "invented_f32",
                                      "llama_bf16",
                                      "mqa_odd_f32",
                                      "olmoe_gqa_f32",
                                      "qwen2_moe_bf16",
                                      "qwen3_moe_yarn_f32",
                                      "qwen3_window_f32",
                                      "sharded_bf16"};
// With --quick: only these.
const std::set<std::string> kQuick = {"deepseek_v3_bf16", "gpt_oss_yarn_f32", "sharded_bf16"};

// Whether all rows fill blocks of 32: else nothing can be quantised, and there is no digest.
bool quantisable(const std::filesystem::path& folder) {
  return make_plan(folder, {"model.quantize=q8_0"}).ok();
}

std::map<std::string, std::string> read_digests(const std::filesystem::path& file) {
  std::map<std::string, std::string> digests;
  std::ifstream in(file);
  std::string model, mode, value;
  while (in >> model >> mode >> value) digests[model + " " + mode] = value;
  return digests;
}

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

int run(const std::filesystem::path& golden, bool quick, bool write) {
  auto plugins = kernel_plugins();
  if (!plugins.ok()) {
    std::fprintf(stderr, "%s\n", plugins.status().text().c_str());
    return 1;
  }
  auto expected = read_digests(golden / "digests.txt");
  std::ostringstream written;
  int good = 0, bad = 0;
  std::map<std::string, int> by_plugin;
  for (const auto& folder : golden_models(golden)) {
    const std::string model = folder.filename().string();
    if (quick && kQuick.count(model) == 0) continue;
    for (const Mode& mode : kModes) {
      const std::string name = model + " " + mode.name;
      const bool quantises = mode.name[0] == 'q';
      if (quantises && (write ? !quantisable(folder) : expected.count(name) == 0)) continue;
      const auto one = [&](const std::string& plugin, Settings settings) {
        Status status = resolve_budget(folder, mode.settings, settings);
        settings.insert(settings.end(), mode.settings.begin(), mode.settings.end());
        settings.push_back(deny_others(*plugins, plugin));
        std::string got;
        if (status.ok()) {
          auto made = digest(folder, settings);
          status = made.status();
          if (made.ok()) got = hex(*made);
        }
        if (write) {
          written << name << " " << got << "\n";
          if (!status.ok()) std::fprintf(stderr, "%s: %s\n", name.c_str(), status.text().c_str());
          return;
        }
        if (status.ok() && got == expected[name]) {
          ++good;
          ++by_plugin[plugin];
          return;
        }
        ++bad;
        std::string all;
        for (const std::string& setting : settings) all += " " + setting;
        std::printf("%s with %s:%s: %s\n", name.c_str(), plugin.c_str(), all.c_str(),
                    status.ok() ? ("digest " + got + ", expected " + expected[name]).c_str()
                                : status.text().c_str());
      };
      if (write) {
        one("cpu_generic", {});
        continue;
      }
      for (const std::string& plugin : *plugins) {
        // What plugins share is walked through with the first of them.
        Extent extent = kWhole.count(model) > 0 ? Extent::kAll : Extent::kTwo;
        if (plugin != plugins->front()) extent = Extent::kOne;
        if (quick) extent = Extent::kTwo;
        for (const Settings& settings : placements(extent)) one(plugin, settings);
      }
    }
  }
  if (write) {
    std::ofstream(golden / "digests.txt") << written.str();
    return 0;
  }
  for (const auto& [plugin, count] : by_plugin) {
    std::printf("%s: %d configurations identical\n", plugin.c_str(), count);
  }
  std::printf("%d identical, %d different\n", good, bad);
  return bad == 0 && good > 0 ? 0 : 1;
}

}  // namespace
}  // namespace colibri::test

int main(int argc, char** argv) {
  bool quick = false, write = false;
  std::string golden;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--write") == 0) {
      write = true;
    } else {
      golden = argv[i];
    }
  }
  if (golden.empty()) {
    std::fprintf(stderr, "usage: colibri_logit_digests GOLDEN_FOLDER [--quick] [--write]\n");
    return 2;
  }
  return colibri::test::run(golden, quick, write);
}
