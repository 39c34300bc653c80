// SPDX-License-Identifier: Apache-2.0
// malloc, its kin and anonymous mmap, replaced for the whole process, plugins included.
#pragma once

namespace colibri::test {

// Asked before each allocation, from any thread; true = it gets no memory. The test defines it.
bool allocation_fails();

}  // namespace colibri::test
