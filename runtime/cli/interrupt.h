// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the work to stop, the second one ends the process.
#pragma once

#include <csignal>

namespace colibri::cli {

// While one exists, SIGINT and SIGTERM set *flag().
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const volatile int* flag() const;

 private:
  struct sigaction old_int_ = {}, old_term_ = {};
};

}  // namespace colibri::cli
