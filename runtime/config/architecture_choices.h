// SPDX-License-Identifier: Apache-2.0
// Words that may come from the metadata of a model: options and names of `dims` share them.
#pragma once

#include "runtime/config/architecture.h"

namespace colibri::config {

inline constexpr Choice kQkNorms[] = {
    {"none", static_cast<int64_t>(QkNorm::kNone)},
    {"head", static_cast<int64_t>(QkNorm::kHead)},
    {"full", static_cast<int64_t>(QkNorm::kFull)},
};

inline constexpr Choice kRopeStyles[] = {
    {"half", static_cast<int64_t>(RopeStyle::kHalf)},
    {"interleaved", static_cast<int64_t>(RopeStyle::kInterleaved)},
};

inline constexpr Choice kRopeScalings[] = {
    {"none", static_cast<int64_t>(RopeScaling::kNone)},
    {"linear", static_cast<int64_t>(RopeScaling::kLinear)},
    {"llama3", static_cast<int64_t>(RopeScaling::kLlama3)},
    {"yarn", static_cast<int64_t>(RopeScaling::kYarn)},
};

inline constexpr Choice kRouterScores[] = {
    {"softmax", static_cast<int64_t>(RouterScore::kSoftmax)},
    {"sigmoid", static_cast<int64_t>(RouterScore::kSigmoid)},
};

inline constexpr Choice kGroupRules[] = {
    {"max", static_cast<int64_t>(GroupRule::kMax)},
    {"top2_sum", static_cast<int64_t>(GroupRule::kTop2Sum)},
};

inline constexpr Choice kGroupMasks[] = {
    {"negative_infinity", static_cast<int64_t>(GroupMask::kNegativeInfinity)},
    {"zero", static_cast<int64_t>(GroupMask::kZero)},
};

}  // namespace colibri::config
