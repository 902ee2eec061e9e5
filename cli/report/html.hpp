// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pieces of a page. Whatever comes from a log, a file's name or an option goes through escaped().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

/// As text or as a quoted attribute's value.
std::string escaped(std::string_view text);
/// JSON for a <script> of the page: no "<" in it.
std::string script_json(const Json& json);
std::string base64(std::string_view bytes);

struct Cell {
    std::string html;
    bool is_number = false, is_header = false;
};
Cell text_cell(std::string_view text);
Cell number_cell(const std::string& number);
Cell head_cell(std::string_view text); ///< names its row

/// @param caption,columns text  @param attributes of the element, as HTML
std::string table(std::string_view caption, const std::vector<std::string>& columns,
                  const std::vector<std::vector<Cell>>& rows, const std::string& attributes = "");

/// A list of texts; nothing of none. @param kind its class
std::string list_of(const std::vector<std::string>& texts, const char* kind);

/// A part of the page with its heading; nothing without a content.
std::string section(const char* id, const char* title, const std::string& html);

std::string paragraph(std::string_view text, const char* kind = "");

} // namespace qc::cli
