// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/device.h"

#include <utility>

#include "runtime/base/memory.h"
#include "runtime/plugin/registry.h"

namespace colibri::plugin {

Result<std::unique_ptr<const Device>> Device::open(std::shared_ptr<const Plugin> plugin,
                                                   uint32_t number) {
  std::unique_ptr<Device> device(new Device(std::move(plugin), number));
  device->info_.struct_size = sizeof(device->info_);
  colibri_error error = empty_error();
  const colibri_status code = device->table_->info(number, &device->info_, &error);
  COLIBRI_TRY(from_c(code, error, "info").at(device->name()));
  // The plugin's texts end within their room, whatever it wrote.
  device->info_.name[sizeof(device->info_.name) - 1] = '\0';
  device->info_.architecture[sizeof(device->info_.architecture) - 1] = '\0';
  return std::unique_ptr<const Device>(std::move(device));
}

Device::Device(std::shared_ptr<const Plugin> plugin, uint32_t number)
    : plugin_(std::move(plugin)),
      table_(plugin_->interface<colibri_device_0>(kDeviceInterface)),
      number_(number) {}

Result<uint64_t> Device::free_memory() const {
  uint64_t bytes = 0;
  colibri_error error = empty_error();
  const colibri_status code = table_->free_memory(number_, &bytes, &error);
  COLIBRI_TRY(from_c(code, error, "free_memory").at(name()));
  return bytes;
}

Result<DeviceMemory> DeviceMemory::allocate(const Device& device, uint64_t bytes,
                                            const std::string& what) {
  DeviceMemory memory;
  if (bytes == 0) return memory;
  colibri_error error = empty_error();
  const colibri_status code =
      device.table().allocate(device.number(), bytes, &memory.buffer_, &error);
  COLIBRI_TRY(from_c(code, error, "allocate")
                  .at(device.name() + ": no " + human_bytes(bytes) + " for " + what));
  memory.device_ = &device;
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      buffer_(std::exchange(other.buffer_, nullptr)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (device_ != nullptr) device_->table().release(device_->number(), buffer_);
}

Result<DeviceQueue> DeviceQueue::create(const Device& device) {
  DeviceQueue queue(device);
  colibri_error error = empty_error();
  colibri_status code = device.table().queue_create(device.number(), &queue.queue_, &error);
  COLIBRI_TRY(queue.checked(code, error, "queue_create"));
  code = device.table().event_create(device.number(), &queue.event_, &error);
  COLIBRI_TRY(queue.checked(code, error, "event_create"));
  return queue;
}

DeviceQueue::DeviceQueue(DeviceQueue&& other) noexcept
    : device_(other.device_),
      queue_(std::exchange(other.queue_, nullptr)),
      event_(std::exchange(other.event_, nullptr)) {}

DeviceQueue& DeviceQueue::operator=(DeviceQueue&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(queue_, other.queue_);
  std::swap(event_, other.event_);
  return *this;
}

DeviceQueue::~DeviceQueue() {
  if (queue_ != nullptr) device_->table().queue_destroy(queue_);
  if (event_ != nullptr) device_->table().event_destroy(event_);
}

Status DeviceQueue::checked(colibri_status code, const colibri_error& error,
                            const char* what) const {
  return code == COLIBRI_OK ? Status() : from_c(code, error, what).at(device_->name());
}

Status DeviceQueue::copy_in(std::byte* buffer, uint64_t offset, const void* from, uint64_t bytes) {
  colibri_error error = empty_error();
  return checked(device_->table().copy_in(queue_, buffer, offset, from, bytes, &error), error,
                 "copy_in");
}

Status DeviceQueue::copy_out(void* to, const std::byte* buffer, uint64_t offset, uint64_t bytes) {
  colibri_error error = empty_error();
  return checked(device_->table().copy_out(queue_, to, buffer, offset, bytes, &error), error,
                 "copy_out");
}

Status DeviceQueue::move(std::byte* buffer, uint64_t to_offset, uint64_t from_offset,
                         uint64_t bytes) {
  colibri_error error = empty_error();
  return checked(
      device_->table().copy(queue_, buffer, to_offset, buffer, from_offset, bytes, &error), error,
      "copy");
}

Status DeviceQueue::run(const void* state, const void* arguments, std::byte* scratch) {
  colibri_error error = empty_error();
  return checked(device_->table().run(queue_, state, arguments, scratch, &error), error, "run");
}

Status DeviceQueue::wait() {
  colibri_error error = empty_error();
  COLIBRI_TRY(
      checked(device_->table().event_record(event_, queue_, &error), error, "event_record"));
  return checked(device_->table().event_wait(event_, &error), error, "event_wait");
}

}  // namespace colibri::plugin
