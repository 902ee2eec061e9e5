// SPDX-License-Identifier: BSD-2-Clause-Patent
// The files that a command is about to write, held against those that it reads and against each other: by what they
// are, whatever they are called.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qc::cli {

/// What is there and no regular file, such as a device or a pipe: it is written to, and never replaced.
bool is_special_file(const std::string& path);

class Outputs {
public:
    /// @param what it is, e.g. "a video"
    void reads(const std::string& path, const char* what);
    /// @throws Failure if that would take the place of what is read, or of another output. @param what it is
    void writes(const std::string& path, const char* what);

private:
    struct File {
        std::string name; ///< without links, as far as there is one
        uint64_t device = 0, number = 0;
        std::string path;
        const char* what = "";
    };
    static File file_of(const std::string& path, const char* what);

    std::vector<File> files_;
};

} // namespace qc::cli
