// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files that appear whole or not at all, and text that is never lost: by the functions themselves, with a rename() of
// this program's own that can be told to fail, as for a mount or in a sticky folder.
#include "files/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_metrics.hpp"
#include "files/links.hpp"
#include "files/writing.hpp"

namespace {

int rename_error = 0;    ///< errno of every rename() while it is not 0
int fallocate_error = 0; ///< the same of fallocate()

} // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
    if (rename_error == 0) return renameat(AT_FDCWD, from, AT_FDCWD, to);
    errno = rename_error;
    return -1;
}

extern "C" int fallocate(int file, int mode, off_t offset, off_t length) {
    if (fallocate_error == 0) return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, length));
    errno = fallocate_error;
    return -1;
}

namespace qc::test {
namespace {

constexpr char kText[] = "whole\ntext\n";

/// rename() fails in a scope.
class NoRenaming {
public:
    explicit NoRenaming(int error) { rename_error = error; }
    ~NoRenaming() { rename_error = 0; }
};

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

Status write(const std::string& path, const std::string& text = kText) {
    return write_file(path, [&](OutputFile* file) { return file->write(text); });
}

struct stat info_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info;
}

std::ptrdiff_t files_in(const TemporaryFolder& folder) {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

/// The file that a failure's text names at its end.
std::string place_in(const Status& status) {
    const std::string marker = "; the scores are in \"";
    const size_t at = status.text().find(marker);
    if (at == std::string::npos) return "";
    return status.text().substr(at + marker.size(), status.text().size() - at - marker.size() - 1);
}

void expect_written(const Status& status, const std::string& path) {
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(content_of(path), kText);
}

/// The text is in another file, which the failure names.
void expect_kept_aside(const Status& status, const std::string& path, const std::string& reason) {
    EXPECT_EQ(status.code(), QC_ERROR_IO);
    EXPECT_TRUE(status.text().starts_with("cannot write log \"" + path + "\": " + reason + "; ")) << status.text();
    EXPECT_EQ(content_of(place_in(status)), kText) << status.text();
}

// ---- regular files --------------------------------------------------------------------------------------------------

TEST(OutputFile, FilesThatCannotBeRenamedOverAreWrittenInPlace) {
    for (const int error : {EBUSY, EPERM, EACCES, EXDEV}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("log.json");
        std::ofstream(path) << "an old log that is much longer than the new one";
        const ino_t before = info_of(path).st_ino;
        const NoRenaming none(error);
        expect_written(write(path), path);
        EXPECT_EQ(info_of(path).st_ino, before);
        expect_written(write(folder.file("new.json")), folder.file("new.json"));
        EXPECT_EQ(files_in(folder), 2) << "a temporary file stayed";
    }
}

TEST(OutputFile, NamesAsLongAsTheyMayBe) {
    const TemporaryFolder folder;
    const std::string path = folder.file(std::string(NAME_MAX, 'n').c_str());
    expect_written(write(path), path);
    expect_written(write(path), path);
    EXPECT_EQ(files_in(folder), 1);
}

TEST(OutputFile, ModeAndOwnerOfAReplacedFileStay) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::ofstream(path) << "old";
    ASSERT_EQ(chmod(path.c_str(), 0604), 0);
    expect_written(write(path), path);
    EXPECT_EQ(info_of(path).st_mode & 07777, 0604U);
    if (geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can give files away";
    ASSERT_EQ(chown(path.c_str(), 4711, 4712), 0);
    expect_written(write(path), path);
    EXPECT_EQ(info_of(path).st_uid, 4711U);
    EXPECT_EQ(info_of(path).st_gid, 4712U);
    EXPECT_EQ(info_of(path).st_mode & 07777, 0604U);
}

/// Nor while it is made, whatever the umask allows.
TEST(OutputFile, WhatIsOfOneReaderIsNeverOfMore) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::ofstream(path) << "old";
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    const mode_t before = umask(0);
    unsigned staged = 0;
    const Status status = write_file(path, [&](OutputFile* file) {
        for (const auto& each : std::filesystem::directory_iterator(folder.file("")))
            staged |= info_of(each.path().string()).st_mode & 07777;
        return file->write("new");
    });
    umask(before);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(staged, 0600U);
    EXPECT_EQ(info_of(path).st_mode & 07777, 0600U);
}

TEST(OutputFile, NewFilesHaveTheModeThatOthersWouldHave) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("plain")) << "x";
    expect_written(write(folder.file("log.json")), folder.file("log.json"));
    EXPECT_EQ(info_of(folder.file("log.json")).st_mode, info_of(folder.file("plain")).st_mode);
}

