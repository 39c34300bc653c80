// SPDX-License-Identifier: Apache-2.0
// The types of values that only pipelines use.
#pragma once

#include <map>

#include "runtime/config/field_types.h"
#include "runtime/config/pipeline.h"

namespace colibri::config {

extern const FieldType kBudgetType;         // Budget
extern const FieldType kPlaceType;          // Place
extern const FieldType kExpertPlacesType;   // ExpertPlaces: a place, or a map of layers
extern const FieldType kPlacementType;      // Placement: a place for all of it, or a map
extern const FieldType kFractionType;       // double, above 0 and at most 1
extern const FieldType kQuantizeType;       // Quantize: a preset's name, or a map
extern const FieldType kArchitectureType;   // std::string: auto, a name, or a resolved path
extern const FieldType kChatTemplateType;   // std::string: auto, a name, or a resolved path
extern const FieldType kTemplateType;       // std::string that holds {input}
extern const FieldType kPluginChoiceType;   // PluginChoice
extern const FieldType kPluginChoicesType;  // std::vector<PluginChoice>
extern const FieldType kOptionsType;        // Value: a map of scalars
extern const FieldType kOptionsByIdType;    // std::map<std::string, Value>
extern const FieldType kPinsType;           // std::map<std::string, std::string>; keys are choices

template <>
inline constexpr const FieldType* kTypeOf<Budget> = &kBudgetType;
template <>
inline constexpr const FieldType* kTypeOf<Place> = &kPlaceType;
template <>
inline constexpr const FieldType* kTypeOf<ExpertPlaces> = &kExpertPlacesType;
template <>
inline constexpr const FieldType* kTypeOf<Placement> = &kPlacementType;
template <>
inline constexpr const FieldType* kTypeOf<Quantize> = &kQuantizeType;
template <>
inline constexpr const FieldType* kTypeOf<PluginChoice> = &kPluginChoiceType;
template <>
inline constexpr const FieldType* kTypeOf<std::vector<PluginChoice>> = &kPluginChoicesType;
template <>
inline constexpr const FieldType* kTypeOf<Value> = &kOptionsType;
template <>
inline constexpr const FieldType* kTypeOf<std::map<std::string, Value>> = &kOptionsByIdType;
template <>
inline constexpr const FieldType* kTypeOf<std::map<std::string, std::string>> = &kPinsType;

}  // namespace colibri::config
