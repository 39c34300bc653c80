// SPDX-License-Identifier: Apache-2.0
// A stable sort whose comparison may fail.
#pragma once

#include <vector>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

struct Keyed {
  Value key, item;
};
// By key; equal keys keep their order, also when `descending`.
Status sort_by_key(Budget& budget, std::vector<Keyed>& items, bool descending);

}  // namespace colibri::chat
