// SPDX-License-Identifier: Apache-2.0
// ExpertFiles: the experts of a model as the store reads them, and what the system granted for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/layers.h"
#include "runtime/experts/source.h"
#include "runtime/experts/store.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

class ExpertFiles {
 public:
  // Looks at where the experts lie, and tries what the pipeline allows: io_uring, direct reads.
  // Refuses what was asked for by name and is not granted. threads: of the model. [setup]
  static Result<ExpertFiles> open(const model::ModelSource& source, const model::ModelSpec& spec,
                                  const Layers& layers, const config::Pipeline::Experts::Io& wanted,
                                  unsigned threads);

  // Whether each expert lies in a file as it lies in memory, so that one read brings it; else its
  // weights are read one by one, and packed.
  bool bundles() const { return bundles_; }
  bool direct() const { return !direct_.empty(); }
  const experts::Reading& reading() const { return reading_; }
  // "io_uring, direct, up to 16 at once; an expert is one read"
  std::string text() const;

  // Of all layers with experts, or as the store numbers those whose experts it has. This object,
  // source, spec and layers must live longer.
  std::unique_ptr<experts::ExpertSource> source() const;
  std::unique_ptr<experts::ExpertSource> store_source() const;

 private:
  class Source;

  ExpertFiles(const model::ModelSource& source, const model::ModelSpec& spec, const Layers& layers)
      : source_(&source), spec_(&spec), layers_(&layers) {}
  const model::FfnSpec& weights(uint32_t layer, uint32_t expert) const {
    return spec_->layers[layer_of_[layer]].experts[expert];
  }
  const Ffn& placed(uint32_t layer) const {
    return layers_->layers[layer_of_[layer]].routed->expert;
  }
  bool find_bundles() const;
  Status open_direct();

  const model::ModelSource* source_;
  const model::ModelSpec* spec_;
  const Layers* layers_;
  std::vector<size_t> layer_of_;  // by number among the layers with experts
  bool bundles_ = false;
  std::vector<std::optional<File>> direct_;  // by file; empty = reads go through the page cache
  experts::Reading reading_;
  std::string refused_;  // what was not granted, and why
};

}  // namespace colibri::engine