TEST(OutputFile, LinksStayLinks) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json"), other = folder.file("other.json"),
                      link = folder.file("link.json");
    std::ofstream(path) << "old";
    ASSERT_EQ(::link(path.c_str(), other.c_str()), 0);
    expect_written(write(path), other);
    EXPECT_EQ(info_of(path).st_nlink, 2U);
    ASSERT_EQ(symlink("target.json", link.c_str()), 0);
    expect_written(write(link), folder.file("target.json")); // which was not there
    expect_written(write(link), folder.file("target.json"));
    EXPECT_TRUE(S_ISLNK(info_of(link).st_mode));
    EXPECT_EQ(files_in(folder), 4);
}

TEST(OutputFile, NothingChangesIfTheContentFails) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::ofstream(path) << "old";
    for (const std::string& name : {path, std::string("/dev/null"), folder.file("new.json")}) {
        const Status status = write_file(name, [](OutputFile* file) {
            EXPECT_TRUE(file->write("half").ok());
            return invalid("no");
        });
        EXPECT_EQ(status.text(), "no");
    }
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(files_in(folder), 1);
}

/// The names of temporary files cannot be foreseen: what others have made is neither opened nor deleted.
TEST(OutputFile, OthersFilesAreLeftAlone) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::vector<std::string> others;
    for (int i = 0; i < 200; ++i) {
        others.push_back(path + format(".part-%ld-%d", static_cast<long>(getpid()), i));
        ASSERT_EQ(symlink("victim", others.back().c_str()), 0);
    }
    expect_written(write(path), path);
    EXPECT_FALSE(std::filesystem::exists(folder.file("victim")));
    EXPECT_EQ(files_in(folder), 201);
}

/// What cannot be reserved is not begun: on a full disk a log of before is worth more than none.
TEST(OutputFile, WhereThereIsNoRoomTheOldFileStays) {
    for (const int error : {ENOSPC, EDQUOT, EFBIG}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("log.json"), fresh = folder.file("fresh.json");
        std::ofstream(path) << "an old log";
        const NoRenaming none(EXDEV);
        fallocate_error = error;
        const Status status = write(path), of_fresh = write(fresh);
        fallocate_error = 0;
        expect_kept_aside(status, path, std::strerror(error));
        expect_kept_aside(of_fresh, fresh, std::strerror(error));
        EXPECT_EQ(content_of(path), "an old log");
        EXPECT_FALSE(std::filesystem::exists(fresh));
    }
}

TEST(OutputFile, FileSystemsThatReserveNothingAreWrittenAllTheSame) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::ofstream(path) << "an old log that is much longer than the new one";
    const NoRenaming none(EXDEV);
    fallocate_error = EOPNOTSUPP;
    const Status status = write(path);
    fallocate_error = 0;
    expect_written(status, path);
}

// ---- the last resort ------------------------------------------------------------------------------------------------

TEST(OutputFile, TextThatHasNoPlaceIsKeptAside) {
    const TemporaryFolder folder, temporary;
    const Environment tmpdir("TMPDIR", temporary.path().string());
    const std::string missing = folder.file("missing/log.json"), directory = folder.path().string();
    expect_kept_aside(write(missing), missing, "No such file or directory");
    const Status status = write("/dev/full");
    expect_kept_aside(status, "/dev/full", "No space left on device");
    EXPECT_EQ(std::filesystem::path(place_in(status)).parent_path(), temporary.path());
    EXPECT_EQ(files_in(temporary), 2);
    const Status refused = write(directory);
    expect_kept_aside(refused, directory, "Is a directory");
    std::filesystem::remove(place_in(refused));
    EXPECT_EQ(write("").text(), "cannot write log \"\": No such file or directory");
}

TEST(OutputFile, KeptAsideBesideItsPlace) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0); // neither renamed over nor written
    const Status status = write(path);
    expect_kept_aside(status, path, "Is a directory");
    EXPECT_EQ(std::filesystem::path(place_in(status)).parent_path(), folder.path());
    EXPECT_TRUE(place_in(status).ends_with(".json")) << place_in(status);
}

