// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames that wait for their scores, as tables: what happens is a word, and so is what comes of it.
#include "quality_cuda_run/rows.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr int kFeatures = 2;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Handles are addresses of characters, by which they are known again: a, b, ... frames, A, B, ... their maps.
struct Handles {
    std::array<char, 26> frame{}, map{};

    std::string name(const void* handle) const {
        for (size_t i = 0; i < frame.size(); ++i) {
            if (handle == &frame[i]) return std::string(1, static_cast<char>('a' + i));
            if (handle == &map[i]) return std::string(1, static_cast<char>('A' + i));
        }
        return handle == nullptr ? "" : "?";
    }
};

/// One word for each thing that happens:
///
///     +        a frame that gets scores joins     -WHY    one that gets none, for that reason; -failure: since it
///     failed =WHAT    a row arrives, of that number, with scores of renditions as WHAT says after a colon: 1, 0, m
///     (masked out) <        the oldest leaves                  >       the oldest is let go !        the oldest row
///     that waits fails    ^       the consumer has what was taken    .       the same, and all that counts now is
///     handed out; .. all there is, ,     without the consumer's word     x        the oldest is popped
///
/// and what was handed out for it.
class Table {
public:
    explicit Table(int renditions = 1, int n_subsample = 1)
        : renditions_(renditions), rows_(qcr_rows_create(renditions, n_subsample), qcr_rows_destroy) {}

    std::string run(const std::string& words) {
        std::istringstream stream(words);
        said_.clear();
        for (std::string word; stream >> word;) step(word);
        return said_.empty() ? said_ : said_.substr(1);
    }

    const qcr_tally& tally() const { return *qcr_rows_tally(rows_.get()); }
    qcr_rows* rows() { return rows_.get(); }

private:
    void append(const std::string& why) {
        const auto index = static_cast<size_t>(appended_);
        qcr_row row{};
        row.frame = &handles_.frame.at(index);
        row.map = &handles_.map.at(index);
        row.number = why.empty() ? submitted_++ : -1;
        row.pts_time = static_cast<double>(appended_++);
        row.ref_pts_time = kNan;
        row.renditions = (1U << renditions_) - 1;
        row.unscored = why == "disabled" ? "disabled" : why.empty() ? nullptr : "unpaired";
        row.failed = why == "failure";
        std::vector<qcr_counts> counts(static_cast<size_t>(renditions_));
        for (qcr_counts& each : counts) each.frames = appended_;
        EXPECT_EQ(qcr_rows_append(rows_.get(), &row, counts.data()), QC_OK);
    }

    void deliver(const std::string& what) {
        const size_t colon = what.find(':');
        std::vector<double> value;
        std::vector<unsigned char> present;
        qc_row row{};
        row.frame = std::stoll(what);
        for (const char each : what.substr(colon + 1)) {
            for (int i = 0; i < kFeatures; ++i) {
                present.push_back(each == '1');
                value.push_back(each == '1' ? static_cast<double>(row.frame) : kNan);
            }
            row.weightless |= each == 'm';
        }
        row.value = value.data();
        row.present = present.data();
        qcr_row settled;
        if (qcr_rows_deliver(rows_.get(), &row, kFeatures, &settled) == QC_OK)
            say("=", settled);
        else
            said_ += " =refused";
    }

    void say(const std::string& sign, const qcr_row& row) {
        said_ += " " + sign + handles_.name(row.frame) + handles_.name(row.map) + std::to_string(row.number);
        for (int i = 0; row.present != nullptr && i < renditions_ * kFeatures; i += kFeatures) {
            said_ += row.present[i] != 0 ? "s" : "n";
            EXPECT_EQ(row.present[i] != 0, !std::isnan(row.value[i]));
        }
        if (row.unscored != nullptr) said_ += row.unscored;
        if (row.scores_follow != 0) said_ += "~";
    }

    void step(const std::string& word) {
        qcr_row row;
        if (word == "+")
            append("");
        else if (word[0] == '-')
            append(word.substr(1));
        else if (word[0] == '=')
            deliver(word.substr(1));
        else if (word == "<" && qcr_rows_take(rows_.get(), &row) != 0)
            say("<", row);
        else if (word == ">" && qcr_rows_let_go(rows_.get(), &row) != 0)
            say(">", row);
        else if (word == "!" && qcr_rows_fail(rows_.get(), &row) != 0)
            say("!", row);
        else if (word == "x" && qcr_rows_pop(rows_.get(), &row) != 0)
            say("x", row);
        if (word == "^" || word[0] == '.') qcr_rows_confirm(rows_.get());
        if (word == "," || word[0] == '.')
            while (qcr_rows_account(rows_.get(), word == "..", &row) != 0) say(word.substr(0, 1), row);
    }

    int renditions_;
    std::unique_ptr<qcr_rows, void (*)(qcr_rows*)> rows_;
    Handles handles_;
    std::string said_;
    int64_t appended_ = 0, submitted_ = 0;
};

struct Case {
    const char *what, *words, *said;
};

