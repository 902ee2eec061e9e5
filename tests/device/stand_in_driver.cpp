// SPDX-License-Identifier: BSD-2-Clause-Patent
// The entry points of libcuda.so.1 that the engine asks for, on top of the machine.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/register_kernels.hpp"
#include "tests/device/stand_in.hpp"
#include "tests/device/stand_in_machine.hpp"

namespace qc::test {

namespace {

constexpr int kMostSharedBytes = 227 << 10; ///< of a block

/// A kernel of a loaded module.
struct Function {
    const EmulatedKernel* kernel;
    size_t most_shared_bytes; ///< dynamic shared memory that a launch may ask for
};

struct Module {
    const KernelRegistry::Kernels* kernels;
    std::vector<std::unique_ptr<Function>> functions;
};

// ---- the one device -------------------------------------------------------------------------------------------------

struct StandIn {
    StandIn();
    ~StandIn() { write_report(); }

    /// Counts a call.
    CUresult begin(const char* call);
    void give(const stand_in::Orders& given);
    void break_rule(const std::string& what) { broken_rules += what + '\n'; }
    /// As long as nothing is enqueued on it: whoever holds a handle may use it.
    WorkStream& stream_of(CUstream handle);
    size_t held() const {
        return contexts + modules.size() + streams.size() + events.size() + graphs.size() + executables.size() +
               device.pieces() + pinned.pieces();
    }
    void write_report() const;

