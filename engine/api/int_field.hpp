// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whole numbers in structs of the C API: what each accepts, in tables, and one form of message for all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "contract/status.hpp"

namespace qc {

/// One int (or enumeration) of a struct.
struct IntField {
    const char* name;
    size_t offset;                    ///< bytes
    int minimum = 0, maximum = 0;     ///< accepted, unless values lists what is
    std::span<const int> values = {}; ///< ascending
    qc_status refusal = QC_ERROR_INVALID;
};

/// Looks at the fields in order. @param prefix of the names in messages, e.g. "reference."
/// @return the first refusal: "reference.depth=9: 8, 10, 12 or 16 is accepted"
Status check_fields(const void* base, std::span<const IntField> fields, const std::string& prefix);

/// A refusal in that form.
Status not_accepted(const std::string& name, int value, const std::string& accepted, qc_status code = QC_ERROR_INVALID);

} // namespace qc
