// SPDX-License-Identifier: BSD-2-Clause-Patent
// What every test includes, parsed once for each program. Each file includes what it uses all the same.
#ifndef QC_PCH_GOOGLETEST_HPP
#define QC_PCH_GOOGLETEST_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#endif
