// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores by name and index, whoever computed them: what models read, what is pooled, and what reports hold.
#pragma once

#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <libvmaf/libvmaf.h>

namespace compat {

class ScoreStore {
public:
    /// Who is told of scores of one name as they come.
    using Listener = std::function<void(unsigned index, double value)>;

    /// @param name as reports have it @return whether it is new; a score that is there stays
    bool add(const std::string& name, unsigned index, double value);
    std::optional<double> find(const std::string& name, unsigned index) const;
    bool knows(const std::string& name) const { return by_name_.contains(name); }
    /// Of low to high, both included, without what `every` leaves out. @return none if a score is missing
    std::optional<double> pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high,
                                 unsigned every) const;
    void listen(const std::string& name, Listener listener) { listeners_[name].push_back(std::move(listener)); }

    void add_aggregate(std::string name, double value) { aggregates_.emplace_back(std::move(name), value); }
    const std::vector<std::pair<std::string, double>>& aggregates() const { return aggregates_; }
    /// In the order of their first scores.
    const std::vector<std::string>& names() const { return names_; }
    /// Those that have a score of any name, in order.
    std::vector<unsigned> indices() const;

private:
    static constexpr unsigned kChunk = 256;
    struct Chunk {
        double value[kChunk];
        std::bitset<kChunk> present;
    };
    using Column = std::map<unsigned, std::unique_ptr<Chunk>>; ///< by index / kChunk: indices may be anything

    std::map<std::string, Column, std::less<>> by_name_;
    std::vector<std::string> names_;
    std::vector<std::pair<std::string, double>> aggregates_;
    std::map<std::string, std::vector<Listener>> listeners_;
};

} // namespace compat
