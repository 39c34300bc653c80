// SPDX-License-Identifier: Apache-2.0
// A device of a plugin with colibri.device/0, its memory and its queues (colibri/device.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "colibri/device.h"
#include "runtime/base/status.h"
#include "runtime/plugin/plugin.h"

namespace colibri::plugin {

inline constexpr uint64_t kDeviceAlignment = 256;  // of a buffer

// Immutable: any number of threads may use it. Must outlive its memory and queues.
class Device {
 public:
  // number: below the count that the plugin's probe gave. [setup]
  static Result<std::unique_ptr<const Device>> open(std::shared_ptr<const Plugin> plugin,
                                                    uint32_t number);

  const std::shared_ptr<const Plugin>& plugin() const { return plugin_; }
  const colibri_device_0& table() const { return *table_; }
  uint32_t number() const { return number_; }
  const colibri_device_info& info() const { return info_; }
  std::string name() const { return plugin_->id() + ":" + std::to_string(number_); }  // "cuda:0"
  Result<uint64_t> free_memory() const;

 private:
  Device(std::shared_ptr<const Plugin> plugin, uint32_t number);

  std::shared_ptr<const Plugin> plugin_;
  const colibri_device_0* table_;
  uint32_t number_;
  colibri_device_info info_ = {};
};

// Owns a buffer. Movable; an empty one has data() == nullptr.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // bytes = 0 gives an empty one. Not cleared. `what` names the use in the error.
  static Result<DeviceMemory> allocate(const Device& device, uint64_t bytes,
                                       const std::string& what);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  // An address that only the device can follow.
  std::byte* data() const { return static_cast<std::byte*>(buffer_); }

 private:
  const Device* device_ = nullptr;
  void* buffer_ = nullptr;
};

// Owns a queue, used by one thread at a time. Movable. Offsets are bytes into a buffer's data().
// After a failure that shows late the device is lost, and wait() says so.
class DeviceQueue {
 public:
  static Result<DeviceQueue> create(const Device& device);
  DeviceQueue(DeviceQueue&& other) noexcept;
  DeviceQueue& operator=(DeviceQueue&& other) noexcept;
  ~DeviceQueue();

  const Device& device() const { return *device_; }

  // `from` has been read when it returns.
  Status copy_in(std::byte* buffer, uint64_t offset, const void* from, uint64_t bytes);
  // `to` has been written after wait().
  Status copy_out(void* to, const std::byte* buffer, uint64_t offset, uint64_t bytes);
  // Within a buffer; the ranges do not overlap.
  Status move(std::byte* buffer, uint64_t to_offset, uint64_t from_offset, uint64_t bytes);
  // An operator that the plugin's op_create made in `state`. scratch: as large as it asked for.
  Status run(const void* state, const void* arguments, std::byte* scratch);
  // Until all that was put into the queue has happened.
  Status wait();

 private:
  explicit DeviceQueue(const Device& device) : device_(&device) {}
  Status checked(colibri_status code, const colibri_error& error, const char* what) const;

  const Device* device_;
  colibri_device_queue* queue_ = nullptr;
  colibri_device_event* event_ = nullptr;
};

}  // namespace colibri::plugin
