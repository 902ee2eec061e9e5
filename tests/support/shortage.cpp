// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/support/shortage.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace qc::test {
namespace {

constexpr int kResources = 2;

struct Supply {
    std::atomic<bool> counted = false;
    std::atomic<int64_t> requests = 0, nth = 0;
    std::atomic<bool> for_good = false, refused = false;
};
Supply supplies[kResources];
Supply* current = nullptr;
std::atomic<int64_t> blocks = 0;
thread_local int exemptions = 0;
std::atomic<int (*)()> exempting = nullptr;

bool is_exempt() {
    int (*const inside)() = exempting;
    return exemptions > 0 || (inside != nullptr && inside() > 0);
}

bool refuses(Resource resource) {
    Supply& supply = supplies[static_cast<int>(resource)];
    if (!supply.counted || is_exempt()) return false;
    const int64_t request = ++supply.requests, nth = supply.nth;
    const bool refused = nth > 0 && (supply.for_good ? request >= nth : request == nth);
    if (refused) supply.refused = true;
    return refused;
}

void* take(size_t bytes, size_t alignment) noexcept {
    if (refuses(Resource::kMemory)) return nullptr;
    void* memory = nullptr;
    if (alignment == 0)
        memory = std::malloc(bytes != 0 ? bytes : 1);
    else if (posix_memalign(&memory, alignment, bytes) != 0)
        memory = nullptr;
    if (memory != nullptr) ++blocks;
    return memory;
}

void* take_or_throw(size_t bytes, size_t alignment) {
    void* const memory = take(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void give(void* memory) noexcept {
    if (memory == nullptr) return;
    --blocks;
    std::free(memory);
}

} // namespace

Shortage::Shortage(Resource resource, int64_t nth, Extent extent) {
    current = &supplies[static_cast<int>(resource)];
    current->requests = 0;
    current->nth = nth;
    current->for_good = extent == Extent::kForGood;
    current->refused = false;
    current->counted = true;
}

void Shortage::end() {
    current->counted = false;
}

int64_t Shortage::requests() const {
    return current->requests;
}

bool Shortage::refused() const {
    return current->refused;
}

Exempt::Exempt() {
    ++exemptions;
}

Exempt::~Exempt() {
    --exemptions;
}

void exempt_where(int (*inside)()) {
    exempting = inside;
}

int64_t live_blocks() {
    return blocks;
}

} // namespace qc::test

// ---- what is replaced -----------------------------------------------------------------------------------------------
// The other forms of operator new and delete end in these.

void* operator new(size_t bytes) {
    return qc::test::take_or_throw(bytes, 0);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
    return qc::test::take_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return qc::test::take(bytes, 0);
}
void operator delete(void* memory) noexcept {
    qc::test::give(memory);
}
void operator delete(void* memory, size_t) noexcept {
    qc::test::give(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    qc::test::give(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
    qc::test::give(memory);
}

// Visible, so that libstdc++ finds it.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*start)(void*), void* argument) {
    using Create = decltype(&pthread_create);
    static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (qc::test::refuses(qc::test::Resource::kThreads)) return EAGAIN;
    return real(thread, attributes, start, argument);
}
