// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/window.hpp"

#include <algorithm>
#include <cmath>

#include "scores/pooling.hpp"

namespace qc::run {

namespace {

constexpr double kPercent = 5.0;

} // namespace

bool Window::closes(int64_t time) const {
    return is_open() && (time < start() || number_of(time) != number_ || frames_ >= kMostFrames);
}

void Window::open(int64_t time) {
    if (!was_open_ || time < start()) origin_ = time;
    number_ = number_of(time);
    was_open_ = true;
}

void Window::add(int64_t time, const double* value, const unsigned char* present, size_t columns) {
    if (!is_open()) open(time);
    ++frames_;
    if (columns_.empty()) columns_.resize(columns);
    if (value == nullptr) return;
    for (std::vector<double>& column : columns_)
        if (column.size() == column.capacity()) column.reserve(std::max<size_t>(64, 2 * column.size()));
    ++scored_;
    for (size_t i = 0; i < columns_.size(); ++i)
        if (present[i] != 0) columns_[i].push_back(value[i]);
}

WindowScore Window::pool(size_t column) {
    WindowScore score;
    if (column >= columns_.size() || columns_[column].empty()) return score;
    std::vector<double>& values = columns_[column];
    score.count = static_cast<int>(values.size());
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) return score;
    RunningPool pool;
    for (const double value : values) pool.add(value);
    score.mean = pool.mean();
    score.min = pool.minimum();
    score.p5 = percentile_of(values, kPercent);
    return score;
}

void Window::clear() {
    frames_ = scored_ = 0;
    for (std::vector<double>& column : columns_) column.clear();
}

} // namespace qc::run
