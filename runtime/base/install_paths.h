// SPDX-License-Identifier: Apache-2.0
// Where the installation is: found from the running code itself, so that an unpacked, moved or
// freshly built Colibri needs no environment variable. A build folder looks like an installation.
#pragma once

#include <filesystem>

namespace colibri {

// The nearest folder above this library (or, linked statically, this program) that holds
// share/colibri; empty if there is none. [any]
std::filesystem::path install_prefix();

// <prefix>/lib/colibri/plugins, <prefix>/share/colibri/architectures and
// <prefix>/share/colibri/chat_templates; empty without a prefix. [any]
std::filesystem::path plugin_dir();
std::filesystem::path architecture_dir();
std::filesystem::path chat_template_dir();

}  // namespace colibri
