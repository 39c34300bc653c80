// SPDX-License-Identifier: Apache-2.0
// Which format plugin reads a model.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/status.h"
#include "runtime/model/model_files.h"
#include "runtime/plugin/registry.h"

namespace colibri::model {

inline constexpr const char* kFormatInterface = "colibri.format/1";

// The plugin of this id, or for "auto" the first that accepts the files. If none does, the error
// gives the reason of each.
Result<std::shared_ptr<const plugin::Plugin>> choose_format(const plugin::Registry& registry,
                                                            const std::string& id,
                                                            const ModelFiles& files);

}  // namespace colibri::model
