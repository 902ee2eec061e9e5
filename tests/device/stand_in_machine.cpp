// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/device/stand_in_machine.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace qc::test {

// ---- enqueuing ------------------------------------------------------------------------------------------------------

NodePointer Machine::add(Work work, std::vector<NodePointer> before) {
    std::erase_if(before, [](const NodePointer& node) { return is_done(node); });
    pending_.push_back(std::make_shared<Node>(Node{std::move(work), std::move(before)}));
    return pending_.back();
}

void Machine::enqueue(WorkStream& stream, Work work) {
    stream.last = add(std::move(work), {stream.last});
}

void Machine::record(WorkEvent& event, WorkStream& stream) {
    event.node = stream.last;
}

void Machine::wait(WorkStream& stream, const WorkEvent& event) {
    stream.last = add(nullptr, {stream.last, event.node});
}

void Machine::launch(const WorkGraph& graph, WorkStream& stream) {
    std::vector<NodePointer> nodes;
    for (const WorkGraph::Step& step : graph.steps) {
        std::vector<NodePointer> before{stream.last};
        for (const size_t earlier : step.before) before.push_back(nodes[earlier]);
        nodes.push_back(add(step.work, std::move(before)));
    }
    nodes.push_back(stream.last);
    stream.last = add(nullptr, std::move(nodes));
}

// ---- running --------------------------------------------------------------------------------------------------------

bool Machine::run_one() {
    std::vector<size_t> ready;
    for (size_t i = 0; i < pending_.size() && (seed_ != 0 || ready.empty()); ++i)
        if (std::all_of(pending_[i]->before.begin(), pending_[i]->before.end(), is_done)) ready.push_back(i);
    if (ready.empty()) return false;
    const size_t chosen = ready[random(static_cast<uint32_t>(ready.size()))];
    const NodePointer node = pending_[chosen];
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(chosen));
    if (node->work) node->work();
    node->work = nullptr;
    node->before.clear();
    node->done = true;
    return true;
}

void Machine::finish(const NodePointer& node) {
    while (!is_done(node) && run_one()) {
    }
}

void Machine::finish_all() {
    while (run_one()) {
    }
}

void Machine::advance() {
    for (uint32_t count = 1 + random(4); count > 0 && run_one(); --count) {
    }
}

void Machine::abandon_all() {
    for (const NodePointer& node : pending_) {
        node->work = nullptr;
        node->before.clear();
        node->done = true;
    }
    pending_.clear();
}

// ---- memory ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::align_val_t kAlignment{256};
constexpr size_t kGuardBytes = 64;
constexpr std::byte kJunk{0xad}, kGuard{0x5a};

} // namespace

GuardedMemory::~GuardedMemory() {
    for (const auto& [memory, bytes] : pieces_) ::operator delete(const_cast<std::byte*>(memory), kAlignment);
}

void* GuardedMemory::take(size_t bytes) {
    auto* const memory = static_cast<std::byte*>(::operator new(bytes + kGuardBytes, kAlignment));
    std::memset(memory, static_cast<int>(kJunk), bytes);
    std::memset(memory + bytes, static_cast<int>(kGuard), kGuardBytes);
    pieces_[memory] = bytes;
    bytes_ += bytes;
    return memory;
}

bool GuardedMemory::give_back(void* address, bool* intact) {
    const auto found = pieces_.find(static_cast<std::byte*>(address));
    if (found == pieces_.end()) return false;
    const std::byte* const guard = found->first + found->second;
    *intact = std::all_of(guard, guard + kGuardBytes, [](std::byte byte) { return byte == kGuard; });
    bytes_ -= found->second;
    pieces_.erase(found);
    ::operator delete(address, kAlignment);
    return true;
}

bool GuardedMemory::holds(const void* address, size_t bytes) const {
    const auto* const begin = static_cast<const std::byte*>(address);
    auto piece = pieces_.upper_bound(begin);
    if (piece == pieces_.begin()) return false;
    --piece;
    return begin + bytes <= piece->first + piece->second;
}

} // namespace qc::test
