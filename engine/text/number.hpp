// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers in options, models and logs: as text and back, the same in every locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qc {

/// A decimal number, with or without sign, fraction and exponent; the whole text must be one. Independent of the
/// locale.
std::optional<double> parse_double(std::string_view text);

/// `%g` of the C locale.
std::string general_text(double value);

/// libvmaf's normalisation of a number in an option: read in single precision, printed with %g, so "1.23456789" acts
/// as "1.23457". Text that is no number comes back unchanged.
std::string normalised_number(std::string_view text);

} // namespace qc
