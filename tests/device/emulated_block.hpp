// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Block of kernels (device/block.hpp) on the host. Its threads are fibers: one runs until it waits, then the next,
// in ascending or descending order, so that a missing barrier or another race changes a result in one of the two
// orders. Threads that wait at different places, and exchanges that miss lanes, fail the test with the kernel's name.
// Shared memory starts full of junk. Not thread-safe; test code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "contract/device.hpp"
#include "device/kernel_list.hpp"

namespace qc::test {

/// What a kernel did wrong. Whoever runs kernels says what comes of it: a test fails, a driver reports it.
void report_failure(const std::string& what);

/// A launch of a kernel.
struct GridLaunch {
    std::string_view kernel; ///< name, for messages
    Dim3 grid, block;
    size_t dynamic_shared_bytes;
    const void* arguments; ///< the kernel's Arguments
    bool descending;       ///< order of the blocks, warps and lanes
};

/// Objects in the shared memory of the block that runs.
class SharedMemory {
public:
    SharedMemory();
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// A new block: forgets all objects.
    void clear(bool descending);
    /// The object that `key` stands for. Its first request in a block fills it with junk.
    void* at(const void* key, size_t bytes, size_t alignment);

private:
    struct Object {
        const void* key;
        void* memory;
    };
    static constexpr int kMaxObjects = 32;
    static constexpr size_t kBytes = size_t{512} << 10;

    std::unique_ptr<std::byte[]> memory_;
    Object objects_[kMaxObjects];
    int count_ = 0;
    size_t used_ = 0;
    uint8_t junk_ = 0xff;
};

/// Its address tells objects in shared memory apart.
template <class T, class Tag>
inline constexpr char kSharedKey = 0;
inline constexpr char kDynamicSharedKey = 0;

/// Where in the code a thread waits.
struct Place {
    const char* file = "";
    unsigned line = 0;

    /// As a default argument: of the call.
    static Place current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
    bool operator==(const Place& other) const {
        return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
    }
};

/// What threads wait for. From kSyncWarp on: exchanges within a warp.
enum class Wait : uint8_t { kNothing, kSync, kSyncOthers, kSyncWarp, kShuffle, kSum, kOr, kBallot };

/// Runs the blocks of a grid, each thread as a fiber. There is one, which keeps its fibers.
class FiberTeam {
public:
    static constexpr int kMaxThreads = 1024;
    using Body = void (*)(FiberTeam& team, int thread);

    static FiberTeam& instance();

    /// Runs body(team, thread) for every thread of every block, until one of them is reported as failed.
    void run_grid(const GridLaunch& launch, int threads, Body body);

    // For the threads.
    const GridLaunch& launch() const { return *launch_; }
    Dim3 block_index() const { return block_; }
    SharedMemory& shared() { return shared_; }
    void wait(int thread, Wait what, const Place& place);

    /// The values that the lanes of a warp brought to an exchange.
    class Values {
    public:
        Values(const uint64_t* values, uint32_t present) : values_(values), present_(present) {}
        bool has(int lane) const { return (present_ >> lane & 1u) != 0; }
        uint64_t operator[](int lane) const { return values_[lane]; }

    private:
        const uint64_t* values_;
        uint32_t present_;
    };
    Values exchange(int thread, Wait what, uint64_t value, const Place& place);

private:
    struct Fibers;
    FiberTeam();
    ~FiberTeam() = delete; // lives until the process ends
    bool run_block();
    bool run_warp(int warp);
    void run_thread(int thread);
    void pause(int thread);
    bool may_run(int thread) const { return !exited_[thread] && waits_[thread] == Wait::kNothing; }
    bool release_barrier();
    bool meets(int first, int thread) const;
    void fail(const std::string& what);
    std::string place_of(int thread) const;

    Fibers* fibers_;
    const GridLaunch* launch_ = nullptr;
    Dim3 block_{};
    int threads_ = 0;
    Body body_ = nullptr;
    SharedMemory shared_;
    bool abandoned_ = false; ///< threads leave at once
    bool exited_[kMaxThreads];
    Wait waits_[kMaxThreads];
    Place places_[kMaxThreads];
    uint8_t turn_[kMaxThreads];       ///< which half of values_ a thread's next exchange uses
    uint64_t values_[2][kMaxThreads]; ///< a warp's lanes may read one exchange's while others bring the next one's
    uint32_t present_[kMaxThreads / device::kWarpSize]; ///< lanes of a warp's latest exchange
};

/// One thread of an emulated block.
template <int kThreads_>
class EmulatedBlock {
public:
    static constexpr int kThreads = kThreads_;
    static_assert(kThreads % device::kWarpSize == 0 && kThreads <= FiberTeam::kMaxThreads);

