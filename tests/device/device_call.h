// SPDX-License-Identifier: Apache-2.0
// A call of an operator with the addresses of the made-up device: checked, and translated to those
// of the bytes behind them.
#pragma once

#include <deque>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/status.h"
#include "tests/device/argument_memory.h"
#include "tests/device/device_memory.h"

namespace colibri::device_test {

class DeviceCall {
 public:
  Status rows(colibri_tensor& tensor, bool) { return translate(tensor, bytes_of_rows(tensor)); }
  Status weight(colibri_tensor& tensor) { return translate(tensor, bytes_of_weight(tensor)); }
  Status cache(colibri_tensor& tensor, bool) { return translate(tensor, bytes_of_cache(tensor)); }
  template <typename T>
  Status list(const T*& numbers, int64_t count) {
    if (numbers == nullptr || count == 0) return {};
    COLIBRI_ASSIGN(uint8_t * bytes, find(numbers, count * static_cast<int64_t>(sizeof(T))));
    numbers = reinterpret_cast<const T*>(bytes);
    return {};
  }
  // The host may change it once run() has returned.
  template <typename T>
  Status host_list(const T*& numbers, int64_t count) {
    if (numbers == nullptr || count == 0) return {};
    auto& kept = lists_.emplace_back(static_cast<size_t>(count) * sizeof(T));
    std::memcpy(kept.data(), numbers, kept.size());
    numbers = reinterpret_cast<const T*>(kept.data());
    return {};
  }
  colibri_tensor* copy(const colibri_tensor*& array, int64_t count) {
    if (array == nullptr) return nullptr;
    auto& kept = arrays_.emplace_back(array, array + count);
    array = kept.data();
    return kept.data();
  }

  Result<uint8_t*> find(const void* address, int64_t bytes) {
    uint64_t buffer = 0;
    uint8_t* found = DeviceMemory::instance().find(address, static_cast<uint64_t>(bytes), &buffer);
    if (found == nullptr) {
      return invalid_argument("an address that is of no buffer of the device, or behind its end");
    }
    buffers_.push_back(buffer);
    return found;
  }
  const std::vector<uint64_t>& buffers() const { return buffers_; }

 private:
  Status translate(colibri_tensor& tensor, int64_t bytes) {
    if (tensor.buffer == nullptr || bytes == 0) return {};
    if (!DeviceMemory::instance().begins_buffer(tensor.buffer)) {
      return invalid_argument("a tensor whose buffer is none of the device");
    }
    COLIBRI_ASSIGN(tensor.buffer,
                   find(static_cast<uint8_t*>(tensor.buffer) + tensor.offset, bytes));
    tensor.offset = 0;
    return {};
  }

  std::vector<uint64_t> buffers_;
  std::deque<std::vector<uint8_t>> lists_;
  std::deque<std::vector<colibri_tensor>> arrays_;
};

}  // namespace colibri::device_test
