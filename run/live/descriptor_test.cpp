// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files, pipes and devices as receivers: what they take, what is left of half a line, how a wait ends.
#include "run/live/descriptor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace qc::run {
namespace {

const std::string kLine = "{\"type\": \"frame\"}\n";

/// Opens what a test made, and is patient for so many questions.
class Opened {
public:
    Opened(qcr_descriptor_kind kind, int opened, int patience = 1 << 30)
        : opened_(opened), questions_(patience), descriptor_(source(kind)), table_(descriptor_.table()) {}

    int open() {
        const qcr_patience patience = {
            [](const void* opaque) {
                return static_cast<int>(--const_cast<Opened*>(static_cast<const Opened*>(opaque))->questions_ < 0);
            },
            this};
        return table_.open(table_.opaque, &patience);
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
    qcr_descriptor source(qcr_descriptor_kind kind) {
        return {kind, [](void* opaque) { return static_cast<Opened*>(opaque)->opened_; }, this};
    }

    int opened_, questions_;
    Descriptor descriptor_;
    qcr_receiver table_;
};

class DescriptorTest : public testing::Test {
protected:
    DescriptorTest() : descriptor_(mkstemp(name_)) {}
    ~DescriptorTest() override { unlink(name_); }

    std::string content() const {
        std::ifstream file(name_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    char name_[32] = "/tmp/quality_cuda-XXXXXX";
    int descriptor_;
};

TEST_F(DescriptorTest, AFileTakesLines) {
    Opened file(QCR_DESCRIPTOR_FILE, descriptor_);
    EXPECT_TRUE(file.is_lasting());
    EXPECT_EQ(file.open(), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(file.write(kLine), 0);
    EXPECT_EQ(file.close(), 0);
    EXPECT_EQ(content(), kLine + kLine + kLine);
}

TEST_F(DescriptorTest, WhatCannotBeOpenedIsAnError) {
    Opened file(QCR_DESCRIPTOR_FILE, -EACCES);
    EXPECT_EQ(file.open(), -EACCES);
    close(descriptor_);
}

TEST_F(DescriptorTest, NoHalfLineStaysInAFile) {
    Opened file(QCR_DESCRIPTOR_FILE, descriptor_);
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

TEST_F(DescriptorTest, AFullDevice) {
    close(descriptor_);
    Opened device(QCR_DESCRIPTOR_OTHER, open("/dev/full", O_WRONLY));
    ASSERT_EQ(device.open(), 0);
    EXPECT_TRUE(device.is_lasting());
    EXPECT_EQ(device.write(kLine), -ENOSPC);
    EXPECT_EQ(device.describe(-ENOSPC), "No space left on device");
    EXPECT_EQ(device.describe(-ENXIO), "No such device or address");
    device.close();
}

TEST_F(DescriptorTest, APipeThatIsFullIsWaitedForAsLongAsThePatienceLasts) {
    close(descriptor_);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Opened pipe(QCR_DESCRIPTOR_PIPE, ends[1], 2);
    ASSERT_EQ(pipe.open(), 0);
    EXPECT_FALSE(pipe.is_lasting());
    int taken = 0, result = 0;
    while ((result = pipe.write(std::string(500, 'x'))) == 0) ++taken;
    EXPECT_EQ(result, QCR_GAVE_UP);
    EXPECT_GT(taken, 100);
    close(ends[0]);
    const auto handler = signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe.write(kLine), -EPIPE);
    signal(SIGPIPE, handler);
    EXPECT_EQ(pipe.describe(-ENXIO), "no process reads from it");
    EXPECT_EQ(pipe.close(), 0);
    EXPECT_EQ(pipe.close(), -EBADF);
}

} // namespace
} // namespace qc::run
