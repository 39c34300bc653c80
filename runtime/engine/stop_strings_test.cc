// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/stop_strings.h"

#include <gtest/gtest.h>

namespace colibri::engine {
namespace {

// Pushes text cut into pieces of n bytes and returns all output.
std::string stream(StopStrings& stops, std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += n) out += stops.push(text.substr(i, n));
  out += stops.finish();
  return out;
}

TEST(StopStrings, CutAtTheEarliestHoweverTheTextArrives) {
  for (size_t n = 1; n < 12; ++n) {
    StopStrings stops({"END", "\n\n"});
    EXPECT_EQ(stream(stops, "a\nb EN\n\nEND x", n), "a\nb EN") << n;
    EXPECT_TRUE(stops.stopped());
  }
}

TEST(StopStrings, GiveBackWhatOnlyLookedLikeOne) {
  for (size_t n = 1; n < 8; ++n) {
    StopStrings stops({"aab"});
    EXPECT_EQ(stream(stops, "aaac aa", n), "aaac aa") << n;
    EXPECT_FALSE(stops.stopped());
  }
}

TEST(StopStrings, HoldBackOnlyWhatMayBecomeOne) {
  StopStrings stops({"STOP"});
  EXPECT_EQ(stops.push("go ST"), "go ");
  EXPECT_EQ(stops.push("A"), "STA");
  EXPECT_EQ(stops.push("STOP!"), "");
  EXPECT_TRUE(stops.stopped());
  EXPECT_EQ(stops.push("more"), "");
  stops.reset();
  EXPECT_EQ(stops.push("more"), "more");
}

TEST(StopStrings, NoneIsFine) {
  StopStrings stops({});
  EXPECT_EQ(stops.push("x"), "x");
  EXPECT_EQ(stops.finish(), "");
}

}  // namespace
}  // namespace colibri::engine
