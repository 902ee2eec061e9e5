// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/row_copier.hpp"

#include <algorithm>
#include <cstring>

namespace qc::cuda {
namespace {

/// Small enough that all threads get a share of a 1080p picture, large enough that taking one costs nothing.
constexpr size_t kPieceBytes = 128 * 1024;

void copy_rows(const RowCopy& rows) {
    const auto packed = static_cast<ptrdiff_t>(rows.row_bytes);
    if (rows.source_pitch == packed && rows.target_pitch == packed) {
        std::memcpy(rows.target, rows.source, rows.row_bytes * static_cast<size_t>(rows.rows));
        return;
    }
    for (int y = 0; y < rows.rows; ++y)
        std::memcpy(rows.target + y * rows.target_pitch, rows.source + y * rows.source_pitch, rows.row_bytes);
}

} // namespace

RowCopier::RowCopier(int threads) {
    for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { work(); });
}

RowCopier::~RowCopier() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

void RowCopier::copy(std::span<const RowCopy> planes) {
    std::unique_lock lock(mutex_);
    pieces_.clear();
    next_ = done_ = 0;
    for (const RowCopy& plane : planes) {
        const int step = std::max(1, static_cast<int>(kPieceBytes / std::max<size_t>(1, plane.row_bytes)));
        for (int y = 0; y < plane.rows; y += step) {
            RowCopy piece = plane;
            piece.source += y * plane.source_pitch;
            piece.target += y * plane.target_pitch;
            piece.rows = std::min(step, plane.rows - y);
            pieces_.push_back(piece);
        }
    }
    if (pieces_.size() > 1) wake_.notify_all();
    copy_pieces(lock);
    finished_.wait(lock, [this] { return done_ == pieces_.size(); });
}

/// Takes pieces until none is left; the lock is held but while a piece is copied.
void RowCopier::copy_pieces(std::unique_lock<std::mutex>& lock) {
    while (next_ < pieces_.size()) {
        const RowCopy piece = pieces_[next_++];
        lock.unlock();
        copy_rows(piece);
        lock.lock();
        if (++done_ == pieces_.size()) finished_.notify_one();
    }
}

void RowCopier::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || next_ < pieces_.size(); });
        if (stopping_) return;
        copy_pieces(lock);
    }
}

} // namespace qc::cuda
