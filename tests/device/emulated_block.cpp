// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/device/emulated_block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <new>
#include <utility>

#if defined(__has_feature) // clang says it so, gcc by these names
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#elif __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace qc::test {
namespace {

namespace context = boost::context;

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = size_t{512} << 10; // instrumented frames are large
constexpr size_t kRedZone = 64;
void forbid(void* memory, size_t bytes) {
    __asan_poison_memory_region(memory, bytes);
}
void allow(void* memory, size_t bytes) {
    __asan_unpoison_memory_region(memory, bytes);
}
#else
constexpr size_t kStackBytes = size_t{128} << 10;
constexpr size_t kRedZone = 0;
void forbid(void*, size_t) {}
void allow(void*, size_t) {}
#endif

constexpr size_t kPage = 4096;

/// Stacks are never given back. A page that must not be touched lies below each. Their tops differ in where they lie
/// in a page: else the same lines of the cache would hold all of them.
class StackAllocator {
public:
    explicit StackAllocator(int index) : index_(index) {}
    context::stack_context allocate() {
        void* memory = mmap(nullptr, kStackBytes + kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, kPage, PROT_NONE) != 0) throw std::bad_alloc();
        const size_t offset = static_cast<size_t>(index_) * 576 % kPage / 64 * 64;
        context::stack_context stack;
        stack.size = kStackBytes - offset;
        stack.sp = static_cast<char*>(memory) + kPage + stack.size;
        return stack;
    }
    void deallocate(context::stack_context&) noexcept {}

private:
    int index_;
};

/// Thrown through a thread that is not to go on.
struct Abandoned {};

} // namespace

// ---- shared memory --------------------------------------------------------------------------------------------------

SharedMemory::SharedMemory() : memory_(new std::byte[kBytes]) {
    forbid(memory_.get(), kBytes);
}

SharedMemory::~SharedMemory() {
    allow(memory_.get(), kBytes);
}

void SharedMemory::clear(bool descending) {
    forbid(memory_.get(), used_);
    count_ = 0;
    used_ = 0;
    junk_ = descending ? 0x71 : 0xff; // as floats: large numbers, or NaN
}

void* SharedMemory::at(const void* key, size_t bytes, size_t alignment) {
    for (int i = 0; i < count_; ++i)
        if (objects_[i].key == key) return objects_[i].memory;
    alignment = std::max(alignment, size_t{16});
    auto address = reinterpret_cast<uintptr_t>(memory_.get()) + used_ + kRedZone;
    address = (address + alignment - 1) / alignment * alignment;
    const size_t offset = address - reinterpret_cast<uintptr_t>(memory_.get());
    if (count_ == kMaxObjects || offset + bytes > kBytes) {
        report_failure("a block asks for more shared memory than there is");
        throw Abandoned{};
    }
    void* const memory = memory_.get() + offset;
    allow(memory, bytes);
    std::memset(memory, junk_, bytes);
    used_ = offset + bytes;
    objects_[count_++] = {key, memory};
    return memory;
}

// ---- fibers ---------------------------------------------------------------------------------------------------------

/// A fiber runs the threads of one index, block after block. Who waits hands over to the next thread of the warp; the
/// scheduler, which runs on the stack of the test, is asked between the rounds of a warp.
struct FiberTeam::Fibers {
    static constexpr int kScheduler = kMaxThreads;
    struct Fiber {
        context::fiber paused; ///< where it goes on, while others run
        const void* stack = nullptr;
        size_t stack_bytes = 0;
        void* fake_stack = nullptr; // AddressSanitizer's
        void* tracked = nullptr;    // ThreadSanitizer's
    };
    Fiber fiber[kMaxThreads + 1];
    int count = 0;
    int previous = kScheduler; ///< who handed over last

    /// Before the first switch: the sanitizer has to know what a fiber is, and who calls.
    void track(int index) {
#if defined(__SANITIZE_THREAD__)
        fiber[index].tracked = index == kScheduler ? __tsan_get_current_fiber() : __tsan_create_fiber(0);
#else
        (void)index;
#endif
    }

    void hand_over(int from, int to) {
        previous = from;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fiber[from].fake_stack, fiber[to].stack, fiber[to].stack_bytes);
#elif defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(fiber[to].tracked, 0);
#endif
        arrived(from, std::move(fiber[to].paused).resume());
    }

    /// On the own stack, after every switch to it.
    void arrived(int self, context::fiber&& from) {
        fiber[previous].paused = std::move(from);
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fiber[self].fake_stack, &fiber[previous].stack, &fiber[previous].stack_bytes);
#else
        (void)self;
#endif
    }
};

FiberTeam::FiberTeam() : fibers_(new Fibers) {}

FiberTeam& FiberTeam::instance() {
    static FiberTeam* const kInstance = new FiberTeam;
    return *kInstance;
}

void FiberTeam::run_grid(const GridLaunch& launch, int threads, Body body) {
    launch_ = &launch;
    threads_ = threads;
    body_ = body;
    fibers_->track(Fibers::kScheduler);
    for (; fibers_->count < threads; ++fibers_->count) {
        const int thread = fibers_->count;
        StackAllocator allocator(thread);
        const context::stack_context stack = allocator.allocate();
        Fibers::Fiber& fiber = fibers_->fiber[thread];
        fiber.stack = static_cast<const char*>(stack.sp) - stack.size;
        fiber.stack_bytes = stack.size;
        fibers_->track(thread);
        fiber.paused = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), allocator,
                                      [this, thread](context::fiber&& from) -> context::fiber {
                                          fibers_->arrived(thread, std::move(from));
                                          for (;;) {
                                              run_thread(thread);
                                              pause(thread);
                                          }
                                      });
    }
    each_block_index(launch.grid, launch.descending, [&](Dim3 index) {
        block_ = index;
        return run_block();
    });
    launch_ = nullptr;
}

