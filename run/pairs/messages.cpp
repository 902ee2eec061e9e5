// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/messages.hpp"

#include <cmath>

#include "run/text/text.hpp"

namespace qc::run {

std::string rate_sentence(const Input& distorted, double claimed, double rate, double tolerance) {
    const char* refuted = rate > 0 ? "the time stamps of its first frames refute" : "no video has";
    return formatted(
        "Input 0 (%s) claims %s frames per second, which %s: %s%s is taken; pairs may be %s s apart (max_dt)",
        distorted.name.c_str(), brief_number(claimed).c_str(), refuted, rate > 0 ? "" : "an unknown rate, ",
        brief_number(rate).c_str(), number(tolerance, 6).c_str());
}

std::string delay_sentence(int index, const Input& input) {
    const char* where = input.delay > 0 ? "later" : "earlier";
    return formatted(
        "main begins %s s %s than input %d (%s), and both keep step: a container's delay, not a frame that is "
        "missing; input %d (%s) counts as %s s %s (align=none: times are left as they are)",
        number(std::abs(input.delay), 6).c_str(), where, index, input.name.c_str(), index, input.name.c_str(),
        number(std::abs(input.delay), 6).c_str(), where);
}

std::string jump_sentence(int index, const Input& input, int64_t from, int64_t to) {
    return formatted(
        "Input %d (%s): the time stamps jump from %s s to %s s, and pairs are made by stamps; drop -copyts, "
        "or put setpts=N/FRAME_RATE/TB before all inputs, or use sync=index",
        index, input.name.c_str(), number(input.seconds(from), 3).c_str(), number(input.seconds(to), 3).c_str());
}

std::string untimed_sentence(int index, const Input& input) {
    return formatted("Input %d (%s) has frames without time stamps, they are not used; sync=index pairs by number",
                     index, input.name.c_str());
}

std::string start_sentence(double distorted, double reference) {
    return formatted("main begins at %s s, the reference at %s s; if both show the same picture then, use align=start",
                     number(distorted, 6).c_str(), number(reference, 6).c_str());
}

} // namespace qc::run
