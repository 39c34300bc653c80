// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/expert_files.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/engine/weights.h"
#include "runtime/io/ring.h"

namespace colibri::engine {

// Reads experts as the ExpertFiles say.
class ExpertFiles::Source final : public experts::ExpertSource {
 public:
  // layers: by the number that they are asked for by.
  Source(const ExpertFiles& files, std::vector<uint32_t> layers)
      : files_(files), layers_(std::move(layers)) {}

  Status load(uint32_t layer, uint32_t expert, std::byte* slot, std::byte* staging) const override {
    if (!files_.bundles()) {
      return load_expert(*files_.source_, weights(layer, expert), placed(layer), slot, staging);
    }
    const auto from = extent(layer, expert);
    COLIBRI_TRY(from->file->read(from->offset, slot, from->bytes));
    for (uint32_t part = 0; part < parts(); ++part) {
      COLIBRI_TRY(check(layer, expert, part, slot));
    }
    return {};
  }

  std::optional<Extent> extent(uint32_t layer, uint32_t expert) const override {
    const auto found = bundle_extent(weights(layer, expert), placed(layer));
    if (!found) return std::nullopt;
    const File& file =
        files_.direct() ? *files_.direct_[found->file] : files_.source_->files().file(found->file);
    return Extent{&file, found->offset, found->bytes};
  }

  uint32_t parts() const override { return bundle_parts(placed(0)); }

  Status check(uint32_t layer, uint32_t expert, uint32_t part,
               const std::byte* slot) const override {
    return check_bundle_part(*files_.source_, weights(layer, expert), placed(layer), part, slot);
  }

 private:
  const model::FfnSpec& weights(uint32_t layer, uint32_t expert) const {
    return files_.weights(layers_[layer], expert);
  }
  const Ffn& placed(uint32_t layer) const { return files_.placed(layers_[layer]); }

  const ExpertFiles& files_;
  const std::vector<uint32_t> layers_;
};

std::unique_ptr<experts::ExpertSource> ExpertFiles::source() const {
  std::vector<uint32_t> all(layer_of_.size());
  std::iota(all.begin(), all.end(), 0);
  return std::make_unique<Source>(*this, std::move(all));
}

std::unique_ptr<experts::ExpertSource> ExpertFiles::store_source() const {
  std::vector<uint32_t> of_store;
  for (const size_t layer : layer_of_) {
    const RoutedFfn& routed = *layers_->layers[layer].routed;
    if (routed.place != experts::ExpertPlace::kDevice) of_store.push_back(routed.index);
  }
  return std::make_unique<Source>(*this, std::move(of_store));
}

bool ExpertFiles::find_bundles() const {
  for (uint32_t layer = 0; layer < layer_of_.size(); ++layer) {
    for (uint32_t expert = 0; expert < static_cast<uint32_t>(spec_->experts); ++expert) {
      if (!bundle_extent(weights(layer, expert), placed(layer))) return false;
    }
  }
  return !layer_of_.empty();
}

Status ExpertFiles::open_direct() {
  std::vector<std::optional<File>> files(source_->files().count());
  for (uint32_t layer = 0; layer < layer_of_.size(); ++layer) {
    for (uint32_t expert = 0; expert < static_cast<uint32_t>(spec_->experts); ++expert) {
      const auto extent = bundle_extent(weights(layer, expert), placed(layer));
      if (extent->offset % kDirectAlignment != 0) {
        return unsupported("an expert begins at byte " + std::to_string(extent->offset) +
                           ", which is no multiple of " + std::to_string(kDirectAlignment));
      }
      if (files[extent->file]) continue;
      COLIBRI_ASSIGN(File file, source_->files().file(extent->file).open_direct());
      files[extent->file] = std::move(file);
    }
  }
  direct_ = std::move(files);
  return {};
}

Result<ExpertFiles> ExpertFiles::open(const model::ModelSource& source,
                                      const model::ModelSpec& spec, const Layers& layers,
                                      const config::Pipeline::Experts::Io& wanted,
                                      unsigned threads) {
  using config::DirectIo;
  using config::IoEngine;
  ExpertFiles made(source, spec, layers);
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    if (layers.layers[i].routed) made.layer_of_.push_back(i);
  }
  made.bundles_ = made.find_bundles();
  made.reading_.depth = made.bundles_ ? wanted.depth : std::min(wanted.depth, threads);
  const Status packed = unsupported(
      "experts of this file are packed after they are read; convert it (colibri "
      "convert), then each of them is one read into its place");
  if (wanted.engine != IoEngine::kPread) {
    const Status granted = made.bundles_ ? io::Ring::create(1).status() : packed;
    made.reading_.ring = granted.ok();
    if (!granted.ok() && wanted.engine == IoEngine::kIoUring) {
      return granted.at("engine io_uring");
    }
    if (!granted.ok() && made.bundles_) made.refused_ = granted.text();
  }
  if (wanted.direct != DirectIo::kOff) {
    const Status granted = made.bundles_ ? made.open_direct() : packed;
    if (!granted.ok() && wanted.direct == DirectIo::kOn) return granted.at("direct on");
    if (!granted.ok() && made.bundles_) {
      made.refused_ += (made.refused_.empty() ? "" : "; ") + granted.text();
    }
  }
  return made;
}

std::string ExpertFiles::text() const {
  std::string text = reading_.ring ? "io_uring" : "pread";
  text += direct() ? ", direct" : ", through the page cache";
  text += ", up to " + std::to_string(reading_.depth) + " at once; an expert is ";
  text += bundles_ ? "one read"
                   : std::to_string(bundle_parts(placed(0))) +
                         " reads or more, and is packed (`colibri convert` makes it one "
                         "read into its place)";
  if (!refused_.empty()) text += " (" + refused_ + ")";
  return text;
}

}  // namespace colibri::engine
