// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers, names and command lines as a person reads or types them.
#pragma once

#include <string>
#include <vector>

namespace qc::cli {

/// "-" for what is no number.
std::string fixed(double value, int decimals);

/// A difference: as above, with + above 0.
std::string signed_text(double value, int decimals);

/// 0.25 is "25.0 %".
std::string percent_text(double share);

/// "vmaf+psnr_y" as names. @throws Failure if the option's value has an empty one
std::vector<std::string> split_names(const std::string& text, char separator, const char* option);

/// As a table takes it whose fields are joined by commas.
std::string csv_field(const std::string& text);

/// As a shell takes it.
std::string shell_text(const std::vector<std::string>& arguments);
/// What shell_text() made a text of; nothing in it is expanded. Empty: it made it of nothing.
std::vector<std::string> arguments_of(const std::string& shell_text);

} // namespace qc::cli