    std::mutex mutex;
    stand_in::Orders orders;
    int64_t calls = 0;
    const char* failed_call = nullptr;
    bool lost = false;
    std::string broken_rules;
    Machine machine;
    GuardedMemory device, pinned;
    size_t contexts = 0; ///< times that the primary one was retained
    std::map<void*, std::unique_ptr<Module>> modules;
    std::map<void*, std::unique_ptr<WorkStream>> streams, foreign_streams;
    std::map<void*, std::unique_ptr<WorkEvent>> events;
    std::map<void*, std::unique_ptr<WorkGraph>> graphs, executables;
};

StandIn& self() {
    static StandIn instance;
    return instance;
}

thread_local std::vector<CUcontext> context_stack;
thread_local int calls_under_way = 0;

StandIn::StandIn() {
    const char* const fail = std::getenv("QC_STAND_IN_FAIL");
    const char* const seed = std::getenv("QC_STAND_IN_SEED");
    stand_in::Orders given;
    const char* const kernels = std::getenv("QC_STAND_IN_KERNELS");
    if (kernels != nullptr) given.run_kernels = std::strcmp(kernels, "0") != 0;
    if (seed != nullptr) given.seed = static_cast<uint32_t>(std::strtoul(seed, nullptr, 10));
    if (fail != nullptr) {
        char* rest = nullptr;
        given.fail_at = std::strtoll(fail, &rest, 10);
        if (*rest == ',') given.result = static_cast<int>(std::strtol(rest + 1, &rest, 10));
        given.lost = std::strcmp(rest, ",lost") == 0;
    }
    give(given);
}

void StandIn::give(const stand_in::Orders& given) {
    orders = given;
    calls = 0;
    failed_call = nullptr;
    lost = false;
    broken_rules.clear();
    machine = Machine(given.seed);
    contexts = 0;
    modules.clear();
    streams.clear();
    foreign_streams.clear();
    events.clear();
    graphs.clear();
    executables.clear();
    device = {};
    pinned = {};
}

void StandIn::write_report() const {
    const char* const path = std::getenv("QC_STAND_IN_REPORT");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "calls %lld\nfailed %s\nheld %zu\n%s", static_cast<long long>(calls),
                 failed_call == nullptr ? "none" : failed_call, held(), broken_rules.c_str());
    std::fclose(file);
}

CUresult StandIn::begin(const char* call) {
    ++calls;
    if (lost) return static_cast<CUresult>(orders.result);
    if (calls != orders.fail_at) return CUDA_SUCCESS;
    failed_call = call;
    if (orders.lost) {
        lost = true;
        machine.abandon_all();
    }
    return static_cast<CUresult>(orders.result);
}

WorkStream& StandIn::stream_of(CUstream handle) {
    const auto own = streams.find(handle);
    if (own != streams.end()) return *own->second;
    std::unique_ptr<WorkStream>& stream = foreign_streams[handle]; // the default one among them
    if (stream == nullptr) stream = std::make_unique<WorkStream>();
    return *stream;
}

/// From before a call takes anything until it has given everything back.
class UnderWay {
public:
    UnderWay() { ++calls_under_way; }
    ~UnderWay() { --calls_under_way; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
};

/// One call of the engine's: holds the lock, and says whether the call is to fail.
class Call {
public:
    explicit Call(const char* name) : lock_(self().mutex), result_(self().begin(name)), name_(name) {}
    bool failed() const { return result_ != CUDA_SUCCESS; }
    CUresult result() const { return result_; }
    /// The call fails by what its caller did wrong.
    CUresult refuse(CUresult result, const std::string& why) const {
        self().break_rule(std::string(name_) + ": " + why);
        return result;
    }
    bool has_context() const { return !context_stack.empty(); }

private:
    UnderWay under_way_;
    std::lock_guard<std::mutex> lock_;
    CUresult result_;
    const char* name_;
};

#define QC_BEGIN(name)                                                                                                 \
    const Call call(name);                                                                                             \
    StandIn& driver = self();                                                                                          \
    if (call.failed()) return call.result()
#define QC_BEGIN_IN_CONTEXT(name)                                                                                      \
    QC_BEGIN(name);                                                                                                    \
    if (!call.has_context()) return CUDA_ERROR_INVALID_CONTEXT

template <typename Object, typename Handle>
Handle keep(std::map<void*, Object>& objects, Object object) {
    void* const handle = object.get();
    objects[handle] = std::move(object);
    return static_cast<Handle>(handle);
}

/// An object of the driver's without content.
template <typename Object, typename Handle>
CUresult begin(const char* name, std::map<void*, std::unique_ptr<Object>> StandIn::*objects, Handle* handle) {
    QC_BEGIN_IN_CONTEXT(name);
    *handle = keep<std::unique_ptr<Object>, Handle>(driver.*objects, std::make_unique<Object>());
    return CUDA_SUCCESS;
}

/// An object ends even if the call that ends it fails with the device.
template <typename Objects>
CUresult end(const char* name, Objects StandIn::*objects, void* handle) {
    const Call call(name);
    if (call.failed() && !self().lost) return call.result();
    if ((self().*objects).erase(handle) == 0) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such object");
    return call.result();
}

CUresult give_back(const char* name, GuardedMemory StandIn::*memory, void* address) {
    const Call call(name);
    StandIn& driver = self();
    if (call.failed() && !driver.lost) return call.result();
    driver.machine.finish_all(); // as the driver does
    bool intact = true;
    if (!(driver.*memory).give_back(address, &intact))
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "this memory was not taken");
    if (!intact) driver.break_rule(std::string(name) + ": something was written behind the end of this memory");
    return call.result();
}

void* at(CUdeviceptr address) {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): as it was handed out
}

/// Enqueues a copy. Memory that is not page-locked is read at once, as the driver does.
CUresult copy(const Call& call, void* target, const void* source, size_t bytes, CUstream stream) {
    StandIn& driver = self();
    const bool to_device = driver.device.holds(target, bytes);
    if (!to_device && !driver.device.holds(source, bytes))
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "neither end lies in device memory");
    WorkStream& queue = driver.stream_of(stream);
    if (to_device && !driver.pinned.holds(source, bytes) && !driver.device.holds(source, bytes)) {
        const auto* const begin = static_cast<const std::byte*>(source);
        auto staged = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
        driver.machine.enqueue(queue, [=] { std::memcpy(target, staged->data(), bytes); });
    } else {
        driver.machine.enqueue(queue, [=] { std::memcpy(target, source, bytes); });
    }
    return CUDA_SUCCESS;
}

