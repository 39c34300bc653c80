// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/kernel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace colibri::conformance {
namespace {

Status failed(const char* what, colibri_status code, const colibri_error& error) {
  return from_c(code, error, what).at(what);
}

constexpr int kThreadCount = 8;

// Where the ranges of kThreads begin and end: sizes 1, 2, 3, 5, 8, 1, ...
std::vector<int64_t> range_borders(int64_t tasks) {
  std::vector<int64_t> borders = {0};
  const int64_t sizes[] = {1, 2, 3, 5, 8};
  for (size_t i = 0; borders.back() < tasks; ++i)
    borders.push_back(std::min(borders.back() + sizes[i % 5], tasks));
  return borders;
}

}  // namespace

colibri_op_desc Question::desc() const {
  colibri_op_desc made = {};
  made.struct_size = sizeof(made);
  made.op = op;
  made.attributes = attributes.data();
  made.weights = weights.data();
  made.weight_count = static_cast<uint32_t>(weights.size());
  made.max_rows = max_rows;
  return made;
}

Result<Kernel> Kernel::create(const colibri_kernels_0& table, const colibri_host& host,
                              const Question& question) {
  char why_not[128] = "";
  const colibri_op_desc asked = question.desc();
  if (table.supports(&asked, why_not) == 0) return unsupported(why_not);
  Kernel kernel;
  kernel.table_ = &table;
  COLIBRI_TRY(kernel.pack(question));

  std::vector<colibri_tensor> weights = question.weights;
  for (size_t i = 0; i < weights.size(); ++i) weights[i].layout = kernel.packed_[i].layout;
  colibri_op_desc desc = asked;
  desc.weights = weights.data();
  if (table.supports(&desc, why_not) == 0) {
    return internal_error(std::string("supports() refuses the layout of pack_layout(): ") +
                          why_not);
  }
  colibri_op_info info = {};
  info.struct_size = sizeof(info);
  colibri_error error = empty_error();
  colibri_status code = table.op_create(&desc, &host, nullptr, &info, &error);
  if (code != COLIBRI_OK) return failed("op_create for the sizes", code, error);
  kernel.state_.emplace_back(static_cast<size_t>(info.state_bytes));
  code = table.op_create(&desc, &host, kernel.state_[0].data(), &info, &error);
  if (code != COLIBRI_OK) return failed("op_create", code, error);
  if (!kernel.state_[0].guards_intact())
    return internal_error("op_create wrote beyond its state_bytes");
  kernel.scratch_bytes_ = info.scratch_bytes;
  return kernel;
}

Status Kernel::pack(const Question& question) {
  const colibri_op_desc desc = question.desc();
  for (size_t i = 0; i < question.sources.size(); ++i) {
    const SourceMatrix& source = question.sources[i];
    const auto index = static_cast<uint32_t>(i % question.weights.size());
    colibri_layout layout = {};
    layout.struct_size = sizeof(layout);
    uint64_t bytes = 0;
    colibri_error error = empty_error();
    colibri_status code = table_->pack_layout(&desc, index, &layout, &bytes, &error);
    if (code != COLIBRI_OK) return failed("pack_layout", code, error);
    if (layout.rows == 0) return internal_error("pack_layout: 0 rows interleaved");
    packed_memory_.emplace_back(static_cast<size_t>(bytes));
    // in pieces, as the host does
    const int64_t piece = static_cast<int64_t>(layout.rows) * 3;
    for (int64_t row = 0; row < source.rows; row += piece) {
      colibri_tensor from = question.weights[index];
      from.dtype = source.codec;
      from.buffer = const_cast<uint8_t*>(source.bytes.data()) + row * source.stride;
      if (from.rank == 2) {
        from.shape[0] = std::min(piece, source.rows - row);
        from.stride[0] = source.stride;
      }
      code = table_->pack(&layout, &from, packed_memory_.back().data(), row);
      if (code != COLIBRI_OK) return failed("pack", code, empty_error());
    }
    if (!packed_memory_.back().guards_intact())
      return internal_error("pack wrote beyond the bytes of pack_layout");
    colibri_tensor packed = question.weights[index];
    packed.layout = layout.id;
    packed.buffer = packed_memory_.back().data();
    packed_.push_back(packed);
  }
  return {};
}

std::vector<Output> Kernel::packed_outputs() const {
  std::vector<Output> outputs;
  for (size_t i = 0; i < packed_.size(); ++i) {
    if (packed_[i].layout >= COLIBRI_LAYOUT_PRIVATE) continue;
    outputs.emplace_back("packed weight " + std::to_string(i), COLIBRI_CODEC_U8, packed_memory_[i]);
  }
  return outputs;
}

Status Kernel::run(const void* arguments, Schedule schedule) const {
  const int64_t tasks = table_->op_tasks(state_[0].data(), arguments);
  if (tasks < 0) return internal_error("op_tasks is negative");
  std::mutex mutex;
  Status result;
  const auto run_range = [&](int64_t begin, int64_t end, const Memory& scratch) {
    const colibri_status code =
        table_->op_run(state_[0].data(), arguments, begin, end, scratch.data());
    if (code == COLIBRI_OK) return;
    const std::lock_guard<std::mutex> lock(mutex);
    result = failed("op_run", code, empty_error());
  };
  if (schedule == Schedule::kThreads) {
    const std::vector<int64_t> borders = range_borders(tasks);
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreadCount; ++i) {
      threads.emplace_back([&] {
        const Memory scratch(static_cast<size_t>(scratch_bytes_));
        for (size_t range; (range = next.fetch_add(1)) + 1 < borders.size();) {
          run_range(borders[range], borders[range + 1], scratch);
        }
        if (scratch.guards_intact()) return;
        const std::lock_guard<std::mutex> lock(mutex);
        result = internal_error("op_run wrote beyond its scratch_bytes");
      });
    }
    for (std::thread& thread : threads) thread.join();
    return result;
  }
  const Memory scratch(static_cast<size_t>(scratch_bytes_));
  if (schedule == Schedule::kOneRange) {
    run_range(0, tasks, scratch);
  } else {
    for (int64_t task = tasks - 1; task >= 0; --task) run_range(task, task + 1, scratch);
  }
  if (result.ok() && !scratch.guards_intact())
    return internal_error("op_run wrote beyond its scratch_bytes");
  return result;
}

}  // namespace colibri::conformance