const Case kCases[] = {
    {"scores come before the frame leaves", "+ =0:1 < .", "=aA0s <aA0s .0s"},
    {"a frame waits for its scores", "+ < . =0:1 <", "=aA0s <aA0s"},
    {"what gets no scores waits for nothing", "-unpaired < .", "<aA-1unpaired .-1unpaired"},
    {"except for those before it", "+ -disabled < < =0:1 < < .", "=aA0s <aA0s <bB-1disabled .0s .-1disabled"},
    {"rows come in order", "+ + =1:1 =0:1 =0:1 =1:1 =2:1", "=refused =aA0s =refused =bB1s =refused"},
    {"a frame that was not to be scored", "+ + =0:1 =1:0 < < .",
     "=aA0s =bB1subsample <aA0s <bB1subsample .0s .1subsample"},
    {"one that was, and has nothing, has failed: its map is given back", "+ + + =0:1 =1:1 =2:0 < < < .",
     "=aA0s =bB1s =cC2failure <aA0s <bB1s <c2failure .0s .1s .2failure"},
    {"a mask that left nothing", "+ =0:m < .", "=aA0masked <aA0masked .0masked"},
    {"it can wait no longer", "+ > . < . =0:1 .", ">A0 <a-1~ .-1~ =A0s .A0s"},
    {"nothing to let go", "> -unpaired > + =0:1 >", "=bB0s"},
    {"only the oldest is let go", "+ + > < < =0:1 =1:1 < .", ">A0 <a-1~ =A0s =bB1s <bB1s .A0s .-1~ .1s"},
    {"scores of a frame that left before come behind later frames", "+ + > < . =0:1 =1:1 < .",
     ">A0 <a-1~ .-1~ =A0s =bB1s <bB1s .A0s .1s"},
    {"no scores come any more", "+ -unpaired + ! ! ! < < < .",
     "!aA0failure !cC1failure <a0failure <bB-1unpaired <c1failure .0failure .-1unpaired .1failure"},
    {"the scoring failed before", "-failure < .", "<aA-1failure .-1failure"},
    {"a frame that nobody may have got does not count", "+ + =0:1 < , =1:1 ^ < , ^ , ..",
     "=aA0s <aA0s =bB1s <bB1s ,0s ,1s"},
    {"scores of one that had left before it do", "+ + > < ^ =0:1 =1:1 < ,", ">A0 <a-1~ =A0s =bB1s <bB1s ,A0s ,-1~"},
    {"what has not left counts once at the end", "+ + =0:1 < .. .. =1:1", "=aA0s <aA0s .0s .1 =bB1s"},
    {"what is left is taken back", "+ + -unpaired > =0:1 x x x x x", ">A0 =A0s xA0s xa-1~ xbB1 xcC-1unpaired"},
};

TEST(Rows, Cases) {
    for (const Case& each : kCases) EXPECT_EQ(Table(1, 2).run(each.words), each.said) << each.what;
}

TEST(Rows, RenditionsAreCountedEachForItself) {
    Table table(3);
    EXPECT_EQ(table.run("+ + -failure =0:101 =1:010 < < < ."),
              "=aA0sns =bB1nsn <aA0sns <bB1nsn <cC-1failure .0sns .1nsn .-1failure");
    EXPECT_EQ(table.tally().scored[0], 1);
    EXPECT_EQ(table.tally().scored[1], 1);
    EXPECT_EQ(table.tally().scored[2], 1);
    EXPECT_EQ(table.tally().failed[2], 1);
    EXPECT_EQ(table.tally().failed[3], 0);
    EXPECT_EQ(table.tally().left[2].frames, 3);
}

TEST(Rows, TallyFollowsWhatLeaves) {
    Table table;
    table.run("+ + + =0:1 <");
    EXPECT_EQ(table.tally().held, 2);
    EXPECT_EQ(table.tally().left[0].frames, 0) << "nobody may have it";
    table.run("^");
    EXPECT_EQ(table.tally().left[0].frames, 1);
    EXPECT_EQ(table.tally().scored[0], 0) << "not handed out yet";
    EXPECT_EQ(qcr_rows_under_way(table.rows()), 2);
    EXPECT_EQ(qcr_rows_oldest_waits(table.rows()), 1);
    table.run(". > < =1:1 .");
    EXPECT_EQ(table.tally().scored[0], 2);
    EXPECT_EQ(table.tally().late_scores, 1);
    EXPECT_EQ(table.tally().held, 1);
    EXPECT_EQ(qcr_rows_under_way(table.rows()), 1);
    table.run("=2:1");
    EXPECT_EQ(qcr_rows_oldest_waits(table.rows()), 0);
}

TEST(Rows, ImpossibleNumbersAreRefused) {
    for (const auto& [renditions, n_subsample] :
         {std::pair(0, 1), std::pair(QC_MAX_RENDITIONS + 1, 1), std::pair(1, 0)})
        EXPECT_EQ(qcr_rows_create(renditions, n_subsample), nullptr);
    qcr_rows_destroy(nullptr);
}

} // namespace
