// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/open_descriptor.hpp"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

#include <unistd.h>

namespace qc {

namespace {

std::string real_path(const std::string& path) {
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    return real ? std::string(real.get()) : std::string();
}

bool is_descriptor_folder(const std::string& folder) {
    return !folder.empty() && (folder == real_path("/proc/self/fd") || folder == real_path("/proc/thread-self/fd"));
}

int number_of(const std::string& name) {
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? number : -1;
}

} // namespace

int open_descriptor(std::string path) {
    constexpr int kMostLinks = 40; // as the kernel's own limit
    for (int links = 0; links < kMostLinks; ++links) {
        const size_t slash = path.rfind('/');
        const std::string folder = real_path(slash == std::string::npos ? "." : path.substr(0, slash + 1));
        if (is_descriptor_folder(folder)) return number_of(path.substr(slash + 1));
        char target[PATH_MAX];
        const ssize_t length = readlink(path.c_str(), target, sizeof(target));
        if (length <= 0) return -1;
        path = target[0] == '/' ? "" : folder + "/";
        path.append(target, static_cast<size_t>(length));
    }
    return -1;
}

} // namespace qc
