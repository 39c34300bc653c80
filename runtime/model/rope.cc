// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/rope.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/portable_math.h"

namespace colibri::model {
namespace {

constexpr double kTwoPi = 6.283185307179586;

double natural_log(double x) {
  return portable_log(static_cast<float>(x));
}

// theta^(2i/dims): the inverse frequency of pair i.
float inverse(const RopeSpec& rope, int64_t i) {
  const float exponent = static_cast<float>(2 * i) / static_cast<float>(rope.dims);
  return portable_pow(static_cast<float>(rope.theta), exponent);
}

float llama3(const RopeScalingSpec& scaling, float frequency) {
  const auto factor = static_cast<float>(scaling.factor);
  const auto tokens = static_cast<float>(scaling.original_tokens);
  const float wavelength = 1.0f / frequency * static_cast<float>(kTwoPi);
  const double low = scaling.low_freq_factor, high = scaling.high_freq_factor;
  if (wavelength > static_cast<float>(scaling.original_tokens / low)) return frequency / factor;
  if (wavelength < static_cast<float>(scaling.original_tokens / high)) return frequency;
  const float smooth =
      (1.0f / wavelength * tokens - static_cast<float>(low)) / static_cast<float>(high - low);
  return (1.0f - smooth) * frequency / factor + smooth * frequency;
}

// The pairs between which YaRN goes over from one frequency to the other.
struct Ramp {
  double low, high;
};

Ramp yarn_ramp(const RopeScalingSpec& scaling, const RopeSpec& rope) {
  const auto dims = static_cast<double>(rope.dims);
  const auto pair_of = [&](double turns) {
    return dims * natural_log(scaling.original_tokens / (turns * kTwoPi)) /
           (2 * natural_log(rope.theta));
  };
  double low = pair_of(scaling.beta_fast), high = pair_of(scaling.beta_slow);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dims - 1);
  if (low == high) high += 0.001;  // there is no ramp of length 0
  return {low, high};
}

float yarn(const RopeScalingSpec& scaling, const Ramp& ramp, float inverse_frequency, int64_t i) {
  const float part = std::clamp((static_cast<float>(i) - static_cast<float>(ramp.low)) /
                                    static_cast<float>(ramp.high - ramp.low),
                                0.0f, 1.0f);
  const float kept = 1.0f - part;
  const float stretched = 1.0f / (static_cast<float>(scaling.factor) * inverse_frequency);
  return stretched * (1.0f - kept) + 1.0f / inverse_frequency * kept;
}

double yarn_attention_factor(const RopeScalingSpec& scaling) {
  if (scaling.attention_factor) return *scaling.attention_factor;
  if (scaling.mscale.value_or(0) != 0 && scaling.mscale_all.value_or(0) != 0) {
    return yarn_magnitude(scaling.factor, *scaling.mscale) /
           yarn_magnitude(scaling.factor, *scaling.mscale_all);
  }
  return yarn_magnitude(scaling.factor, 1);
}

}  // namespace

void compute_frequencies(const RopeScalingSpec& scaling, RopeSpec* rope) {
  using config::RopeScaling;
  Ramp ramp = {};
  if (scaling.kind == RopeScaling::kYarn) {
    ramp = yarn_ramp(scaling, *rope);
    rope->magnitude = static_cast<float>(yarn_attention_factor(scaling));
  }
  rope->frequencies.clear();
  for (int64_t i = 0; i < rope->dims / 2; ++i) {
    const float inverse_frequency = inverse(*rope, i);
    float frequency = 1.0f / inverse_frequency;
    if (scaling.kind == RopeScaling::kLinear) frequency /= static_cast<float>(scaling.factor);
    if (scaling.kind == RopeScaling::kLlama3) frequency = llama3(scaling, frequency);
    if (scaling.kind == RopeScaling::kYarn) frequency = yarn(scaling, ramp, inverse_frequency, i);
    rope->frequencies.push_back(frequency);
  }
}

double yarn_magnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * natural_log(factor) + 1.0;
}

}  // namespace colibri::model
