// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/verify.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/container.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/convert/layout.h"
#include "runtime/convert/tensor.h"
#include "runtime/engine/weights.h"
#include "runtime/model/problems.h"

namespace colibri::convert {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{4} << 20;

// Bytes of the file that have a checksum.
struct Covered {
  uint64_t begin, end;
  const model::TensorEntry* tensor;  // null = compared when the file was opened
};

std::vector<Covered> covered(const model::ModelSource& source, const container::Head& head) {
  std::vector<Covered> all = {{0, container::kPage, nullptr}};
  for (const container::Section i :
       {container::kMetadata, container::kResources, container::kDirectory}) {
    all.push_back(
        {head.sections[i].offset, head.sections[i].offset + head.sections[i].bytes, nullptr});
  }
  for (const model::TensorEntry& tensor : source.tensors()) {
    all.push_back({tensor.offset, tensor.offset + tensor.bytes, &tensor});
  }
  std::sort(all.begin(), all.end(),
            [](const Covered& a, const Covered& b) { return a.begin < b.begin; });
  return all;
}

class Verifier {
 public:
  Verifier(const model::ModelSource& source, const Progress& progress)
      : source_(source), progress_(progress) {}

  Status run() {
    const uint64_t size = source_.files().size(0);
    std::string page(container::kPage, '\0');
    COLIBRI_TRY(source_.files().read(0, 0, page.data(), page.size()));
    COLIBRI_ASSIGN(const container::Head head, container::decode(page, size));
    uint64_t largest = kPieceBytes;
    for (const model::TensorEntry& tensor : source_.tensors())
      largest = std::max(largest, tensor.bytes);
    COLIBRI_ASSIGN(buffer_, Memory::allocate(largest, "the largest tensor"));
    uint64_t at = 0;
    for (const Covered& part : covered(source_, head)) {
      COLIBRI_TRY(check_zero(at, part.begin));
      if (part.tensor != nullptr) COLIBRI_TRY(check_tensor(*part.tensor));
      at = std::max(at, part.end);
      progress_(at, size);
    }
    COLIBRI_TRY(check_zero(at, size));
    return problems_.status(source_.files().path());
  }

 private:
  Status check_tensor(const model::TensorEntry& tensor) {
    COLIBRI_TRY(source_.read(tensor, 0, buffer_.data(), tensor.bytes));
    if (checksum(buffer_.data(), tensor.bytes) != tensor.checksum) {
      problems_.add("tensor " + utf8::printable(tensor.name) +
                    " is damaged (its checksum differs)");
      return {};
    }
    const Status finite = check_finite(tensor, buffer_.data());
    if (!finite.ok()) problems_.add(finite.text());
    return {};
  }

  Status check_zero(uint64_t begin, uint64_t end) {
    for (; begin < end; begin += kPieceBytes) {
      const uint64_t n = std::min(end - begin, kPieceBytes);
      COLIBRI_TRY(source_.files().read(0, begin, buffer_.data(), n));
      std::byte* const last = buffer_.data() + n;
      const std::byte* const found =
          std::find_if(buffer_.data(), last, [](std::byte byte) { return byte != std::byte{0}; });
      if (found == last) continue;
      problems_.add("byte " +
                    std::to_string(begin + static_cast<uint64_t>(found - buffer_.data())) +
                    " belongs to nothing and is not zero");
      return {};
    }
    return {};
  }

  const model::ModelSource& source_;
  const Progress& progress_;
  Memory buffer_;
  model::Problems problems_;
};

}  // namespace

Status verify(const model::ModelSource& source, const Progress& progress) {
  if (!source.names_roles() || source.files().count() != 1) {
    return unsupported(source.files().path() +
                       ": is no .colibri file; only those have checksums to compare with");
  }
  return Verifier(source, progress).run();
}

Status verify_routers(const model::ModelSource& file, const engine::Plan& source) {
  model::Problems problems;
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(engine::staging_bytes(source.spec, source.layers), "reading"));
  for (const Item& item : Layout::of(source).items) {
    if (!item.entry.name.ends_with(".router")) continue;
    const std::string name = "tensor " + utf8::printable(item.entry.name);
    const model::TensorEntry* tensor = file.find(item.entry.name);
    if (tensor == nullptr || tensor->codec != item.entry.codec ||
        tensor->layout != item.entry.layout || tensor->bytes != item.entry.bytes) {
      problems.add(name + " is not packed as that of the source");
      continue;
    }
    COLIBRI_ASSIGN(const Memory want, Memory::allocate(tensor->bytes, "a router"));
    COLIBRI_ASSIGN(const Memory have, Memory::allocate(tensor->bytes, "a router"));
    COLIBRI_TRY(make_tensor(source, item, want.data(), staging.data()));
    COLIBRI_TRY(file.read(*tensor, 0, have.data(), tensor->bytes));
    if (!std::equal(want.data(), want.data() + tensor->bytes, have.data())) {
      problems.add(name + " differs from that of the source");
    }
  }
  return problems.status(file.files().path());
}

}  // namespace colibri::convert
