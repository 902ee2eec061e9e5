// SPDX-License-Identifier: BSD-2-Clause-Patent
// What most files of the library include of the standard library. It is parsed once, ahead of them, which takes a
// quarter off the time to compile them; each file includes what it uses all the same, and clang-tidy sees it without
// this.
#ifndef QC_PCH_STANDARD_LIBRARY_HPP // compiled as a file of its own, where the usual line would be warned of
#define QC_PCH_STANDARD_LIBRARY_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#endif
