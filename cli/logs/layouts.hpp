// SPDX-License-Identifier: BSD-2-Clause-Patent
// One layout of logs each. The text is what is left of the file, the path its name. Each throws Failure.
#pragma once

#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

ScoreLog parse_json_log(const std::string& path, std::streambuf* text);
std::vector<ScoreLog> parse_json_lines(const std::string& path, std::string_view text);
ScoreLog parse_xml_log(const std::string& path, std::string_view text);
ScoreLog parse_csv_log(const std::string& path, std::string_view text);

} // namespace qc::cli
