// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files, pipes and devices as receivers: what they take, what is left of half a line, how a wait ends.
#include "run/live/descriptor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qc::run {
namespace {

const std::string kLine = "{\"type\": \"frame\"}\n";

/// A receiver for a path of that kind, which is patient for so many questions.
class Opened {
public:
    Opened(qcr_path_kind kind, std::string path, int patience = 1 << 30)
        : path_(std::move(path)), target_{"log_path", path_.data(), {kind, -1, path_.data()}, 0}, questions_(patience),
          descriptor_(target_), table_(descriptor_.table()) {}

    int open() {
        const qcr_patience patience = {
            [](const void* opaque) {
                return static_cast<int>(--const_cast<Opened*>(static_cast<const Opened*>(opaque))->questions_ < 0);
            },
            this};
        return table_.open(table_.opaque, "", &patience);
    }
    int write(const std::string& text) { return table_.write(table_.opaque, text.data(), text.size()); }
    int close() { return table_.close(table_.opaque); }
    std::string describe(int error) {
        char text[256];
        table_.describe(table_.opaque, error, text, sizeof(text));
        return text;
    }
    bool is_lasting() const { return table_.is_lasting != 0; }

private:
    std::string path_;
    qcr_target target_;
    int questions_;
    Descriptor descriptor_;
    qcr_receiver table_;
};

class DescriptorTest : public testing::Test {
protected:
    DescriptorTest() { mkdtemp(folder_); }
    ~DescriptorTest() override { std::filesystem::remove_all(folder_); }

    std::string path() const { return std::string(folder_) + "/lines"; }
    std::string content() const {
        std::ifstream file(path());
        return {std::istreambuf_iterator<char>(file), {}};
    }

    char folder_[32] = "/tmp/quality_cuda-XXXXXX";
};

TEST_F(DescriptorTest, AFileTakesLines) {
    Opened file(QCR_PATH_FILE, path());
    EXPECT_TRUE(file.is_lasting());
    EXPECT_EQ(file.open(), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(file.write(kLine), 0);
    EXPECT_EQ(file.close(), 0);
    EXPECT_EQ(content(), kLine + kLine + kLine);
}

TEST_F(DescriptorTest, WhatCannotBeOpenedIsAnError) {
    Opened file(QCR_PATH_FILE, path() + "/none");
    EXPECT_EQ(file.open(), -ENOENT);
}

TEST_F(DescriptorTest, NoHalfLineStaysInAFile) {
    Opened file(QCR_PATH_FILE, path());
    ASSERT_EQ(file.open(), 0);
    ASSERT_EQ(file.write(kLine), 0);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit = {kLine.size() + 5, before.rlim_max};
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_EQ(file.write(kLine), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT_EQ(content(), kLine);
    EXPECT_EQ(file.write("next\n"), 0);
    EXPECT_EQ(content(), kLine + "next\n");
    file.close();
}

/// A file that was rotated away takes no line unseen: it is told once, and the path that was asked for has the next.
TEST_F(DescriptorTest, AFileThatWasRenamedOrRemoved) {
    Opened file(QCR_PATH_FILE, path());
    ASSERT_EQ(file.open(), 0);
    ASSERT_EQ(file.write(kLine), 0);
    std::filesystem::rename(path(), path() + ".1");
    const int error = file.write("second\n");
    EXPECT_LT(error, 0);
    EXPECT_NE(file.describe(error).find("it was renamed or removed"), std::string::npos);
    EXPECT_EQ(file.write("second\n"), 0);
    EXPECT_EQ(content(), "second\n");
    EXPECT_EQ(std::filesystem::file_size(path() + ".1"), kLine.size());
    std::filesystem::remove(path());
    EXPECT_LT(file.write("third\n"), 0);
    EXPECT_EQ(file.write("third\n"), 0);
    EXPECT_EQ(content(), "third\n");
    EXPECT_EQ(file.close(), 0);
}

TEST_F(DescriptorTest, AFullDevice) {
    Opened device(QCR_PATH_DEVICE, "/dev/full");
    ASSERT_EQ(device.open(), 0);
    EXPECT_TRUE(device.is_lasting());
    EXPECT_EQ(device.write(kLine), -ENOSPC);
    EXPECT_EQ(device.describe(-ENOSPC), "No space left on device");
    EXPECT_EQ(device.describe(-ENXIO), "No such device or address");
    device.close();
}

TEST_F(DescriptorTest, APipeThatIsFullIsWaitedForAsLongAsThePatienceLasts) {
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    Opened pipe(QCR_PATH_PIPE, path(), 2);
    EXPECT_EQ(pipe.open(), -ENXIO);
    EXPECT_EQ(pipe.describe(-ENXIO), "no process reads from it");
    const int reader = open(path().c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_EQ(pipe.open(), 0);
    EXPECT_FALSE(pipe.is_lasting());
    int taken = 0, result = 0;
    while ((result = pipe.write(std::string(5000, 'x'))) == 0) ++taken;
    EXPECT_EQ(result, QCR_GAVE_UP);
    EXPECT_GT(taken, 10);
    close(reader);
    const auto handler = signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe.write(kLine), -EPIPE);
    signal(SIGPIPE, handler);
    EXPECT_EQ(pipe.close(), 0);
    EXPECT_EQ(pipe.close(), -EBADF);
}

} // namespace
} // namespace qc::run
