// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the fuzz targets share: reading choices from the fuzzer's bytes, and saying what must hold. Bytes are read front
// to back and nothing depends on what follows, so that seeds can be written by hand and findings stay small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace qc::fuzz {

/// Ends the process as a crash does: the fuzzer keeps the input.
[[noreturn]] inline void broken(const char* file, int line, const char* what, const std::string& detail = {}) {
    std::fprintf(stderr, "%s:%d: does not hold: %s %s\n", file, line, what, detail.c_str());
    std::abort();
}

/// The input; past its end everything is 0.
class Input {
public:
    Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

    bool empty() const { return at_ == size_; }

    uint8_t byte() { return empty() ? uint8_t{0} : data_[at_++]; }

    /// 0 .. count - 1
    int choose(int count) { return byte() % count; }
    bool flag() { return (byte() & 1) != 0; }
    /// True once in `times`; false past the end.
    bool rarely(int times) { return byte() % times == times - 1; }

    /// Any bits.
    template <typename T>
    T any() {
        T value{};
        const size_t take = size_ - at_ < sizeof(T) ? size_ - at_ : sizeof(T);
        if (take > 0) std::memcpy(&value, data_ + at_, take);
        at_ += take;
        return value;
    }

    /// Up to the next line end, or the end.
    std::string line() {
        const std::string_view left = rest();
        const size_t end = left.find('\n');
        const std::string text(left.substr(0, end));
        at_ += end == std::string_view::npos ? left.size() : end + 1;
        return text;
    }

    std::string_view rest() const { return {reinterpret_cast<const char*>(data_) + at_, size_ - at_}; }

private:
    const uint8_t* data_;
    size_t size_;
    size_t at_ = 0;
};

/// A message for the user: one line that says something.
inline bool is_one_line(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (c == '\n' || c == '\r' || c == '\0') return false;
    return true;
}

} // namespace qc::fuzz

/// A condition that holds for every input, with what helps to understand where it does not.
#define QC_FUZZ_CHECK(condition, ...)                                                                                  \
    do {                                                                                                               \
        if (!(condition)) ::qc::fuzz::broken(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__);               \
    } while (false)
