// SPDX-License-Identifier: Apache-2.0
// Route traces: which experts the router chose for every token, in the order in which the store was
// asked. docs/route-traces.md describes the file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/experts/routing_shape.h"

namespace colibri::experts {

// A trace as a replay needs it: for each (step, layer) the distinct experts of its tokens.
struct RouteTrace {
  struct Visit {
    uint64_t step = 0;
    uint32_t layer = 0;
    uint32_t tokens = 0;
    uint64_t begin = 0, end = 0;  // into experts
  };

  RoutingShape shape;
  uint64_t bundle_bytes = 0;  // of one expert in memory: what a slot takes
  std::vector<Visit> visits;
  std::vector<int32_t> experts;  // of one visit distinct and ascending

  // What single tokens ask for: decoding, without the chunks of prompts.
  uint64_t asked_in_decoding() const;
  std::span<const int32_t> experts_of(const Visit& visit) const {
    return {experts.data() + visit.begin, experts.data() + visit.end};
  }
};

// `name` stands before messages, which say the line. Refuses whatever is not a whole trace.
Result<RouteTrace> parse_route_trace(std::string_view text, const std::string& name);
Result<RouteTrace> read_route_trace(const std::filesystem::path& path);

// Writes a trace as it happens. Thread-safe. Allocates nothing after create(), but for messages of
// failures, and holds at most 64 KiB back.
class RouteTraceWriter {
 public:
  // Replaces the file.
  static Result<std::unique_ptr<RouteTraceWriter>> create(const std::filesystem::path& path,
                                                          const RoutingShape& shape,
                                                          uint64_t bundle_bytes);
  ~RouteTraceWriter();
  RouteTraceWriter(const RouteTraceWriter&) = delete;
  RouteTraceWriter& operator=(const RouteTraceWriter&) = delete;

  // chosen: [tokens, top_k], the router's choice for one layer of one step.
  Status record(uint64_t step, uint32_t layer, uint32_t tokens, const int32_t* chosen);
  // Writes what is held back; only then the file is whole.
  Status finish();

 private:
  RouteTraceWriter(std::filesystem::path path, const RoutingShape& shape)
      : path_(std::move(path)), shape_(shape), buffer_(kBufferBytes) {}
  void number(uint64_t value, char behind);
  Status check(bool written) const;

  static constexpr size_t kBufferBytes = size_t{64} << 10;
  const std::filesystem::path path_;
  const RoutingShape shape_;
  std::mutex mutex_;
  std::vector<char> buffer_;  // of file_
  std::FILE* file_ = nullptr;
};

}  // namespace colibri::experts
