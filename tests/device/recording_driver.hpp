// SPDX-License-Identifier: BSD-2-Clause-Patent
// A CUDA driver for tests of the host code: it notes every call, keeps "device" memory on the host and runs what was
// enqueued when the test says so. Kernels are functions of the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "contract/device.hpp"
#include "cuda/driver.hpp"

namespace qc::test {

/// Reads a kernel's arguments at the launch, like the driver, and returns what the kernel does when its turn comes.
using KernelStandIn = std::function<std::function<void()>(Dim3 grid, void** arguments)>;

/// Only one may exist at a time: the functions of a driver table have no object of their own. One thread.
///
/// What is enqueued runs in the order of the calls, one after the other: an order that a GPU might choose too. A wait
/// for a stream or an event runs no more than it must: the work of that stream, and what that waits for on others.
/// Whatever would break the engine's rules (a call without a context, an object that ends twice) is noted in
/// broken_rules().
class RecordingDriver {
public:
    RecordingDriver();
    ~RecordingDriver();
    RecordingDriver(const RecordingDriver&) = delete;
    RecordingDriver& operator=(const RecordingDriver&) = delete;

    const cuda::Driver& table() const { return table_; }
    /// Kernels without a definition do nothing.
    void define_kernel(const std::string& name, KernelStandIn kernel) { kernels_[name] = std::move(kernel); }

    /// The calls since the last time, "cuGraphLaunch graph 0, stream 0"; objects are numbered as they were made. Left
    /// out are those that push, pop and ask: cuCtxPushCurrent, cuDeviceGetName and the like.
    std::vector<std::string> take_calls();
    /// The nth call of this function from now on, counted from 1, gives `result` and does nothing else.
    void fail(const std::string& function, int nth, CUresult result);
    /// true: work is done as soon as it is enqueued. false: when a wait demands it, or by run().
    void set_eager(bool eager);
    void run();
    /// How many pieces of work on streams of the table's did not run yet.
    size_t unfinished() const;

    /// A stream that somebody else made.
    void* make_stream(const std::string& name);

    const std::vector<std::string>& broken_rules() const { return broken_rules_; }
    /// Objects and buffers that were made through the table and not given back.
    size_t objects_held() const { return objects_.size() + memory_.size(); }

private:
    struct Functions;
    struct Kernel {
        std::string name;
    };
    /// Something enqueued. It runs after what its stream had before it, and after what the stream was told to wait for.
    struct Work {
        std::function<void()> run;
        const void* stream = nullptr;
        int64_t before = kNothing, awaited = kNothing; ///< numbers of works, that on the same stream and the event's
    };
    static constexpr int64_t kNothing = -1;

    CUresult note(const char* function, const std::string& details = {});
    CUresult fault(const char* function);
    CUresult enqueue(const void* stream, std::function<void()> work, const void* after_event = nullptr);
    CUresult add_node(const char* function, const std::string& details, CUgraphNode* node, CUgraph graph,
                      const CUgraphNode* before, size_t count, std::function<void()> work);
    void run_up_to(int64_t last);
    CUresult make(const char* kind, void** handle);
    CUresult destroy(const char* function, void* handle);
    CUresult take_memory(const char* function, size_t bytes, void** address);
    CUresult give_memory(const char* function, void* address);
    std::string name_of(const void* handle) const;

    cuda::Driver table_;
    std::map<std::string, KernelStandIn> kernels_;
    std::vector<std::string> calls_, broken_rules_;
    std::map<std::string, std::pair<int, CUresult>> faults_;    ///< calls until then, what it returns
    std::map<const void*, std::string> objects_;                ///< with their names
    std::map<std::string, int> made_;                           ///< objects per kind
    std::vector<std::unique_ptr<std::string>> foreign_streams_; ///< their names; the addresses are the handles
    std::map<void*, std::unique_ptr<std::byte[]>> memory_;
    std::map<const void*, bool> happened_; ///< events
    std::map<std::string, std::unique_ptr<Kernel>> functions_;
    struct GraphNode {
        std::function<void()> run;
    };
    using GraphNodes = std::vector<std::shared_ptr<GraphNode>>; ///< in the order of the calls; addresses are handles
    std::map<const void*, GraphNodes> graphs_;
    std::map<int64_t, Work> pending_; ///< by number, in the order of the calls
    int64_t next_work_ = 0;
    std::map<const void*, int64_t> last_work_;   ///< of each stream
    std::map<const void*, int64_t> recorded_at_; ///< of each event, the work that was to record it last
    bool eager_ = true;
    int contexts_ = 0; ///< pushed
};

} // namespace qc::test
