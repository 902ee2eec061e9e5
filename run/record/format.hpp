// SPDX-License-Identifier: BSD-2-Clause-Patent
// A record's entries. Each is its kind and the number of its words, in 32 bits each, then 64-bit words in the machine's
// order of bytes. Texts are filled up with zeros, of which there is one at least.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <quality_cuda.h>

namespace qc::run {

inline constexpr int64_t kRecordVersion = 4;
inline constexpr const char* kUnfinished = ".unfinished"; ///< what is added to the name of a record that is not whole

enum class Kind : uint32_t {
    kHead = 0x4851,       ///< version of the record, inputs; then the engine's version as text
    kInput = 0x4c51,      ///< InputWord; once for each
    kFormat = 0x4e51,     ///< a number that stands for a layout of samples, and its name; before the number is used
    kSaid = 0x5451,       ///< level, and what was said before the first frame
    kFrame = 0x4651,      ///< FrameWord
    kEnd = 0x4551,        ///< input, status, timestamp
    kSession = 0x4f51,    ///< what the session was opened with, see words_of()
    kEngine = 0x4451,     ///< what it says of itself, as text
    kOrigin = 0x4751,     ///< where its scores come from, as JSON
    kPair = 0x5051,       ///< PairWord, from kPairStamps on one timestamp for each input
    kMeasured = 0x4d51,   ///< row, then the engine's words
    kRate = 0x5251,       ///< frame rate and tolerance that were gone by, as doubles; the last entry of a run
    kComplaints = 0x4e43, ///< what the command below said, as text; then the number of the text's words
    kCommand = 0x4351,    ///< the command that made the record, as text; then the number of the text's words
    kSeal = 0x5351,       ///< work, inputs, and the checksum of all that is before the seal
};

struct EntryHead {
    uint32_t kind = 0, count = 0;
};

enum InputWord {
    kInputIndex,
    kInputWidth,
    kInputHeight,
    kInputFormat,
    kInputClockNum,
    kInputClockDen,
    kInputRateNum,
    kInputRateDen,
    kInputShapeNum,
    kInputShapeDen,
    kInputWords
};

enum FrameWord {
    kFrameInput,
    kFramePts,
    kFrameWidth,
    kFrameHeight,
    kFrameFormat,
    kFrameIsCorrupt,
    kFrameIsInterlaced,
    kFrameIsConcealed,
    kFrameHasGrain,
    kFrameRange,
    kFrameMatrix,
    kFramePrimaries,
    kFrameTransfer,
    kFrameSiting,
    kFrameBytes,
    kFrameWords
};

enum EndWord { kEndInput, kEndStatus, kEndPts, kEndWords };

enum PairWord { kPairRow, kPairRenditions, kPairBroke, kPairStamps };

enum SealWord { kSealWork, kSealInputs, kSealBytes, kSealWords };

/// With zeros behind it, to whole words.
std::vector<int64_t> words_of(std::string_view text);
/// Up to the first zero.
std::string text_of(std::span<const int64_t> words);

/// What of a session's configuration the pictures decide: formats, sizes, the region, depth.
std::vector<int64_t> words_of(const qc_config& config);
/// Leaves the rest of the configuration as it is. @return false: the words are of no configuration
bool read_config(std::span<const int64_t> words, qc_config* config);

} // namespace qc::run
