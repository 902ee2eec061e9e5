// SPDX-License-Identifier: BSD-2-Clause-Patent
// Copies planes between host buffers with several threads: one alone is slower than the bus to the GPU.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace qc::cuda {

/// Rows of one plane.
struct RowCopy {
    const char* source = nullptr;
    char* target = nullptr;
    ptrdiff_t source_pitch = 0, target_pitch = 0; ///< bytes; may be negative
    size_t row_bytes = 0;
    int rows = 0;
    /// Of 16-bit words: larger ones are copied as this one. Pictures come from anywhere, and kernels count on their
    /// samples' range.
    uint16_t largest_word = kAnyWord;
    static constexpr uint16_t kAnyWord = 0xffff; ///< bytes are copied as they are
};

/// Threads that sleep between copies, unless the next one comes at once. Used from one thread at a time.
class RowCopier {
public:
    /// @param threads at least 1, the calling one among them
    /// @throws std::system_error if the system gives no more threads
    explicit RowCopier(int threads);
    ~RowCopier();
    RowCopier(const RowCopier&) = delete;
    RowCopier& operator=(const RowCopier&) = delete;

    /// Returns when all rows are copied.
    void copy(std::span<const RowCopy> planes);
    int threads() const { return static_cast<int>(helpers_.size()) + 1; }

private:
    void work();
    void stop();
    void await_next(unsigned seen) const;
    void copy_pieces(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<RowCopy> pieces_; ///< of the copy that is going on; capacity stays
    size_t next_ = 0;
    bool stopping_ = false;
    std::atomic<unsigned> copies_ = 0; ///< begun so far
    std::atomic<size_t> done_ = 0;     ///< pieces of the copy that is going on
    std::vector<std::thread> helpers_; ///< last: they use everything above
};

} // namespace qc::cuda