    EmulatedBlock(FiberTeam& team, int thread) : team_(team), thread_(thread) {}

    int thread() const { return thread_; }
    int lane() const { return thread_ % device::kWarpSize; }
    int warp() const { return thread_ / device::kWarpSize; }
    int x() const { return static_cast<int>(team_.block_index().x); }
    int y() const { return static_cast<int>(team_.block_index().y); }
    int z() const { return static_cast<int>(team_.block_index().z); }
    int grid_x() const { return static_cast<int>(team_.launch().grid.x); }
    int grid_y() const { return static_cast<int>(team_.launch().grid.y); }
    int grid_z() const { return static_cast<int>(team_.launch().grid.z); }

    void sync(const Place& place = Place::current()) const { team_.wait(thread_, Wait::kSync, place); }
    void sync_warp(const Place& place = Place::current()) const { team_.exchange(thread_, Wait::kSyncWarp, 0, place); }

    template <typename T>
    T shuffle_up(T value, int distance, const Place& place = Place::current()) const {
        return shuffle(value, lane() - distance, place);
    }
    template <typename T>
    T shuffle_down(T value, int distance, const Place& place = Place::current()) const {
        return shuffle(value, lane() + distance, place);
    }
    template <typename T>
    T shuffle_xor(T value, int mask, const Place& place = Place::current()) const {
        return shuffle(value, lane() ^ mask, place);
    }
    template <typename T>
    T shuffle_from(T value, int lane, const Place& place = Place::current()) const {
        return shuffle(value, lane % device::kWarpSize, place);
    }

    uint64_t warp_sum(uint64_t value, const Place& place = Place::current()) const {
        const FiberTeam::Values values = team_.exchange(thread_, Wait::kSum, value, place);
        uint64_t sum = 0;
        for (int i = 0; i < device::kWarpSize; ++i) sum += values[i];
        return sum;
    }
    uint64_t warp_sum(uint32_t value, const Place& place = Place::current()) const {
        return warp_sum(uint64_t{value}, place);
    }
    uint32_t warp_or(uint32_t value, const Place& place = Place::current()) const {
        const FiberTeam::Values values = team_.exchange(thread_, Wait::kOr, value, place);
        uint64_t bits = 0;
        for (int i = 0; i < device::kWarpSize; ++i) bits |= values[i];
        return static_cast<uint32_t>(bits);
    }
    uint32_t ballot(bool vote, const Place& place = Place::current()) const {
        const FiberTeam::Values values = team_.exchange(thread_, Wait::kBallot, vote ? 1 : 0, place);
        uint32_t votes = 0;
        for (int i = 0; i < device::kWarpSize; ++i) votes |= static_cast<uint32_t>(values[i]) << i;
        return votes;
    }

    static uint32_t atomic_add(uint32_t* target, uint32_t value) { return add(target, value); }
    static uint64_t atomic_add(uint64_t* target, uint64_t value) { return add(target, value); }

    template <class T, class Tag = void>
    T& shared() const {
        return *static_cast<T*>(team_.shared().at(&kSharedKey<T, Tag>, sizeof(T), alignof(T)));
    }
    template <class T>
    T* dynamic_shared() const {
        return static_cast<T*>(team_.shared().at(&kDynamicSharedKey, team_.launch().dynamic_shared_bytes, 16));
    }

    template <class F>
    void each(int count, const F& f, const Place& place = Place::current()) const {
        for (int i = thread_; i < count; i += kThreads) f(i);
        sync(place);
    }
    template <class F>
    void once(const F& f, const Place& place = Place::current()) const {
        if (thread_ == 0) f();
        sync(place);
    }
    template <class F, class G>
    void both(const F& first_warp, const G& other_warps, const Place& place = Place::current()) const {
        if (thread_ < device::kWarpSize)
            first_warp(Part<device::kWarpSize, Wait::kSyncWarp>{team_, thread_, thread_});
        else
            other_warps(
                Part<kThreads - device::kWarpSize, Wait::kSyncOthers>{team_, thread_, thread_ - device::kWarpSize});
        sync(place);
    }

private:
    /// Some warps of the block with a barrier of their own.
    template <int kCount, Wait kBarrier>
    struct Part {
        FiberTeam& team;
        int thread, index;

