// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/names.hpp"

#include <cstddef>

#include "run/text/text.hpp"

namespace {

// Names of code points as FFmpeg's options and documentation have them; what is not listed has none.
constexpr const char* kRanges[] = {"unknown", "tv", "pc"};
constexpr const char* kMatrices[] = {
    "gbr",       "bt709",  "unknown",  "reserved", "fcc",       "bt470bg",           "smpte170m",
    "smpte240m", "ycgco",  "bt2020nc", "bt2020c",  "smpte2085", "chroma-derived-nc", "chroma-derived-c",
    "ictcp",     "ipt-c2", "ycgco-re", "ycgco-ro"};
constexpr const char* kPrimaries[] = {"reserved",  "bt709",     "unknown", "reserved", "bt470m",   "bt470bg",
                                      "smpte170m", "smpte240m", "film",    "bt2020",   "smpte428", "smpte431",
                                      "smpte432",  nullptr,     nullptr,   nullptr,    nullptr,    nullptr,
                                      nullptr,     nullptr,     nullptr,   nullptr,    "ebu3213"};
constexpr const char* kTransfers[] = {"reserved",  "bt709",        "unknown",   "reserved",     "bt470m",
                                      "bt470bg",   "smpte170m",    "smpte240m", "linear",       "log100",
                                      "log316",    "iec61966-2-4", "bt1361e",   "iec61966-2-1", "bt2020-10",
                                      "bt2020-12", "smpte2084",    "smpte428",  "arib-std-b67"};
constexpr int kOwnCodes = 256; ///< FFmpeg's, beyond H.273
constexpr int kPq = 16, kHlg = 18;

template <size_t count>
const char* name_of(const char* const (&names)[count], int code) {
    return code >= 0 && static_cast<size_t>(code) < count ? names[code] : nullptr;
}

} // namespace

int qcr_input_of(int rendition) {
    return rendition != 0 ? 1 + rendition : 0;
}

namespace qc::run {

std::string input_name(const qcr_names& names, int input) {
    return formatted("Input %d (%s)", input, names.role[input]);
}

std::string input_in_text(const qcr_names& names, int input) {
    return formatted("input %d (%s)", input, names.role[input]);
}

const char* range_name(int range) {
    return name_of(kRanges, range);
}

const char* matrix_name(int code) {
    return name_of(kMatrices, code);
}

const char* primaries_name(int code) {
    return code == kOwnCodes ? "vgamut" : name_of(kPrimaries, code);
}

const char* transfer_name(int code) {
    return code == kOwnCodes ? "vlog" : name_of(kTransfers, code);
}

const char* hdr_name(int transfer) {
    return transfer == kPq ? "PQ" : transfer == kHlg ? "HLG" : nullptr;
}

} // namespace qc::run
