// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/staged_table.h"

#include <mutex>

#include "runtime/base/log.h"
#include "tests/device/argument_memory.h"
#include "tests/gpu/staged_call.h"

namespace colibri::gpu_check {
namespace {

const colibri_kernels_0* kernels_of_device = nullptr;
const colibri_device_0* device_of_process = nullptr;
std::mutex turns;

colibri_status create(const colibri_op_desc* desc, const colibri_host* host, void* state,
                      colibri_op_info* info, colibri_error* error) {
  const colibri_status status =
      device_test::create(*kernels_of_device, desc, host, state, info, error);
  if (status == COLIBRI_OK) info->scratch_bytes = 0;  // it is the device's
  return status;
}

Status run_staged(const void* state, const void* arguments) {
  const device_test::Head& head = device_test::head_of(state);
  return device_test::with_arguments(head, arguments, [&](auto staged) -> Status {
    StagedCall call(*device_of_process);
    COLIBRI_TRY(call.open());
    COLIBRI_TRY(visit(call, head, staged));
    return call.run(device_test::own_state(state), &staged, head.scratch_bytes);
  });
}

}  // namespace

colibri_kernels_0 staged_table(const colibri_kernels_0& kernels, const colibri_device_0& device) {
  kernels_of_device = &kernels;
  device_of_process = &device;
  colibri_kernels_0 table = kernels;
  table.op_create = create;
  table.op_tasks = [](const void*, const void*) { return int64_t{1}; };
  table.op_run = [](const void* state, const void* arguments, int64_t, int64_t,
                    void*) -> colibri_status {
    const std::lock_guard lock(turns);
    const Status status = run_staged(state, arguments);
    if (!status.ok()) log(COLIBRI_LOG_ERROR, status.text());
    return status.code();
  };
  return table;
}

}  // namespace colibri::gpu_check
