// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/staged_call.h"

#include "plugins/cpu_common/views.h"
#include "tests/device/argument_memory.h"

namespace colibri::gpu_check {

StagedCall::~StagedCall() {
  device_.queue_destroy(queue_);
  device_.event_destroy(event_);
  for (void* buffer : buffers_) device_.release(0, buffer);
}

Status StagedCall::check(colibri_status code, const char* what) const {
  return from_c(code, error_, what);
}

Status StagedCall::open() {
  COLIBRI_TRY(check(device_.queue_create(0, &queue_, &error_), "queue_create"));
  return check(device_.event_create(0, &event_, &error_), "event_create");
}

Status StagedCall::stage(void*& address, uint64_t bytes, bool written) {
  if (address == nullptr) return {};
  if (bytes == 0) {  // there, and empty
    COLIBRI_TRY(check(device_.allocate(0, 1, &address, &error_), "allocate"));
    buffers_.push_back(address);
    return {};
  }
  Staged& staged = staged_[address];
  if (staged.buffer == nullptr) {
    COLIBRI_TRY(check(device_.allocate(0, bytes, &staged.buffer, &error_), "allocate"));
    buffers_.push_back(staged.buffer);
    staged.bytes = bytes;
    COLIBRI_TRY(
        check(device_.copy_in(queue_, staged.buffer, 0, address, bytes, &error_), "copy_in"));
  }
  if (staged.bytes != bytes) return internal_error("two sizes for memory at one address");
  staged.written = staged.written || written;
  address = staged.buffer;
  return {};
}

Status StagedCall::stage(colibri_tensor& tensor, uint64_t bytes, bool written) {
  void* address = tensor.buffer == nullptr ? nullptr : cpu::tensor_bytes(tensor);
  COLIBRI_TRY(stage(address, bytes, written));
  tensor.buffer = address;
  tensor.offset = 0;
  return {};
}

Status StagedCall::rows(colibri_tensor& tensor, bool written) {
  return stage(tensor, static_cast<uint64_t>(device_test::bytes_of_rows(tensor)), written);
}

Status StagedCall::weight(colibri_tensor& tensor) {
  return stage(tensor, static_cast<uint64_t>(device_test::bytes_of_weight(tensor)), false);
}

Status StagedCall::cache(colibri_tensor& tensor, bool written) {
  return stage(tensor, static_cast<uint64_t>(device_test::bytes_of_cache(tensor)), written);
}

colibri_tensor* StagedCall::copy(const colibri_tensor*& array, int64_t count) {
  if (array == nullptr) return nullptr;
  arrays_.push_back(std::make_unique<std::vector<colibri_tensor>>(array, array + count));
  array = arrays_.back()->data();
  return arrays_.back()->data();
}

Status StagedCall::run(const void* state, const void* arguments, uint64_t scratch_bytes) {
  void* scratch = nullptr;
  if (scratch_bytes > 0) {
    COLIBRI_TRY(check(device_.allocate(0, scratch_bytes, &scratch, &error_), "allocate"));
    buffers_.push_back(scratch);
  }
  COLIBRI_TRY(check(device_.run(queue_, state, arguments, scratch, &error_), "run"));
  for (const auto& [host, staged] : staged_) {
    if (!staged.written) continue;
    COLIBRI_TRY(
        check(device_.copy_out(queue_, host, staged.buffer, 0, staged.bytes, &error_), "copy_out"));
  }
  COLIBRI_TRY(check(device_.event_record(event_, queue_, &error_), "event_record"));
  return check(device_.event_wait(event_, &error_), "event_wait");
}

}  // namespace colibri::gpu_check
