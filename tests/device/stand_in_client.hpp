// SPDX-License-Identifier: BSD-2-Clause-Patent
// The stand-in driver (stand_in.hpp) that the engine loads, as a test speaks to it.
#pragma once

#include <dlfcn.h>

#include <string_view>

#include "tests/device/stand_in.hpp"

namespace qc::test {

/// Whether a call gives something back: where it failed, that is still held.
inline bool gives_back(std::string_view call) {
    for (const std::string_view word : {"Free", "Destroy", "Unload", "Release", "Pop"})
        if (call.find(word) != std::string_view::npos) return true;
    return false;
}

class StandIn {
public:
    StandIn() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) return;
        orders_ = reinterpret_cast<stand_in::GiveOrders>(dlsym(library_, stand_in::kGiveOrders));
        state_ = reinterpret_cast<stand_in::GetState>(dlsym(library_, stand_in::kState));
        calls_under_way_ = reinterpret_cast<stand_in::CallsUnderWay>(dlsym(library_, stand_in::kCallsUnderWay));
    }
    bool is_there() const { return orders_ != nullptr && state_ != nullptr && calls_under_way_ != nullptr; }
    void give(const stand_in::Orders& orders) const { orders_(&orders); }
    stand_in::State state() const { return state_(); }
    stand_in::CallsUnderWay calls_under_way() const { return calls_under_way_; }

private:
    void* library_;
    stand_in::GiveOrders orders_ = nullptr;
    stand_in::GetState state_ = nullptr;
    stand_in::CallsUnderWay calls_under_way_ = nullptr;
};

} // namespace qc::test
