// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/device/stand_in_machine.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace qc::test {
namespace {

size_t add_step(Capture& capture, Work work, std::vector<size_t> before) {
    capture.graph.steps.push_back({std::move(work), std::move(before)});
    return capture.graph.steps.size() - 1;
}

std::vector<size_t> latest_of(const Capture& capture, WorkStream& stream) {
    const auto found = capture.last.find(&stream);
    return found == capture.last.end() ? std::vector<size_t>{} : std::vector<size_t>{found->second};
}

/// Whether `step` comes before `last`, or is it.
bool leads_to(const WorkGraph& graph, size_t step, size_t last) {
    std::vector<size_t> open{last};
    std::set<size_t> seen;
    while (!open.empty()) {
        const size_t current = open.back();
        open.pop_back();
        if (current == step) return true;
        if (!seen.insert(current).second) continue;
        open.insert(open.end(), graph.steps[current].before.begin(), graph.steps[current].before.end());
    }
    return false;
}

} // namespace

// ---- enqueuing ------------------------------------------------------------------------------------------------------

NodePointer Machine::add(Work work, std::vector<NodePointer> before) {
    std::erase_if(before, [](const NodePointer& node) { return is_done(node); });
    pending_.push_back(std::make_shared<Node>(Node{std::move(work), std::move(before)}));
    return pending_.back();
}

void Machine::enqueue(WorkStream& stream, Work work) {
    if (stream.capture != nullptr) {
        Capture& capture = *stream.capture;
        capture.last[&stream] = add_step(capture, std::move(work), latest_of(capture, stream));
        return;
    }
    stream.last = add(std::move(work), {stream.last});
}

void Machine::record(WorkEvent& event, WorkStream& stream) {
    event.capture = stream.capture;
    if (stream.capture == nullptr) {
        event.node = stream.last;
        return;
    }
    Capture& capture = *stream.capture;
    event.step = add_step(capture, nullptr, latest_of(capture, stream));
    capture.last[&stream] = event.step;
}

void Machine::wait(WorkStream& stream, const WorkEvent& event) {
    if (event.capture == nullptr) {
        if (stream.capture == nullptr) stream.last = add(nullptr, {stream.last, event.node});
        return;
    }
    stream.capture = event.capture; // a stream joins by waiting
    Capture& capture = *stream.capture;
    std::vector<size_t> before = latest_of(capture, stream);
    before.push_back(event.step);
    capture.last[&stream] = add_step(capture, nullptr, std::move(before));
}

bool Machine::begin_capture(WorkStream& stream) {
    if (stream.capture != nullptr) return false;
    stream.capture = std::make_shared<Capture>();
    stream.capture->origin = &stream;
    return true;
}

std::unique_ptr<WorkGraph> Machine::end_capture(WorkStream& stream) {
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture == nullptr || capture->origin != &stream) return nullptr;
    stream.capture = nullptr;
    bool joined = true;
    for (const auto& [participant, step] : capture->last) {
        participant->capture = nullptr;
        joined = joined && leads_to(capture->graph, step, capture->last[&stream]);
    }
    return joined ? std::make_unique<WorkGraph>(std::move(capture->graph)) : nullptr;
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
