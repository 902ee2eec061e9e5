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
    static CUresult copy_to_host(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
        const CUresult result =
            current->note("cuMemcpyDtoHAsync", format("%zu bytes, ", bytes) + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        return current->enqueue(stream, [=] { std::memcpy(target, at(source), bytes); });
    }
    static CUresult set_words(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
        const CUresult result =
            current->note("cuMemsetD32Async", format("%zu words, ", count) + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        return current->enqueue(stream, [=] { std::fill_n(static_cast<uint32_t*>(at(target)), count, value); });
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
    static CUresult launch(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                           unsigned block_z, unsigned shared, CUstream stream, void** arguments, void**) {
        const std::string& name = reinterpret_cast<const Kernel*>(function)->name;
        const CUresult result = current->note("cuLaunchKernel", name +
                                                                    format(" %ux%ux%u of %ux%ux%u, %u bytes, ", x, y, z,
                                                                           block_x, block_y, block_z, shared) +
                                                                    current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        const auto kernel = current->kernels_.find(name);
        return current->enqueue(
            stream, kernel != current->kernels_.end() ? kernel->second({x, y, z}, arguments) : [] {});
    }

    // ---- streams and events -----------------------------------------------------------------------------------------
    static CUresult make_stream(CUstream* stream, unsigned, int) {
        return current->make("stream", reinterpret_cast<void**>(stream));
    }
    static CUresult destroy_stream(CUstream stream) { return current->destroy("cuStreamDestroy", stream); }
    static CUresult wait_for_stream(CUstream stream) {
        current->must_not_capture("cuStreamSynchronize");
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
        if (!current->capturing_) {
            current->happened_[event] = false;
            current->recorded_at_[event] = current->next_work_;
        }
        return current->enqueue(stream, [event] { current->happened_[event] = true; });
    }
    static CUresult query_event(CUevent event) {
        const CUresult result = current->note("cuEventQuery", current->name_of(event));
        if (result != CUDA_SUCCESS) return result;
        return current->happened_[event] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    }
    static CUresult wait_for_event(CUevent event) {
        current->must_not_capture("cuEventSynchronize");
        const CUresult result = current->note("cuEventSynchronize", current->name_of(event));
        if (result == CUDA_SUCCESS && !current->happened_[event]) current->run_up_to(current->recorded_at_[event]);
        return result;
    }

    // ---- graphs -----------------------------------------------------------------------------------------------------
    static CUresult begin_capture(CUstream stream, CUstreamCaptureMode) {
        const CUresult result = current->note("cuStreamBeginCapture", current->name_of(stream));
        if (result == CUDA_SUCCESS) current->capturing_ = true;
        return result;
    }
    static CUresult end_capture(CUstream stream, CUgraph* graph) {
        current->capturing_ = false;
        const CUresult result = current->note("cuStreamEndCapture", current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        const CUresult made = current->make("captured graph", reinterpret_cast<void**>(graph));
        if (made == CUDA_SUCCESS) current->graphs_[*graph] = std::move(current->captured_);
        current->captured_.clear();
        return made;
    }
    static CUresult instantiate(CUgraphExec* made, CUgraph graph, unsigned long long) {
        const CUresult result = current->make("graph", reinterpret_cast<void**>(made));
        if (result == CUDA_SUCCESS) current->graphs_[*made] = current->graphs_[graph];
        return result;
    }
    static CUresult launch_graph(CUgraphExec graph, CUstream stream) {
        const CUresult result =
            current->note("cuGraphLaunch", current->name_of(graph) + ", " + current->name_of(stream));
        if (result != CUDA_SUCCESS) return result;
        const Works& works = current->graphs_[graph];
        return current->enqueue(stream, [works] {
            for (const auto& work : works) work();
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
    table_.cuMemcpyDtoHAsync = Functions::copy_to_host;
    table_.cuMemsetD32Async = Functions::set_words;
    table_.cuModuleLoadData = Functions::load_module;
    table_.cuModuleUnload = Functions::unload_module;
    table_.cuModuleGetFunction = Functions::get_function;
    table_.cuFuncGetAttribute = Functions::get_function_attribute;
    table_.cuFuncSetAttribute = Functions::set_function_attribute;
    table_.cuLaunchKernel = Functions::launch;
    table_.cuStreamCreateWithPriority = Functions::make_stream;
    table_.cuStreamDestroy = Functions::destroy_stream;
    table_.cuStreamSynchronize = Functions::wait_for_stream;
    table_.cuStreamWaitEvent = Functions::let_stream_wait;
    table_.cuStreamBeginCapture = Functions::begin_capture;
    table_.cuStreamEndCapture = Functions::end_capture;
    table_.cuEventCreate = Functions::make_event;
    table_.cuEventDestroy = Functions::destroy_event;
    table_.cuEventRecord = Functions::record_event;
    table_.cuEventQuery = Functions::query_event;
    table_.cuEventSynchronize = Functions::wait_for_event;
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

void RecordingDriver::must_not_capture(const char* function) {
    if (capturing_) broken_rules_.push_back(std::string(function) + " while a graph is captured");
}

CUresult RecordingDriver::enqueue(const void* stream, std::function<void()> work, const void* after_event) {
    if (capturing_) {
        captured_.push_back(std::move(work));
        return CUDA_SUCCESS;
    }
    const int64_t before = last_work_.try_emplace(stream, kNothing).first->second;
    const int64_t awaited =
        after_event != nullptr ? recorded_at_.try_emplace(after_event, kNothing).first->second : kNothing;
    last_work_[stream] = next_work_;
    pending_.emplace(next_work_++, Work{std::move(work), stream, before, awaited});
    if (eager_) run();
    return CUDA_SUCCESS;
}

void* RecordingDriver::make_stream(const std::string& name) {
    foreign_streams_.push_back(std::make_unique<std::string>(name));
    return foreign_streams_.back().get();
}

CUresult RecordingDriver::make(const char* kind, void** handle) {
    static const std::map<std::string, const char*> kFunctions = {
        {"context", "cuDevicePrimaryCtxRetain"},  {"module", "cuModuleLoadData"},
        {"stream", "cuStreamCreateWithPriority"}, {"captured graph", "cuStreamEndCapture"},
        {"graph", "cuGraphInstantiate"},          {"event", "cuEventCreate"}};
    *handle = nullptr;
    const std::string name = format("%s %d", kind, made_[kind]);
    const CUresult result = std::strcmp(kind, "captured graph") == 0 ? CUDA_SUCCESS
                            : std::strcmp(kind, "context") == 0      ? fault(kFunctions.at(kind))
                                                                     : note(kFunctions.at(kind), name);
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
    must_not_capture(function);
    *address = nullptr;
    const CUresult result = note(function, format("%zu bytes", bytes));
    if (result != CUDA_SUCCESS) return result;
    auto memory = std::make_unique<std::byte[]>(bytes);
    *address = memory.get();
    memory_[*address] = std::move(memory);
    return CUDA_SUCCESS;
}

CUresult RecordingDriver::give_memory(const char* function, void* address) {
    must_not_capture(function);
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
