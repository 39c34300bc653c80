// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/choose_format.h"

#include <cstring>

#include "colibri/format.h"

namespace colibri::model {

Result<std::shared_ptr<const plugin::Plugin>> choose_format(const plugin::Registry& registry,
                                                            const std::string& id,
                                                            const ModelFiles& files) {
  if (id != "auto") return registry.find(kFormatInterface, id);
  std::string reasons;
  for (const auto& candidate : registry.offers(kFormatInterface)) {
    char why_not[128] = {};
    const auto* format = candidate->interface<colibri_format_1>(kFormatInterface);
    if (format->accepts(files.table(), why_not) != 0) return candidate;
    reasons += "\n  " + candidate->id() + ": " + std::string(why_not, strnlen(why_not, 128));
  }
  return unsupported(files.path() + ": no format plugin accepts this model" +
                     (reasons.empty() ? "; " + registry.explain(kFormatInterface) : ":" + reasons));
}

}  // namespace colibri::model
