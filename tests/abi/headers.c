/* SPDX-License-Identifier: Apache-2.0 */
/* Every installed header is C11 and includes what it needs, in any order. */
#include "colibri/cache_policy.h"
#include "colibri/codec.h"
#include "colibri/colibri.h"
#include "colibri/format.h"
#include "colibri/kernels.h"
#include "colibri/plugin.h"
#include "colibri/sampler.h"
#include "colibri/tokenizer.h"

_Static_assert(sizeof(colibri_error) == 520, "colibri_error");