/// @param before nodes of the graph, each once
CUresult add_node(const Call& call, CUgraphNode* node, CUgraph graph, std::span<const CUgraphNode> before, Work work) {
    StandIn& driver = self();
    const auto found = driver.graphs.find(graph);
    if (found == driver.graphs.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such graph");
    std::vector<WorkGraph::Step>& steps = found->second->steps;
    WorkGraph::Step step{std::move(work), {}};
    for (CUgraphNode handle : before) {
        const size_t earlier = reinterpret_cast<size_t>(handle) - 1; // no handle is null
        if (earlier >= steps.size() || std::find(step.before.begin(), step.before.end(), earlier) != step.before.end())
            return call.refuse(CUDA_ERROR_INVALID_VALUE, "behind a node that is not there, or twice behind one");
        step.before.push_back(earlier);
    }
    steps.push_back(std::move(step));
    *node = reinterpret_cast<CUgraphNode>(steps.size()); // NOLINT(performance-no-int-to-ptr): never followed
    return CUDA_SUCCESS;
}

} // namespace

void report_failure(const std::string& what) {
    self().break_rule(what);
}

} // namespace qc::test

using namespace qc::test; // NOLINT(google-build-using-namespace): a driver's functions lie in no namespace

extern "C" {

// ---- for tests ------------------------------------------------------------------------------------------------------

int qc_stand_in_calls_under_way() {
    return calls_under_way;
}
void qc_stand_in_give_orders(const stand_in::Orders* orders) {
    const std::lock_guard lock(self().mutex);
    self().give(*orders);
}

stand_in::State qc_stand_in_state() {
    const std::lock_guard lock(self().mutex);
    const StandIn& driver = self();
    return {driver.calls, driver.failed_call, static_cast<int64_t>(driver.held()), driver.broken_rules.c_str()};
}

// ---- device and contexts --------------------------------------------------------------------------------------------

CUresult cuInit(unsigned) {
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult result, const char** text) {
    *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "made to fail";
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
    QC_BEGIN("cuDeviceGet");
    static_cast<void>(driver);
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
    QC_BEGIN("cuDeviceGetCount");
    static_cast<void>(driver);
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
    QC_BEGIN("cuDeviceGetName");
    static_cast<void>(driver);
    std::snprintf(name, static_cast<size_t>(size), "stand-in");
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    QC_BEGIN("cuDeviceGetAttribute");
    static_cast<void>(driver);
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? kMostSharedBytes
                                                                                  : 0;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    QC_BEGIN("cuDevicePrimaryCtxRetain");
    ++driver.contexts;
    *context = reinterpret_cast<CUcontext>(&driver);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
    const Call call("cuDevicePrimaryCtxRelease");
    StandIn& driver = self();
    if (call.failed() && !driver.lost) return call.result();
    if (driver.contexts == 0) return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "it was not retained so often");
    --driver.contexts;
    return call.result();
}
CUresult cuCtxPushCurrent(CUcontext context) {
    QC_BEGIN("cuCtxPushCurrent");
    static_cast<void>(driver);
    context_stack.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
    const Call call("cuCtxPopCurrent");
    if (context_stack.empty()) return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "there is none");
    if (context != nullptr) *context = context_stack.back();
    context_stack.pop_back(); // even if it is to fail: else the test itself would hold it for ever
    return call.result();
}
CUresult cuCtxGetDevice(CUdevice* device) {
    QC_BEGIN_IN_CONTEXT("cuCtxGetDevice");
    static_cast<void>(driver);
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
    QC_BEGIN_IN_CONTEXT("cuCtxGetStreamPriorityRange");
    static_cast<void>(driver);
    *lowest = 0;
    *highest = -5;
    return CUDA_SUCCESS;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

CUresult cuMemGetInfo(size_t* available, size_t* total) {
    QC_BEGIN_IN_CONTEXT("cuMemGetInfo");
    *total = size_t{8} << 30;
    *available = *total - driver.device.bytes();
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
    QC_BEGIN_IN_CONTEXT("cuMemAlloc");
    *address = reinterpret_cast<CUdeviceptr>(driver.device.take(bytes));
    return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
    return give_back("cuMemFree", &StandIn::device, at(address));
}
CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
    QC_BEGIN_IN_CONTEXT("cuMemHostAlloc");
    *address = driver.pinned.take(bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* address) {
    return give_back("cuMemFreeHost", &StandIn::pinned, address);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, size_t bytes, CUstream stream) {
    QC_BEGIN_IN_CONTEXT("cuMemcpyHtoDAsync");
    static_cast<void>(driver);
    return copy(call, at(target), source, bytes, stream);
}

// ---- programs -------------------------------------------------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    QC_BEGIN_IN_CONTEXT("cuModuleLoadData");
    if (image == nullptr) return call.refuse(CUDA_ERROR_INVALID_VALUE, "there is no program");
    const KernelRegistry::Kernels* const kernels = KernelRegistry::instance().find(image);
    if (kernels == nullptr) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    auto made = std::make_unique<Module>();
    made->kernels = kernels;
    *module = keep<std::unique_ptr<Module>, CUmodule>(driver.modules, std::move(made));
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
    return end("cuModuleUnload", &StandIn::modules, module);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    QC_BEGIN_IN_CONTEXT("cuModuleGetFunction");
    const auto found = driver.modules.find(module);
    if (found == driver.modules.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such module");
    for (const EmulatedKernel& kernel : *found->second->kernels)
        if (kernel.name == name) {
            auto& functions = found->second->functions;
            functions.push_back(std::make_unique<Function>(Function{&kernel, size_t{48} << 10}));
            *function = reinterpret_cast<CUfunction>(functions.back().get());
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    QC_BEGIN_IN_CONTEXT("cuFuncGetAttribute");
    static_cast<void>(driver);
    if (attribute != CU_FUNC_ATTRIBUTE_PTX_VERSION || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *value = 90;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    QC_BEGIN_IN_CONTEXT("cuFuncSetAttribute");
    static_cast<void>(driver);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > kMostSharedBytes)
        return CUDA_ERROR_INVALID_VALUE;
    reinterpret_cast<Function*>(function)->most_shared_bytes = static_cast<size_t>(value);
    return CUDA_SUCCESS;
}

// ---- streams and events ---------------------------------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned) {
    return begin("cuStreamCreate", &StandIn::streams, stream);
}
CUresult cuStreamDestroy(CUstream stream) {
    return end("cuStreamDestroy", &StandIn::streams, stream);
}
CUresult cuStreamSynchronize(CUstream stream) {
    QC_BEGIN_IN_CONTEXT("cuStreamSynchronize");
    const WorkStream& queue = driver.stream_of(stream);
    driver.machine.finish(queue.last);
    return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    QC_BEGIN_IN_CONTEXT("cuStreamWaitEvent");
    const auto found = driver.events.find(event);
    if (found == driver.events.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such event");
    driver.machine.wait(driver.stream_of(stream), *found->second);
    return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
    return begin("cuEventCreate", &StandIn::events, event);
}
CUresult cuEventDestroy(CUevent event) {
    return end("cuEventDestroy", &StandIn::events, event);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    QC_BEGIN_IN_CONTEXT("cuEventRecord");
    const auto found = driver.events.find(event);
    if (found == driver.events.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such event");
    Machine::record(*found->second, driver.stream_of(stream));
    return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
    QC_BEGIN_IN_CONTEXT("cuEventQuery");
    const auto found = driver.events.find(event);
    if (found == driver.events.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such event");
    driver.machine.advance();
    return Machine::is_done(found->second->node) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent event) {
    QC_BEGIN_IN_CONTEXT("cuEventSynchronize");
    const auto found = driver.events.find(event);
    if (found == driver.events.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such event");
    driver.machine.finish(found->second->node);
    return CUDA_SUCCESS;
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
    return begin("cuGraphCreate", &StandIn::graphs, graph);
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* given) {
    QC_BEGIN_IN_CONTEXT("cuGraphAddKernelNode");
    const CUDA_KERNEL_NODE_PARAMS launch = *given;
    const Function& launched = *reinterpret_cast<const Function*>(launch.func);
    const EmulatedKernel& kernel = *launched.kernel;
    const std::string name(kernel.name);
    if (launch.gridDimX == 0 || launch.gridDimY == 0 || launch.gridDimZ == 0 || launch.gridDimY > 65535 ||
        launch.gridDimZ > 65535)
        return call.refuse(CUDA_ERROR_INVALID_VALUE, name + ": a grid of this size");
    if (launch.blockDimX != kernel.threads || launch.blockDimY != 1 || launch.blockDimZ != 1)
        return call.refuse(CUDA_ERROR_INVALID_VALUE, name + ": blocks of another size than the kernel's");
    if (launch.sharedMemBytes > launched.most_shared_bytes ||
        kernel.shared_bytes.value_or(launch.sharedMemBytes) != launch.sharedMemBytes)
        return call.refuse(CUDA_ERROR_INVALID_VALUE, name + ": another amount of shared memory than the kernel's");
    const auto* const first = static_cast<const std::byte*>(launch.kernelParams[0]);
    std::vector<std::byte> arguments(first, first + kernel.argument_bytes); // the caller's may change from now on
    const bool descending = driver.machine.random(2) == 1;
    Work work = [=, &kernel, arguments = std::move(arguments)] {
        kernel.run_grid({kernel.name,
                         {launch.gridDimX, launch.gridDimY, launch.gridDimZ},
                         {launch.blockDimX, launch.blockDimY, launch.blockDimZ},
                         launch.sharedMemBytes,
                         arguments.data(),
                         descending});
    };
    return add_node(call, node, graph, {before, count}, driver.orders.run_kernels ? std::move(work) : nullptr);
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, CUlaunchAttributeID attribute, const CUlaunchAttributeValue*) {
    QC_BEGIN_IN_CONTEXT("cuGraphKernelNodeSetAttribute");
    static_cast<void>(driver);
    return attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
    QC_BEGIN_IN_CONTEXT("cuGraphAddMemsetNode");
    const CUDA_MEMSET_NODE_PARAMS job = *given;
    if (job.elementSize != sizeof(unsigned) || job.height != 1 || job.width == 0)
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "not words in a row");
    if (!driver.device.holds(at(job.dst), job.width * sizeof(unsigned)))
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "this is not in device memory");
    return add_node(call, node, graph, {before, count},
                    [=] { std::fill_n(static_cast<unsigned*>(at(job.dst)), job.width, job.value); });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMCPY3D* job, CUcontext) {
    QC_BEGIN_IN_CONTEXT("cuGraphAddMemcpyNode");
    const bool to_host = job->dstMemoryType == CU_MEMORYTYPE_HOST;
    const size_t bytes = job->WidthInBytes;
    void* const target = to_host ? job->dstHost : at(job->dstDevice);
    const void* const source = to_host ? at(job->srcDevice) : job->srcHost;
    if (job->Height != 1 || job->Depth != 1 || bytes == 0)
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "not bytes in a row");
    if (!driver.device.holds(to_host ? source : target, bytes) ||
        !driver.pinned.holds(to_host ? target : source, bytes))
        return call.refuse(CUDA_ERROR_INVALID_VALUE, "not between device memory and page-locked memory");
    return add_node(call, node, graph, {before, count}, [=] { std::memcpy(target, source, bytes); });
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long) {
    QC_BEGIN_IN_CONTEXT("cuGraphInstantiate");
    const auto found = driver.graphs.find(graph);
    if (found == driver.graphs.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such graph");
    *executable =
        keep<std::unique_ptr<WorkGraph>, CUgraphExec>(driver.executables, std::make_unique<WorkGraph>(*found->second));
    return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    QC_BEGIN_IN_CONTEXT("cuGraphLaunch");
    const auto found = driver.executables.find(graph);
    if (found == driver.executables.end()) return call.refuse(CUDA_ERROR_INVALID_HANDLE, "there is no such graph");
    driver.machine.launch(*found->second, driver.stream_of(stream));
    return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
    return end("cuGraphExecDestroy", &StandIn::executables, graph);
}
CUresult cuGraphDestroy(CUgraph graph) {
    return end("cuGraphDestroy", &StandIn::graphs, graph);
}

} // extern "C"