        template <class F>
        void each(int count, const F& f, const Place& place = Place::current()) const {
            for (int i = index; i < count; i += kCount) f(i);
            wait(place);
        }
        template <class F>
        void once(const F& f, const Place& place = Place::current()) const {
            if (index == 0) f();
            wait(place);
        }
        template <class F>
        uint32_t vote(int count, const F& f, const Place& place = Place::current()) const {
            static_assert(kBarrier == Wait::kSyncWarp);
            const bool yes = index < count && f(index);
            const FiberTeam::Values values = team.exchange(thread, Wait::kBallot, yes ? 1 : 0, place);
            uint32_t votes = 0;
            for (int i = 0; i < device::kWarpSize; ++i) votes |= static_cast<uint32_t>(values[i]) << i;
            return votes;
        }
        void wait(const Place& place) const {
            if (kBarrier == Wait::kSyncWarp)
                team.exchange(thread, kBarrier, 0, place);
            else
                team.wait(thread, kBarrier, place);
        }
    };

    template <typename T>
    static T add(T* target, T value) {
        const T before = *target;
        *target = before + value;
        return before;
    }

    /// Beyond the warp's ends: the own value. Of a lane that is not there: junk.
    template <typename T>
    T shuffle(T value, int from, const Place& place) const {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8);
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        const FiberTeam::Values values = team_.exchange(thread_, Wait::kShuffle, bits, place);
        if (from < 0 || from >= device::kWarpSize) return value;
        bits = values.has(from) ? values[from] : 0x7fbadbad7fbadbadu;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    FiberTeam& team_;
    int thread_;
};

/// A block of one thread, for kernels that only ask for each(), once() and both().
template <int kThreads_>
class SerialBlock {
public:
    static constexpr int kThreads = kThreads_;

    SerialBlock(const GridLaunch& launch, Dim3 index, SharedMemory& shared)
        : launch_(launch), index_(index), shared_(shared) {}

    int x() const { return static_cast<int>(index_.x); }
    int y() const { return static_cast<int>(index_.y); }
    int z() const { return static_cast<int>(index_.z); }
    int grid_x() const { return static_cast<int>(launch_.grid.x); }
    int grid_y() const { return static_cast<int>(launch_.grid.y); }
    int grid_z() const { return static_cast<int>(launch_.grid.z); }

    template <class F>
    void each(int count, const F& f) const {
        if (launch_.descending)
            for (int i = count - 1; i >= 0; --i) f(i);
        else
            for (int i = 0; i < count; ++i) f(i);
    }
    template <class F>
    void once(const F& f) const {
        f();
    }
    template <class F>
    uint32_t vote(int count, const F& f) const {
        uint32_t votes = 0;
        each(count, [&](int i) { votes |= static_cast<uint32_t>(f(i)) << i; });
        return votes;
    }
    template <class F, class G>
    void both(const F& first_warp, const G& other_warps) const {
        if (launch_.descending) other_warps(*this);
        first_warp(*this);
        if (!launch_.descending) other_warps(*this);
    }

    template <class T, class Tag = void>
    T& shared() const {
        return *static_cast<T*>(shared_.at(&kSharedKey<T, Tag>, sizeof(T), alignof(T)));
    }
    template <class T>
    T* dynamic_shared() const {
        return static_cast<T*>(shared_.at(&kDynamicSharedKey, launch_.dynamic_shared_bytes, 16));
    }

private:
    const GridLaunch& launch_;
    Dim3 index_;
    SharedMemory& shared_;
};

/// Calls body(index) for every block of a grid.
template <typename Body>
void each_block_index(Dim3 grid, bool descending, const Body& body) {
    const uint64_t count = uint64_t{grid.x} * grid.y * grid.z;
    for (uint64_t k = 0; k < count; ++k) {
        const uint64_t i = descending ? count - 1 - k : k;
        const Dim3 index{static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                         static_cast<unsigned>(i / grid.x / grid.y)};
        if (!body(index)) return;
    }
}

/// Runs a launch of kernel K.
template <class K>
void run_grid(const GridLaunch& launch) {
    using Arguments = typename K::Arguments;
    if constexpr (device::is_collective<K>()) {
        SharedMemory shared;
        each_block_index(launch.grid, launch.descending, [&](Dim3 index) {
            shared.clear(launch.descending);
            SerialBlock<K::kThreads> block(launch, index, shared);
            K::run(block, *static_cast<const Arguments*>(launch.arguments));
            return true;
        });
    } else {
        FiberTeam::instance().run_grid(launch, K::kThreads, [](FiberTeam& team, int thread) {
            EmulatedBlock<K::kThreads> block(team, thread);
            K::run(block, *static_cast<const Arguments*>(team.launch().arguments));
        });
    }
}

} // namespace qc::test
