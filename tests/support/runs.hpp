// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whole runs of a session, gathered for comparison.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/session.hpp"
#include "tests/support/pictures.hpp"

namespace qc::test {

/// The stream a run scores.
struct Stream {
    std::vector<TestPicture> reference;
    std::vector<std::vector<TestPicture>> distorted; ///< [rendition][frame]
    std::vector<size_t> pauses{};                    ///< frames before which a new stretch begins
    std::vector<std::vector<uint8_t>> masks{};       ///< per frame, with config.weights: weights, row after row
};

/// Pictures of one content in every input; each input with its own layout.
Stream make_stream(const qc_config& config, Content content, int frames, int padding_bytes = 0);

/// Everything a run produced, bit for bit comparable.
struct RunResult {
    Status status;
    std::vector<std::vector<uint64_t>> accumulators; ///< per frame
    std::vector<std::vector<double>> values;         ///< per row
    std::vector<std::vector<unsigned char>> present; ///< per row
    std::vector<int64_t> weightless;                 ///< per row
    std::vector<std::string> names;                  ///< of the columns
    std::vector<std::vector<uint8_t>> maps;          ///< per frame, with config.maps: planes behind one another
    qc_stats stats{};
    std::string description;
};

/// A picture for a map, of the layout that the configuration says and of this size, planes behind one another. Full of
/// junk that no layout paints everywhere.
class MapPicture {
public:
    MapPicture(qc_map_layout layout, int width, int height);
    qc_picture view() const { return view_; }
    std::vector<uint8_t>& samples() { return samples_; }

private:
    std::vector<uint8_t> samples_;
    qc_picture view_{};
};

/// Turns a host picture into what is submitted; lets tests put pictures into device memory. Null: as they are.
using PlacePicture = std::function<qc_picture(const TestPicture&)>;

/// Creates a session, submits the stream, receives every row.
RunResult run(const qc_config& config, const Stream& stream, const PlacePicture& place = nullptr);

/// A configuration for one layout on both sides.
qc_config config_for(const Layout& layout, int width, int height, const char* metrics, qc_backend backend);

/// What qc_config::metrics calls this metric and no other: its name, unless that is another one's short name.
std::string unambiguous_name(const MetricDescriptor& metric);

/// The values that an option has in words: all but the default of a switch, all of a choice; none of paths. Nothing for
/// numbers.
std::optional<std::vector<std::string>> words_to_try(const OptionSpec& option);

/// Why there is no CUDA here; empty if there is.
const std::string& cuda_absence();

/// Compares bits; fails the current test with the first difference.
void expect_same_bits(const RunResult& expected, const RunResult& actual, const std::string& what);

/// Compares the pictures of maps. @param tolerance of a sample
void expect_same_maps(const RunResult& expected, const RunResult& actual, int tolerance, const std::string& what);

/// Compares the CPU backend's scores with those of CUDA: bits where the bound is exact (accumulators too), otherwise
/// within the bound.
void expect_agreement(const RunResult& cpu, const RunResult& cuda, const BackendBound& bound, const std::string& what);

} // namespace qc::test
