// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/device/register_kernels.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace qc::test {

KernelRegistry& KernelRegistry::instance() {
    static KernelRegistry registry;
    return registry;
}

bool KernelRegistry::add(const std::string& program, Kernels kernels) {
    programs_[program] = std::move(kernels);
    return true;
}

namespace {

/// What the compiler made of each program, told apart by its bytes.
struct Image {
    const char* program;
    size_t bytes;
    uint32_t checksum;
};
constexpr Image kImages[] = {
#include QC_PROGRAM_LIST
};

/// Adler-32, as list-programs has it.
uint32_t checksum_of(const void* data, size_t bytes) {
    constexpr uint32_t kPrime = 65521;
    uint32_t sum = 1, sum_of_sums = 0;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum + static_cast<const uint8_t*>(data)[i]) % kPrime;
        sum_of_sums = (sum_of_sums + sum) % kPrime;
    }
    return sum_of_sums << 16 | sum;
}

/// As the head of a fat binary says.
size_t bytes_of_image(const void* image) {
    struct Head {
        uint32_t magic;
        uint16_t version, head_bytes;
        uint64_t bytes;
    } head;
    std::memcpy(&head, image, sizeof head);
    return head.magic == 0xba55ed50u ? head.head_bytes + head.bytes : 0;
}

} // namespace

const KernelRegistry::Kernels* KernelRegistry::find(const void* image) const {
    const size_t bytes = bytes_of_image(image);
    for (const Image& known : kImages)
        if (known.bytes == bytes && known.checksum == checksum_of(image, bytes)) {
            const auto program = programs_.find(known.program);
            return program == programs_.end() ? nullptr : &program->second;
        }
    return nullptr;
}

} // namespace qc::test
