// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace colibri::io {
namespace {

struct Count : Workers::Task {
  std::atomic<int>* runs = nullptr;
  std::atomic<int>* busy = nullptr;  // by worker
  void run(unsigned worker) override {
    EXPECT_EQ(busy[worker].fetch_add(1), 0) << "two tasks on one worker";
    std::this_thread::yield();
    busy[worker].fetch_sub(1);
    runs->fetch_add(1);
  }
};

TEST(Workers, RunEveryTaskOnce) {
  std::atomic<int> runs = 0, busy[3] = {0, 0, 0};
  std::vector<Count> tasks(500);
  {
    const auto workers = Workers::create(3);
    ASSERT_TRUE(workers.ok()) << workers.status().text();
    EXPECT_EQ((*workers)->threads(), 3u);
    std::vector<std::thread> clients;
    for (size_t client = 0; client < 5; ++client) {
      clients.emplace_back([&, client] {
        for (size_t i = client * 100; i < client * 100 + 100; ++i) {
          tasks[i].runs = &runs;
          tasks[i].busy = busy;
          (*workers)->add(tasks[i]);
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }
  EXPECT_EQ(runs.load(), 500);
}

TEST(Workers, BeginInOrder) {
  struct Note : Workers::Task {
    std::vector<int>* list = nullptr;
    int number = 0;
    void run(unsigned) override { list->push_back(number); }
  };
  std::vector<int> list;
  std::vector<Note> notes(20);
  {
    const auto workers = Workers::create(1);
    for (int i = 0; i < 20; ++i) {
      notes[static_cast<size_t>(i)].list = &list;
      notes[static_cast<size_t>(i)].number = i;
      (*workers)->add(notes[static_cast<size_t>(i)]);
    }
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(list.at(static_cast<size_t>(i)), i);
}

}  // namespace
}  // namespace colibri::io
