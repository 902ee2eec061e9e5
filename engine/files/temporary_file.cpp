// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "files/temporary_file.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/random.h>

namespace qc {

std::string temporary_folder() {
    const char* wish = std::getenv("TMPDIR");
    return wish != nullptr && *wish != '\0' ? wish : "/tmp";
}

int create_temporary(const std::string& folder, std::string_view stem, std::string_view ending, mode_t mode,
                     std::string* name) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != static_cast<ssize_t>(sizeof(random))) return -1;
        std::array<char, 17> digits{};
        std::snprintf(digits.data(), digits.size(), "%016" PRIx64, random);
        std::string path = folder + "/" + std::string(stem) + digits.data() + std::string(ending);
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (descriptor >= 0) *name = std::move(path);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

} // namespace qc
