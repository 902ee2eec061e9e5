// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/record.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "run/record/record_test_support.hpp"

namespace qc::run {
namespace {

using Record = std::unique_ptr<qcr_record, void (*)(qcr_record*)>;

Record make(const std::string& path) {
    return {qcr_record_create(path.c_str(), 2), qcr_record_destroy};
}

const qcr_recorded_frame kFrame = [] {
    qcr_recorded_frame frame{};
    frame.format_name = "gray";
    return frame;
}();

TEST(Record, AppearsWhole) {
    const Folder folder;
    const std::string path = folder.file("a"), unfinished = path + ".unfinished";
    {
        const Record record = make(path);
        EXPECT_EQ(qcr_record_said(record.get(), QCR_LEVEL_WARNING, "something"), QC_OK);
        EXPECT_FALSE(std::filesystem::exists(unfinished));
        EXPECT_EQ(qcr_record_frame(record.get(), 0, &kFrame), QC_OK);
        EXPECT_TRUE(std::filesystem::exists(unfinished));
        EXPECT_EQ(qcr_record_finish(record.get(), 25, 0.02, 1), QC_OK);
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(unfinished));
}

TEST(Record, NothingIsDoneWithoutOneOrBehindItsEnd) {
    const Folder folder;
    const std::string path = folder.file("a");
    const Record none{nullptr, qcr_record_destroy}, over = make(path);
    EXPECT_EQ(qcr_record_frame(over.get(), 0, &kFrame), QC_OK);
    EXPECT_EQ(qcr_record_finish(over.get(), 25, 0.02, 1), QC_OK);
    const auto size = std::filesystem::file_size(path);
    for (qcr_record* record : {none.get(), over.get()}) {
        EXPECT_EQ(qcr_record_frame(record, 0, &kFrame), QC_OK);
        EXPECT_EQ(qcr_record_end(record, 0, 0, 0), QC_OK);
        EXPECT_EQ(qcr_record_finish(record, 25, 0.02, 1), QC_OK);
        qcr_record_break(record);
        EXPECT_EQ(qcr_record_error(record), 0);
    }
    EXPECT_EQ(std::filesystem::file_size(path), size);
    EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

TEST(Record, WhatIsNotWholeKeepsItsEnding) {
    const Folder folder;
    const Record failed = make(folder.file("failed")), left = make(folder.file("left")),
                 never = make(folder.file("never"));
    EXPECT_EQ(qcr_record_frame(failed.get(), 0, &kFrame), QC_OK);
    EXPECT_EQ(qcr_record_finish(failed.get(), 25, 0.02, 0), QC_OK);
    EXPECT_EQ(qcr_record_end(left.get(), 1, 0, 0), QC_OK);
    EXPECT_EQ(qcr_record_finish(never.get(), 25, 0.02, 1), QC_OK);
    for (const auto& [name, is_there] : {std::pair("failed.unfinished", true), std::pair("left.unfinished", true),
                                         std::pair("failed", false), std::pair("never", false)})
        EXPECT_EQ(std::filesystem::exists(folder.file(name)), is_there) << name;
}

TEST(Record, TheFirstFailureStays) {
    const Folder folder;
    write_bytes(folder.file("taken"), "");
    for (const auto& [name, error] : {std::pair("taken", EEXIST), std::pair("no/folder", ENOENT)}) {
        const Record record = make(folder.file(name));
        EXPECT_EQ(qcr_record_frame(record.get(), 0, &kFrame), QC_ERROR_IO);
        EXPECT_EQ(qcr_record_finish(record.get(), 25, 0.02, 1), QC_ERROR_IO);
        EXPECT_EQ(qcr_record_error(record.get()), error);
    }
    const Record full = make("/dev/full/none");
    EXPECT_EQ(qcr_record_end(full.get(), 0, 0, 0), QC_ERROR_IO);
    EXPECT_EQ(qcr_record_error(full.get()), ENOTDIR);
}

TEST(Record, RateOfAWholeOne) {
    const Folder folder;
    const std::string path = write_part(folder.file("a"), {.end = 3});
    double rate = 0, tolerance = 0;
    EXPECT_EQ(qcr_record_rate(path.c_str(), &rate, &tolerance), QC_OK);
    EXPECT_EQ(rate, 25);
    EXPECT_EQ(tolerance, 0.02);
    const std::string bytes = bytes_of_file(path);
    for (size_t size = 0; size < bytes.size(); size += 13) {
        write_bytes(path, bytes.substr(0, size));
        EXPECT_EQ(qcr_record_rate(path.c_str(), &rate, &tolerance), QC_ERROR_IO) << size;
    }
    EXPECT_EQ(qcr_record_rate(folder.file("none").c_str(), &rate, &tolerance), QC_ERROR_IO);
}

std::string command_of(const std::string& path) {
    const std::unique_ptr<char, void (*)(char*)> text(qcr_record_command(path.c_str()), qcr_record_free);
    return text.get();
}

std::string complaints_of(const std::string& path) {
    const std::unique_ptr<char, void (*)(char*)> text(qcr_record_complaints(path.c_str()), qcr_record_free);
    return text.get();
}

TEST(Record, ASealTellsWhoseAndWhetherItIsWhole) {
    const Folder folder;
    const std::string path = write_part(folder.file("a"), {.end = 3});
    const qcr_seal seal{11, 22};
    EXPECT_FALSE(qcr_record_has_seal(path.c_str(), &seal));
    EXPECT_EQ(command_of(path), "");
    for (const char* command : {"", "seven77", "eight888", "ffmpeg -i 'a b' -i c"}) {
        write_part(folder.file("b"), {.end = 3});
        const std::string sealed = folder.file("b");
        ASSERT_EQ(qcr_record_seal(sealed.c_str(), "one\ntwo", command, &seal), QC_OK);
        EXPECT_EQ(command_of(sealed), command);
        EXPECT_EQ(complaints_of(sealed), "one\ntwo");
        EXPECT_TRUE(qcr_record_has_seal(sealed.c_str(), &seal));
        for (const qcr_seal& other : {qcr_seal{12, 22}, qcr_seal{11, 23}})
            EXPECT_FALSE(qcr_record_has_seal(sealed.c_str(), &other));
        const std::string bytes = bytes_of_file(sealed);
        for (size_t at = 0; at < bytes.size(); at += 61) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ 1);
            write_bytes(sealed, damaged);
            EXPECT_FALSE(qcr_record_has_seal(sealed.c_str(), &seal)) << at;
            write_bytes(sealed, bytes.substr(0, at));
            EXPECT_FALSE(qcr_record_has_seal(sealed.c_str(), &seal)) << at;
            command_of(sealed);
            complaints_of(sealed);
        }
        std::filesystem::remove(sealed);
    }
    EXPECT_EQ(qcr_record_seal(folder.file("none").c_str(), "", "", &seal), QC_ERROR_IO);
}

TEST(Record, SealedOnesAreReadLikeOthers) {
    const Folder folder;
    const std::string path = write_part(folder.file("a"), {.end = 3});
    const qcr_seal seal{11, 22};
    ASSERT_EQ(qcr_record_seal(path.c_str(), "", "command", &seal), QC_OK);
    EXPECT_EQ(command_of(path), "command");
    EXPECT_EQ(complaints_of(path), "");
    double rate = 0, tolerance = 0;
    EXPECT_EQ(qcr_record_rate(path.c_str(), &rate, &tolerance), QC_OK);
    const Records records{.parts = {{{0, 0}, path}}, .inputs = 2, .may_come = {}};
    FrameReader reader(records, 1);
    for (int n = 0; n < 3; ++n) EXPECT_EQ(reader.next().frame.pts, n);
    EXPECT_TRUE(reader.next().is_end);
}

TEST(Record, AConfigurationComesBack) {
    qc_config config{};
    config.renditions = 3;
    config.scaling = QC_SCALING_LANCZOS;
    config.scoring_width = 640;
    config.roi_height = 5;
    config.reference.width = 1920;
    config.reference.chroma = QC_CHROMA_422;
    config.reference.colour.chroma_location = 3;
    config.distorted[2].rgb = 1;
    config.distorted[2].sample_offset[1] = 2;
    const auto words = words_of(config);
    qc_config read{};
    read.metrics = "psnr";
    ASSERT_TRUE(read_config(words, &read));
    EXPECT_STREQ(read.metrics, "psnr");
    read.metrics = nullptr;
    EXPECT_EQ(std::memcmp(&read, &config, sizeof(config)), 0);
    for (const auto& [first, count] : {std::pair(size_t{0}, words.size() - 1), std::pair(size_t{1}, words.size() - 1),
                                       std::pair(size_t{0}, size_t{0})})
        EXPECT_FALSE(read_config(std::span(words).subspan(first, count), &read));
}

} // namespace
} // namespace qc::run
