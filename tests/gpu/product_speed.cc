// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/product_speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/function_ref.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/conformance/memory.h"
#include "tests/conformance/numbers.h"

namespace colibri::gpu_check {
namespace {

constexpr int64_t kSide = 4096;
constexpr uint64_t kWeightBytes = uint64_t{1} << 29;  // of all weights: more than caches hold
constexpr int64_t kRows[] = {1, 8, 64, 512};
constexpr double kLeastSeconds = 0.1;  // of one measurement
constexpr int kMostCalls = 4096;

class Measurement {
 public:
  Measurement(const colibri_kernels_0& kernels, const colibri_device_0& device)
      : kernels_(kernels), device_(device) {}
  ~Measurement() {
    device_.queue_destroy(queue_);
    device_.event_destroy(event_);
    for (void* buffer : {weights_, input_, output_}) device_.release(0, buffer);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  Result<Speed> run() {
    COLIBRI_TRY(open());
    Speed speed;
    // Half of the weights onto the other half: what is read and what is written.
    const uint64_t half = kWeightBytes / 2;
    COLIBRI_ASSIGN(const double seconds, seconds_of([&](int) {
                     return device_.copy(queue_, weights_, 0, weights_, half, half, &error_);
                   }));
    speed.copy_rate = static_cast<double>(kWeightBytes) / seconds;
    for (const uint32_t codec : {COLIBRI_CODEC_BF16, COLIBRI_CODEC_F16, COLIBRI_CODEC_Q8_0,
                                 COLIBRI_CODEC_Q4_0, COLIBRI_CODEC_Q4_K}) {
      for (const int64_t rows : kRows) {
        COLIBRI_ASSIGN(ProductSpeed product, measure(codec, rows));
        speed.products.push_back(std::move(product));
      }
    }
    return speed;
  }

 private:
  Status check(colibri_status code, const char* what) const { return from_c(code, error_, what); }

  Status open() {
    const uint64_t activations = uint64_t{512} * kSide * 4;
    COLIBRI_TRY(check(device_.queue_create(0, &queue_, &error_), "queue_create"));
    COLIBRI_TRY(check(device_.event_create(0, &event_, &error_), "event_create"));
    COLIBRI_TRY(check(device_.allocate(0, kWeightBytes, &weights_, &error_), "allocate"));
    COLIBRI_TRY(check(device_.allocate(0, activations, &input_, &error_), "allocate"));
    COLIBRI_TRY(check(device_.allocate(0, activations, &output_, &error_), "allocate"));
    const std::vector<uint8_t> zeros(kWeightBytes);  // speed depends on no number
    COLIBRI_TRY(check(device_.copy_in(queue_, weights_, 0, zeros.data(), kWeightBytes, &error_),
                      "copy_in"));
    COLIBRI_TRY(
        check(device_.copy_in(queue_, input_, 0, zeros.data(), activations, &error_), "copy_in"));
    return finish();
  }

  Status finish() {
    COLIBRI_TRY(check(device_.event_record(event_, queue_, &error_), "event_record"));
    return check(device_.event_wait(event_, &error_), "event_wait");
  }

  // Of one call of put(number of the call), as many in a row as take kLeastSeconds.
  Result<double> seconds_of(FunctionRef<colibri_status(int)> put) {
    using Clock = std::chrono::steady_clock;
    for (int calls = 8;; calls *= 4) {
      COLIBRI_TRY(finish());
      const auto begin = Clock::now();
      for (int i = 0; i < calls; ++i) COLIBRI_TRY(check(put(i), "a measured call"));
      COLIBRI_TRY(finish());
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (seconds >= kLeastSeconds || calls >= kMostCalls) return seconds / calls;
    }
  }

  Result<ProductSpeed> measure(uint32_t codec, int64_t rows) {
    colibri_grouped_matmul_attributes attributes = {};
    attributes.struct_size = sizeof(attributes);
    attributes.input_dtype = has_integer_product(codec) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
    attributes.output_dtype = COLIBRI_CODEC_F32;
    colibri_tensor weight = conformance::matrix(codec, kSide, kSide, nullptr);
    weight.layout = COLIBRI_LAYOUT_R8;
    const colibri_op_desc desc = {sizeof(desc), COLIBRI_OP_GROUPED_MATMUL, &attributes, &weight, 1,
                                  rows};
    const colibri_host host = conformance::bare_host();
    colibri_op_info info = {sizeof(info), 0, 0};
    COLIBRI_TRY(check(kernels_.op_create(&desc, &host, nullptr, &info, &error_), "op_create"));
    const conformance::Memory state(static_cast<size_t>(info.state_bytes));
    COLIBRI_TRY(check(kernels_.op_create(&desc, &host, state.data(), &info, &error_), "op_create"));

    const uint64_t bytes =
        static_cast<uint64_t>(cpu::panels_of(kSide) * cpu::panel_bytes(codec, kSide));
    const int64_t group_begin[] = {0, rows};
    colibri_grouped_matmul_args call = {};
    call.struct_size = sizeof(call);
    call.weights_per_group = 1;
    call.groups = 1;
    call.group_begin = group_begin;
    call.weight = &weight;
    call.input = conformance::matrix(attributes.input_dtype, rows, kSide, input_);
    call.output = conformance::matrix(COLIBRI_CODEC_F32, rows, kSide, output_);
    weight.buffer = weights_;
    const auto put = [&](int number) {
      weight.offset = static_cast<uint64_t>(number) % (kWeightBytes / bytes) * bytes;
      return device_.run(queue_, state.data(), &call, nullptr, &error_);
    };
    COLIBRI_ASSIGN(const double seconds, seconds_of(put));
    return ProductSpeed{conformance::codec_name(codec),
                        rows,
                        seconds,
                        static_cast<double>(bytes),
                        2.0 * static_cast<double>(rows * kSide * kSide),
                        has_integer_product(codec)};
  }

  const colibri_kernels_0& kernels_;
  const colibri_device_0& device_;
  colibri_device_queue* queue_ = nullptr;
  colibri_device_event* event_ = nullptr;
  void *weights_ = nullptr, *input_ = nullptr, *output_ = nullptr;
  mutable colibri_error error_ = empty_error();
};

}  // namespace

Result<Speed> measure_products(const colibri_kernels_0& kernels, const colibri_device_0& device) {
  return Measurement(kernels, device).run();
}

}  // namespace colibri::gpu_check
