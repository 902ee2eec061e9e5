// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/sources.hpp"

#include <algorithm>
#include <filesystem>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// A file of a record, as it is found now.
struct Found {
    std::string path;    ///< empty: it is not to be had
    std::string problem; ///< why
};

Found find_file(const SourceFile& source, const std::string& log) {
    if (source.checksum.empty()) return {"", source.path + " was no file, and cannot be read again"};
    const std::filesystem::path recorded(source.path);
    const std::filesystem::path beside = std::filesystem::path(log).parent_path() / recorded.filename();
    bool is_there = false;
    for (const std::filesystem::path& path : {recorded, beside}) {
        if (is_unchanged(source, path.string())) return {path.string(), ""};
        std::error_code error;
        is_there = is_there || std::filesystem::exists(path, error);
    }
    return {"", source.path + (is_there ? " has changed since it was scored" : " is not there any more")};
}

/// What the user named has to be what was scored.
void require_scored(const char* option, const std::string& path, const SourceFile& source, const std::string& log) {
    if (source.checksum.empty() || is_unchanged(source, path)) return;
    throw Failure(std::string(option) + "=" + path + " is not the file that " + log + " was made of: that was " +
                  source.path + ", of " + std::to_string(source.bytes) +
                  " bytes; a file that has changed since is not accepted");
}

void add_once(const std::string& text, std::vector<std::string>* list) {
    if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
}

/// @param path of the encode: where it is not named, the record names it
void take(const SourceFile& source, const std::string& log, std::string* path, Encode* encode,
          std::vector<std::string>* notes) {
    if (!path->empty() && is_unchanged(source, *path)) return;
    const Found found = find_file(source, log);
    *path = found.path;
    if (found.problem.empty()) return;
    if (encode->why_no_file.empty()) encode->why_no_file = found.problem;
    add_once(log + ": " + found.problem + ", so there are no pictures of it", notes);
}

} // namespace

void take_sources(const ReportOptions& options, std::vector<Encode>* encodes, std::vector<std::string>* notes) {
    for (size_t i = 0; i < encodes->size(); ++i) {
        Encode& each = (*encodes)[i];
        const std::vector<SourceFile>& files = each.provenance.files;
        const size_t own = each.rendition == 0 ? 0 : each.rendition + 1; // the reference is the second one
        if (files.size() < 2 || own >= files.size()) continue;
        const std::string& log = options.logs[each.log_index];
        each.source = files[own];
        each.reference_source = files[1];
        if (!options.distorted.empty()) require_scored("--distorted", each.distorted, files[own], log);
        if (!options.reference.empty()) require_scored("--reference", each.reference, files[1], log);
        if (each.main == each.distorted && own == 0) each.main.clear();
        take(files[own], log, &each.distorted, &each, notes);
        take(files[1], log, &each.reference, &each, notes);
        if (own == 0)
            each.main = each.distorted;
        else
            take(files[0], log, &each.main, &each, notes);
    }
}

} // namespace qc::cli
