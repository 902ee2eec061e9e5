// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/files.h"
#include "quality_cuda_run/engine.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "files/writing.hpp"
#include "run/report/claims.hpp"
#include "run/report/paths.hpp"
#include "run/report/stats_file.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr int kStalledMs = 30000; ///< so long the reader of a named pipe may take nothing

/// Why a file is not opened.
struct Refusal {
    int error = 0; ///< errno below 0
    std::string text;
};

/// The reason was said, and ends nothing.
struct LogIsSpared {};

std::string text_of(int error) {
    return std::generic_category().message(-error);
}

bool is_given(const char* wish) {
    return wish != nullptr && *wish != '\0';
}

char* copy_of(const std::string& text) {
    char* copy = strdup(text.c_str());
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
}

/// "dir/q.json" and ".2" give "dir/q.2.json".
std::string insert_before_extension(const std::string& path, const std::string& text) {
    const size_t slash = path.rfind('/'), name = slash == std::string::npos ? 0 : slash + 1;
    const size_t dot = path.rfind('.');
    const size_t stem = dot == std::string::npos || dot <= name ? path.size() : dot;
    return path.substr(0, stem) + text + path.substr(stem);
}

/// The name that an option's file has for its number-th instance.
std::string numbered(const std::string& path, int number) {
    return number > 1 ? insert_before_extension(path, "." + std::to_string(number)) : path;
}

/// What is behind a path's last dot, in small letters.
std::string ending_of(const std::string& path) {
    const size_t dot = path.rfind('.');
    std::string ending = dot == std::string::npos ? "" : path.substr(dot + 1);
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return ending;
}

/// That of the path's ending, JSON for any other.
qc_log_format format_of_ending(const std::string& path) {
    qc_log_format format = QC_LOG_FORMAT_JSON;
    return qc_log_format_parse(ending_of(path).c_str(), &format) == QC_OK ? format : QC_LOG_FORMAT_JSON;
}

class Opener {
public:
    Opener(qcr_files* files, const qcr_file_wishes& wishes, const qcr_sink& sink)
        : files_(files), wishes_(wishes), sink_(sink) {}

    void open() {
        choose_log_format();
        try {
            if (files_->is_stream != 0)
                open_stream();
            else
                open_log();
        } catch (const LogIsSpared&) {
            free_logs();
        }
        open_stats();
        open_metrics();
    }

    void free_logs() {
        for (char*& log : files_->log) std::free(std::exchange(log, nullptr));
    }

private:
    [[noreturn]] void refuse_path(const char* option, const std::string& name, int error) const {
        const std::string what = std::string(option) + "=" + name;
        if (error == -ENOMEM) throw std::bad_alloc();
        if (wishes_.spares_log != 0) {
            say(sink_, QCR_LEVEL_ERROR, what + " cannot be written: " + text_of(error) + "; there will be no log");
            throw LogIsSpared();
        }
        if (error == -EISDIR) throw Refusal{error, what + " is a directory"};
        throw Refusal{error, what + " cannot be written: " + text_of(error)};
    }

    // ---- logs
    // --------------------------------------------------------------------------------------------------------

    /// An unescaped colon ends a value: of "log_path=C:/x.json" log_path gets the C, and the option that follows it the
    /// rest.
    [[noreturn]] void refuse_format() const {
        const std::string path = wishes_.log_path != nullptr ? wishes_.log_path : "", wish = wishes_.log_fmt;
        if (path.size() == 1 && (wish.starts_with('/') || wish.starts_with('\\')))
            throw Refusal{-EINVAL, "log_path=" + path + " ends at a colon, and log_fmt=" + wish +
                                       " is not known: escape the colon, log_path=" + path + "\\\\:" + wish +
                                       " (in the quotes of a shell)"};
        throw Refusal{-EINVAL, "log_fmt=" + wish + " is not known; accepted: json, xml, csv, sub, jsonl"};
    }

    void choose_log_format() const {
        if (qcr_wants_lines(wishes_.log_path, wishes_.log_fmt) != 0)
            files_->is_stream = 1;
        else if (wishes_.log_fmt == nullptr)
            files_->log_format = wishes_.log_path != nullptr ? format_of_ending(wishes_.log_path) : QC_LOG_FORMAT_JSON;
        else if (qc_log_format_parse(wishes_.log_fmt, &files_->log_format) != QC_OK)
            refuse_format();
    }

    /// q.json, q.rendition1.json, ...; of the second instance q.2.json, q.2.rendition1.json, ...
    void name_logs(int number, bool one_for_all) {
        const std::string base = numbered(wishes_.log_path, number);
        free_logs();
        for (int k = 0; k < wishes_.renditions; ++k)
            files_->log[k] = copy_of(
                k != 0 && !one_for_all ? insert_before_extension(base, ".rendition" + std::to_string(k)) : base);
    }

