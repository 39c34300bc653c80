// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace colibri::plugin {
namespace {

TEST(ChildProcessTest, ReturnsWhatTheWorkReturns) {
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(*run_in_child([&] { return large; }, 600), large);
  EXPECT_EQ(*run_in_child([] { return std::string(); }, 600), "");
}

TEST(ChildProcessTest, MemoryIsTheChildsOwn) {
  int value = 1;
  EXPECT_EQ(*run_in_child([&] { return std::to_string(++value); }, 600), "2");
  EXPECT_EQ(value, 1);
}

TEST(ChildProcessTest, ACrashIsAResult) {
  const auto crash = []() -> std::string {
    std::signal(SIGILL, SIG_DFL);  // sanitizers install their own
    raise(SIGILL);
    return "";
  };
  EXPECT_EQ(run_in_child(crash, 600).status().text(),
            "crashed with signal 4 (Illegal instruction)");
}

TEST(ChildProcessTest, LeavingTheProgramIsAResult) {
  const auto leave = []() -> std::string { _exit(3); };
  EXPECT_EQ(run_in_child(leave, 600).status().text(), "ended the process with exit code 3");
}

TEST(ChildProcessTest, HangingIsAResult) {
  const auto hang = []() -> std::string {
    while (true) pause();
  };
  EXPECT_EQ(run_in_child(hang, 1).status().text(), "was not done after 1 s");
}

}  // namespace
}  // namespace colibri::plugin
