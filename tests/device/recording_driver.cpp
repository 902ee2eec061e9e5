// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/device/recording_driver.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace qc::test {
namespace {

RecordingDriver* current = nullptr;

} // namespace

/// The table's entries: each hands its call to the current driver.
struct RecordingDriver::Functions {
    // ---- device, contexts: asked, not noted -------------------------------------------------------------------------
    static CUresult error_string(CUresult, const char** text) {
        *text = "made to fail";
        return CUDA_SUCCESS;
    }
    static CUresult get_device(CUdevice* device, int) {
        *device = 0;
        return current->fault("cuDeviceGet");
    }
    static CUresult get_device_count(int* count) {
        *count = 1;
        return current->fault("cuDeviceGetCount");
    }
    static CUresult get_device_name(char* name, int size, CUdevice) {
        std::strncpy(name, "stand-in", static_cast<size_t>(size));
        return CUDA_SUCCESS;
    }
    static CUresult get_attribute(int* value, CUdevice_attribute, CUdevice) {
        *value = 0;
        return CUDA_SUCCESS;
    }
    static CUresult retain_context(CUcontext* context, CUdevice) {
        return current->make("context", reinterpret_cast<void**>(context));
    }
    static CUresult release_context(CUdevice) {
        for (const auto& [handle, name] : current->objects_)
            if (name.starts_with("context")) return current->destroy("cuDevicePrimaryCtxRelease", (void*)handle);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    static CUresult push_context(CUcontext) {
        ++current->contexts_;
        return CUDA_SUCCESS;
    }
    static CUresult pop_context(CUcontext*) {
        --current->contexts_;
        return CUDA_SUCCESS;
    }
    static CUresult get_context_device(CUdevice* device) {
        *device = 0;
        return current->fault("cuCtxGetDevice");
    }
    static CUresult get_memory_info(size_t* available, size_t* total) {
        *available = 1 << 20;
        *total = 1 << 30;
        return CUDA_SUCCESS;
    }
    static CUresult get_priorities(int* lowest, int* highest) {
        *lowest = 0;
        *highest = -5;
        return current->fault("cuCtxGetStreamPriorityRange");
    }

    // ---- memory -----------------------------------------------------------------------------------------------------
    static CUresult take_device_memory(CUdeviceptr* address, size_t bytes) {
        void* taken = nullptr;
        const CUresult result = current->take_memory("cuMemAlloc", bytes, &taken);
        *address = reinterpret_cast<CUdeviceptr>(taken);
        return result;
    }
    static CUresult give_device_memory(CUdeviceptr address) { return current->give_memory("cuMemFree", at(address)); }
    static CUresult take_pinned_memory(void** address, size_t bytes, unsigned) {
        return current->take_memory("cuMemHostAlloc", bytes, address);
    }
    static CUresult give_pinned_memory(void* address) { return current->give_memory("cuMemFreeHost", address); }
    static CUresult copy_to_device(CUdeviceptr target, const void* source, size_t bytes, CUstream stream) {
        const CUresult result =
            current->note("cuMemcpyHtoDAsync", format("%zu bytes, ", bytes) + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        return current->enqueue(stream, [=] { std::memcpy(at(target), source, bytes); });
    }

    // ---- modules and kernels ----------------------------------------------------------------------------------------
    static CUresult load_module(CUmodule* module, const void*) {
        return current->make("module", reinterpret_cast<void**>(module));
    }
    static CUresult unload_module(CUmodule module) { return current->destroy("cuModuleUnload", module); }
    static CUresult get_function(CUfunction* function, CUmodule, const char* name) {
        auto& kernel = current->functions_[name];
        if (kernel == nullptr) kernel = std::make_unique<Kernel>(Kernel{name});
        *function = reinterpret_cast<CUfunction>(kernel.get());
        return current->fault("cuModuleGetFunction");
    }
    static CUresult get_function_attribute(int* value, CUfunction_attribute, CUfunction) {
        *value = 90;
        return current->fault("cuFuncGetAttribute");
    }
    static CUresult set_function_attribute(CUfunction, CUfunction_attribute, int) {
        return current->fault("cuFuncSetAttribute");
    }

    // ---- streams and events -----------------------------------------------------------------------------------------
    static CUresult make_stream(CUstream* stream, unsigned) {
        return current->make("stream", reinterpret_cast<void**>(stream));
    }
    static CUresult destroy_stream(CUstream stream) { return current->destroy("cuStreamDestroy", stream); }
    static CUresult wait_for_stream(CUstream stream) {
        const CUresult result = current->note("cuStreamSynchronize", current->name_of(stream));
        if (result == CUDA_SUCCESS) current->run_up_to(current->last_work_.try_emplace(stream, kNothing).first->second);
        return result;
    }
    static CUresult let_stream_wait(CUstream stream, CUevent event, unsigned) {
        const CUresult result =
            current->note("cuStreamWaitEvent", current->name_of(stream) + ", " + current->name_of(event));
        return result == CUDA_SUCCESS ? current->enqueue(
                                            stream, [] {}, event)
                                      : result;
    }
    static CUresult make_event(CUevent* event, unsigned) {
        const CUresult result = current->make("event", reinterpret_cast<void**>(event));
        if (result == CUDA_SUCCESS) current->happened_[*event] = true;
        return result;
    }
    static CUresult destroy_event(CUevent event) { return current->destroy("cuEventDestroy", event); }
    static CUresult record_event(CUevent event, CUstream stream) {
        const CUresult result =
            current->note("cuEventRecord", current->name_of(event) + ", " + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        current->happened_[event] = false;
        current->recorded_at_[event] = current->next_work_;
        return current->enqueue(stream, [event] { current->happened_[event] = true; });
    }
    static CUresult query_event(CUevent event) {
        const CUresult result = current->note("cuEventQuery", current->name_of(event));
        if (result != CUDA_SUCCESS) return result;
        return current->happened_[event] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    }
    static CUresult wait_for_event(CUevent event) {
        const CUresult result = current->note("cuEventSynchronize", current->name_of(event));
        if (result == CUDA_SUCCESS && !current->happened_[event]) current->run_up_to(current->recorded_at_[event]);
        return result;
    }

    // ---- graphs -----------------------------------------------------------------------------------------------------
    static CUresult make_graph(CUgraph* graph, unsigned) {
        return current->make("graph", reinterpret_cast<void**>(graph));
    }
    static CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                               const CUDA_KERNEL_NODE_PARAMS* launch) {
        const std::string& name = reinterpret_cast<const Kernel*>(launch->func)->name;
        const Dim3 grid{launch->gridDimX, launch->gridDimY, launch->gridDimZ};
        const std::string details =
            name + format(" %ux%ux%u of %ux%ux%u, %u bytes", grid.x, grid.y, grid.z, launch->blockDimX,
                          launch->blockDimY, launch->blockDimZ, launch->sharedMemBytes);
        const auto kernel = current->kernels_.find(name);
        return current->add_node(
            "cuGraphAddKernelNode", details, node, graph, before, count,
            kernel != current->kernels_.end() ? kernel->second(grid, launch->kernelParams) : [] {});
    }
    static CUresult set_kernel_attribute(CUgraphNode, CUlaunchAttributeID attribute,
                                         const CUlaunchAttributeValue* value) {
        return current->note("cuGraphKernelNodeSetAttribute", attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY
                                                                  ? format("priority %d", value->priority)
                                                                  : "of another kind");
    }
    static CUresult add_memset(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                               const CUDA_MEMSET_NODE_PARAMS* job, CUcontext) {
        const CUDA_MEMSET_NODE_PARAMS set = *job;
        return current->add_node("cuGraphAddMemsetNode", format("%zu words", set.width), node, graph, before, count,
                                 [=] { std::fill_n(static_cast<uint32_t*>(at(set.dst)), set.width, set.value); });
    }
    static CUresult add_copy(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                             const CUDA_MEMCPY3D* job, CUcontext) {
        const bool to_host = job->dstMemoryType == CU_MEMORYTYPE_HOST;
        void* const target = to_host ? job->dstHost : at(job->dstDevice);
        const void* const source = to_host ? at(job->srcDevice) : job->srcHost;
        return current->add_node(
            "cuGraphAddMemcpyNode", format("%zu bytes to the %s", job->WidthInBytes, to_host ? "host" : "device"), node,
            graph, before, count, [=, bytes = job->WidthInBytes] { std::memcpy(target, source, bytes); });
    }
    static CUresult instantiate(CUgraphExec* made, CUgraph graph, unsigned long long) {
        const CUresult result = current->make("executable graph", reinterpret_cast<void**>(made));
        if (result == CUDA_SUCCESS) current->graphs_[*made] = current->graphs_[graph];
        return result;
    }
    static CUresult launch_graph(CUgraphExec graph, CUstream stream) {
        const CUresult result =
            current->note("cuGraphLaunch", current->name_of(graph) + ", " + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        return current->enqueue(stream, [nodes = current->graphs_[graph]] {
            for (const auto& node : nodes) node->run();
        });
    }
    static CUresult destroy_graph(CUgraph graph) { return current->destroy("cuGraphDestroy", graph); }
    static CUresult destroy_executable_graph(CUgraphExec graph) {
        return current->destroy("cuGraphExecDestroy", graph);
    }

    static void* at(CUdeviceptr address) {
        return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): as the driver hands it out
    }
};

RecordingDriver::RecordingDriver() {
    current = this;
    table_.cuGetErrorString = Functions::error_string;
    table_.cuDeviceGet = Functions::get_device;
    table_.cuDeviceGetCount = Functions::get_device_count;
    table_.cuDeviceGetName = Functions::get_device_name;
    table_.cuDeviceGetAttribute = Functions::get_attribute;
    table_.cuDevicePrimaryCtxRetain = Functions::retain_context;
    table_.cuDevicePrimaryCtxRelease = Functions::release_context;
    table_.cuCtxPushCurrent = Functions::push_context;
    table_.cuCtxPopCurrent = Functions::pop_context;
    table_.cuCtxGetDevice = Functions::get_context_device;
    table_.cuCtxGetStreamPriorityRange = Functions::get_priorities;
    table_.cuMemGetInfo = Functions::get_memory_info;
    table_.cuMemAlloc = Functions::take_device_memory;
    table_.cuMemFree = Functions::give_device_memory;
    table_.cuMemHostAlloc = Functions::take_pinned_memory;
    table_.cuMemFreeHost = Functions::give_pinned_memory;
    table_.cuMemcpyHtoDAsync = Functions::copy_to_device;
    table_.cuModuleLoadData = Functions::load_module;
    table_.cuModuleUnload = Functions::unload_module;
    table_.cuModuleGetFunction = Functions::get_function;
    table_.cuFuncGetAttribute = Functions::get_function_attribute;
    table_.cuFuncSetAttribute = Functions::set_function_attribute;
    table_.cuStreamCreate = Functions::make_stream;
    table_.cuStreamDestroy = Functions::destroy_stream;
    table_.cuStreamSynchronize = Functions::wait_for_stream;
    table_.cuStreamWaitEvent = Functions::let_stream_wait;
    table_.cuEventCreate = Functions::make_event;
    table_.cuEventDestroy = Functions::destroy_event;
    table_.cuEventRecord = Functions::record_event;
    table_.cuEventQuery = Functions::query_event;
    table_.cuEventSynchronize = Functions::wait_for_event;
    table_.cuGraphCreate = Functions::make_graph;
    table_.cuGraphAddKernelNode = Functions::add_kernel;
    table_.cuGraphKernelNodeSetAttribute = Functions::set_kernel_attribute;
    table_.cuGraphAddMemsetNode = Functions::add_memset;
    table_.cuGraphAddMemcpyNode = Functions::add_copy;
    table_.cuGraphInstantiate = Functions::instantiate;
    table_.cuGraphLaunch = Functions::launch_graph;
    table_.cuGraphExecDestroy = Functions::destroy_executable_graph;
    table_.cuGraphDestroy = Functions::destroy_graph;
}

RecordingDriver::~RecordingDriver() {
    current = nullptr;
}

std::vector<std::string> RecordingDriver::take_calls() {
    return std::exchange(calls_, {});
}

void RecordingDriver::fail(const std::string& function, int nth, CUresult result) {
    faults_[function] = {nth, result};
}

void RecordingDriver::set_eager(bool eager) {
    eager_ = eager;
    if (eager) run();
}

void RecordingDriver::run() {
    while (!pending_.empty()) {
        const auto work = pending_.extract(pending_.begin());
        work.mapped().run();
    }
}

/// Runs a work and all that it comes after, those in the order of the calls.
void RecordingDriver::run_up_to(int64_t last) {
    std::set<int64_t> needed;
    for (std::vector<int64_t> open{last}; !open.empty();) {
        const auto work = pending_.find(open.back());
        open.pop_back();
        if (work == pending_.end() || !needed.insert(work->first).second) continue;
        open.insert(open.end(), {work->second.before, work->second.awaited});
    }
    for (const int64_t number : needed) {
        const auto work = pending_.extract(number);
        work.mapped().run();
    }
}

size_t RecordingDriver::unfinished() const {
    return static_cast<size_t>(std::count_if(
        pending_.begin(), pending_.end(), [this](const auto& work) { return objects_.contains(work.second.stream); }));
}

/// @return the fault that was ordered for this call, else CUDA_SUCCESS
CUresult RecordingDriver::fault(const char* function) {
    const auto ordered = faults_.find(function);
    if (ordered == faults_.end() || --ordered->second.first > 0) return CUDA_SUCCESS;
    const CUresult result = ordered->second.second;
    faults_.erase(ordered);
    return result;
}

CUresult RecordingDriver::note(const char* function, const std::string& details) {
    calls_.push_back(details.empty() ? function : std::string(function) + " " + details);
    if (contexts_ != 1 && contexts_ != 2) broken_rules_.push_back(calls_.back() + ": no context, or too many");
    return fault(function);
}

CUresult RecordingDriver::enqueue(const void* stream, std::function<void()> work, const void* after_event) {
    const int64_t before = last_work_.try_emplace(stream, kNothing).first->second;
    const int64_t awaited =
        after_event != nullptr ? recorded_at_.try_emplace(after_event, kNothing).first->second : kNothing;
    last_work_[stream] = next_work_;
    pending_.emplace(next_work_++, Work{std::move(work), stream, before, awaited});
    if (eager_) run();
    return CUDA_SUCCESS;
}

/// Details end with the numbers of the nodes in their graph: "node 3 behind 1, 2".
CUresult RecordingDriver::add_node(const char* function, const std::string& details, CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* before, size_t count, std::function<void()> work) {
    GraphNodes& nodes = graphs_[graph];
    std::string edges = format(", node %zu", nodes.size());
    for (size_t i = 0; i < count; ++i) {
        const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) {
            return reinterpret_cast<CUgraphNode>(each.get()) == before[i];
        });
        if (found == nodes.end()) broken_rules_.push_back(std::string(function) + " behind a node of another graph");
        edges += format(i == 0 ? " behind %td" : ", %td", found - nodes.begin());
    }
    const CUresult result = note(function, details + edges);
    if (result != CUDA_SUCCESS) return result;
    nodes.push_back(std::make_shared<GraphNode>(GraphNode{std::move(work)}));
    *node = reinterpret_cast<CUgraphNode>(nodes.back().get());
    return CUDA_SUCCESS;
}