TEST(OutputFile, NoFolderForTemporaryFiles) {
    const TemporaryFolder folder;
    const Environment tmpdir("TMPDIR", "/nowhere/at/all");
    const std::string path = folder.file("log.json");
    expect_written(write(path), path);
    const Status status = write("/nowhere/log.json");
    expect_kept_aside(status, "/nowhere/log.json", "No such file or directory");
    EXPECT_NE(place_in(status), "");
    std::filesystem::remove(place_in(status));
}

// ---- descriptors, devices, pipes ------------------------------------------------------------------------------------

TEST(OutputFile, OpenDescriptorsGoOnWhereTheyStand) {
    const TemporaryFolder folder;
    const std::string path = folder.file("output");
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::write(file, "before\n", 7), 7);
    ASSERT_EQ(symlink(format("/dev/fd/%d", file).c_str(), folder.file("link").c_str()), 0);
    const std::string names[] = {format("/dev/fd/%d", file), format("/proc/self/fd/%d", file),
                                 format("/proc/%d/fd/%d", static_cast<int>(getpid()), file), folder.file("link")};
    std::string expected = "before\n";
    for (const std::string& name : names) {
        EXPECT_EQ(open_descriptor(name), file) << name;
        const Status status = write(name);
        EXPECT_TRUE(status.ok()) << status.text();
        expected += kText;
    }
    ASSERT_EQ(::write(file, "after\n", 6), 6);
    EXPECT_EQ(content_of(path), expected + "after\n");
    close(file);
    EXPECT_EQ(open_descriptor("/dev/stdout"), STDOUT_FILENO);
    for (const char* other : {"/dev/null", "/dev/fd", "/proc/self/fd/x", "/proc/1/fd/1", "1", ""})
        EXPECT_EQ(open_descriptor(other), -1) << other;
}

TEST(OutputFile, APipeWithAReader) {
    const TemporaryFolder folder;
    const std::string path = folder.file("pipe"), text(300000, 'x'); // more than a pipe holds
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = content_of(path); });
    const Status status = write(path, text);
    reader.join();
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(got, text);
}

TEST(OutputFile, APipeThatNobodyReads) {
    const TemporaryFolder folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    const std::string path = folder.file("pipe"), text(300000, 'x');
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const Status alone = write(path);
    expect_kept_aside(alone, path, "no process reads from it");
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    const Status stalled = write(path, text);
    EXPECT_NE(stalled.text().find("its reader takes nothing"), std::string::npos) << stalled.text();
    EXPECT_EQ(content_of(place_in(stalled)), text);
    close(reader);
}

// ---- replaced, or as it was

TEST(ReplacedFile, KeepsItsModeAndIsWholeOrOld) {
    const TemporaryFolder folder;
    const std::string path = folder.file("metrics");
    ASSERT_EQ(replace_file(path, "first"), 0);
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    ASSERT_EQ(replace_file(path, "second"), 0);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640U);
    {
        const NoRenaming busy(EBUSY);
        EXPECT_EQ(replace_file(path, "third"), EBUSY);
    }
    EXPECT_EQ(content_of(path), "second");
    EXPECT_EQ(replace_file(folder.file("missing/metrics"), "text"), ENOENT);
    const std::filesystem::directory_iterator files(folder.path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1); // nothing else is left
}

TEST(ReplacedFile, LinksLeadToOneName) {
    const TemporaryFolder folder;
    const std::string link = folder.file("link"), target = std::filesystem::canonical(folder.path()) / "target";
    ASSERT_EQ(symlink("target", link.c_str()), 0);
    std::string canonical;
    int descriptor = 0;
    ASSERT_EQ(follow_links(link, &canonical, &descriptor), 0); // to what is not there yet
    EXPECT_EQ(canonical, target);
    EXPECT_EQ(descriptor, -1);
    ASSERT_EQ(symlink("round", folder.file("round").c_str()), 0);
    EXPECT_EQ(follow_links(folder.file("round"), &canonical, &descriptor), ELOOP);
    EXPECT_EQ(follow_links("/nowhere/at/all", &canonical, &descriptor), ENOENT);
}

} // namespace
} // namespace qc::test
