// SPDX-License-Identifier: Apache-2.0
// A plugin whose device is made of the CPU: the kernels of plugins/cuda on fibers, in 64 MiB that
// stand for the device's memory. Work happens when it is put into a queue.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "colibri/device.h"
#include "plugins/cuda/operators.h"

struct colibri_device_queue {};
struct colibri_device_event {};

namespace colibri::cuda {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;
constexpr uint64_t kAlignment = 256;

colibri_status fail(colibri_error* error, colibri_status code, const char* text) {
  if (error != nullptr) std::snprintf(error->text, sizeof(error->text), "%s", text);
  return code;
}

// Buffers are handed out by first fit, full of a pattern: what is read before it is written is seen.
class DeviceMemory {
 public:
  static DeviceMemory& instance() {
    static DeviceMemory memory;
    return memory;
  }

  void* allocate(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    uint64_t begin = 0;
    for (const auto& [used_begin, used_bytes] : used_) {
      if (begin + bytes <= used_begin) break;
      begin = (used_begin + used_bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    if (begin + bytes > kMemoryBytes) return nullptr;
    used_[begin] = bytes;
    return std::memset(memory_.get() + begin, 0xA5, bytes);
  }
  void release(void* buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer != nullptr)
      used_.erase(static_cast<uint64_t>(static_cast<uint8_t*>(buffer) - memory_.get()));
  }
  uint64_t free_bytes() {
    const std::lock_guard lock(mutex_);
    uint64_t free = kMemoryBytes;
    for (const auto& [begin, bytes] : used_) free -= bytes;
    return free;
  }
  // Whether all of it lies in one buffer.
  bool holds(const void* buffer, uint64_t offset, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found =
        used_.find(static_cast<uint64_t>(static_cast<const uint8_t*>(buffer) - memory_.get()));
    return found != used_.end() && offset + bytes <= found->second;
  }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> memory_{
      static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kMemoryBytes))};
  std::map<uint64_t, uint64_t> used_;  // begin, bytes
  std::mutex mutex_;
};

colibri_status copy_bytes(void* to, const void* from, uint64_t bytes, bool fits,
                          colibri_error* error) {
  if (!fits) return fail(error, COLIBRI_INVALID_ARGUMENT, "a copy outside of a buffer");
  std::memcpy(to, from, bytes);
  return COLIBRI_OK;
}

constexpr colibri_device_0 kDevice = [] {
  colibri_device_0 table = {};
  table.struct_size = sizeof(table);
  table.draft = COLIBRI_DEVICE_DRAFT;
  table.probe = [](uint32_t* count, colibri_error*) -> colibri_status {
    *count = 1;
    return COLIBRI_OK;
  };
  table.info = [](uint32_t, colibri_device_info* info, colibri_error*) -> colibri_status {
    info->memory_bytes = kMemoryBytes;
    std::snprintf(info->name, sizeof(info->name), "CUDA kernels on the CPU");
    std::snprintf(info->architecture, sizeof(info->architecture), "fibers");
    return COLIBRI_OK;
  };
  table.free_memory = [](uint32_t, uint64_t* bytes, colibri_error*) -> colibri_status {
    *bytes = DeviceMemory::instance().free_bytes();
    return COLIBRI_OK;
  };
  table.allocate = [](uint32_t, uint64_t bytes, void** buffer,
                      colibri_error* error) -> colibri_status {
    *buffer = DeviceMemory::instance().allocate(bytes);
    return *buffer != nullptr ? COLIBRI_OK : fail(error, COLIBRI_OUT_OF_MEMORY, "no room");
  };
  table.allocate_host = [](uint32_t, uint64_t bytes, void** memory,
                           colibri_error* error) -> colibri_status {
    *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory != nullptr ? COLIBRI_OK : fail(error, COLIBRI_OUT_OF_MEMORY, "no room");
  };
  table.release = [](uint32_t, void* buffer) { DeviceMemory::instance().release(buffer); };
  table.release_host = [](uint32_t, void* memory) { std::free(memory); };
  table.queue_create = [](uint32_t, colibri_device_queue** queue, colibri_error*) {
    *queue = new colibri_device_queue;
    return colibri_status{COLIBRI_OK};
  };
  table.queue_destroy = [](colibri_device_queue* queue) { delete queue; };
  table.event_create = [](uint32_t, colibri_device_event** event, colibri_error*) {
    *event = new colibri_device_event;
    return colibri_status{COLIBRI_OK};
  };
  table.event_destroy = [](colibri_device_event* event) { delete event; };
  table.copy_in = [](colibri_device_queue*, void* to, uint64_t offset, const void* from,
                     uint64_t bytes, colibri_error* error) {
    return copy_bytes(static_cast<uint8_t*>(to) + offset, from, bytes,
                      DeviceMemory::instance().holds(to, offset, bytes), error);
  };
  table.copy_out = [](colibri_device_queue*, void* to, const void* from, uint64_t offset,
                      uint64_t bytes, colibri_error* error) {
    return copy_bytes(to, static_cast<const uint8_t*>(from) + offset, bytes,
                      DeviceMemory::instance().holds(from, offset, bytes), error);
  };
  table.copy = [](colibri_device_queue*, void* to, uint64_t to_offset, const void* from,
                  uint64_t from_offset, uint64_t bytes, colibri_error* error) {
    return copy_bytes(static_cast<uint8_t*>(to) + to_offset,
                      static_cast<const uint8_t*>(from) + from_offset, bytes,
                      DeviceMemory::instance().holds(to, to_offset, bytes) &&
                          DeviceMemory::instance().holds(from, from_offset, bytes),
                      error);
  };
  table.event_record = [](colibri_device_event*, colibri_device_queue*, colibri_error*) {
    return colibri_status{COLIBRI_OK};
  };
  table.queue_wait = [](colibri_device_queue*, colibri_device_event*, colibri_error*) {
    return colibri_status{COLIBRI_OK};
  };
  table.event_wait = [](colibri_device_event*, colibri_error*) {
    return colibri_status{COLIBRI_OK};
  };
  table.event_done = [](colibri_device_event*, int32_t* done, colibri_error*) {
    *done = 1;
    return colibri_status{COLIBRI_OK};
  };
  table.run = [](colibri_device_queue*, const void* state, const void* arguments, void* scratch,
                 colibri_error* error) {
    const colibri_status status = run(state, arguments, nullptr, scratch);
    return status == COLIBRI_OK ? status
                                : fail(error, status, "the arguments do not fit the operator");
  };
  return table;
}();

constexpr colibri_plugin kPlugin = {sizeof(colibri_plugin),
                                    COLIBRI_ABI_MINOR,
                                    "device_on_cpu",
                                    "0.1.0",
                                    nullptr,
                                    nullptr,
                                    [](const char* id) -> const void* {
                                      if (std::strcmp(id, "colibri.kernels/0") == 0)
                                        return &kernel_table();
                                      return std::strcmp(id, "colibri.device/0") == 0 ? &kDevice
                                                                                      : nullptr;
                                    }};

}  // namespace
}  // namespace colibri::cuda

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cuda::kPlugin;
}