    /// @return whether it is this instance's
    bool claim_log(const char* name) const {
        qcr_path path{};
        if (const int error = resolve_path(name, &path); error != 0) refuse_path("log_path", name, error);
        Claim claim;
        const qc_status status = guarded([&] { claim = claim_file(files_, path, "log_path", true, true); });
        free_path(&path);
        if (status != QC_OK) throw std::bad_alloc();
        if (claim.result == Claim::Result::kFailed) refuse_path("log_path", name, claim.error);
        return claim.result == Claim::Result::kClaimed;
    }

    /// All of one number, or none.
    bool claim_logs() const {
        bool are_mine = true;
        try {
            for (int k = 0; are_mine && k < wishes_.renditions; ++k) are_mine = claim_log(files_->log[k]);
        } catch (...) {
            end_claims(files_, false);
            throw;
        }
        if (!are_mine) end_claims(files_, false);
        return are_mine;
    }

    /// Pipes and devices belong to whoever writes to them.
    void open_special_log(const qcr_path& path) {
        const std::string name = wishes_.log_path;
        if (const int error = check_writable(path, false, true); error != 0) refuse_path("log_path", name, error);
        if (path.kind == QCR_PATH_PIPE && wishes_.renditions > 1)
            throw Refusal{-EINVAL, "log_path=" + name +
                                       " is a pipe, which takes the log of one rendition; renditions=" +
                                       std::to_string(wishes_.renditions) + " needs a file"};
        name_logs(1, true);
    }

    void open_log() {
        if (!is_given(wishes_.log_path)) return;
        FreedPath path;
        if (const int error = resolve_path(wishes_.log_path, &path.value); error != 0)
            refuse_path("log_path", wishes_.log_path, error);
        if (path.value.kind != QCR_PATH_FILE) return open_special_log(path.value);
        int number = 0;
        do {
            name_logs(++number, false);
        } while (!claim_logs());
        if (number > 1)
            say(sink_, QCR_LEVEL_WARNING,
                std::string("log_path=") + wishes_.log_path +
                    " belongs to an earlier filter of this run; this one writes " + files_->log[0]);
    }

    // ---- what is written while the run goes on
    // -----------------------------------------------------------------------

    /// Claims such a file. @return whether it is this instance's
    bool claim_target(qcr_target* target, bool replaceable) const {
        const Claim claim = claim_file(files_, target->path, target->option, false, replaceable);
        if (claim.result == Claim::Result::kOwn)
            throw Refusal{-EINVAL,
                          std::string(target->option) + "=" + target->name + " is the same file as " + claim.option};
        if (claim.result == Claim::Result::kFailed) refuse_path(target->option, target->name, claim.error);
        if (claim.result == Claim::Result::kClaimed) target->append = claim.was_there;
        return claim.result == Claim::Result::kClaimed;
    }

    /// Tries the number-th name. @return as claim_target()
    bool take_target(qcr_target* target, const char* wish, int number, bool replaceable) const {
        std::free(std::exchange(target->name, nullptr));
        free_path(&target->path);
        target->name = copy_of(numbered(wish, number));
        const std::string_view name = target->name;
        int error = resolve_path(name == "-" ? "/dev/stdout" : target->name, &target->path);
        if (error == 0 && target->path.kind != QCR_PATH_FILE) error = check_writable(target->path, false, true);
        if (error != 0) refuse_path(target->option, wish, error);
        return target->path.kind != QCR_PATH_FILE || claim_target(target, replaceable);
    }

    /// @param replaceable it is replaced as a whole, again and again
    void open_target(qcr_target* target, const char* option, const char* wish, bool replaceable) const {
        const std::string what = std::string(option) + "=";
        int number = 1;
        target->option = option;
        while (!take_target(target, wish, number, replaceable)) ++number;
        if (number > 1)
            say(sink_, QCR_LEVEL_WARNING,
                what + wish + " belongs to another filter of this run; this one writes " + target->name);
        if (target->append != 0 && !replaceable)
            say(sink_, QCR_LEVEL_WARNING, what + target->name + " belongs to an earlier filter of this run; appending");
    }

    /// Of a URL only the protocol can be checked, which the caller does: its receiver may come later.
    void open_stream() const {
        qcr_target* target = &files_->stream;
        if (!is_given(wishes_.log_path))
            throw Refusal{-EINVAL, "log_fmt=jsonl needs log_path, the file or URL for its lines"};
        target->option = "log_path";
        const std::string path = path_of_lines();
        if (!path.empty())
            open_target(target, "log_path", path.c_str(), false);
        else
            target->name = copy_of(wishes_.log_path);
    }

    /// A path, as "-", "pipe:N" and "file:NAME" are too; empty: log_path is a URL.
    std::string path_of_lines() const {
        constexpr std::string_view kPipe = "pipe:", kFile = "file:";
        const std::string_view name = wishes_.log_path;
        if (wishes_.protocol == nullptr)
            throw Refusal{-EINVAL,
                          formatted("log_path=%s: this FFmpeg has no such protocol; accepted: a path (./%s), or "
                                    "what ffmpeg -protocols lists as output, such as tcp://HOST:PORT",
                                    wishes_.log_path, wishes_.log_path)};
        if (name == "-") return "/dev/stdout";
        if (name.starts_with(kPipe))
            return name == kPipe ? "/dev/fd/1" : "/dev/fd/" + std::string(name.substr(kPipe.size()));
        if (name.starts_with(kFile)) return std::string(name.substr(kFile.size()));
        return std::string(std::string_view(wishes_.protocol) == "file" ? name : "");
    }