void FiberTeam::run_thread(int thread) {
    try {
        body_(*this, thread);
    } catch (const Abandoned&) {
    }
    exited_[thread] = true;
}

/// Lets the next thread of the warp that may run go on, or the scheduler.
void FiberTeam::pause(int thread) {
    const int step = launch_->descending ? -1 : 1;
    const int first = thread / device::kWarpSize * device::kWarpSize;
    for (int next = thread + step; next >= first && next < first + device::kWarpSize; next += step)
        if (may_run(next)) return fibers_->hand_over(thread, next);
    fibers_->hand_over(thread, Fibers::kScheduler);
}

void FiberTeam::wait(int thread, Wait what, const Place& place) {
    waits_[thread] = what;
    places_[thread] = place;
    pause(thread);
    if (abandoned_) throw Abandoned{};
}

FiberTeam::Values FiberTeam::exchange(int thread, Wait what, uint64_t value, const Place& place) {
    uint64_t* const values = values_[turn_[thread]];
    turn_[thread] ^= 1;
    values[thread] = value;
    wait(thread, what, place);
    const int warp = thread / device::kWarpSize;
    return {values + warp * device::kWarpSize, present_[warp]};
}

// ---- order of the threads -------------------------------------------------------------------------------------------

bool FiberTeam::run_block() {
    shared_.clear(launch_->descending);
    std::fill_n(exited_, threads_, false);
    std::fill_n(waits_, threads_, Wait::kNothing);
    std::fill_n(turn_, threads_, uint8_t{0});
    const int warps = threads_ / device::kWarpSize;
    bool ok = true;
    do {
        for (int i = 0; ok && i < warps; ++i) ok = run_warp(launch_->descending ? warps - 1 - i : i);
        if (std::all_of(exited_, exited_ + threads_, [](bool exited) { return exited; })) return ok;
        ok = ok && release_barrier();
    } while (ok);
    abandoned_ = true;
    for (int thread = 0; thread < threads_; ++thread)
        if (!exited_[thread]) fibers_->hand_over(Fibers::kScheduler, thread);
    abandoned_ = false;
    return false;
}

/// Until all its lanes have ended or wait for other warps.
bool FiberTeam::run_warp(int warp) {
    const int begin = warp * device::kWarpSize, end = begin + device::kWarpSize;
    for (;;) {
        for (int i = 0; i < device::kWarpSize; ++i) {
            const int thread = launch_->descending ? end - 1 - i : begin + i;
            if (may_run(thread)) fibers_->hand_over(Fibers::kScheduler, thread);
        }
        int first = begin; // lane in an exchange
        while (first < end && (exited_[first] || waits_[first] < Wait::kSyncWarp)) ++first;
        if (first == end) return true;
        const Wait what = waits_[first];
        uint32_t present = 0;
        for (int thread = begin; thread < end; ++thread) {
            if (exited_[thread]) {
                if (what < Wait::kSum) continue;
                fail("a sum or vote over warp " + std::to_string(warp) + " misses thread " + std::to_string(thread) +
                     ", which has returned; thread " + std::to_string(first) + " is " + place_of(first));
                return false;
            }
            if (!meets(first, thread)) return false;
            present |= 1u << (thread - begin);
        }
        present_[warp] = present;
        for (int thread = begin; thread < end; ++thread) waits_[thread] = Wait::kNothing;
    }
}

/// Lets threads go on that have all arrived.
bool FiberTeam::release_barrier() {
    // While both() runs, the first warp may have arrived at the block's barrier already.
    const bool others = std::any_of(waits_, waits_ + threads_, [](Wait wait) { return wait == Wait::kSyncOthers; });
    int first = others ? device::kWarpSize : 0;
    const int begin = first;
    while (exited_[first]) ++first;
    for (int thread = begin; thread < threads_; ++thread)
        if (!exited_[thread] && !meets(first, thread)) return false;
    for (int thread = begin; thread < threads_; ++thread)
        if (!exited_[thread]) waits_[thread] = Wait::kNothing;
    return true;
}

/// Whether both threads wait for the same, at the same place of the code.
bool FiberTeam::meets(int first, int thread) const {
    if (waits_[first] == waits_[thread] && places_[first] == places_[thread]) return true;
    const_cast<FiberTeam*>(this)->fail("threads wait at different places: " + std::to_string(first) + " " +
                                       place_of(first) + ", " + std::to_string(thread) + " " + place_of(thread));
    return false;
}

std::string FiberTeam::place_of(int thread) const {
    static constexpr const char* kNames[] = {
        "nowhere",  "at a barrier", "at a barrier of warps", "at a warp's barrier", "in a shuffle", "in a sum",
        "in an or", "in a ballot"};
    const Place& place = places_[thread];
    return std::string(kNames[static_cast<int>(waits_[thread])]) + " (" + place.file + ":" +
           std::to_string(place.line) + ")";
}

void FiberTeam::fail(const std::string& what) {
    report_failure("kernel " + std::string(launch_->kernel) + ", block (" + std::to_string(block_.x) + ", " +
                   std::to_string(block_.y) + ", " + std::to_string(block_.z) + "): " + what);
}

} // namespace qc::test
