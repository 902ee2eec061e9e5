// SPDX-License-Identifier: BSD-2-Clause-Patent
// A CUDA driver that is not there: libcuda.so.1 for tests, found through LD_LIBRARY_PATH. Memory, streams, events and
// graphs are made of host memory (stand_in_machine.hpp); kernels are the real ones, emulated (emulated_block.hpp).
//
// It notes what breaks a rule (memory that is written beyond its end, copies to where nothing is, a graph whose
// branches do not come back), and any of its calls can be made to fail. This header is how a test asks for that; where
// there is no test around, as in ffmpeg, the environment does:
//
//     QC_STAND_IN_FAIL=N,RESULT[,lost]   as Orders::fail_at, result, lost
//     QC_STAND_IN_SEED=N                 as Orders::seed
//     QC_STAND_IN_KERNELS=0              as Orders::run_kernels false
//     QC_STAND_IN_REPORT=FILE            at exit: calls, objects held and broken rules, one to a line
#pragma once

#include <cstdint>

namespace qc::test::stand_in {

struct Orders {
    int64_t fail_at = 0;     ///< the call that fails, counted from 1; 0: none
    int result = 0;          ///< CUresult that it returns; it does nothing else
    bool lost = false;       ///< the device is lost with it: all later calls return that too, nothing runs any more
    bool run_kernels = true; ///< false: they are launched, but do nothing
    uint32_t seed = 0;       ///< of the order of whatever may run in any order; 0: the order of the calls
};

struct State {
    int64_t calls;            ///< those that can fail, since the last orders
    const char* failed_call;  ///< name of the one that was made to fail; null: none was yet
    int64_t objects_held;     ///< contexts, modules, streams, events, graphs, memory
    const char* broken_rules; ///< one to a line; empty if none is. Valid until the next call
};

/// How a test finds them in the library that the engine has loaded.
constexpr const char* kGiveOrders = "qc_stand_in_give_orders";
constexpr const char* kState = "qc_stand_in_state";
constexpr const char* kCallsUnderWay = "qc_stand_in_calls_under_way";
/// Whatever is held still is forgotten. Precondition: nobody uses it any more.
using GiveOrders = void (*)(const Orders* orders);
using GetState = State (*)();
/// Calls of this thread's: what they take in the meantime is the driver's, not the engine's.
using CallsUnderWay = int (*)();

} // namespace qc::test::stand_in
