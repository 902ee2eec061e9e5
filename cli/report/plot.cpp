// SPDX-License-Identifier: BSD-2-Clause-Patent
// One score over time as an SVG, and as a PNG by librsvg's program.
#include "report/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "ffmpeg/said.hpp"
#include "process/process.hpp"
#include "report/html.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr double kWidth = 1600, kHeight = 900, kLeft = 110, kRight = 30, kTop = 70, kBottom = 80, kLegendLine = 26;
constexpr int kMostTicks = 20;
constexpr size_t kBins = 700; ///< of the time axis
/// Told apart by people who see few colours too (M. Okabe and K. Ito, "Color Universal Design", 2008), as in
/// report/plots.js, and by dashes.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#007a5a", "#a8508a", "#8a6d00", "#4b4b4b"};

struct Bin {
    double frame = 0, mean = NAN, low = NAN, high = NAN;
};

std::vector<Bin> bins_of(const ScoreLog& log, const Scores& scores) {
    const size_t count = std::min(kBins, scores.values.size());
    std::vector<Bin> bins;
    for (size_t k = 0; k < count; ++k) {
        const size_t first = scores.values.size() * k / count, end = scores.values.size() * (k + 1) / count;
        Bin bin{.frame = 0.5 * static_cast<double>(log.frames[first] + log.frames[end - 1])};
        double sum = 0, present = 0;
        for (size_t i = first; i < end; ++i) {
            if (std::isnan(scores.values[i])) continue;
            sum += scores.values[i];
            ++present;
            bin.low = std::fmin(bin.low, scores.values[i]);
            bin.high = std::fmax(bin.high, scores.values[i]);
        }
        if (present == 0) continue;
        bin.mean = sum / present;
        bins.push_back(bin);
    }
    return bins;
}

/// Linear from values to places.
struct Axis {
    double low = 0, high = 1, from = 0, to = 1;
    double place(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

/// 1, 2 or 5 times a power of ten, about eight in all.
double tick_distance(const Axis& axis) {
    const double wanted = (axis.high - axis.low) / 8, power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double times : {1.0, 2.0, 5.0})
        if (times * power >= wanted) return times * power;
    return 10 * power;
}

std::string number(double value) {
    return fixed(value, 2);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) +
           "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& attributes) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
           "\" " + attributes + "/>\n";
}

/// Multiples of a distance on an axis; counted, for a step may be too small to be seen in a large number.
std::vector<double> ticks_of(const Axis& axis, double distance) {
    std::vector<double> ticks;
    const double first = std::ceil(axis.low / distance);
    for (int k = 0; k < kMostTicks && (first + k) * distance <= axis.high; ++k) ticks.push_back((first + k) * distance);
    return ticks;
}

std::string grid(const Axis& x, const Axis& y) {
    std::string svg;
    const double y_step = tick_distance(y);
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(y_step))), 0, 12);
    for (const double value : ticks_of(x, std::max(1.0, tick_distance(x))))
        svg += line(x.place(value), y.from, x.place(value), y.to, "stroke=\"#ddd\"") +
               text_at(x.place(value), y.from + 28, "middle", fixed(value, 0));
    for (const double value : ticks_of(y, y_step))
        svg += line(x.from, y.place(value), x.to, y.place(value), "stroke=\"#ddd\"") +
               text_at(x.from - 10, y.place(value) + 6, "end", fixed(value == 0 ? 0 : value, decimals));
    return svg;
}

std::string curve(const std::vector<Bin>& bins, const Axis& x, const Axis& y, const Style& style) {
    const std::string colour = kColours[style.colour % std::size(kColours)];
    std::string middle, upper, lower;
    for (const Bin& bin : bins) {
        middle += number(x.place(bin.frame)) + "," + number(y.place(bin.mean)) + " ";
        upper += number(x.place(bin.frame)) + "," + number(y.place(bin.high)) + " ";
        lower.insert(0, number(x.place(bin.frame)) + "," + number(y.place(bin.low)) + " ");
    }
    return "<polygon points=\"" + upper + lower + "\" fill=\"" + colour +
           "\" fill-opacity=\"0.15\"/>\n<polyline points=\"" + middle + "\" fill=\"none\" stroke=\"" + colour +
           "\" stroke-width=\"2\" stroke-dasharray=\"" + dash_of(style) + "\"/>\n";
}

std::string legend(const Report& report) {
    std::string svg;
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        const double y = kHeight + kLegendLine * static_cast<double>(i);
        svg += line(kLeft, y, kLeft + 60, y,
                    std::string("stroke-width=\"3\" stroke=\"") +
                        kColours[report.encodes[i].style.colour % std::size(kColours)] + "\" stroke-dasharray=\"" +
                        dash_of(report.encodes[i].style) + "\"") +
               text_at(kLeft + 72, y + 6, "start", report.encodes[i].label);
    }
    return svg;
}

/// Room for a value that is the same everywhere too.
void widen(Axis* axis) {
    const double spare = axis->high > axis->low ? 0.03 * (axis->high - axis->low) : std::max(1.0, std::fabs(axis->low));
    axis->low -= spare;
    axis->high += spare;
}

} // namespace

std::string dash_of(const Style& style) {
    return kDashes[style.dash % std::size(kDashes)];
}

std::string plot_of(const Report& report) {
    std::vector<std::vector<Bin>> curves;
    Axis x{INFINITY, -INFINITY, kLeft, kWidth - kRight}, y{INFINITY, -INFINITY, kHeight - kBottom, kTop};
    for (const Encode& each : report.encodes) {
        const Scores* const scores = each.log.find(report.score);
        curves.push_back(scores != nullptr ? bins_of(each.log, *scores) : std::vector<Bin>());
        x.low = std::min(x.low, static_cast<double>(each.log.frames.front()));
        x.high = std::max(x.high, static_cast<double>(each.log.frames.back()) + 1);
        for (const Bin& bin : curves.back()) {
            y.low = std::min(y.low, bin.low);
            y.high = std::max(y.high, bin.high);
        }
    }
    if (y.low > y.high) y.low = y.high = 0;
    widen(&y);
    const double height = kHeight + kLegendLine * static_cast<double>(report.encodes.size());
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
        "\" width=\"" + number(kWidth) + "\" height=\"" + number(height) +
        "\" font-family=\"sans-serif\" font-size=\"20\" role=\"img\">\n<title>" + escaped(report.score) +
        " over time</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
        text_at(kLeft, 40, "start", report.score + " over frames: mean, and range from lowest to highest") + grid(x, y);
    for (size_t i = 0; i < curves.size(); ++i)
        if (!curves[i].empty()) svg += curve(curves[i], x, y, report.encodes[i].style);
    return svg + text_at(kWidth - kRight, kHeight - kBottom + 56, "end", "frame") + legend(report) + "</svg>\n";
}

void write_png(const std::string& path, const std::string& svg) {
    heed_signals();
    const TemporaryFolder folder;
    write_whole(folder.file("plot.svg"), svg);
    const Outcome outcome = run({{"rsvg-convert", "--output", folder.file("plot.png"), folder.file("plot.svg")}, {}});
    if (outcome.status == 127)
        throw Failure("--png=" + path + " needs rsvg-convert, which was not found (Debian's librsvg2-bin)");
    if (!outcome.ok()) throw Failure("--png=" + path + ": rsvg-convert failed: " + reason_of(outcome));
    write_whole(path, read_whole(folder.file("plot.png")));
}

} // namespace qc::cli
