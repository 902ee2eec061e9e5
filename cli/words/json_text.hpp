// SPDX-License-Identifier: BSD-2-Clause-Patent
// JSON that this command writes, and what is wrong with JSON that it reads, as a person reads it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace qc::cli {

/// As programs read it. A name of a file may be no UTF-8, which JSON has to be: U+FFFD takes the place of what is not.
template <typename Json>
std::string json_text(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// What keeps values from being what they have to be, without the library's own words.
std::string json_trouble(const nlohmann::json::exception& broken);

} // namespace qc::cli
