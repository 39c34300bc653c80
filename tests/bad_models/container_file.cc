// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/container_file.h"

#include "runtime/base/checksum.h"

namespace colibri::testing {

ContainerFile& ContainerFile::tensor(const std::string& name,
                                     const std::vector<uint64_t>& extents) {
  Tensor made;
  made.name = name;
  made.extents = extents;
  made.bytes = sizeof(float);
  for (const uint64_t extent : extents) made.bytes *= extent;
  made.checksum = checksum(std::string(made.bytes, '\x3f'));
  tensors.push_back(std::move(made));
  return *this;
}

std::string ContainerFile::bytes() const {
  std::string file(container::kPage, '\0');
  const auto pad = [&] {
    file.resize((file.size() + container::kPage - 1) / container::kPage * container::kPage);
  };
  std::string directory = le32(static_cast<uint32_t>(tensors.size()));
  for (const Tensor& tensor : tensors) {
    pad();
    const uint64_t offset = tensor.offset < 0 ? file.size() : static_cast<uint64_t>(tensor.offset);
    if (tensor.offset < 0) file.append(tensor.bytes, '\x3f');
    directory += gguf_string(tensor.name) + le32(tensor.codec) + le32(tensor.layout) +
                 le32(static_cast<uint32_t>(tensor.extents.size()));
    for (const uint64_t extent : tensor.extents) directory += le64(extent);
    directory += le64(offset) + le64(tensor.bytes) + le64(tensor.checksum);
  }
  pad();
  container::Head head;
  head.sections[container::kDense] = {container::kPage, file.size() - container::kPage, 0};
  head.sections[container::kExperts] = {file.size(), 0, 0};
  std::string names = le32(static_cast<uint32_t>(resources.size()));
  for (const auto& [name, content] : resources) names += gguf_string(name) + gguf_string(content);
  const auto add = [&](container::Section section, const std::string& raw,
                       const std::string& made) {
    const std::string& content = raw.empty() ? made : raw;
    head.sections[section] = {file.size(), content.size(), checksum(content)};
    file += content;
    pad();
  };
  add(container::kMetadata, raw_metadata, metadata.header());
  add(container::kResources, raw_resources, names);
  add(container::kDirectory, raw_directory, directory);
  head.file_bytes = file.size();
  if (change_head) change_head(&head);
  return file.replace(0, container::kPage, container::encode(head));
}

ContainerFile tiny_container() {
  ContainerFile file;
  file.metadata = tiny_gguf();
  file.metadata.tensors.clear();
  file.metadata.text("colibri.vocabulary", "gguf").text("colibri.architecture", "mixtral");
  file.tensor("embedding", {16, 8}).tensor("final_norm", {8}).tensor("head", {16, 8});
  const std::string layer = "layers.0.";
  file.tensor(layer + "attention_norm", {8}).tensor(layer + "ffn_norm", {8});
  file.tensor(layer + "q", {8, 8}).tensor(layer + "k", {4, 8}).tensor(layer + "v", {4, 8});
  file.tensor(layer + "o", {8, 8}).tensor(layer + "router", {2, 8});
  for (const std::string expert : {"experts.0.", "experts.1."}) {
    file.tensor(layer + expert + "gate", {12, 8}).tensor(layer + expert + "up", {12, 8});
    file.tensor(layer + expert + "down", {8, 12});
  }
  return file;
}

}  // namespace colibri::testing
