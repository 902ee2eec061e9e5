// SPDX-License-Identifier: BSD-2-Clause-Patent
// What most files of the command include, parsed once. Each file includes what it uses all the same.
#ifndef QC_CLI_PCH_STANDARD_LIBRARY_HPP // compiled as a file of its own, where the usual line would be warned of
#define QC_CLI_PCH_STANDARD_LIBRARY_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#endif
