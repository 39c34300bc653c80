// SPDX-License-Identifier: Apache-2.0
// Each instruction set has a chain: enough independent sums in registers that neither the latency
// of an instruction nor a load holds the arithmetic units up. This file is compiled for the
// baseline machine; a chain is compiled for its own instructions and only called where they exist.
// The instructions are written out, because a compiler would see that nobody needs the sums.
#include "runtime/machine/compute_rate.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace colibri::machine {
namespace {

using Clock = std::chrono::steady_clock;

enum class Kind { kInt8, kF32 };
struct Chain {
  Kind kind;
  std::vector<std::string_view> features;
  double operations;  // of one iteration
  void (*run)(uint64_t iterations);
};

// Loops over registers must disappear: an array that is indexed lies in memory.
#define COLIBRI_UNROLL _Pragma("GCC unroll 16")

typedef int16_t V16 __attribute__((vector_size(16)));
#if defined(__x86_64__)
typedef int16_t V32 __attribute__((vector_size(32)));
typedef int16_t V64 __attribute__((vector_size(64)));

constexpr int kFew = 10;   // sums, where there are 16 registers
constexpr int kMany = 16;  // where there are 32

void f32_sse2(uint64_t n) {
  V16 sum[kFew] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      V16 product = w;
      asm volatile("mulps %2, %1\n addps %1, %0" : "+x"(s), "+x"(product) : "x"(x));
    }
  }
}

// SSE2 multiplies no bytes.
void int8_sse2(uint64_t n) {
  V16 sum[kFew] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      V16 product = w;
      asm volatile("pmaddwd %2, %1\n paddd %1, %0" : "+x"(s), "+x"(product) : "x"(x));
    }
  }
}

[[gnu::target("avx2,fma")]] void f32_avx2(uint64_t n) {
  V32 sum[kFew] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V32& s : sum) {
      asm volatile("vfmadd231ps %2, %1, %0" : "+x"(s) : "x"(w), "x"(x));
    }
  }
}

[[gnu::target("avx2")]] void int8_avx2(uint64_t n) {
  V32 sum[kFew] = {}, w = {}, x = {}, one = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V32& s : sum) {
      V32 product;
      asm volatile("vpmaddubsw %3, %2, %1\n vpmaddwd %4, %1, %1\n vpaddd %1, %0, %0"
                   : "+x"(s), "=&x"(product)
                   : "x"(w), "x"(x), "x"(one));
    }
  }
}

[[gnu::target("avxvnni")]] void int8_avx_vnni(uint64_t n) {
  V32 sum[kFew] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V32& s : sum) {
      asm volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(s) : "x"(w), "x"(x));
    }
  }
}

[[gnu::target("avx512f")]] void f32_avx512(uint64_t n) {
  V64 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V64& s : sum) {
      asm volatile("vfmadd231ps %2, %1, %0" : "+v"(s) : "v"(w), "v"(x));
    }
  }
}

[[gnu::target("avx512bw")]] void int8_avx512(uint64_t n) {
  V64 sum[kMany] = {}, w = {}, x = {}, one = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V64& s : sum) {
      V64 product;
      asm volatile("vpmaddubsw %3, %2, %1\n vpmaddwd %4, %1, %1\n vpaddd %1, %0, %0"
                   : "+v"(s), "=&v"(product)
                   : "v"(w), "v"(x), "v"(one));
    }
  }
}

[[gnu::target("avx512vnni")]] void int8_avx512_vnni(uint64_t n) {
  V64 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V64& s : sum) {
      asm volatile("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(w), "v"(x));
    }
  }
}

const std::vector<Chain>& chains() {
  static const std::vector<Chain> all = {
      {Kind::kF32, {}, kFew * 8, f32_sse2},
      {Kind::kF32, {"avx2", "fma"}, kFew * 16, f32_avx2},
      {Kind::kF32, {"avx512f"}, kMany * 32, f32_avx512},
      {Kind::kInt8, {}, kFew * 16, int8_sse2},
      {Kind::kInt8, {"avx2"}, kFew * 64, int8_avx2},
      {Kind::kInt8, {"avx_vnni"}, kFew * 64, int8_avx_vnni},
      {Kind::kInt8, {"avx512bw"}, kMany * 128, int8_avx512},
      {Kind::kInt8, {"avx512_vnni"}, kMany * 128, int8_avx512_vnni},
  };
  return all;
}

#elif defined(__aarch64__)
constexpr int kMany = 16;

void f32_neon(uint64_t n) {
  V16 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(s) : "w"(w), "w"(x));
    }
  }
}

void int8_neon(uint64_t n) {
  V16 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      V16 product;
      asm volatile("smull %1.8h, %2.8b, %3.8b\n smlal2 %1.8h, %2.16b, %3.16b\n sadalp %0.4s, %1.8h"
                   : "+w"(s), "=&w"(product)
                   : "w"(w), "w"(x));
    }
  }
}

[[gnu::target("arch=armv8.2-a+dotprod")]] void int8_dotprod(uint64_t n) {
  V16 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      asm volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(s) : "w"(w), "w"(x));
    }
  }
}

[[gnu::target("arch=armv8.2-a+i8mm")]] void int8_i8mm(uint64_t n) {
  V16 sum[kMany] = {}, w = {}, x = {};
  for (; n > 0; --n) {
    COLIBRI_UNROLL for (V16& s : sum) {
      asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(s) : "w"(w), "w"(x));
    }
  }
}

const std::vector<Chain>& chains() {
  static const std::vector<Chain> all = {
      {Kind::kF32, {}, kMany * 8, f32_neon},
      {Kind::kInt8, {}, kMany * 32, int8_neon},
      {Kind::kInt8, {"asimddp"}, kMany * 32, int8_dotprod},
      {Kind::kInt8, {"i8mm"}, kMany * 64, int8_i8mm},
  };
  return all;
}
#endif

constexpr int64_t kTasksPerThread = 8;  // so that a thread that starts late costs little
constexpr double kLeastSeconds = 0.002;
constexpr int kRounds = 5;

double seconds_of(ThreadPool& pool, unsigned threads, const Chain& chain, uint64_t iterations) {
  const auto start = Clock::now();
  (void)pool.run(kTasksPerThread * threads, threads, [&](unsigned, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) chain.run(iterations);
    return colibri_status{COLIBRI_OK};
  });
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The least of several times: a thread that was put aside makes one long.
double least_seconds(ThreadPool& pool, unsigned threads, const Chain& chain, uint64_t iterations) {
  double least = seconds_of(pool, threads, chain, iterations);
  for (int i = 1; i < kRounds; ++i) {
    least = std::min(least, seconds_of(pool, threads, chain, iterations));
  }
  return least;
}

double rate_of(ThreadPool& pool, unsigned threads, const Chain& chain) {
  uint64_t iterations = 64;
  double least = least_seconds(pool, threads, chain, iterations);
  while (least < kLeastSeconds) {
    iterations *= 2;
    least = least_seconds(pool, threads, chain, iterations);
  }
  return chain.operations * static_cast<double>(iterations) * kTasksPerThread * threads / least;
}

}  // namespace

ComputeRates measure_compute_rates(ThreadPool& pool, unsigned threads, const FeatureSet& features) {
  ComputeRates rates;
  for (const Chain& chain : chains()) {
    const bool can = std::all_of(chain.features.begin(), chain.features.end(),
                                 [&](std::string_view f) { return features.contains(f); });
    if (!can) continue;
    double& best = chain.kind == Kind::kInt8 ? rates.int8 : rates.f32;
    best = std::max(best, rate_of(pool, threads, chain));
  }
  return rates;
}

}  // namespace colibri::machine
