// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/upper_case.h"

#include <algorithm>

#include "runtime/chat/template/characters.h"

namespace colibri::chat {
namespace {

struct Expansion {
  char32_t from;
  const char* to;
};
// https://www.unicode.org/Public/15.0.0/ucd/SpecialCasing.txt, the unconditional upper cases.
constexpr Expansion kExpansions[] = {{U'\u00DF', "SS"},
                                     {U'\u0149', "\u02BCN"},
                                     {U'\u01F0', "J\u030C"},
                                     {U'\u0390', "\u0399\u0308\u0301"},
                                     {U'\u03B0', "\u03A5\u0308\u0301"},
                                     {U'\u0587', "\u0535\u0552"},
                                     {U'\u1E96', "H\u0331"},
                                     {U'\u1E97', "T\u0308"},
                                     {U'\u1E98', "W\u030A"},
                                     {U'\u1E99', "Y\u030A"},
                                     {U'\u1E9A', "A\u02BE"},
                                     {U'\u1F50', "\u03A5\u0313"},
                                     {U'\u1F52', "\u03A5\u0313\u0300"},
                                     {U'\u1F54', "\u03A5\u0313\u0301"},
                                     {U'\u1F56', "\u03A5\u0313\u0342"},
                                     {U'\u1F80', "\u1F08\u0399"},
                                     {U'\u1F81', "\u1F09\u0399"},
                                     {U'\u1F82', "\u1F0A\u0399"},
                                     {U'\u1F83', "\u1F0B\u0399"},
                                     {U'\u1F84', "\u1F0C\u0399"},
                                     {U'\u1F85', "\u1F0D\u0399"},
                                     {U'\u1F86', "\u1F0E\u0399"},
                                     {U'\u1F87', "\u1F0F\u0399"},
                                     {U'\u1F88', "\u1F08\u0399"},
                                     {U'\u1F89', "\u1F09\u0399"},
                                     {U'\u1F8A', "\u1F0A\u0399"},
                                     {U'\u1F8B', "\u1F0B\u0399"},
                                     {U'\u1F8C', "\u1F0C\u0399"},
                                     {U'\u1F8D', "\u1F0D\u0399"},
                                     {U'\u1F8E', "\u1F0E\u0399"},
                                     {U'\u1F8F', "\u1F0F\u0399"},
                                     {U'\u1F90', "\u1F28\u0399"},
                                     {U'\u1F91', "\u1F29\u0399"},
                                     {U'\u1F92', "\u1F2A\u0399"},
                                     {U'\u1F93', "\u1F2B\u0399"},
                                     {U'\u1F94', "\u1F2C\u0399"},
                                     {U'\u1F95', "\u1F2D\u0399"},
                                     {U'\u1F96', "\u1F2E\u0399"},
                                     {U'\u1F97', "\u1F2F\u0399"},
                                     {U'\u1F98', "\u1F28\u0399"},
                                     {U'\u1F99', "\u1F29\u0399"},
                                     {U'\u1F9A', "\u1F2A\u0399"},
                                     {U'\u1F9B', "\u1F2B\u0399"},
                                     {U'\u1F9C', "\u1F2C\u0399"},
                                     {U'\u1F9D', "\u1F2D\u0399"},
                                     {U'\u1F9E', "\u1F2E\u0399"},
                                     {U'\u1F9F', "\u1F2F\u0399"},
                                     {U'\u1FA0', "\u1F68\u0399"},
                                     {U'\u1FA1', "\u1F69\u0399"},
                                     {U'\u1FA2', "\u1F6A\u0399"},
                                     {U'\u1FA3', "\u1F6B\u0399"},
                                     {U'\u1FA4', "\u1F6C\u0399"},
                                     {U'\u1FA5', "\u1F6D\u0399"},
                                     {U'\u1FA6', "\u1F6E\u0399"},
                                     {U'\u1FA7', "\u1F6F\u0399"},
                                     {U'\u1FA8', "\u1F68\u0399"},
                                     {U'\u1FA9', "\u1F69\u0399"},
                                     {U'\u1FAA', "\u1F6A\u0399"},
                                     {U'\u1FAB', "\u1F6B\u0399"},
                                     {U'\u1FAC', "\u1F6C\u0399"},
                                     {U'\u1FAD', "\u1F6D\u0399"},
                                     {U'\u1FAE', "\u1F6E\u0399"},
                                     {U'\u1FAF', "\u1F6F\u0399"},
                                     {U'\u1FB2', "\u1FBA\u0399"},
                                     {U'\u1FB3', "\u0391\u0399"},
                                     {U'\u1FB4', "\u0386\u0399"},
                                     {U'\u1FB6', "\u0391\u0342"},
                                     {U'\u1FB7', "\u0391\u0342\u0399"},
                                     {U'\u1FBC', "\u0391\u0399"},
                                     {U'\u1FC2', "\u1FCA\u0399"},
                                     {U'\u1FC3', "\u0397\u0399"},
                                     {U'\u1FC4', "\u0389\u0399"},
                                     {U'\u1FC6', "\u0397\u0342"},
                                     {U'\u1FC7', "\u0397\u0342\u0399"},
                                     {U'\u1FCC', "\u0397\u0399"},
                                     {U'\u1FD2', "\u0399\u0308\u0300"},
                                     {U'\u1FD3', "\u0399\u0308\u0301"},
                                     {U'\u1FD6', "\u0399\u0342"},
                                     {U'\u1FD7', "\u0399\u0308\u0342"},
                                     {U'\u1FE2', "\u03A5\u0308\u0300"},
                                     {U'\u1FE3', "\u03A5\u0308\u0301"},
                                     {U'\u1FE4', "\u03A1\u0313"},
                                     {U'\u1FE6', "\u03A5\u0342"},
                                     {U'\u1FE7', "\u03A5\u0308\u0342"},
                                     {U'\u1FF2', "\u1FFA\u0399"},
                                     {U'\u1FF3', "\u03A9\u0399"},
                                     {U'\u1FF4', "\u038F\u0399"},
                                     {U'\u1FF6', "\u03A9\u0342"},
                                     {U'\u1FF7', "\u03A9\u0342\u0399"},
                                     {U'\u1FFC', "\u03A9\u0399"},
                                     {U'\uFB00', "FF"},
                                     {U'\uFB01', "FI"},
                                     {U'\uFB02', "FL"},
                                     {U'\uFB03', "FFI"},
                                     {U'\uFB04', "FFL"},
                                     {U'\uFB05', "ST"},
                                     {U'\uFB06', "ST"},
                                     {U'\uFB13', "\u0544\u0546"},
                                     {U'\uFB14', "\u0544\u0535"},
                                     {U'\uFB15', "\u0544\u053B"},
                                     {U'\uFB16', "\u054E\u0546"},
                                     {U'\uFB17', "\u0544\u053D"}};

}  // namespace

std::string full_upper(char32_t c) {
  const auto found = std::lower_bound(std::begin(kExpansions), std::end(kExpansions), c,
                                      [](const Expansion& e, char32_t x) { return e.from < x; });
  if (found != std::end(kExpansions) && found->from == c) return found->to;
  std::string text;
  append_utf8(text, to_upper(c));
  return text;
}

}  // namespace colibri::chat
