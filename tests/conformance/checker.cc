// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/checker.h"

#include <utility>

namespace colibri::conformance {
namespace {

const char* schedule_name(Schedule schedule) {
  switch (schedule) {
    case Schedule::kOneRange:
      return "in one range";
    case Schedule::kOneByOne:
      return "one task at a time";
    default:
      return "on eight threads";
  }
}

}  // namespace

void Checker::fail(const Question& question, const std::string& what) {
  report_.failures.push_back(question.name + ": " + what);
}

void Checker::remember(const std::vector<Output>& answers) {
  for (const Output& answer : answers) {
    for (uint8_t byte : answer.bytes) answers_ = (answers_ ^ byte) * 1099511628211u;
  }
}

void Checker::check(const Question& question, const Call& call) {
  const bool is_exact = table_.numerics == COLIBRI_NUMERICS_IDENTICAL;
  if (question.magnifies && !is_exact) return;
  auto kernel = Kernel::create(table_, host_, question);
  if (!kernel.ok() && kernel.status().code() == COLIBRI_UNSUPPORTED) {
    if (kernel.status().text().empty()) fail(question, "refused without a reason");
    report_.unsupported += 1;
    return;
  }
  if (!kernel.ok()) return fail(question, kernel.status().text());
  auto reference = Kernel::create(reference_, host_, question);
  if (!reference.ok()) return fail(question, "the reference: " + reference.status().text());
  report_.compared += 1;

  const std::vector<Output> want_packed = reference->packed_outputs();
  const std::vector<Output> got_packed = kernel->packed_outputs();
  for (size_t i = 0; i < got_packed.size() && got_packed.size() == want_packed.size(); ++i) {
    if (const std::string what = difference(want_packed[i], got_packed[i]); !what.empty())
      return fail(question, what);
  }

  const auto answer = [&](const Kernel& asked, Schedule schedule, Status* status) {
    return call(asked.weights(),
                [&](const void* arguments) { *status = asked.run(arguments, schedule); });
  };
  Status status;
  const std::vector<Output> want = answer(*reference, Schedule::kOneRange, &status);
  if (!status.ok()) return fail(question, "the reference: " + status.text());
  remember(want_packed);
  remember(want);
  for (Schedule schedule : {Schedule::kOneRange, Schedule::kOneByOne, Schedule::kThreads}) {
    const std::vector<Output> got = answer(*kernel, schedule, &status);
    if (!status.ok())
      return fail(question, std::string(schedule_name(schedule)) + ": " + status.text());
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string what =
          is_exact ? difference(want[i], got[i]) : distance(want[i], got[i], question.magnitude);
      if (!what.empty()) return fail(question, std::string(schedule_name(schedule)) + ": " + what);
    }
  }
}

OperatorReport Checker::take_report(const char* operator_name) {
  report_.name = operator_name;
  return std::exchange(report_, {});
}

}  // namespace colibri::conformance
