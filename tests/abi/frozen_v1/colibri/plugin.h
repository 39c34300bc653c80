/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.h: what every Colibri plugin and the host agree on. C11, no other header of ours.
 *
 * Growth. The first field of every struct is struct_size, set by whoever fills the struct to its own sizeof. Fields are
 * appended, never moved and never given a new meaning; a reader uses a field only if it lies inside struct_size, and a
 * zero means "not provided". The host refuses to pass a non-zero attribute that lies beyond a plugin's struct_size: an
 * attribute that a plugin cannot see must not be ignored.
 *
 * Threads. Every function carries a tag:
 *   [setup]   called by one thread at a time, before or after all work
 *   [any]     any thread, in parallel, unless it says otherwise
 *   [worker]  a worker thread of the host, in parallel; must not allocate or block
 *
 * Ownership. Memory and threads belong to the host unless a function says otherwise. A colibri_str is borrowed for the
 * call. Plugins never print, abort, exit, or let an exception escape. */
#ifndef COLIBRI_PLUGIN_H
#define COLIBRI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI this header describes. A plugin is refused if its major differs or its minor is newer than the host's. */
#define COLIBRI_ABI_MAJOR 1
#define COLIBRI_ABI_MINOR 0

typedef int32_t colibri_status; /* one of the codes below; 0 = ok */
enum {
  COLIBRI_OK = 0,
  COLIBRI_INVALID_ARGUMENT = 1, /* the caller asked for something that makes no sense */
  COLIBRI_UNSUPPORTED = 2,      /* makes sense, but is not offered here */
  COLIBRI_NOT_FOUND = 3,
  COLIBRI_CORRUPT_DATA = 4,
  COLIBRI_OUT_OF_MEMORY = 5,
  COLIBRI_IO = 6,
  COLIBRI_DEVICE_LOST = 7,
  COLIBRI_CANCELLED = 8, /* a cancel flag or a deadline ended the call */
  COLIBRI_INTERNAL = 9
};

/* Why a call failed. Owned by the caller, who sets struct_size; a callee that gets NULL only returns the code. */
typedef struct colibri_error {
  uint32_t struct_size;
  colibri_status code;
  char text[512]; /* UTF-8, NUL-terminated; says where, what, and how to mend it */
} colibri_error;

typedef struct colibri_str { /* UTF-8, not NUL-terminated, borrowed for the call */
  const char* data;
  size_t size;
} colibri_str;

enum { /* kinds of colibri_value */
  COLIBRI_VALUE_NONE = 0,
  COLIBRI_VALUE_BOOL = 1,   /* i: 0 or 1 */
  COLIBRI_VALUE_INT = 2,    /* i */
  COLIBRI_VALUE_FLOAT = 3,  /* f */
  COLIBRI_VALUE_STRING = 4, /* s */
  COLIBRI_VALUE_ARRAY = 5   /* n elements, read one by one */
};
typedef struct colibri_value {
  uint32_t struct_size;
  uint32_t kind;
  int64_t i;
  double f;
  colibri_str s; /* lives as long as what it was read from */
  uint64_t n;
} colibri_value;

/* The only mathematics a numeric path may use beyond + - * / sqrt and fma: libm differs between systems, and these do
 * not. Each is defined to the bit in docs/numerics.md. [any] */
typedef struct colibri_math {
  uint32_t struct_size;
  float (*exp)(float x);
  float (*log)(float x);
  float (*pow)(float x, float y);
  void (*sincos)(double angle, double* sine, double* cosine); /* radians */
} colibri_math;

enum { COLIBRI_LOG_DEBUG = 0, COLIBRI_LOG_INFO = 1, COLIBRI_LOG_WARNING = 2, COLIBRI_LOG_ERROR = 3 };

/* The host as one plugin instance sees it. Lives as long as what was created with it. */
typedef struct colibri_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  void* context; /* the host's own */
  const colibri_math* math;
  /* One line for the user's log; plugins never print. [any] */
  void (*log)(const struct colibri_host* host, int32_t level, colibri_str message);
  /* The value of an option that the manifest declares: that of the place in the pipeline where the plugin is used, else
   * that of plugins.options, else the default; the host has checked type and range. Strings live as long as the host.
   * COLIBRI_NOT_FOUND for a name that the manifest does not declare. [setup] */
  colibri_status (*option)(const struct colibri_host* host, colibri_str name, colibri_value* value);
} colibri_host;

/* A plugin. Static: lives as long as the process; plugins are never unloaded. */
typedef struct colibri_plugin {
  uint32_t struct_size;
  uint32_t abi_minor;  /* COLIBRI_ABI_MINOR it was built with */
  const char* id;      /* equal to the manifest's */
  const char* version; /* equal to the manifest's */
  /* Called before anything else; a failure removes the plugin from the candidates. NULL = nothing to do. A process calls
   * open and close in turns, one pair for all models that use the plugin at the same time. host lives until close, and
   * its options are those of plugins.options. [setup] */
  colibri_status (*open)(const colibri_host* host, colibri_error* error);
  /* Called last, when nothing made with the plugin is left; open may follow again. NULL = nothing to do. [setup] */
  void (*close)(void);
  /* The table of an interface, e.g. "colibri.sampler/1"; NULL = not offered. The table is static. [any] */
  const void* (*get_interface)(const char* id);
} colibri_plugin;

/* The one exported symbol of a shared plugin; its name holds the major version. A program or a static build without
 * dlopen hands the same table to colibri_register_plugin() of colibri.h instead. */
#if defined(__GNUC__)
#define COLIBRI_EXPORT __attribute__((visibility("default")))
#else
#define COLIBRI_EXPORT
#endif
COLIBRI_EXPORT const colibri_plugin* colibri_plugin_v1(void);

#ifdef __cplusplus
}
#endif
#endif
