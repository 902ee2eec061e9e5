// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/int_field.hpp"

#include <algorithm>
#include <cstring>

namespace qc {
namespace {

bool accepts(const IntField& field, int value) {
    if (field.values.empty()) return value >= field.minimum && value <= field.maximum;
    return std::find(field.values.begin(), field.values.end(), value) != field.values.end();
}

/// "0..64", "0", "8, 10, 12 or 16"
std::string accepted_text(const IntField& field) {
    if (field.values.empty())
        return field.minimum == field.maximum ? std::to_string(field.minimum)
                                              : format("%d..%d", field.minimum, field.maximum);
    std::string text;
    for (size_t i = 0; i < field.values.size(); ++i) {
        const bool last = i + 1 == field.values.size();
        text += (i == 0 ? "" : last ? " or " : ", ") + std::to_string(field.values[i]);
    }
    return text;
}

} // namespace

Status not_accepted(const std::string& name, int value, const std::string& accepted, qc_status code) {
    return {code, format("%s=%d: %s is accepted", name.c_str(), value, accepted.c_str())};
}

Status check_fields(const void* base, std::span<const IntField> fields, const std::string& prefix) {
    for (const IntField& field : fields) {
        int value = 0; // enumerations hold whatever the caller put there, so the bytes are read
        std::memcpy(&value, static_cast<const char*>(base) + field.offset, sizeof(value));
        if (!accepts(field, value))
            return not_accepted(prefix + field.name, value, accepted_text(field), field.refusal);
    }
    return {};
}

} // namespace qc