void* RecordingDriver::make_stream(const std::string& name) {
    foreign_streams_.push_back(std::make_unique<std::string>(name));
    return foreign_streams_.back().get();
}

CUresult RecordingDriver::make(const char* kind, void** handle) {
    static const std::map<std::string, const char*> kFunctions = {{"context", "cuDevicePrimaryCtxRetain"},
                                                                  {"module", "cuModuleLoadData"},
                                                                  {"stream", "cuStreamCreate"},
                                                                  {"graph", "cuGraphCreate"},
                                                                  {"event", "cuEventCreate"},
                                                                  {"executable graph", "cuGraphInstantiate"}};
    *handle = nullptr;
    const std::string name = format("%s %d", kind, made_[kind]);
    const CUresult result =
        std::strcmp(kind, "context") == 0 ? fault(kFunctions.at(kind)) : note(kFunctions.at(kind), name);
    if (result != CUDA_SUCCESS) return result;
    ++made_[kind];
    // Numbers from 16 on: none of them is a handle that the driver gives a meaning.
    static uintptr_t last = 15;
    *handle = reinterpret_cast<void*>(++last); // NOLINT(performance-no-int-to-ptr): a handle, never followed
    objects_[*handle] = name;
    return CUDA_SUCCESS;
}

CUresult RecordingDriver::destroy(const char* function, void* handle) {
    const std::string name = name_of(handle);
    if (objects_.erase(handle) == 0) broken_rules_.push_back(std::string(function) + " of what does not exist");
    graphs_.erase(handle);
    if (name.starts_with("context")) return CUDA_SUCCESS;
    return note(function, name);
}

CUresult RecordingDriver::take_memory(const char* function, size_t bytes, void** address) {
    *address = nullptr;
    const CUresult result = note(function, format("%zu bytes", bytes));
    if (result != CUDA_SUCCESS) return result;
    auto memory = std::make_unique<std::byte[]>(bytes);
    *address = memory.get();
    memory_[*address] = std::move(memory);
    return CUDA_SUCCESS;
}

CUresult RecordingDriver::give_memory(const char* function, void* address) {
    if (memory_.erase(address) == 0) broken_rules_.push_back(std::string(function) + " of what was not taken");
    return note(function);
}

std::string RecordingDriver::name_of(const void* handle) const {
    if (handle == CU_STREAM_LEGACY) return "legacy default stream";
    for (const auto& name : foreign_streams_)
        if (name.get() == handle) return *name;
    const auto found = objects_.find(handle);
    return found != objects_.end() ? found->second : "unknown object";
}

} // namespace qc::test
