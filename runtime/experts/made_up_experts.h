// SPDX-License-Identifier: Apache-2.0
// For tests of the store: experts that are bundles of known bytes in a file, and a policy.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/experts/source.h"
#include "runtime/experts/store.h"
#include "runtime/io/ring.h"

namespace colibri::experts {

constexpr uint64_t kBundle = kDirectAlignment;

// Bundle i of the file is made of numbers i * 131 + position.
class MadeUpExperts final : public ExpertSource {
 public:
  MadeUpExperts(const RoutingShape& shape, const File* file) : shape_(shape), file_(file) {}

  static void write(const RoutingShape& shape, const std::filesystem::path& path) {
    std::string content;
    for (uint32_t key = 0; key < shape.keys(); ++key) {
      for (uint32_t i = 0; i < kBundle / 4; ++i) {
        const uint32_t number = key * 131 + i;
        content.append(reinterpret_cast<const char*>(&number), 4);
      }
    }
    ASSERT_TRUE(write_file(path, content).ok());
  }

  std::optional<Extent> extent(uint32_t layer, uint32_t expert) const override {
    return Extent{file_, (layer * shape_.experts + expert) * kBundle, kBundle};
  }
  Status check(uint32_t layer, uint32_t expert, uint32_t, const std::byte* slot) const override {
    for (uint32_t i = 0; i < kBundle / 4; ++i) {
      uint32_t number;
      std::memcpy(&number, slot + 4 * i, 4);
      if (number != (layer * shape_.experts + expert) * 131 + i) {
        return corrupt_data("wrong bytes in expert " + std::to_string(expert));
      }
    }
    return {};
  }
  Status load(uint32_t layer, uint32_t expert, std::byte* slot, std::byte*) const override {
    COLIBRI_TRY(file_->read(extent(layer, expert)->offset, slot, kBundle));
    return check(layer, expert, 0, slot);
  }

 private:
  const RoutingShape shape_;
  const File* file_;
};

// A policy: the lowest evictable key goes.
inline const colibri_cache_policy_1 kLowest = {
    .struct_size = sizeof(colibri_cache_policy_1),
    .state_bytes = [](const colibri_cache_shape*, const colibri_host*) { return uint64_t{8}; },
    .create = [](const colibri_cache_shape*, const colibri_host*, void*,
                 colibri_error*) -> colibri_status { return COLIBRI_OK; },
    .on_access = [](void*, uint64_t, const uint32_t*, const uint8_t*, uint32_t,
                    int32_t prefetched) { EXPECT_EQ(prefetched, 0); },
    .on_insert = [](void*, uint32_t) {},
    .victims = [](void*, uint32_t, const uint64_t* evictable, uint32_t,
                  uint32_t* keys) -> uint32_t {
      for (keys[0] = 0; keys[0] < 64; ++keys[0]) {
        if ((evictable[0] >> keys[0] & 1) != 0) return 1;
      }
      return 0;
    },
    .on_evict = [](void*, uint32_t) {},
    .resize = [](void*, uint32_t, uint32_t) -> colibri_status { return COLIBRI_OK; },
};

// The ways to read that this machine grants.
struct Way {
  std::string name;
  Reading reading;
  const File* file = nullptr;
};

class MadeUpFile {
 public:
  explicit MadeUpFile(const RoutingShape& shape) {
    MadeUpExperts::write(shape, path_);
    auto opened = File::open(path_);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    buffered_.emplace(std::move(*opened));
    if (auto direct = buffered_->open_direct(); direct.ok()) direct_.emplace(std::move(*direct));
  }

  const std::filesystem::path& path() const { return path_; }
  std::vector<Way> ways() const {
    std::vector<Way> all = {{"pread", {false, 4}, &*buffered_}};
    if (direct_) all.push_back({"pread, direct", {false, 4}, &*direct_});
    if (!io::Ring::create(1).ok()) return all;
    all.push_back({"io_uring", {true, 8}, &*buffered_});
    if (direct_) all.push_back({"io_uring, direct", {true, 3}, &*direct_});
    return all;
  }

 private:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "experts";
  std::optional<File> buffered_, direct_;
};

}  // namespace colibri::experts
