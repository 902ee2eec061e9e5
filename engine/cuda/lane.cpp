// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/lane.hpp"

#include <algorithm>

namespace qc::cuda {

Status Lane::launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) {
    const Driver& driver = context_.driver();
    CUDA_KERNEL_NODE_PARAMS launch{};
    launch.func = static_cast<CUfunction>(kernel.function);
    launch.gridDimX = grid.x;
    launch.gridDimY = grid.y;
    launch.gridDimZ = grid.z;
    launch.blockDimX = block.x;
    launch.blockDimY = block.y;
    launch.blockDimZ = block.z;
    launch.sharedMemBytes = static_cast<unsigned>(kernel.dynamic_shared_bytes);
    launch.kernelParams = arguments;
    CUgraphNode node = nullptr;
    QC_CUDA(driver, cuGraphAddKernelNode, &node, graph_, latest_.data(), latest_.size(), &launch);
    if (priority_ == Priority::kHigh) {
        int lowest = 0;
        CUlaunchAttributeValue value{};
        QC_CUDA(driver, cuCtxGetStreamPriorityRange, &lowest, &value.priority);
        QC_CUDA(driver, cuGraphKernelNodeSetAttribute, node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    }
    append(node);
    ++launches_;
    return {};
}

Status Lane::zero(void* device_address, size_t bytes) {
    if (bytes == 0) return {};
    CUDA_MEMSET_NODE_PARAMS job{};
    job.dst = reinterpret_cast<CUdeviceptr>(device_address);
    job.elementSize = 4;
    job.width = bytes / 4;
    job.height = 1;
    CUgraphNode node = nullptr;
    QC_CUDA(context_.driver(), cuGraphAddMemsetNode, &node, graph_, latest_.data(), latest_.size(), &job,
            context_.handle());
    append(node);
    return {};
}

Status Lane::copy_to_host(void* target, CUdeviceptr source, size_t bytes) {
    CUDA_MEMCPY3D job{};
    job.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    job.srcDevice = source;
    job.dstMemoryType = CU_MEMORYTYPE_HOST;
    job.dstHost = target;
    job.WidthInBytes = bytes;
    job.Height = 1;
    job.Depth = 1;
    CUgraphNode node = nullptr;
    QC_CUDA(context_.driver(), cuGraphAddMemcpyNode, &node, graph_, latest_.data(), latest_.size(), &job,
            context_.handle());
    append(node);
    return {};
}

Status Lane::side_by_side(int pieces, const AddPiece& add) {
    const Lane before = fork(priority_);
    for (int piece = 0; piece < pieces; ++piece) {
        Lane own = before.fork(priority_);
        QC_RETURN_IF_ERROR(add(piece, own));
        if (piece == 0) latest_.clear(); // what the pieces come behind comes before them
        join(own);
    }
    return {};
}

Lane Lane::fork(Priority priority) const {
    Lane made(context_, graph_);
    made.latest_ = latest_;
    made.priority_ = priority;
    made.is_crowded_ = is_crowded_;
    return made;
}

void Lane::join(const Lane& other) {
    for (CUgraphNode node : other.latest_) // an edge may be named once only
        if (std::find(latest_.begin(), latest_.end(), node) == latest_.end()) latest_.push_back(node);
    launches_ += other.launches_;
}

} // namespace qc::cuda
