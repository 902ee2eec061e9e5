// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "files/links.hpp"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

#include <unistd.h>

namespace qc {

namespace {

/// Empty: see errno.
std::string real_path(const std::string& path) {
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    return real ? std::string(real.get()) : std::string();
}

bool is_descriptor_folder(const std::string& folder) {
    return folder == real_path("/proc/self/fd") || folder == real_path("/proc/thread-self/fd");
}

int number_of(const std::string& name) {
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? number : -1;
}

} // namespace

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

int follow_links(std::string path, std::string* canonical, int* descriptor) {
    constexpr int kMostLinks = 40; // as the kernel's own limit
    for (int links = 0; links < kMostLinks; ++links) {
        const size_t slash = path.rfind('/');
        const std::string folder = real_path(slash == std::string::npos ? "." : path.substr(0, slash + 1));
        if (folder.empty()) return errno;
        const std::string place = (folder == "/" ? folder : folder + "/") + path.substr(slash + 1);
        *descriptor = is_descriptor_folder(folder) ? number_of(path.substr(slash + 1)) : -1;
        char target[PATH_MAX];
        const ssize_t length = *descriptor < 0 ? readlink(path.c_str(), target, sizeof(target)) : -1;
        if (length <= 0) {
            *canonical = place;
            return 0;
        }
        path = target[0] == '/' ? "" : folder + "/";
        path.append(target, static_cast<size_t>(length));
    }
    return ELOOP;
}

int open_descriptor(const std::string& path) {
    std::string canonical;
    int descriptor = -1;
    return follow_links(path, &canonical, &descriptor) == 0 ? descriptor : -1;
}

} // namespace qc
