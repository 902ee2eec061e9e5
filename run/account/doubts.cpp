// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/doubts.hpp"

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <set>

#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace {

constexpr size_t kMostTexts = 256; ///< that are kept; a warning for each frame fills no log

} // namespace

struct qcr_doubts {
    qcr_sink sink{};
    mutable std::mutex mutex;
    std::string first;
    std::set<std::string> texts;
    bool is_any = false; ///< also where there was no memory for the text

    void note(const char* text) {
        const std::scoped_lock lock(mutex);
        const bool is_first = !is_any;
        is_any = true;
        qc::run::if_possible([&] {
            if (is_first) first = text;
            if (texts.size() < kMostTexts) texts.insert(text);
        });
    }
};

namespace {

void pass_on(void* opaque, qcr_level level, const char* text) {
    auto* doubts = static_cast<qcr_doubts*>(opaque);
    if (level == QCR_LEVEL_WARNING) doubts->note(text);
    if (doubts->sink.say != nullptr) doubts->sink.say(doubts->sink.opaque, level, text);
}

} // namespace

namespace qc::run {

std::string warnings_json(const qcr_doubts* doubts, const std::vector<std::string>& more) {
    std::set<std::string> texts;
    if (doubts != nullptr) {
        const std::scoped_lock lock(doubts->mutex);
        texts = doubts->texts;
    }
    texts.insert(more.begin(), more.end());
    std::string text = "[";
    for (const std::string& warning : texts) text += (text.size() > 1 ? ", " : "") + json_string(warning);
    return text + "]";
}

} // namespace qc::run

qcr_doubts* qcr_doubts_create(const qcr_sink* sink) {
    auto* doubts = new (std::nothrow) qcr_doubts;
    if (doubts != nullptr) doubts->sink = *sink;
    return doubts;
}

void qcr_doubts_destroy(qcr_doubts* doubts) {
    delete doubts;
}

qcr_sink qcr_doubting(qcr_doubts* doubts) {
    return {pass_on, doubts};
}

int qcr_refuse_doubts(const qcr_doubts* doubts, char why[QCR_REFUSAL]) {
    const std::scoped_lock lock(doubts->mutex);
    if (!doubts->is_any) return 0;
    std::string count = "a warning speaks";
    if (doubts->texts.size() > 1) count = std::to_string(doubts->texts.size()) + " warnings speak";
    // What is short comes first: a long warning is cut.
    std::snprintf(why, QCR_REFUSAL, "strict=1: %s against the scores%s: %s", count.c_str(),
                  doubts->texts.size() > 1 ? ", at first" : "", doubts->first.c_str());
    return 1;
}
