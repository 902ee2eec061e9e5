// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether the tests themselves run in an emulator of another processor.
#pragma once

#include <cstdlib>
#include <string>

namespace qc::test {

/// The command that runs a program of these tests' architecture, of a build for another one (meson's exe_wrapper, which
/// meson names to its tests); empty where the machine runs it itself.
inline std::string emulator() {
    const char* const command = std::getenv("MESON_EXE_WRAPPER");
    return command != nullptr ? command : "";
}

} // namespace qc::test
