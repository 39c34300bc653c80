/* SPDX-License-Identifier: Apache-2.0 */
/* device.h: "colibri.device/0". DRAFT: host and plugin must have been built from the same version of this header
 * (COLIBRI_DEVICE_DRAFT, compared when the plugin is loaded).
 *
 * A device computes with memory of its own, in the order of queues. A plugin offers this interface beside
 * colibri.kernels/0, and then all its kernels run on its devices: the host asks supports(), packs weights by pack() in its
 * own memory and creates operators as with any other plugin, copies the packed weights in, and calls run() below where it
 * calls op_run() of a plugin for the CPU. op_tasks() and op_run() of such a plugin are not called.
 *
 * Memory. A buffer is a range of addresses [buffer, buffer + bytes), 256-byte aligned, that only the device can follow: a
 * device whose memory has no such addresses hands out numbers and translates them. In the arguments of a kernel every
 * colibri_tensor has such a buffer, and every other pointer is an address inside of one, but for what the host decides
 * itself: group_begin, position, sequence, and the arrays of tensors (weight, bias, k_cache, v_cache, cache) are the
 * host's memory and are read before run() returns. Numbers that lie on the device (ids, row_index, output_index) cannot be
 * checked beforehand: a kernel that meets one outside of its tensor writes NaN in that row, or nothing, and no more.
 *
 * Order. What is put into one queue happens in that order; two queues are ordered by events only. copy_*() and run() put
 * work in and return. A failure that shows later comes back from the next event_wait() of the queue's device as
 * COLIBRI_DEVICE_LOST, after which nothing of the device can be used.
 *
 * Threads. A queue is used by one thread at a time; all else may be called by any thread in parallel. */
#ifndef COLIBRI_DEVICE_H
#define COLIBRI_DEVICE_H

#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLIBRI_DEVICE_DRAFT 1

typedef struct colibri_device_info {
  uint32_t struct_size;
  uint32_t shares_memory;  /* 1 = its memory is the host's: what it takes is missing there */
  uint64_t memory_bytes;
  char name[128];          /* "NVIDIA H200", UTF-8, NUL-terminated */
  char architecture[32];   /* "sm_90" */
} colibri_device_info;

typedef struct colibri_device_queue colibri_device_queue; /* the plugin's own */
typedef struct colibri_device_event colibri_device_event;

typedef struct colibri_device_0 {
  uint32_t struct_size;
  uint32_t draft; /* COLIBRI_DEVICE_DRAFT */
  /* Asked once, after open, before anything else: how many devices of this machine the plugin can use, 1 or more, numbered
   * from 0. COLIBRI_UNSUPPORTED with the reason if there is none (no driver, too old a driver, no device, no kernels for its
   * architecture); the plugin is then no candidate. Must not fail where the driver is not installed. [setup] */
  colibri_status (*probe)(uint32_t* count, colibri_error* error);
  /* The caller sets info->struct_size. [any] */
  colibri_status (*info)(uint32_t device, colibri_device_info* info, colibri_error* error);
  /* Bytes that allocate() can give now, about. [any] */
  colibri_status (*free_memory)(uint32_t device, uint64_t* bytes, colibri_error* error);

  /* Not cleared. bytes > 0. COLIBRI_OUT_OF_MEMORY if there is no such room. [any] */
  colibri_status (*allocate)(uint32_t device, uint64_t bytes, void** buffer, colibri_error* error);
  /* The host's memory that copies reach without a detour; an address of the host's, 4096-byte aligned. [any] */
  colibri_status (*allocate_host)(uint32_t device, uint64_t bytes, void** memory, colibri_error* error);
  /* Nothing that uses the memory is in a queue any more. NULL does nothing. [any] */
  void (*release)(uint32_t device, void* buffer);
  void (*release_host)(uint32_t device, void* memory);

  colibri_status (*queue_create)(uint32_t device, colibri_device_queue** queue, colibri_error* error);
  void (*queue_destroy)(colibri_device_queue* queue); /* waits for what is in it */
  colibri_status (*event_create)(uint32_t device, colibri_device_event** event, colibri_error* error);
  void (*event_destroy)(colibri_device_event* event);

  /* from is read, and to is written, until the copy has happened, unless the memory is not of allocate_host(): then copy_in
   * has read it when it returns, and copy_out may have waited. Ranges do not overlap. [any] */
  colibri_status (*copy_in)(colibri_device_queue* queue, void* to_buffer, uint64_t to_offset, const void* from, uint64_t bytes,
                            colibri_error* error);
  colibri_status (*copy_out)(colibri_device_queue* queue, void* to, const void* from_buffer, uint64_t from_offset,
                             uint64_t bytes, colibri_error* error);
  /* Between buffers of the queue's device. [any] */
  colibri_status (*copy)(colibri_device_queue* queue, void* to_buffer, uint64_t to_offset, const void* from_buffer,
                         uint64_t from_offset, uint64_t bytes, colibri_error* error);

  /* The event stands for all that is in the queue now; one that was never recorded has happened. [any] */
  colibri_status (*event_record)(colibri_device_event* event, colibri_device_queue* queue, colibri_error* error);
  /* What is put into the queue from now on happens after the event. [any] */
  colibri_status (*queue_wait)(colibri_device_queue* queue, colibri_device_event* event, colibri_error* error);
  /* Blocks until the event has happened. [any] */
  colibri_status (*event_wait)(colibri_device_event* event, colibri_error* error);
  /* *done = 1 if it has happened, else 0. Does not block. [any] */
  colibri_status (*event_done)(colibri_device_event* event, int32_t* done, colibri_error* error);

  /* Runs an operator that op_create() of the plugin's kernels made in `state` (the host's memory) on the queue. arguments:
   * the struct of the operator, as said above. scratch: a buffer of the op_info's scratch_bytes that no other work uses
   * until this has happened; NULL if that is 0. A row's bytes depend on its own numbers only, not on the call's other rows,
   * and are the same on every run. [any] */
  colibri_status (*run)(colibri_device_queue* queue, const void* state, const void* arguments, void* scratch,
                        colibri_error* error);
} colibri_device_0;

#ifdef __cplusplus
}
#endif
#endif
