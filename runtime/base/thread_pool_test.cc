// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace colibri {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (unsigned threads : {1u, 2u, 4u}) {
    auto pool = ThreadPool::create(threads);
    ASSERT_TRUE(pool.ok());
    for (int64_t tasks : {0, 1, 3, 17, 1000}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<int> count(static_cast<size_t>(tasks));
        const auto status =
            (*pool)->run(tasks, threads, [&](unsigned worker, int64_t begin, int64_t end) {
              EXPECT_LT(worker, threads);
              for (int64_t i = begin; i < end; ++i) ++count[static_cast<size_t>(i)];
              return COLIBRI_OK;
            });
        EXPECT_EQ(status, COLIBRI_OK);
        EXPECT_EQ(count, std::vector<int>(static_cast<size_t>(tasks), 1));
      }
    }
  }
}

TEST(ThreadPool, UsesAtMostTheThreadsAskedFor) {
  auto pool = ThreadPool::create(4);
  (void)(*pool)->run(100, 2, [](unsigned worker, int64_t, int64_t) {
    EXPECT_LT(worker, 2u);
    return COLIBRI_OK;
  });
}

TEST(ThreadPool, ReturnsTheFailureAndGoesOn) {
  auto pool = ThreadPool::create(3);
  EXPECT_EQ((*pool)->run(100, 3,
                         [](unsigned, int64_t begin, int64_t) {
                           return begin == 0 ? COLIBRI_CORRUPT_DATA : COLIBRI_OK;
                         }),
            COLIBRI_CORRUPT_DATA);
  EXPECT_EQ((*pool)->run(10, 3, [](unsigned, int64_t, int64_t) { return COLIBRI_OK; }), COLIBRI_OK);
}

TEST(ThreadPool, UsesNoProcessorBetweenPhases) {
  auto pool = ThreadPool::create(4);
  (void)(*pool)->run(100, 4, [](unsigned, int64_t, int64_t) { return COLIBRI_OK; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20);
}

TEST(ThreadPool, NoThreadsIsAnError) {
  EXPECT_FALSE(ThreadPool::create(0).ok());
}

// Sanitizers and emulators need, or ignore, the address space that is taken away here.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ThreadPool, ThreadsThatCannotStartAreAnError) {
  const auto attempt = [] {
    const rlimit limit = {1u << 30, 1u << 30};
    setrlimit(RLIMIT_AS, &limit);
    const auto pool = ThreadPool::create(5000);
    _exit(!pool.ok() && pool.status().code() == COLIBRI_OUT_OF_MEMORY ? 0 : 1);
  };
  EXPECT_EXIT(attempt(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace colibri
