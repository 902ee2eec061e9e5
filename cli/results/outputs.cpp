// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "results/outputs.hpp"

#include <filesystem>

#include <sys/stat.h>

#include "words/failure.hpp"

namespace qc::cli {

bool is_special_file(const std::string& path) {
    struct stat state {};
    return stat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode);
}

Outputs::File Outputs::file_of(const std::string& path, const char* what) {
    File file;
    file.path = path;
    file.what = what;
    struct stat state {};
    if (stat(path.c_str(), &state) == 0) {
        file.device = state.st_dev;
        file.number = state.st_ino;
    }
    std::error_code error;
    file.name = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error).string();
    if (error) file.name = path;
    return file;
}

void Outputs::reads(const std::string& path, const char* what) {
    files_.push_back(file_of(path, what));
}

void Outputs::writes(const std::string& path, const char* what) {
    if (is_special_file(path)) return;
    File file = file_of(path, what);
    for (const File& each : files_) {
        const bool is_same =
            (file.number != 0 && file.number == each.number && file.device == each.device) || file.name == each.name;
        if (is_same)
            throw Failure(path + ", " + what + ", is " + each.what +
                              (each.path != path ? " too, " + each.path : " too") +
                              ": nothing is written over it; give the output another name",
                          kMisused);
    }
    files_.push_back(std::move(file));
}

} // namespace qc::cli
