// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a GPU is to those who give it work, made of host memory: streams, events and graphs are edges between pieces of
// work, and a piece of work runs at any time after those before it, in an order that a seed decides. So a missing wait
// shows in scores, and memory that is given back too early in AddressSanitizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace qc::test {

using Work = std::function<void()>;

/// Something that has to be done, after others.
struct Node {
    Work work;
    std::vector<std::shared_ptr<Node>> before;
    bool done = false;
};
using NodePointer = std::shared_ptr<Node>;

/// Work that is launched as a whole.
struct WorkGraph {
    struct Step {
        Work work;
        std::vector<size_t> before; ///< steps of the same graph
    };
    std::vector<Step> steps;
};

class WorkStream {
public:
    NodePointer last; ///< what was enqueued latest; null if nothing was
};

class WorkEvent {
public:
    NodePointer node; ///< null: never recorded, which counts as happened
};

/// Not thread-safe.
class Machine {
public:
    /// @param seed of the order in which work runs; 0: in the order in which it was enqueued
    explicit Machine(uint32_t seed = 0) : seed_(seed), random_(seed) {}

    void enqueue(WorkStream& stream, Work work);
    static void record(WorkEvent& event, WorkStream& stream);
    void wait(WorkStream& stream, const WorkEvent& event);
    void launch(const WorkGraph& graph, WorkStream& stream);

    static bool is_done(const NodePointer& node) { return node == nullptr || node->done; }
    /// Runs what is needed, and what chance picks, until this is done.
    void finish(const NodePointer& node);
    void finish_all();
    /// Time passes: some work is done, if there is any.
    void advance();
    /// What was enqueued will never run.
    void abandon_all();
    uint32_t random(uint32_t below) { return below == 0 || seed_ == 0 ? 0 : static_cast<uint32_t>(random_() % below); }

private:
    bool run_one();
    NodePointer add(Work work, std::vector<NodePointer> before);

    uint32_t seed_;
    std::mt19937 random_;
    std::vector<NodePointer> pending_; ///< in the order of the calls
};

/// Memory by its addresses, with guards behind it and junk in it.
class GuardedMemory {
public:
    GuardedMemory() = default;
    GuardedMemory(GuardedMemory&& other) noexcept { swap(other); }
    GuardedMemory& operator=(GuardedMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~GuardedMemory();
    void* take(size_t bytes);
    /// @param intact whether nothing was written behind its end
    /// @return false if it was not taken here
    bool give_back(void* address, bool* intact);
    /// Whether all of these bytes lie in one piece of it.
    bool holds(const void* address, size_t bytes) const;
    size_t pieces() const { return pieces_.size(); }
    size_t bytes() const { return bytes_; }

private:
    void swap(GuardedMemory& other) noexcept {
        pieces_.swap(other.pieces_);
        std::swap(bytes_, other.bytes_);
    }

    std::map<const std::byte*, size_t> pieces_;
    size_t bytes_ = 0;
};

} // namespace qc::test