    void open_stats() const {
        if (is_given(wishes_.stats_file))
            open_target(&files_->stats, "stats_file", wishes_.stats_file, false);
        else if (files_->stats_format != QC_STATS_FORMAT_NONE)
            throw Refusal{-EINVAL, std::string("stats_format=") + wishes_.stats_format +
                                       " needs stats_file, the file for its lines"};
    }

    void open_metrics() const {
        const char* wish = wishes_.metrics_file;
        qcr_target* target = &files_->metrics;
        if (!is_given(wish)) return;
        open_target(target, "metrics_file", wish, true);
        if (target->path.kind != QCR_PATH_FILE)
            throw Refusal{-EINVAL,
                          std::string("metrics_file=") + wish + " is no regular file, and cannot be replaced by one"};
        if (const int error = check_replaceable(target->path); error != 0) refuse_path("metrics_file", wish, error);
    }

    struct FreedPath {
        FreedPath() = default;
        ~FreedPath() { free_path(&value); }
        FreedPath(const FreedPath&) = delete;
        FreedPath& operator=(const FreedPath&) = delete;
        qcr_path value{};
    };

    qcr_files* files_;
    const qcr_file_wishes& wishes_;
    const qcr_sink& sink_;
};

void close_target(qcr_target* target) {
    std::free(std::exchange(target->name, nullptr));
    free_path(&target->path);
}

int fail(qcr_failure* failure, int error, const char* text) {
    failure->error = error;
    std::snprintf(failure->text, sizeof(failure->text), "%s", text);
    return error;
}

/// @param log a name @return errno below 0; 0
int recheck_log(const char* log) {
    qcr_path path{};
    int error = resolve_path(log, &path);
    if (error == 0) error = check_writable(path, true, false);
    if (error == 0 && is_always_full(path)) error = -ENOSPC;
    free_path(&path);
    return error;
}

} // namespace

void fail_stats(qcr_files* files, int error, const qcr_sink& sink) {
    if (files->stats_error != 0) return;
    files->stats_error = error;
    if_possible([&] {
        say(sink, QCR_LEVEL_ERROR,
            std::string("stats_file=") + files->stats.name +
                " cannot be written: " + (error == -ENXIO ? "no process reads from it" : text_of(error)) +
                "; its lines end here, scoring goes on");
    });
}

} // namespace qc::run

using namespace qc::run;

int qcr_wants_lines(const char* log_path, const char* log_fmt) {
    if (log_fmt != nullptr) return std::string_view(log_fmt) == "jsonl" ? 1 : 0;
    int wants = 0;
    qc::run::guarded([&] { wants = log_path != nullptr && qc::run::ending_of(log_path) == "jsonl" ? 1 : 0; });
    return wants;
}

int qcr_open_files(qcr_files* files, const qcr_file_wishes* wishes, const qcr_sink* sink, qcr_failure* failure) {
    try {
        Opener(files, *wishes, *sink).open();
        return 0;
    } catch (const Refusal& refusal) {
        return fail(failure, refusal.error, refusal.text.c_str());
    } catch (...) {
        return fail(failure, -ENOMEM, "out of memory");
    }
}

int qcr_recheck_logs(const qcr_files* files) {
    int error = 0;
    for (int k = 0; error == 0 && k < QC_MAX_RENDITIONS && files->log[k] != nullptr; ++k)
        if (guarded([&] { error = recheck_log(files->log[k]); }) != QC_OK) error = -ENOMEM;
    return error;
}

void qcr_write_stats(qcr_files* files, const char* text, size_t size, const qcr_sink* sink) {
    if (files->stats.name == nullptr || files->stats_error != 0) return;
    int error = 0;
    if (files->stats_open == 0) {
        const int file = qcr_open_for_lines(&files->stats.path, files->stats.append, QCR_PIPE_READER_MS);
        files->stats_descriptor = file;
        files->stats_open = file >= 0;
        error = std::min(file, 0);
    }
    if (error == 0) error = -qc::write_all(files->stats_descriptor, {text, size}, kStalledMs);
    if (error != 0) fail_stats(files, error, *sink);
}

int qcr_finish_stats(qcr_files* files, const qcr_sink* sink) {
    qcr_write_stats(files, "", 0, sink);
    if (files->stats_open != 0 && files->stats_error == 0) {
        files->stats_open = 0;
        if (close(files->stats_descriptor) != 0) // such as a quota that is noticed late
            fail_stats(files, -errno, *sink);
    }
    return files->stats_error;
}

void qcr_close_files(qcr_files* files, int used) {
    if (files->stats_open != 0) close(files->stats_descriptor);
    files->stats_open = 0;
    for (char*& log : files->log) std::free(std::exchange(log, nullptr));
    close_target(&files->stats);
    close_target(&files->stream);
    close_target(&files->metrics);
    end_claims(files, used != 0);
}
