// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/interrupts.h"

#include <atomic>
#include <csignal>
#include <mutex>

#ifdef SA_SIGINFO

namespace {

struct Signal {
    int number;
    const char* name;
    struct sigaction previous {}; ///< the program's
    bool is_wrapped = false;
};

Signal signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}};
// A handler runs on any thread, watchers ask on theirs.
std::atomic<int> noted{0}, last_number{0};
std::mutex watchers_mutex;
int watchers = 0;

/// Runs as a signal handler: notes, and hands on.
void take_note(int number, siginfo_t* info, void* context) {
    last_number = number;
    ++noted;
    for (const Signal& signal : signals) {
        if (signal.number != number) continue;
        if ((signal.previous.sa_flags & SA_SIGINFO) != 0)
            signal.previous.sa_sigaction(number, info, context);
        else
            signal.previous.sa_handler(number);
    }
}

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == take_note;
}

bool is_handled(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void wrap(Signal& signal) {
    struct sigaction action {};
    // Still wrapped: somebody's later handler may call ours, and must not be called by it.
    if (signal.is_wrapped || sigaction(signal.number, nullptr, &action) != 0 || is_ours(action) || !is_handled(action))
        return;
    signal.previous = action;
    action.sa_flags |= SA_SIGINFO;
    action.sa_sigaction = take_note;
    signal.is_wrapped = sigaction(signal.number, &action, nullptr) == 0;
}

/// Whoever wrapped the handler later than we did goes on calling ours.
void unwrap(Signal& signal) {
    struct sigaction action {};
    if (!signal.is_wrapped || sigaction(signal.number, nullptr, &action) != 0 || !is_ours(action)) return;
    signal.is_wrapped = sigaction(signal.number, &signal.previous, nullptr) != 0;
}

} // namespace

void qcr_interrupts_watch(qcr_interrupts* watch) {
    const std::scoped_lock lock(watchers_mutex);
    if (watchers++ == 0)
        for (Signal& signal : signals) wrap(signal);
    watch->is_watching = 1;
    watch->before = noted;
}

const char* qcr_interrupted_by(const qcr_interrupts* watch) {
    if (watch->is_watching == 0 || noted == watch->before) return nullptr;
    for (const Signal& signal : signals)
        if (signal.number == last_number) return signal.name;
    return "a signal";
}

void qcr_interrupts_unwatch(qcr_interrupts* watch) {
    if (watch->is_watching == 0) return;
    watch->is_watching = 0;
    const std::scoped_lock lock(watchers_mutex);
    if (--watchers == 0)
        for (Signal& signal : signals) unwrap(signal);
}

#else // no such signals

void qcr_interrupts_watch(qcr_interrupts* watch) {
    watch->is_watching = 1;
}

const char* qcr_interrupted_by(const qcr_interrupts* /*watch*/) {
    return nullptr;
}

void qcr_interrupts_unwatch(qcr_interrupts* watch) {
    watch->is_watching = 0;
}

#endif
