// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/device.h"

#include <cuda_runtime.h>

#include <array>
#include <string>
#include <vector>

#include "plugins/cuda/operators.h"
#include "plugins/cuda/usable_devices.h"
#include "runtime/base/guard.h"
#include "runtime/base/status.h"

struct colibri_device_queue {
  int device;
  cudaStream_t stream;
};
struct colibri_device_event {
  int device;
  cudaEvent_t event;
};

namespace colibri::cuda {
namespace {

// What nvcc compiles this for: it says 900 for sm_90.
constexpr auto kArchitectures = [] {
  std::array architectures = {__CUDA_ARCH_LIST__};
  for (int& each : architectures) each /= 10;
  return architectures;
}();

// Errors that end the device's work for good are COLIBRI_DEVICE_LOST.
colibri_status code_of(cudaError_t result) {
  switch (result) {
    case cudaSuccess:
      return COLIBRI_OK;
    case cudaErrorMemoryAllocation:
      return COLIBRI_OUT_OF_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
      return COLIBRI_INVALID_ARGUMENT;
    default:
      return COLIBRI_DEVICE_LOST;
  }
}

Status checked(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return {};
  (void)cudaGetLastError();  // told here, so nothing for the next call to find
  return {code_of(result), std::string(what) + ": " + cudaGetErrorString(result)};
}

Result<std::vector<int>> find_devices() {
  DriverAnswer answer;
  COLIBRI_TRY(checked(cudaDriverGetVersion(&answer.driver), "cudaDriverGetVersion"));
  COLIBRI_TRY(checked(cudaRuntimeGetVersion(&answer.runtime), "cudaRuntimeGetVersion"));
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess) {
    (void)cudaGetLastError();
    count = 0;
    if (counted != cudaErrorNoDevice) answer.failure = cudaGetErrorString(counted);
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp found;
    COLIBRI_TRY(checked(cudaGetDeviceProperties(&found, i), "cudaGetDeviceProperties"));
    answer.devices.push_back({found.name, found.major, found.minor});
  }
  return usable_devices(answer, kArchitectures);
}

// CUDA's numbers of the devices that probe() counts, asked for once.
const Result<std::vector<int>>& devices() {
  static const Result<std::vector<int>> found = find_devices();
  return found;
}

// Makes the device the calling thread's.
Status choose(uint32_t device, int* ordinal) {
  if (!devices().ok()) return devices().status();
  if (device >= devices()->size()) {
    return invalid_argument("device " + std::to_string(device) + " of " +
                            std::to_string(devices()->size()));
  }
  *ordinal = (*devices())[device];
  return checked(cudaSetDevice(*ordinal), "cudaSetDevice");
}

colibri_status probe(uint32_t* count, colibri_error* error) {
  return guard(error, [&]() -> Status {
    if (!devices().ok()) return devices().status();
    *count = static_cast<uint32_t>(devices()->size());
    return {};
  });
}

void copy_text(const std::string& from, char* to, size_t room) {
  to[from.copy(to, room - 1)] = '\0';
}

colibri_status info(uint32_t device, colibri_device_info* info, colibri_error* error) {
  return guard(error, [&]() -> Status {
    if (info == nullptr || info->struct_size < sizeof(*info)) {
      return invalid_argument("no place for the device's properties");
    }
    int ordinal = 0;
    COLIBRI_TRY(choose(device, &ordinal));
    cudaDeviceProp found;
    COLIBRI_TRY(checked(cudaGetDeviceProperties(&found, ordinal), "cudaGetDeviceProperties"));
    info->shares_memory = found.integrated != 0 ? 1 : 0;
    info->memory_bytes = found.totalGlobalMem;
    copy_text(found.name, info->name, sizeof(info->name));
    copy_text("sm_" + std::to_string(found.major) + std::to_string(found.minor), info->architecture,
              sizeof(info->architecture));
    return {};
  });
}

colibri_status free_memory(uint32_t device, uint64_t* bytes, colibri_error* error) {
  return guard(error, [&]() -> Status {
    int ordinal = 0;
    COLIBRI_TRY(choose(device, &ordinal));
    size_t free = 0;
    size_t total = 0;
    COLIBRI_TRY(checked(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"));
    *bytes = free;
    return {};
  });
}

colibri_status allocate(uint32_t device, uint64_t bytes, void** buffer, colibri_error* error) {
  return guard(error, [&]() -> Status {
    int ordinal = 0;
    COLIBRI_TRY(choose(device, &ordinal));
    return checked(cudaMalloc(buffer, bytes), "cudaMalloc");
  });
}

colibri_status allocate_host(uint32_t device, uint64_t bytes, void** memory, colibri_error* error) {
  return guard(error, [&]() -> Status {
    int ordinal = 0;
    COLIBRI_TRY(choose(device, &ordinal));
    return checked(cudaHostAlloc(memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  });
}

void release(uint32_t device, void* buffer) {
  int ordinal = 0;
  if (buffer != nullptr && choose(device, &ordinal).ok()) (void)cudaFree(buffer);
}

void release_host(uint32_t device, void* memory) {
  int ordinal = 0;
  if (memory != nullptr && choose(device, &ordinal).ok()) (void)cudaFreeHost(memory);
}

colibri_status queue_create(uint32_t device, colibri_device_queue** queue, colibri_error* error) {
  return guard(error, [&]() -> Status {
    colibri_device_queue made = {};
    COLIBRI_TRY(choose(device, &made.device));
    COLIBRI_TRY(checked(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking),
                        "cudaStreamCreateWithFlags"));
    *queue = new colibri_device_queue(made);
    return {};
  });
}

void queue_destroy(colibri_device_queue* queue) {
  if (queue == nullptr) return;
  (void)cudaSetDevice(queue->device);
  (void)cudaStreamSynchronize(queue->stream);
  (void)cudaStreamDestroy(queue->stream);
  delete queue;
}

colibri_status event_create(uint32_t device, colibri_device_event** event, colibri_error* error) {
  return guard(error, [&]() -> Status {
    colibri_device_event made = {};
    COLIBRI_TRY(choose(device, &made.device));
    COLIBRI_TRY(checked(cudaEventCreateWithFlags(&made.event, cudaEventDisableTiming),
                        "cudaEventCreateWithFlags"));
    *event = new colibri_device_event(made);
    return {};
  });
}

void event_destroy(colibri_device_event* event) {
  if (event == nullptr) return;
  (void)cudaSetDevice(event->device);
  (void)cudaEventDestroy(event->event);
  delete event;
}

// Runs body with the device of a queue or an event chosen.
template <typename Of, typename Body>
colibri_status on(Of* of, colibri_error* error, Body body) {
  return guard(error, [&]() -> Status {
    if (of == nullptr) return invalid_argument("no queue or event");
    COLIBRI_TRY(checked(cudaSetDevice(of->device), "cudaSetDevice"));
    return body();
  });
}

colibri_status copy_of(colibri_device_queue* queue, void* to, const void* from, uint64_t bytes,
                       cudaMemcpyKind kind, colibri_error* error) {
  return on(queue, error, [&] {
    return checked(cudaMemcpyAsync(to, from, bytes, kind, queue->stream), "cudaMemcpyAsync");
  });
}

uint8_t* at(void* buffer, uint64_t offset) {
  return static_cast<uint8_t*>(buffer) + offset;
}
const uint8_t* at(const void* buffer, uint64_t offset) {
  return static_cast<const uint8_t*>(buffer) + offset;
}

colibri_status copy_in(colibri_device_queue* queue, void* to_buffer, uint64_t to_offset,
                       const void* from, uint64_t bytes, colibri_error* error) {
  return copy_of(queue, at(to_buffer, to_offset), from, bytes, cudaMemcpyHostToDevice, error);
}

colibri_status copy_out(colibri_device_queue* queue, void* to, const void* from_buffer,
                        uint64_t from_offset, uint64_t bytes, colibri_error* error) {
  return copy_of(queue, to, at(from_buffer, from_offset), bytes, cudaMemcpyDeviceToHost, error);
}

colibri_status copy(colibri_device_queue* queue, void* to_buffer, uint64_t to_offset,
                    const void* from_buffer, uint64_t from_offset, uint64_t bytes,
                    colibri_error* error) {
  return copy_of(queue, at(to_buffer, to_offset), at(from_buffer, from_offset), bytes,
                 cudaMemcpyDeviceToDevice, error);
}

colibri_status event_record(colibri_device_event* event, colibri_device_queue* queue,
                            colibri_error* error) {
  return on(queue, error, [&]() -> Status {
    if (event == nullptr) return invalid_argument("no event");
    return checked(cudaEventRecord(event->event, queue->stream), "cudaEventRecord");
  });
}

colibri_status queue_wait(colibri_device_queue* queue, colibri_device_event* event,
                          colibri_error* error) {
  return on(queue, error, [&]() -> Status {
    if (event == nullptr) return invalid_argument("no event");
    return checked(cudaStreamWaitEvent(queue->stream, event->event, 0), "cudaStreamWaitEvent");
  });
}

colibri_status event_wait(colibri_device_event* event, colibri_error* error) {
  return on(event, error,
            [&] { return checked(cudaEventSynchronize(event->event), "cudaEventSynchronize"); });
}

colibri_status event_done(colibri_device_event* event, int32_t* done, colibri_error* error) {
  return on(event, error, [&]() -> Status {
    const cudaError_t result = cudaEventQuery(event->event);
    *done = result == cudaSuccess ? 1 : 0;
    if (result == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return {};
    }
    return checked(result, "cudaEventQuery");
  });
}

colibri_status run_operator(colibri_device_queue* queue, const void* state, const void* arguments,
                            void* scratch, colibri_error* error) {
  return on(queue, error, [&]() -> Status {
    const colibri_status status = run(state, arguments, queue->stream, scratch);
    if (status == COLIBRI_OK) return {};
    if (status == COLIBRI_INVALID_ARGUMENT) {
      return invalid_argument("the arguments do not fit the operator");
    }
    return {status, std::string("starting a kernel: ") + cudaGetErrorString(cudaGetLastError())};
  });
}

}  // namespace

const colibri_device_0 kDeviceTable = {sizeof(colibri_device_0),
                                       COLIBRI_DEVICE_DRAFT,
                                       probe,
                                       info,
                                       free_memory,
                                       allocate,
                                       allocate_host,
                                       release,
                                       release_host,
                                       queue_create,
                                       queue_destroy,
                                       event_create,
                                       event_destroy,
                                       copy_in,
                                       copy_out,
                                       copy,
                                       event_record,
                                       queue_wait,
                                       event_wait,
                                       event_done,
                                       run_operator};

}  // namespace colibri::cuda
