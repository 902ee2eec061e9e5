// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which files a run writes, and whose they are.
#include "quality_cuda_run/files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

class Files : public ::testing::Test {
protected:
    Files() { root = mkdtemp(pattern); }
    ~Files() override { std::filesystem::remove_all(root); }

    std::string in_folder(const char* name) const { return root + "/" + name; }
    static std::string text_of(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::string open(qcr_files* files, const qcr_file_wishes& wishes) {
        const qcr_sink sink = messages.sink();
        qcr_failure failure{};
        const int error = qcr_open_files(files, &wishes, &sink, &failure);
        EXPECT_EQ(error, failure.error);
        return failure.text;
    }
    qcr_file_wishes log_to(const std::string& path, int renditions = 1) {
        qcr_file_wishes wishes{};
        log = path;
        wishes.log_path = log.c_str();
        wishes.stats_format = "scores";
        wishes.renditions = renditions;
        return wishes;
    }
    void write(qcr_files* files, const std::string& text) {
        const qcr_sink sink = messages.sink();
        qcr_write_stats(files, text.data(), text.size(), &sink);
    }
    int finish(qcr_files* files) {
        const qcr_sink sink = messages.sink();
        return qcr_finish_stats(files, &sink);
    }

    char pattern[64] = "/tmp/quality_cuda-test-XXXXXX";
    std::string root, log;
    Messages messages;
    qcr_files first{}, second{};
};

TEST_F(Files, LogsOfRenditionsAndOfASecondInstance) {
    const std::string path = in_folder("q.v1.json");
    EXPECT_EQ(open(&first, log_to(path, 3)), "");
    EXPECT_EQ(first.log[0], path);
    EXPECT_EQ(first.log[2], in_folder("q.v1.rendition2.json"));
    EXPECT_EQ(first.log[3], nullptr);
    EXPECT_EQ(open(&second, log_to(path, 2)), "");
    EXPECT_EQ(second.log[0], in_folder("q.v1.2.json"));
    EXPECT_EQ(second.log[1], in_folder("q.v1.2.rendition1.json"));
    EXPECT_EQ(messages.take(), Lines{"W log_path=" + path +
                                     " belongs to an earlier filter of this run; this one writes " + second.log[0]});
    qcr_close_files(&second, 1);
    EXPECT_EQ(open(&second, log_to(path)), ""); // a log stays its owner's, also when that has ended
    EXPECT_EQ(second.log[0], in_folder("q.v1.3.json"));
    qcr_close_files(&second, 0); // it never saw a frame
    EXPECT_EQ(open(&second, log_to(path)), "");
    EXPECT_EQ(second.log[0], in_folder("q.v1.3.json"));
    qcr_close_files(&second, 0);
    qcr_close_files(&first, 0);
    EXPECT_TRUE(std::filesystem::is_empty(root)); // trials leave nothing behind
}

TEST_F(Files, OneFileHasManyNames) {
    const std::string path = in_folder("q.json"), link = in_folder("link.json"), hard = in_folder("hard.json");
    std::ofstream(path) << "old";
    ASSERT_EQ(symlink("q.json", link.c_str()), 0);
    std::filesystem::create_hard_link(path, hard);
    EXPECT_EQ(open(&first, log_to(path)), "");
    for (const std::string& name : {link, hard}) {
        EXPECT_EQ(open(&second, log_to(name)), "");
        EXPECT_NE(second.log[0], name);
        qcr_close_files(&second, 0);
    }
    EXPECT_EQ(text_of(path), "old");
    qcr_close_files(&first, 0);
}

TEST_F(Files, FormatsFollowTheEnding) {
    static constexpr struct {
        const char *name, *wish;
        qc_log_format format;
    } kCases[] = {{"q.XML", nullptr, QC_LOG_FORMAT_XML},    {"q.csv", nullptr, QC_LOG_FORMAT_CSV},
                  {"q.sub", nullptr, QC_LOG_FORMAT_SUB},    {"q.txt", nullptr, QC_LOG_FORMAT_JSON},
                  {"q", nullptr, QC_LOG_FORMAT_JSON},       {"q.xml", "csv", QC_LOG_FORMAT_CSV},
                  {"q.json.d", nullptr, QC_LOG_FORMAT_JSON}};
    for (const auto& of : kCases) {
        qcr_file_wishes wishes = log_to(in_folder(of.name));
        wishes.log_fmt = of.wish;
        EXPECT_EQ(open(&first, wishes), "");
        EXPECT_EQ(first.log_format, of.format) << of.name;
        qcr_close_files(&first, 0);
    }
}

TEST_F(Files, LinesByTheEndingUnlessAFormatIsGiven) {
    EXPECT_EQ(qcr_wants_lines("a/q.jsonl", nullptr), 1);
    EXPECT_EQ(qcr_wants_lines("q.JSONL", nullptr), 1);
    EXPECT_EQ(qcr_wants_lines("q.jsonl", "json"), 0);
    EXPECT_EQ(qcr_wants_lines("q.json", "jsonl"), 1);
    for (const char* path : {"q.json", "jsonl", ""}) EXPECT_EQ(qcr_wants_lines(path, nullptr), 0) << path;
    EXPECT_EQ(qcr_wants_lines(nullptr, nullptr), 0);
    qcr_file_wishes wishes = log_to(in_folder("q.jsonl"));
    wishes.protocol = "file";
    EXPECT_EQ(open(&first, wishes), "");
    EXPECT_EQ(first.is_stream, 1);
    EXPECT_STREQ(first.stream.name, in_folder("q.jsonl").c_str());
    qcr_close_files(&first, 0);
}

TEST_F(Files, RefusalsNameOptionAndRemedy) {
    const std::string folder = in_folder("folder"), missing = in_folder("missing/q.json"), pipe = in_folder("pipe");
    std::filesystem::create_directory(folder);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const auto refused = [&](qcr_file_wishes wishes) {
        qcr_files files{};
        const std::string text = open(&files, wishes);
        qcr_close_files(&files, 0);
        return text;
    };
    EXPECT_EQ(refused(log_to(folder)), "log_path=" + folder + " is a directory");
    EXPECT_EQ(refused(log_to(missing)), "log_path=" + missing + " cannot be written: No such file or directory");
    EXPECT_EQ(refused(log_to(pipe, 2)),
              "log_path=" + pipe + " is a pipe, which takes the log of one rendition; renditions=2 needs a file");
    qcr_file_wishes wishes = log_to("C");
    wishes.log_fmt = "/x.json";
    EXPECT_EQ(refused(wishes),
              "log_path=C ends at a colon, and log_fmt=/x.json is not known: escape the colon, log_path=C\\\\:/x.json "
              "(in the quotes of a shell)");
    wishes.log_fmt = "yaml";
    EXPECT_EQ(refused(wishes), "log_fmt=yaml is not known; accepted: json, xml, csv, sub, jsonl");
    wishes = log_to("");
    wishes.log_fmt = "jsonl";
    EXPECT_EQ(refused(wishes), "log_fmt=jsonl needs log_path, the file or URL for its lines");
    wishes = log_to(in_folder("q.json"));
    wishes.stats_file = wishes.log_path;
    const std::string other = in_folder("device");
    EXPECT_EQ(refused(wishes), std::string("stats_file=") + log + " is the same file as log_path");
    wishes = log_to("");
    wishes.metrics_file = "/dev/null";
    EXPECT_EQ(refused(wishes), "metrics_file=/dev/null is no regular file, and cannot be replaced by one");
    qcr_files files{};
    files.stats_format = QC_STATS_FORMAT_PSNR;
    wishes = log_to("");
    wishes.stats_format = "psnr";
    EXPECT_EQ(open(&files, wishes), "stats_format=psnr needs stats_file, the file for its lines");
}

TEST_F(Files, ALogThatIsSparedEndsNothing) {
    qcr_file_wishes wishes = log_to(in_folder("missing/q.json"));
    wishes.spares_log = 1;
    EXPECT_EQ(open(&first, wishes), "");
    EXPECT_EQ(first.log[0], nullptr);
    EXPECT_EQ(messages.take(),
              Lines{"E log_path=" + log + " cannot be written: No such file or directory; there will be no log"});
}

TEST_F(Files, LinesOfStatisticsGoOnWhereAnEarlierInstanceEnded) {
    const std::string path = in_folder("s.txt");
    std::ofstream(path) << "of another run\n";
    qcr_file_wishes wishes = log_to("");
    wishes.stats_file = path.c_str();
    EXPECT_EQ(open(&first, wishes), "");
    EXPECT_EQ(text_of(path), "of another run\n"); // not before the first line
    EXPECT_EQ(open(&second, wishes), "");
    EXPECT_EQ(second.stats.name, in_folder("s.2.txt"));
    EXPECT_EQ(messages.take(), Lines{"W stats_file=" + path +
                                     " belongs to another filter of this run; this one writes " + second.stats.name});
    qcr_close_files(&second, 0);
    write(&first, "one\n");
    EXPECT_EQ(finish(&first), 0);
    qcr_close_files(&first, 1);
    EXPECT_EQ(open(&second, wishes), "");
    EXPECT_EQ(messages.take(), Lines{"W stats_file=" + path + " belongs to an earlier filter of this run; appending"});
    write(&second, "two\n");
    EXPECT_EQ(finish(&second), 0);
    qcr_close_files(&second, 1);
    EXPECT_EQ(text_of(path), "one\ntwo\n");
}

TEST_F(Files, AFailureOfStatisticsIsSaidOnce) {
    qcr_file_wishes wishes = log_to("");
    wishes.stats_file = "/dev/full";
    EXPECT_EQ(open(&first, wishes), "");
    write(&first, "one\n");
    write(&first, "two\n");
    EXPECT_EQ(
        messages.take(),
        Lines{
            "E stats_file=/dev/full cannot be written: No space left on device; its lines end here, scoring goes on"});
    EXPECT_EQ(finish(&first), -ENOSPC);
    qcr_close_files(&first, 1);
}

TEST_F(Files, LogsAreLookedAtAgain) {
    const std::string path = in_folder("q.json");
    EXPECT_EQ(open(&first, log_to(path)), "");
    EXPECT_EQ(qcr_recheck_logs(&first), 0);
    std::filesystem::create_directory(path);
    EXPECT_EQ(qcr_recheck_logs(&first), -EISDIR);
    qcr_close_files(&first, 0);
    EXPECT_EQ(open(&first, log_to("/dev/full")), "");
    EXPECT_EQ(qcr_recheck_logs(&first), -ENOSPC);
    qcr_close_files(&first, 0);
}

TEST_F(Files, LinesForAReceiver) {
    qcr_file_wishes wishes = log_to("tcp://host:1");
    wishes.log_fmt = "jsonl";
    EXPECT_EQ(open(&first, wishes), "log_path=tcp://host:1: this FFmpeg has no such protocol; accepted: a path "
                                    "(./tcp://host:1), or what ffmpeg -protocols lists as output, such as "
                                    "tcp://HOST:PORT");
    qcr_close_files(&first, 0);
    const std::string path = in_folder("a:b.jsonl"), named = "file:" + path;
    const struct {
        const char *name, *protocol;
        std::string canonical; ///< empty: it is a URL
        int descriptor = -1;
    } kCases[] = {{"tcp://host:1", "tcp", ""},       {path.c_str(), "file", path},
                  {named.c_str(), "file", path},     {"-", "file", "/dev/stdout", STDOUT_FILENO},
                  {"pipe:", "pipe", "/dev/fd/1", 1}, {"pipe:2", "pipe", "/dev/fd/2", 2},
                  {"filex://", "filex", ""}};
    for (const auto& of : kCases) {
        wishes.log_path = of.name;
        wishes.protocol = of.protocol;
        EXPECT_EQ(open(&first, wishes), "") << of.name;
        EXPECT_EQ(first.stream.name, of.canonical.empty() ? of.name : of.canonical);
        EXPECT_EQ(first.stream.path.canonical == nullptr, of.canonical.empty()) << of.name;
        if (of.descriptor >= 0) {
            EXPECT_EQ(first.stream.path.descriptor, of.descriptor) << of.name;
        } else if (!of.canonical.empty()) {
            EXPECT_EQ(first.stream.path.canonical, of.canonical);
        }
        qcr_close_files(&first, 0);
    }
}

} // namespace
} // namespace qc::run
