// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/report/claims.hpp"

#include <list>
#include <mutex>
#include <string_view>

#include "run/report/paths.hpp"

namespace qc::run {

namespace {

struct Entry {
    std::string canonical;
    const void* owner = nullptr; ///< null: it has ended
    const char* option = "";
    bool is_log = false, was_used = false; ///< by an owner that has ended
};

std::mutex mutex;

/// Not destroyed: instances may end while the process does.
std::list<Entry>& entries() {
    static auto* const all = new std::list<Entry>;
    return *all;
}

Entry* find(const std::string& canonical) {
    for (Entry& entry : entries())
        if (is_same_file(entry.canonical, canonical)) return &entry;
    return nullptr;
}

} // namespace

Claim claim_file(const void* owner, const qcr_path& path, const char* option, bool is_log, bool replaceable) {
    const std::lock_guard lock(mutex);
    Entry* entry = find(path.canonical);
    if (entry != nullptr && !is_log && entry->owner == owner) return {Claim::Result::kOwn, entry->option};
    const bool goes_on = entry != nullptr && !is_log && entry->owner == nullptr && !entry->is_log &&
                         std::string_view(entry->option) == option;
    if (entry != nullptr && !goes_on) return {Claim::Result::kTaken};
    if (const int error = check_writable(path, replaceable, true); error != 0)
        return {Claim::Result::kFailed, "", false, error};
    if (goes_on)
        entry->owner = owner;
    else
        entries().push_front({path.canonical, owner, option, is_log});
    return {Claim::Result::kClaimed, "", goes_on};
}

void end_claims(const void* owner, bool used) noexcept {
    const std::lock_guard lock(mutex);
    entries().remove_if([&](Entry& entry) {
        if (entry.owner == owner) {
            entry.owner = nullptr;
            entry.was_used |= used;
        }
        return entry.owner == nullptr && !entry.was_used;
    });
}

} // namespace qc::run
