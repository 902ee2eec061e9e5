// SPDX-License-Identifier: BSD-2-Clause-Patent
// The published weights of SSIMULACRA 2.1 and how the 108 norms are numbered.
#pragma once

#include "contract/types.hpp"

namespace qc::ssimulacra2 {

constexpr int kChannels = 3; ///< X, Y, B
constexpr int kMaxLevels = 6;
constexpr int kFields = 3;                ///< structural error, artifact, detail loss
constexpr int kPowers = 2;                ///< mean of the field, and mean of its fourth power
constexpr int kTerms = kPowers * kFields; ///< per level and channel
constexpr int kNorms = kChannels * kMaxLevels * kTerms;
constexpr double kPruneThreshold = 0.01; ///< weights up to this one are dropped on request

enum Channel { kX, kY, kB };
enum Field { kStructure, kArtifact, kDetail };
enum Power { kFirst, kFourth };

/// Number of a term within its level and channel.
QC_HD constexpr int term_index(int power, int field) {
    return power * kFields + field;
}

/// Number of a norm, of its weight and of its accumulator in a picture with `levels` levels. Small pictures use the
/// weights consecutively: with five levels, those of Y begin where six would have put X's last level.
QC_HD constexpr int norm_index(int levels, int channel, int level, int term) {
    return (channel * levels + level) * kTerms + term;
}

/// By norm_index() for six levels. Rows: levels of a channel; columns: means of structural error, artifact and detail
/// loss, then their 4-norms.
constexpr double kWeights[kNorms] = {
    // clang-format off
    // X
    0.0, 0.0007376606707406586, 0.0, 0.0, 0.0007793481682867309, 0.0,
    0.0, 0.0004371155730107379, 0.0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752,
    0.0, 0.0016406437456599754, 0.0, 1.8422455520539298, 11.441172603757666, 0.0,
    0.0007989109436015163, 0.000176816438078653, 0.0, 1.8787594979546387, 10.94906990605142, 0.0,
    0.0007289346991508072, 0.9677937080626833, 0.0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0.0, 0.0, 0.0013648766163243398, 0.0, 0.0,
    // Y
    0.0, 0.0, 0.0, 7.466890328078848, 0.0, 17.445833984131262,
    0.0006235601634041466, 0.0, 0.0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264,
    225.20515300849274, 0.0, 0.0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985,
    176.39317598450694, 0.0, 0.0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408,
    0.0, 0.0, 0.0, 34.77906344483772, 44.835625328877896, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    // B
    0.0, 0.0008680556573291698, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0005313191874358747, 0.0, 0.00016533814161379112, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0004179171803251336, 0.0017290828234722833, 0.0,
    0.0020827005846636437, 0.0, 0.0, 8.826982764996862, 23.19243343998926, 0.0,
    95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493, 171.2667255897307, 0.9807858872435379,
    0.0, 0.0, 0.0, 0.0005130064588990679, 0.0, 0.00010854057858411537,
    // clang-format on
};

} // namespace qc::ssimulacra2
