// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/check.h"

#include <algorithm>

#include "runtime/base/guard.h"
#include "runtime/plugin/candidates.h"
#include "runtime/plugin/check_parts.h"
#include "runtime/plugin/child_process.h"
#include "runtime/plugin/opener.h"

namespace colibri::plugin {
namespace {

constexpr unsigned kSeconds =
    600;  // of one group: a plugin that hangs ends too, a slow emulator does not

using Open = std::function<Result<std::shared_ptr<const Plugin>>()>;

Status check_lifecycle(const Open& open) {
  for (int turn = 0; turn < 2; ++turn) {
    const auto opened = open();  // closed at the end of the turn
    if (!opened.ok()) {
      return opened.status().at(turn == 0 ? "first open" : "open after close");
    }
    const auto again = open();
    if (!again.ok()) return again.status().at("second model");
  }
  return {};
}

// All questions that fit the interfaces of the plugin; unsupported if none does.
Status check_interfaces(const Plugin& plugin,
                        const std::vector<std::pair<const char*, Status (*)(const Plugin&)>>& all,
                        const char* none) {
  bool asked = false;
  for (const auto& [interface_id, check] : all) {
    if (!plugin.manifest().offers(interface_id)) continue;
    const Status status = check(plugin);
    if (!status.ok()) return Status(COLIBRI_INTERNAL, status.text()).at(interface_id);
    asked = true;
  }
  return asked ? Status() : unsupported(none);
}

Status check_bad_input(const Plugin& plugin) {
  return check_interfaces(plugin,
                          {{"colibri.sampler/1", check_sampler_bad_input},
                           {"colibri.cache_policy/1", check_cache_policy_bad_input},
                           {"colibri.tokenizer/1", check_tokenizer_bad_input},
                           {"colibri.format/1", check_format_bad_input},
                           {"colibri.kernels/0", check_kernels_bad_input}},
                          "no interface that this program knows");
}

Status check_workers(const Plugin& plugin) {
  return check_interfaces(plugin,
                          {{"colibri.sampler/1", check_sampler_workers},
                           {"colibri.cache_policy/1", check_cache_policy_workers}},
                          "kernels run on threads in the group numerics; tokenizers and formats "
                          "need a model");
}

// The answer of a child: a letter for the outcome, then the text.
std::string encoded(const Status& status) {
  if (status.ok()) return "p";
  return (status.code() == COLIBRI_UNSUPPORTED ? "s" : "f") + status.text();
}

CheckResult run_group(const std::string& name, FunctionRef<Status()> work) {
  const Result<std::string> answer =
      run_in_child([&] { return encoded(guarded(name.c_str(), work)); }, kSeconds);
  CheckResult result = {name, CheckResult::Outcome::kFailed, answer.status().text()};
  if (!answer.ok()) return result;
  result.text = answer->substr(1);
  if (answer->front() == 'p') result.outcome = CheckResult::Outcome::kPassed;
  if (answer->front() == 's') result.outcome = CheckResult::Outcome::kSkipped;
  return result;
}

CheckResult check_manifest(const std::string& file, const machine::Profile& profile) {
  CheckResult result = {"manifest", CheckResult::Outcome::kPassed, ""};
  const Result<Manifest> manifest = read_manifest(file);
  result.text = manifest.ok() ? why_not_here(*manifest, profile) : manifest.status().text();
  if (!result.text.empty()) result.outcome = CheckResult::Outcome::kFailed;
  return result;
}

}  // namespace

Options sample_options(const Manifest& manifest) {
  Options options;
  for (const OptionSpec& spec : manifest.options) {
    OptionValue value = std::string();
    if (spec.type == OptionType::kBool) value = false;
    if (spec.type == OptionType::kInt) value = int64_t{0};
    if (spec.type == OptionType::kFloat) value = 0.0;
    if (!spec.values.empty()) value = spec.values.front();
    if (spec.max) value = std::min(value, *spec.max);
    if (spec.min) value = std::max(value, *spec.min);
    options.emplace(spec.name, spec.default_value.value_or(value));
  }
  return options;
}

std::vector<CheckResult> check_plugin(const std::string& file, const machine::Profile& profile,
                                      const std::vector<CheckGroup>& more) {
  std::vector<CheckResult> results = {check_manifest(file, profile)};
  const Open open = [&]() -> Result<std::shared_ptr<const Plugin>> {
    COLIBRI_ASSIGN(const Manifest manifest, read_manifest(file));
    return open_plugin(manifest, file, nullptr, sample_options(manifest));
  };
  std::vector<CheckGroup> groups = {{"bad input", check_bad_input}, {"workers", check_workers}};
  groups.insert(groups.end(), more.begin(), more.end());

  const auto passed_so_far = [&] {
    return results.back().outcome == CheckResult::Outcome::kPassed;
  };
  if (passed_so_far()) {
    results.push_back(run_group("load", [&] {
      const Status status = open().status();
      return status.ok() ? status : Status(COLIBRI_INTERNAL, status.text());
    }));
  } else {
    results.push_back({"load", CheckResult::Outcome::kSkipped, "not loaded"});
  }
  const bool loads = passed_so_far();
  const auto add = [&](const std::string& name, FunctionRef<Status()> work) {
    results.push_back(loads ? run_group(name, work)
                            : CheckResult{name, CheckResult::Outcome::kSkipped, "not loaded"});
  };
  add("lifecycle", [&] { return check_lifecycle(open); });
  for (const CheckGroup& group : groups) {
    add(group.name, [&]() -> Status {
      COLIBRI_ASSIGN(const std::shared_ptr<const Plugin> plugin, open());
      return group.run(*plugin);
    });
  }
  return results;
}

}  // namespace colibri::plugin
