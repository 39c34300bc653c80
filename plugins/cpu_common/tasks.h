// SPDX-License-Identifier: Apache-2.0
// How the calls of each operator are split into tasks: fine enough for threads to share and steal,
// and kernels treat neighbouring tasks of one range as one piece.
#pragma once

#include <algorithm>
#include <cstdint>

#include "colibri/kernels.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

// A task of grouped_matmul is 4 panels of a group (32 output columns, so that q8_32 blocks are
// whole) for up to 64 of its rows. A group's tasks are in the order of rows, then panels.
constexpr int64_t kTaskPanels = 4;
constexpr int64_t kTaskRows = 64;
// A task of attention is one key head for up to 8 rows: the queries of all its heads share the keys
// they read.
constexpr int64_t kAttentionRows = 8;
// A task of mla_attention is up to 16 heads of up to 4 rows: all heads read the same keys.
constexpr int64_t kLatentHeads = 16;
constexpr int64_t kLatentRows = 4;
// A task of the router is up to 4 rows; of every other operator one row.
constexpr int64_t kRouterRows = 4;

static inline int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// A part of a product that one range of tasks covers: product rows times panels of one group.
struct ProductPart {
  int64_t group;
  int64_t row_begin, row_end;      // product rows, at most kTaskRows
  int64_t panel_begin, panel_end;  // panels of the weight
};

// Calls visit(part), which returns a colibri_status, for the parts that `tasks` covers, in order;
// stops at the first failure.
template <typename Visit>
inline colibri_status for_each_part(const OperatorState& state,
                                    const colibri_grouped_matmul_args& call, TaskRange tasks,
                                    Visit visit) {
  const int64_t panels = panels_of(state.rows);
  const int64_t across = divide_up(panels, kTaskPanels);
  int64_t first = 0;  // task of the group
  for (int64_t group = 0; group < call.groups && first < tasks.end; ++group) {
    const int64_t rows = call.group_begin[group + 1] - call.group_begin[group];
    const int64_t count = divide_up(rows, kTaskRows) * across;
    int64_t task = std::max(tasks.begin - first, int64_t{0});
    const int64_t end = std::min(tasks.end - first, count);
    while (task < end) {
      const int64_t strip = task / across;
      const int64_t stop = std::min(end, (strip + 1) * across);
      ProductPart part;
      part.group = group;
      part.row_begin = call.group_begin[group] + strip * kTaskRows;
      part.row_end = std::min(part.row_begin + kTaskRows, call.group_begin[group + 1]);
      part.panel_begin = (task - strip * across) * kTaskPanels;
      part.panel_end = std::min((stop - strip * across) * kTaskPanels, panels);
      if (const colibri_status status = visit(part); status != COLIBRI_OK) return status;
      task = stop;
    }
    first += count;
  }
  return COLIBRI_OK;
}

// Tasks of a call whose arguments have been checked. [any]
int64_t count_tasks(const OperatorState& state, const void* arguments);

}  // namespace colibri::cpu
