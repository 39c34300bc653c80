// SPDX-License-Identifier: Apache-2.0
// colibri bench: how fast a model runs here, and how near that is to the machine's limits.
#include "runtime/cli/bench_command.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/kernels.h"
#include "runtime/bench/report.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/pipeline_options.h"

namespace colibri::cli {
namespace {

constexpr uint64_t kMaxIdsBytes = 64u << 20;
// So that sums of them stay small; no model and no patience reaches further.
constexpr uint32_t kMostTokens = 100'000'000, kMostRounds = 1'000'000, kMostRequests = 10'000;

struct Options {
  PipelineOptions pipeline;
  bench::Settings settings;
  std::string ids, trace;  // files; empty = none
  bool json = false;
};

// Whole numbers with white space or commas between them.
Result<std::vector<int32_t>> read_ids(const std::string& path) {
  COLIBRI_ASSIGN(const std::string text, read_file(path, kMaxIdsBytes));
  constexpr std::string_view kBetween = " \t\r\n,";
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    int32_t id = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, id);
    if (read.ec != std::errc() || read.ptr != text.data() + end) {
      return invalid_argument(path + ": byte " + std::to_string(at) +
                              " begins no id; write whole numbers with spaces between them");
    }
    ids.push_back(id);
    at = end;
  }
  if (ids.empty()) return invalid_argument(path + ": holds no ids");
  return ids;
}

Result<std::unique_ptr<bench::Bench>> open(Options& options) {
  if (!options.ids.empty()) {
    COLIBRI_ASSIGN(options.settings.ids, read_ids(options.ids));
  }
  options.settings.trace = !options.trace.empty();
  if (options.settings.requests > 1 &&
      (options.settings.breakdown || options.settings.trace || options.settings.steady)) {
    return invalid_argument(
        "--breakdown, --trace and --steady are of one request; leave out --requests");
  }
  options.pipeline.more = {
      {"context.max_tokens", std::to_string(options.settings.longest()), "-p and -n"}};
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.pipeline.open());
  return bench::Bench::open(std::move(pipeline), options.settings);
}

Status measure(const Options& options, bench::Bench& bench) {
  const Interrupt interrupt;
  COLIBRI_TRY(bench.run(interrupt.flag()));
  const bench::Report& report = bench.report();
  COLIBRI_TRY(print(options.json ? bench::json(report).dump(2) + "\n" : bench::text(report)));
  return options.trace.empty() ? Status() : write_file(options.trace, report.trace->json());
}

void run(Options& options, Invocation& invocation) {
  const auto bench = open(options);
  if (!bench.ok()) return invocation.fail(bench.status(), kRefused);
  if (Status status = measure(options, **bench); !status.ok()) invocation.fail(status, kFailed);
}

struct KernelOptions {
  PipelineOptions pipeline;
  uint32_t repeats = 5;
  bool json = false;
};

void compare_kernels(const KernelOptions& options, Invocation& invocation) {
  const Interrupt interrupt;
  auto pipeline = options.pipeline.open();
  if (!pipeline.ok()) return invocation.fail(pipeline.status(), kRefused);
  const auto plan = engine::Plan::make(std::move(*pipeline));
  if (!plan.ok()) return invocation.fail(plan.status(), kRefused);
  const auto report = bench::compare_kernels(**plan, options.repeats, interrupt.flag());
  if (!report.ok()) return invocation.fail(report.status(), kFailed);
  const Status status =
      print(options.json ? bench::json(*report).dump(2) + "\n" : bench::text(*report));
  if (!status.ok()) invocation.fail(status, kFailed);
}

void add_kernels_command(CLI::App& parent, Invocation& invocation) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = parent.add_subcommand(
      "kernels", "Compare the kernel plugins on the operators of a model, with weights of zero");
  options->pipeline.add_to(*command);
  command->add_option("-r,--repeats", options->repeats, "Rounds in which the plugins take turns")
      ->check(CLI::Range(1u, kMostRounds))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("-t,--threads", options->pipeline.threads, "threads.count");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &invocation] { compare_kernels(*options, invocation); });
}

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Measure how fast a model runs here");
  bench::Settings& settings = options->settings;
  options->pipeline.add_to(*command);
  const auto lengths = [&](const char* name, std::vector<uint32_t>& to, uint32_t least,
                           const char* doc) {
    command->add_option(name, to, doc)
        ->delimiter(',')
        ->expected(1)
        ->take_all()
        ->check(CLI::Range(least, kMostTokens))
        ->type_name("N,...")
        ->capture_default_str();
  };
  lengths("-p,--prompt-tokens", settings.prompt_tokens, 1, "Lengths of the prompts, in tokens");
  lengths("-n,--generate-tokens", settings.generate_tokens, 0,
          "Tokens generated behind each prompt; all pairs are measured");
  command
      ->add_option(
          "--requests", settings.requests,
          "Requests made at the same moment and computed together, each with ids of its own")
      ->check(CLI::Range(1u, kMostRequests))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("-r,--repeats", settings.repeats, "Rounds that are measured")
      ->check(CLI::Range(1u, kMostRounds))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--warmup", settings.warmup, "Rounds before them that are not")
      ->check(CLI::Range(0u, kMostRounds))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--ids", options->ids,
                      "A file with the ids of the prompt and of what is generated behind it; else "
                      "they are made from the seed");
  command->add_option("-t,--threads", options->pipeline.threads, "threads.count");
  command->add_option("--seed", options->pipeline.seed, "generate.seed");
  command->add_flag("--steady", settings.steady,
                    "Decode every token at the same position, and after each run a fixed loop, to "
                    "see how even tokens are beside the machine itself");
  command->add_flag("--breakdown", settings.breakdown,
                    "Run each test once more to see which operators take how much of its time");
  command
      ->add_option(
          "--route-trace", settings.route_trace,
          "Record which experts the router chooses in all rounds, for colibri cache replay")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_option("--trace", options->trace,
                      "Write what each thread did, to look at with Perfetto or chrome://tracing");
  add_kernels_command(*command, invocation);
  command->callback([options, command, &invocation] {
    if (command->get_subcommands().empty()) run(*options, invocation);
  });
}

}  // namespace colibri::cli
