// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "contract/status.hpp"

namespace qc {

/// A file that appears under its name only when it is whole: it is written beside its place and renamed. What is no
/// regular file (a pipe, /dev/stdout) is written directly. Without finish() nothing changes.
class OutputFile {
public:
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    Status open();
    Status write(std::string_view text);
    Status finish();

private:
    int open_temporary();
    Status failure(int error) const;

    std::string path_, target_, temporary_;
    FILE* file_ = nullptr;
};

} // namespace qc
