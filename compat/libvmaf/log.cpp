// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "log.hpp"

#include <atomic>
#include <cstdio>

#include <unistd.h>

namespace compat {
namespace {

std::atomic<int> most = VMAF_LOG_LEVEL_INFO;

struct Look {
    const char *word, *colour;
};
constexpr Look kLooks[] = {
    {"", ""}, {"ERROR", "\033[31m"}, {"WARNING", "\033[33m"}, {"INFO", "\033[32m"}, {"DEBUG", "\033[34m"}};

} // namespace

void set_log_level(VmafLogLevel level) {
    most = level;
}

void say(VmafLogLevel level, const std::string& text) {
    if (level <= VMAF_LOG_LEVEL_NONE || level > VMAF_LOG_LEVEL_DEBUG || level > most.load()) return;
    const Look& look = kLooks[level];
    const bool coloured = isatty(fileno(stderr)) != 0;
    std::fprintf(stderr, "libvmaf %s%s%s %s\n", coloured ? look.colour : "", look.word, coloured ? "\033[0m" : "",
                 text.c_str());
}

void say_for_engine(void*, qc_log_level level, const char* text) {
    constexpr VmafLogLevel kLevels[] = {VMAF_LOG_LEVEL_ERROR, VMAF_LOG_LEVEL_WARNING, VMAF_LOG_LEVEL_INFO,
                                        VMAF_LOG_LEVEL_DEBUG};
    const bool known = level >= QC_LOG_ERROR && level <= QC_LOG_DEBUG;
    static_cast<void>(guarded([&] {
        say(known ? kLevels[level] : VMAF_LOG_LEVEL_DEBUG, text);
        return 0;
    }));
}

int errno_of(qc_status status) {
    switch (status) {
    case QC_ERROR_NO_MEMORY:
        return -ENOMEM;
    case QC_ERROR_DEVICE:
    case QC_ERROR_INTERNAL:
        return -EIO;
    default:
        return status < QC_OK ? -EINVAL : 0;
    }
}

int failed(qc_status status, const std::string& text) {
    say(VMAF_LOG_LEVEL_ERROR, text);
    return errno_of(status);
}

int refused(const std::string& text) {
    return failed(QC_ERROR_INVALID, text);
}

} // namespace compat
