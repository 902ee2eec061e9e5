// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files of results: checksums, files that appear whole or not at all, folders that go again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "quality_cuda_run/record.h"

namespace qc::cli {

/// 64 bits of FNV-1a: tells damage and change, not malice.
class Checksum {
public:
    void add(std::string_view bytes);
    uint64_t value() const { return value_; }

private:
    uint64_t value_ = 14695981039346656037ULL;
};

uint64_t checksum_of(std::string_view bytes);

/// Of an input: its size, and 64 KiB of its beginning, middle and end.
/// @throws Failure if it cannot be read
uint64_t checksum_of_input(const std::string& path);

std::string hex(uint64_t value);

/// SHA-256 of a whole file. @throws Failure if it cannot be read
std::string sha256_of_file(const std::string& path);

/// A file's text, block by block: how long it is costs no memory.
class FileText : public std::streambuf {
public:
    /// @throws Failure if there is no such file to be read
    explicit FileText(const std::string& path);
    /// What has been read and not been taken: at the beginning 1 MiB of it, if there is as much.
    std::string_view ahead();
    /// What is left of the block, and then the next one; empty: that was all.
    std::string_view take_block();
    /// All that is left.
    std::string take_rest();

protected:
    int_type underflow() override;

private:
    std::filebuf file_;
    std::vector<char> block_;
};

/// @throws Failure
std::string read_whole(const std::string& path);
/// Under a temporary name beside `path`, then renamed. A file that is there keeps its mode. @throws Failure
void write_whole(const std::string& path, std::string_view text);

/// Of a shard's result, a record: what it is the result of (`work` is the checksum of the plan's entry), and that it is
/// whole.
using Seal = qcr_seal;

/// Adds the command that made a record, what it complained of, and the seal. @throws Failure
void seal(const std::string& path, const std::string& complaints, const std::string& command, const Seal& seal);
/// Whether the file is there, whole, and has this seal.
bool has_seal(const std::string& path, const Seal& seal);
/// The command of a sealed record; empty: it has none.
std::string command_of_record(const std::string& path);
std::string complaints_of_record(const std::string& path);

/// A folder of its own, which goes with the object; if the process is killed, with the next one's.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
    int lock_ = -1; ///< held as long as the process lives
};

} // namespace qc::cli
