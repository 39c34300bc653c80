// SPDX-License-Identifier: Apache-2.0
// A table of colibri.device/0 for tests: devices that can be asked for, and do nothing.
#pragma once

#include <cstdio>

#include "colibri/device.h"

namespace colibri::plugin {

// What made_up_device's probe() answers.
struct ProbeAnswer {
  colibri_status status = COLIBRI_OK;
  uint32_t count = 1;
  const char* text = "";
};

template <const ProbeAnswer& kAnswer>
constexpr colibri_device_0 made_up_device() {
  colibri_device_0 table = {};
  table.struct_size = sizeof(table);
  table.draft = COLIBRI_DEVICE_DRAFT;
  table.probe = [](uint32_t* count, colibri_error* error) -> colibri_status {
    *count = kAnswer.count;
    std::snprintf(error->text, sizeof(error->text), "%s", kAnswer.text);
    return kAnswer.status;
  };
  table.info = [](uint32_t, colibri_device_info*, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.free_memory = [](uint32_t, uint64_t*, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.allocate = [](uint32_t, uint64_t, void**, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.allocate_host = table.allocate;
  table.release = [](uint32_t, void*) {};
  table.release_host = table.release;
  table.queue_create = [](uint32_t, colibri_device_queue**, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.queue_destroy = [](colibri_device_queue*) {};
  table.event_create = [](uint32_t, colibri_device_event**, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.event_destroy = [](colibri_device_event*) {};
  table.copy_in = [](colibri_device_queue*, void*, uint64_t, const void*, uint64_t,
                     colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.copy_out = [](colibri_device_queue*, void*, const void*, uint64_t, uint64_t,
                      colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.copy = [](colibri_device_queue*, void*, uint64_t, const void*, uint64_t, uint64_t,
                  colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.event_record = [](colibri_device_event*, colibri_device_queue*,
                          colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.queue_wait = [](colibri_device_queue*, colibri_device_event*,
                        colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  table.event_wait = [](colibri_device_event*, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.event_done = [](colibri_device_event*, int32_t*, colibri_error*) -> colibri_status {
    return COLIBRI_UNSUPPORTED;
  };
  table.run = [](colibri_device_queue*, const void*, const void*, void*,
                 colibri_error*) -> colibri_status { return COLIBRI_UNSUPPORTED; };
  return table;
}

}  // namespace colibri::plugin
