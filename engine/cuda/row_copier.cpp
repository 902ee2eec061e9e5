// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/row_copier.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qc::cuda {
namespace {

/// Small enough that all threads get a share of a 1080p picture, large enough that taking one costs nothing.
constexpr size_t kPieceBytes = 128 * 1024;

struct AsItIs {
#if defined(__SSE2__)
    __m128i operator()(__m128i words) const {
        return words;
    }
#endif
    void copy(char* target, const char* source, size_t bytes) const {
        std::memcpy(target, source, bytes);
    }
};

struct AtMost {
    uint16_t largest;
#if defined(__SSE2__)
    __m128i operator()(__m128i words) const { // the minimum of unsigned words; SSE 4 has an instruction for it
        return _mm_sub_epi16(words, _mm_subs_epu16(words, _mm_set1_epi16(static_cast<int16_t>(largest))));
    }
#endif
    void copy(char* target, const char* source, size_t bytes) const {
        for (size_t i = 0; i + sizeof(uint16_t) <= bytes; i += sizeof(uint16_t)) {
            uint16_t word = 0;
            std::memcpy(&word, source + i, sizeof(word));
            word = std::min(word, largest);
            std::memcpy(target + i, &word, sizeof(word));
        }
    }
};

/// Nobody on this side reads the target again: where the processor can, it is written around the caches, which spares
/// fetching it first.
template <typename Change>
void copy_bytes(char* target, const char* source, size_t bytes, const Change& change) {
#if defined(__SSE2__)
    constexpr size_t kVector = sizeof(__m128i);
    if (reinterpret_cast<uintptr_t>(target) % kVector == 0) {
        const size_t vectors = bytes / kVector;
        for (size_t i = 0; i < vectors; ++i)
            _mm_stream_si128(reinterpret_cast<__m128i*>(target) + i,
                             change(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source) + i)));
        target += vectors * kVector;
        source += vectors * kVector;
        bytes -= vectors * kVector;
    }
#endif
    change.copy(target, source, bytes);
}

template <typename Change>
void copy_rows(const RowCopy& rows, const Change& change) {
    for (int y = 0; y < rows.rows; ++y)
        copy_bytes(rows.target + y * rows.target_pitch, rows.source + y * rows.source_pitch, rows.row_bytes, change);
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/// Rows of a piece.
int step_of(const RowCopy& plane) {
    return std::max(1, static_cast<int>(kPieceBytes / std::max<size_t>(1, plane.row_bytes)));
}

} // namespace

RowCopier::RowCopier(int threads) {
    helpers_.reserve(static_cast<size_t>(std::max(threads - 1, 0)));
    try {
        for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { work(); });
    } catch (...) { // the system has no more: those that run must end before the exception may go on
        stop();
        throw;
    }
}

RowCopier::~RowCopier() {
    stop();
}

void RowCopier::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

void RowCopier::copy(std::span<const RowCopy> planes) {
    std::unique_lock lock(mutex_);
    size_t all = 0;
    for (const RowCopy& plane : planes) all += static_cast<size_t>((plane.rows + step_of(plane) - 1) / step_of(plane));
    pieces_.reserve(all); // without memory nothing has begun that the helpers would see
    pieces_.clear();
    next_ = 0;
    done_ = 0;
    for (const RowCopy& plane : planes) {
        const int step = step_of(plane);
        for (int y = 0; y < plane.rows; y += step) {
            RowCopy piece = plane;
            piece.source += y * plane.source_pitch;
            piece.target += y * plane.target_pitch;
            piece.rows = std::min(step, plane.rows - y);
            pieces_.push_back(piece);
        }
    }
    ++copies_;
    if (pieces_.size() > 1) wake_.notify_all();
    copy_pieces(lock);
    lock.unlock();
    for (size_t done = done_; done != all; done = done_) done_.wait(done);
}

/// Takes pieces until none is left; the lock is held but while a piece is copied.
void RowCopier::copy_pieces(std::unique_lock<std::mutex>& lock) {
    while (next_ < pieces_.size()) {
        const RowCopy piece = pieces_[next_++];
        const size_t all = pieces_.size(); // the next copy may have begun when the lock is held again
        lock.unlock();
        if (piece.largest_word == RowCopy::kAnyWord)
            copy_rows(piece, AsItIs{});
        else
            copy_rows(piece, AtMost{piece.largest_word});
        if (++done_ == all) done_.notify_one();
        lock.lock();
    }
}

/// Waking takes about as long as a piece does, so for a moment it is waited awake.
void RowCopier::await_next(unsigned seen) const {
    constexpr std::chrono::microseconds kAwake{50};
    const auto asleep_at = std::chrono::steady_clock::now() + kAwake;
    while (copies_ == seen && std::chrono::steady_clock::now() < asleep_at) std::this_thread::yield();
}

void RowCopier::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const unsigned seen = copies_;
        lock.unlock();
        await_next(seen);
        lock.lock();
        wake_.wait(lock, [this] { return stopping_ || next_ < pieces_.size(); });
        if (stopping_) return;
        copy_pieces(lock);
    }
}

} // namespace qc::cuda
