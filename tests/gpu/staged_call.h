// SPDX-License-Identifier: Apache-2.0
// One call's memory on a device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "colibri/device.h"
#include "colibri/kernels.h"
#include "runtime/base/status.h"

namespace colibri::gpu_check {

class StagedCall {
 public:
  explicit StagedCall(const colibri_device_0& device) : device_(device) {}
  ~StagedCall();
  StagedCall(const StagedCall&) = delete;
  StagedCall& operator=(const StagedCall&) = delete;

  Status open();  // makes the queue

  // Each puts memory of the host on the device, once for each address, and the device's address in
  // its place. Null pointers stay null.
  template <typename T>
  Status list(const T*& numbers, int64_t count) {
    void* address = const_cast<T*>(numbers);
    COLIBRI_TRY(stage(address, static_cast<uint64_t>(count) * sizeof(T), false));
    numbers = static_cast<const T*>(address);
    return {};
  }
  template <typename T>
  Status host_list(const T*&, int64_t) {  // stays where it is: run() waits
    return {};
  }
  Status rows(colibri_tensor& tensor, bool written);   // rank 1 or 2, row-major
  Status weight(colibri_tensor& tensor);               // packed as R8
  Status cache(colibri_tensor& tensor, bool written);  // of keys or values
  // The first count weights, biases or caches of an array: a copy that lives as long as this.
  colibri_tensor* copy(const colibri_tensor*& array, int64_t count);

  // Runs and copies back. scratch_bytes: of the operator.
  Status run(const void* state, const void* arguments, uint64_t scratch_bytes);

 private:
  struct Staged {
    void* buffer = nullptr;
    uint64_t bytes = 0;
    bool written = false;
  };
  Status stage(void*& address, uint64_t bytes, bool written);
  Status stage(colibri_tensor& tensor, uint64_t bytes, bool written);
  Status check(colibri_status code, const char* what) const;

  const colibri_device_0& device_;
  colibri_device_queue* queue_ = nullptr;
  colibri_device_event* event_ = nullptr;
  std::map<void*, Staged> staged_;  // by the host's address
  std::vector<void*> buffers_;
  std::vector<std::unique_ptr<std::vector<colibri_tensor>>> arrays_;
  mutable colibri_error error_ = empty_error();
};

}  // namespace colibri::gpu_check
