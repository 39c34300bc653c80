// SPDX-License-Identifier: Apache-2.0
// Frequencies against those of transformers 4.57.3 (modeling_rope_utils.ROPE_INIT_FUNCTIONS).
#include "runtime/model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace colibri::model {
namespace {

using config::RopeScaling;

RopeSpec computed(const RopeScalingSpec& scaling, int64_t dims, double theta) {
  RopeSpec rope;
  rope.dims = dims;
  rope.theta = theta;
  compute_frequencies(scaling, &rope);
  return rope;
}

// What is f32 arithmetic agrees to the last bits; the ends of YaRN's ramp are logarithms.
void expect_near(const RopeSpec& rope, const std::vector<float>& frequencies, float magnitude,
                 float relative) {
  ASSERT_EQ(rope.frequencies.size(), frequencies.size());
  for (size_t i = 0; i < frequencies.size(); ++i) {
    EXPECT_NEAR(rope.frequencies[i], frequencies[i], frequencies[i] * relative) << i;
  }
  EXPECT_NEAR(rope.magnitude, magnitude, magnitude * 2e-7f);
}

constexpr float kLastBits = 3e-7f;

TEST(Rope, WithoutScaling) {
  expect_near(computed({}, 8, 10000), {1, 0.1f, 0.01f, 0.001f}, 1, kLastBits);
}

TEST(Rope, Linear) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kLinear;
  scaling.factor = 3;
  expect_near(computed(scaling, 8, 10000),
              {0.333333343f, 0.0333333351f, 0.00333333318f, 0.000333333359f}, 1, kLastBits);
}

TEST(Rope, Llama3) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kLlama3;
  scaling.factor = 8;
  scaling.original_tokens = 8192;
  expect_near(computed(scaling, 16, 500000),
              {1, 0.193922758f, 0.0376060307f, 0.00729266508f, 0.000524846022f, 3.42810235e-05f,
               6.64786967e-06f, 1.28917316e-06f},
              1, 1e-6f);
}

TEST(Rope, Yarn) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kYarn;
  scaling.factor = 4;
  scaling.original_tokens = 4096;
  expect_near(computed(scaling, 16, 10000),
              {1, 0.316227764f, 0.100000001f, 0.025693506f, 0.00624999963f, 0.00138349656f,
               0.000250000012f, 7.90569466e-05f},
              1.13862944f, kLastBits);
}

TEST(Rope, YarnWithAnExactRamp) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kYarn;
  scaling.factor = 32;
  scaling.original_tokens = 4096;
  scaling.truncate = false;
  expect_near(computed(scaling, 16, 150000),
              {1, 0.225418001f, 0.0508132726f, 0.00679495931f, 0.000456483918f, 1.8188337e-05f,
               4.09997847e-06f, 9.24208962e-07f},
              1.34657359f, 2e-6f);
}

TEST(Rope, YarnWithMscalesAndBetas) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kYarn;
  scaling.factor = 40;
  scaling.original_tokens = 4096;
  scaling.mscale = 1.0;
  scaling.mscale_all = 0.707;
  scaling.beta_fast = 16;
  scaling.beta_slow = 2;
  expect_near(computed(scaling, 16, 10000),
              {1, 0.316227764f, 0.100000001f, 0.0316227786f, 0.00674999924f, 0.00110679714f,
               2.49999994e-05f, 7.90569447e-06f},
              1.0857264f, kLastBits);
}

TEST(Rope, YarnWithAnAttentionFactor) {
  RopeScalingSpec scaling;
  scaling.kind = RopeScaling::kYarn;
  scaling.factor = 4;
  scaling.original_tokens = 512;
  scaling.attention_factor = 0.75;
  expect_near(computed(scaling, 8, 10000), {1, 0.0625f, 0.00249999994f, 0.000250000012f}, 0.75f,
              kLastBits);
}

TEST(Rope, YarnMagnitude) {
  EXPECT_EQ(yarn_magnitude(1, 1), 1);
  EXPECT_EQ(yarn_magnitude(0.5, 1), 1);
  EXPECT_NEAR(yarn_magnitude(40, 0.707), 1 + 0.0707 * std::log(40.0), 1e-7);
}

}  // namespace
}  // namespace colibri::model
