// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/interrupt.h"

namespace colibri::cli {
namespace {

volatile int interrupted = 0;
void remember(int) {
  interrupted = 1;
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

const volatile int* Interrupt::flag() const {
  return &interrupted;
}

}  // namespace colibri::cli
