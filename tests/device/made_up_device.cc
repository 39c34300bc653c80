// SPDX-License-Identifier: Apache-2.0
#include "tests/device/made_up_device.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/guard.h"
#include "runtime/base/memory.h"
#include "tests/device/device_call.h"
#include "tests/device/device_memory.h"

// What was put in and has not happened yet.
struct colibri_device_queue {
  std::mutex mutex;
  std::vector<std::function<colibri::Status()>> work;
  colibri::Status failure;  // of work that has happened: the device is lost
};
// That of a queue, or nothing.
struct colibri_device_event {
  colibri_device_queue* queue = nullptr;
};

namespace colibri::device_test {
namespace {

const colibri_kernels_0* computing_kernels = nullptr;

Status drain(colibri_device_queue& queue) {
  const std::lock_guard lock(queue.mutex);
  for (const auto& each : queue.work) {
    Status status = each();
    if (queue.failure.ok() && !status.ok()) {
      queue.failure = {COLIBRI_DEVICE_LOST, status.text()};
    }
  }
  queue.work.clear();
  return queue.failure;
}

// Puts work on these buffers into the queue.
void put(colibri_device_queue& queue, std::vector<uint64_t> buffers, std::function<Status()> work) {
  DeviceMemory::instance().use(buffers, 1);
  const std::lock_guard lock(queue.mutex);
  queue.work.push_back([buffers = std::move(buffers), work = std::move(work)] {
    Status status = work();
    DeviceMemory::instance().use(buffers, -1);
    return status;
  });
}

// [offset, offset + bytes) of a buffer.
Result<uint8_t*> place_of(DeviceCall& call, const void* buffer, uint64_t offset, uint64_t bytes) {
  if (!DeviceMemory::instance().begins_buffer(buffer)) {
    return invalid_argument("a copy of what is no buffer");
  }
  return call.find(static_cast<const uint8_t*>(buffer) + offset, static_cast<int64_t>(bytes));
}

colibri_status copy_in(colibri_device_queue* queue, void* to, uint64_t offset, const void* from,
                       uint64_t bytes, colibri_error* error) {
  return guard(error, [&]() -> Status {
    DeviceCall call;
    COLIBRI_ASSIGN(uint8_t * place, place_of(call, to, offset, bytes));
    const auto* first = static_cast<const uint8_t*>(from);
    put(*queue, call.buffers(), [place, kept = std::vector<uint8_t>(first, first + bytes)] {
      std::memcpy(place, kept.data(), kept.size());
      return Status();
    });
    return {};
  });
}

colibri_status copy_out(colibri_device_queue* queue, void* to, const void* from, uint64_t offset,
                        uint64_t bytes, colibri_error* error) {
  return guard(error, [&]() -> Status {
    DeviceCall call;
    COLIBRI_ASSIGN(const uint8_t* place, place_of(call, from, offset, bytes));
    put(*queue, call.buffers(), [place, to, bytes] {
      std::memcpy(to, place, bytes);
      return Status();
    });
    return {};
  });
}

colibri_status copy(colibri_device_queue* queue, void* to, uint64_t to_offset, const void* from,
                    uint64_t from_offset, uint64_t bytes, colibri_error* error) {
  return guard(error, [&]() -> Status {
    DeviceCall call;
    COLIBRI_ASSIGN(uint8_t * to_place, place_of(call, to, to_offset, bytes));
    COLIBRI_ASSIGN(const uint8_t* place, place_of(call, from, from_offset, bytes));
    if (to_place < place + bytes && place < to_place + bytes) {
      return invalid_argument("a copy of ranges that overlap");
    }
    put(*queue, call.buffers(), [to_place, place, bytes] {
      std::memcpy(to_place, place, bytes);
      return Status();
    });
    return {};
  });
}

Status compute(const void* state, const void* arguments, uint8_t* scratch) {
  const void* own = own_state(state);
  const int64_t tasks = computing_kernels->op_tasks(own, arguments);
  const colibri_status status = computing_kernels->op_run(own, arguments, 0, tasks, scratch);
  return {status, "the kernel fails"};
}

colibri_status run(colibri_device_queue* queue, const void* state, const void* arguments,
                   void* scratch, colibri_error* error) {
  return guard(error, [&]() -> Status {
    return with_arguments(
        head_of(state), arguments, [&]<typename Arguments>(const Arguments& given) -> Status {
          struct Kept {
            DeviceCall call;
            Arguments arguments;
          };
          const auto kept = std::make_shared<Kept>();
          kept->arguments = given;
          COLIBRI_TRY(visit(kept->call, head_of(state), kept->arguments));
          uint8_t* place = nullptr;
          if (head_of(state).scratch_bytes > 0) {
            const auto bytes = static_cast<int64_t>(head_of(state).scratch_bytes);
            COLIBRI_ASSIGN(place, kept->call.find(scratch, bytes));
          }
          put(*queue, kept->call.buffers(),
              [kept, state, place] { return compute(state, &kept->arguments, place); });
          return {};
        });
  });
}

template <typename T>
colibri_status make(T** made) {
  *made = new T;
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
    info->memory_bytes = DeviceMemory::kBytes;
    std::snprintf(info->name, sizeof(info->name), "Made-up device");
    std::snprintf(info->architecture, sizeof(info->architecture), "cpu");
    return COLIBRI_OK;
  };
  table.free_memory = [](uint32_t, uint64_t* bytes, colibri_error*) -> colibri_status {
    *bytes = DeviceMemory::instance().free_bytes();
    return COLIBRI_OK;
  };
  table.allocate = [](uint32_t, uint64_t bytes, void** buffer, colibri_error* error) {
    return guard(error, [&]() -> Status {
      *buffer = DeviceMemory::instance().allocate(bytes);
      return *buffer != nullptr ? Status() : out_of_memory("no room");
    });
  };
  table.allocate_host = [](uint32_t, uint64_t bytes, void** memory, colibri_error* error) {
    return guard(error, [&]() -> Status {
      *memory = std::aligned_alloc(4096, align_up(bytes, 4096));
      return *memory != nullptr ? Status() : out_of_memory("no room");
    });
  };
  table.release = [](uint32_t, void* buffer) { DeviceMemory::instance().release(buffer); };
  table.release_host = [](uint32_t, void* memory) { std::free(memory); };
  table.queue_create = [](uint32_t, colibri_device_queue** queue, colibri_error*) {
    return make(queue);
  };
  table.queue_destroy = [](colibri_device_queue* queue) {
    if (queue != nullptr) (void)drain(*queue);
    delete queue;
  };
  table.event_create = [](uint32_t, colibri_device_event** event, colibri_error*) {
    return make(event);
  };
  table.event_destroy = [](colibri_device_event* event) { delete event; };
  table.copy_in = copy_in;
  table.copy_out = copy_out;
  table.copy = copy;
  table.event_record = [](colibri_device_event* event, colibri_device_queue* queue,
                          colibri_error*) -> colibri_status {
    event->queue = queue;
    return COLIBRI_OK;
  };
  table.event_wait = [](colibri_device_event* event, colibri_error* error) {
    return guard(error, [&] { return event->queue == nullptr ? Status() : drain(*event->queue); });
  };
  // What comes after the event comes after all that is in its queue now.
  table.queue_wait = [](colibri_device_queue*, colibri_device_event* event, colibri_error* error) {
    return guard(error, [&] { return event->queue == nullptr ? Status() : drain(*event->queue); });
  };
  table.event_done = [](colibri_device_event* event, int32_t* done, colibri_error* error) {
    *done = 1;
    return guard(error, [&] { return event->queue == nullptr ? Status() : drain(*event->queue); });
  };
  table.run = run;
  return table;
}();

}  // namespace

const colibri_device_0& made_up_device(const colibri_kernels_0& computing) {
  computing_kernels = &computing;
  return kDevice;
}

colibri_kernels_0 made_up_kernels(const colibri_kernels_0& computing) {
  computing_kernels = &computing;
  colibri_kernels_0 table = computing;
  table.op_create = [](const colibri_op_desc* desc, const colibri_host* host, void* state,
                       colibri_op_info* info, colibri_error* error) {
    return create(*computing_kernels, desc, host, state, info, error);
  };
  // colibri/device.h: operators run on queues.
  table.op_tasks = [](const void*, const void*) -> int64_t {
    std::fprintf(stderr, "made_up_device: op_tasks() of a device's kernels is called\n");
    std::abort();
  };
  table.op_run = [](const void*, const void*, int64_t, int64_t, void*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  return table;
}

}  // namespace colibri::device_test
