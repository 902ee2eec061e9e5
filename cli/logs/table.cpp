// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "logs/summary.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kGap = 2;           ///< blanks between columns
constexpr size_t kShortestName = 16; ///< to which a file's name is cut

/// A column: its head and a cell for each row.
struct Column {
    std::string head;
    std::vector<std::string> cells;
    bool is_text = false; ///< to the left
    size_t width() const;
};

/// The columns of one score, below its name.
struct Group {
    std::string head; ///< empty: columns without a common head
    std::vector<Column> columns;
    size_t width() const;
};

/// Signs, not bytes.
size_t length_of(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool is_left) {
    const size_t length = length_of(text);
    const std::string space(length < width ? width - length : 0, ' ');
    return is_left ? text + space : space + text;
}

size_t Column::width() const {
    size_t width = length_of(head);
    for (const std::string& each : cells) width = std::max(width, length_of(each));
    return width;
}

size_t Group::width() const {
    size_t width = 0;
    for (const Column& each : columns) width += (width > 0 ? kGap : 0) + each.width();
    return std::max(width, length_of(head));
}

std::string without_end(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

TerminalText head_line(std::string text, bool is_bold) {
    text = without_end(std::move(text));
    TerminalText line = is_bold ? TerminalText::bold(text) : TerminalText(text);
    return line += "\n";
}

/// Its beginning and its end, which has what tells encodes apart. Cut between signs.
std::string cut_to(const std::string& name, size_t width) {
    if (length_of(name) <= width) return name;
    const auto bytes_of = [&](size_t signs) {
        size_t at = 0;
        for (size_t seen = 0; at < name.size(); ++at)
            if ((static_cast<unsigned char>(name[at]) & 0xc0) != 0x80 && seen++ == signs) break;
        return at;
    };
    const size_t kept = width - 3, front = kept / 3;
    return name.substr(0, bytes_of(front)) + "..." + name.substr(bytes_of(length_of(name) - (kept - front)));
}

std::string base_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

/// As they were typed, or, where that is too long, without folders, if they differ then.
std::vector<std::string> names_of(const std::vector<TableRow>& rows, size_t width) {
    std::vector<std::string> names, bases;
    bool are_short = true;
    for (const TableRow& row : rows) {
        names.push_back(row.file);
        bases.push_back(base_of(row.file));
        are_short = are_short && length_of(row.file) <= width;
    }
    if (width == 0 || are_short) return names;
    if (std::set<std::string>(bases.begin(), bases.end()).size() == bases.size()) names = bases;
    for (std::string& each : names) each = cut_to(each, width);
    return names;
}

std::string size_text(const StreamFacts& video) {
    return video.width > 0 ? std::to_string(video.width) + "x" + std::to_string(video.height) : "-";
}

std::string rate_text(double kbit_per_s) {
    return kbit_per_s > 0 ? fixed(kbit_per_s, kbit_per_s < 10 ? 1 : 0) : "-";
}

/// What is told of the videos; nothing of what is known of none.
Group facts_of(const Table& table, size_t width) {
    Column size{"size", {}, true}, codec{"codec", {}, true}, rate{"kbit/s", {}, false}, failed{"", {}, true};
    for (const TableRow& row : table.rows) {
        size.cells.push_back(size_text(row.video));
        codec.cells.push_back(row.video.codec.empty() ? "-" : row.video.codec);
        rate.cells.push_back(rate_text(row.video.bit_rate / 1000));
        failed.cells.emplace_back(row.has_failed ? "failed" : "");
    }
    std::vector<Column> known;
    for (Column* each : {&size, &codec, &rate})
        if (std::any_of(each->cells.begin(), each->cells.end(), [](const std::string& cell) { return cell != "-"; }))
            known.push_back(std::move(*each));
    if (failed.width() > 0) known.push_back(std::move(failed));
    size_t taken = 0;
    for (const Column& each : known) taken += kGap + each.width();
    constexpr size_t kScore = 24; // of one group, which stands beside them
    const size_t room = width > taken + kScore + kShortestName ? width - taken - kScore : kShortestName;
    Group group{"", {{"file", names_of(table.rows, width == 0 ? 0 : room), true}}};
    for (Column& each : known) group.columns.push_back(std::move(each));
    return group;
}

Group group_of(const Table& table, const std::string& score) {
    const std::string unit = unit_of(score);
    Group group{score + (unit.empty() ? "" : ", " + unit), {}};
    for (const char* pool : pools_of(score)) {
        Column column{pool, {}, false};
        for (const TableRow& row : table.rows)
            column.cells.push_back(score_cell(score, pooled_of(row.log, score, pool)));
        group.columns.push_back(std::move(column));
    }
    return group;
}

/// Groups beside each other: the line of their heads, that of the columns', and the rows.
TerminalText block_of(const std::vector<Group>& groups, size_t rows, bool is_bold) {
    std::string heads, columns;
    std::vector<std::string> lines(rows);
    for (size_t g = 0; g < groups.size(); ++g) {
        const Group& group = groups[g];
        const std::string gap(g > 0 ? 2 * kGap : 0, ' ');
        heads += gap + padded(group.head, group.width(), false);
        columns += gap;
        for (std::string& line : lines) line += gap;
        size_t taken = 0;
        for (const Column& each : group.columns) taken += (taken > 0 ? kGap : 0) + each.width();
        for (size_t c = 0; c < group.columns.size(); ++c) {
            const Column& column = group.columns[c];
            // A head that is wider than its columns widens the first.
            const size_t width = column.width() + (c == 0 ? group.width() - taken : 0);
            const std::string between(c > 0 ? kGap : 0, ' ');
            columns += between + padded(column.head, width, column.is_text);
            for (size_t row = 0; row < rows; ++row)
                lines[row] += between + padded(column.cells[row], width, column.is_text);
        }
    }
    TerminalText text;
    if (!without_end(heads).empty()) text += head_line(heads, is_bold);
    text += head_line(columns, is_bold);
    for (const std::string& line : lines) text += without_end(line) + "\n";
    return text;
}

/// "vmaf_v0.6.1", or "vmaf: vmaf_v0.6.1, vmaf_neg: vmaf_v0.6.1neg"
std::string models_of(const Json& log) {
    const Json& models = member(log, "models");
    std::string text;
    if (!models.is_array()) return text;
    for (const Json& each : models) {
        const std::string name = cli::text_of(each, "name"), model = cli::text_of(each, "model");
        if (!text.empty()) text += ", ";
        if (models.size() > 1 || name != "vmaf") text.append(name).append(": ");
        text += model;
    }
    return text;
}

struct Frames {
    int64_t count = 0, scored = 0;
    bool are_complete = true;

    explicit Frames(const TableRow& row)
        : count(count_of(member(row.log, "pairing"), "frames")), scored(count_of(member(row.log, "pairing"), "scored")),
          are_complete(member(row.log, "complete") == true) {}
    std::string text() const {
        return "frames: " + std::to_string(count) + ", scored: " + std::to_string(scored) +
               (are_complete ? "" : ", INCOMPLETE");
    }
};

/// One line of what is alike, otherwise one of each row.
std::string lines_of(const std::vector<TableRow>& rows, const std::string& label,
                     std::string (*text_of_row)(const TableRow&)) {
    std::vector<std::string> texts;
    texts.reserve(rows.size());
    for (const TableRow& row : rows) texts.push_back(text_of_row(row));
    if (std::all_of(texts.begin(), texts.end(), [&](const std::string& each) { return each == texts.front(); }))
        return texts.front().empty() ? "" : label + texts.front() + "\n";
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i)
        text += base_of(rows[i].file) + ": " + label + (texts[i].empty() ? "-" : texts[i]) + "\n";
    return text;
}

/// One line, if no row lacks a frame: videos of one table may be of different lengths.
std::string frames_of(const std::vector<TableRow>& rows) {
    Frames all(rows.front());
    bool are_whole = true;
    for (size_t i = 0; i < rows.size(); ++i) {
        const Frames own(rows[i]);
        are_whole = are_whole && own.are_complete && own.count == own.scored;
        if (i == 0) continue;
        all.count += own.count;
        all.scored += own.scored;
    }
    std::string lines = lines_of(rows, "", [](const TableRow& row) { return Frames(row).text(); });
    if (!are_whole || std::count(lines.begin(), lines.end(), '\n') == 1) return lines;
    return all.text() + ", of " + std::to_string(rows.size()) + " files\n";
}

/// Scores that a metric has for the whole video.
std::string whole_lines_of(const Table& table) {
    std::string text;
    for (const TableRow& row : table.rows) {
        const Json& whole = member(row.log, "aggregate_metrics");
        if (!whole.is_object()) continue;
        for (const auto& [score, value] : whole.items()) {
            const std::string unit = unit_of(score);
            text += (table.rows.size() > 1 ? base_of(row.file) + ": " : "") + score + " " +
                    score_cell(score, whole_value_of(row.log, score)) + (unit.empty() ? "" : " " + unit) +
                    " of the whole video\n";
        }
    }
    return text;
}

std::string foot_of(const Table& table) {
    std::string text = whole_lines_of(table) + "reference: " + table.reference;
    std::string facts = table.reference_video.width > 0 ? size_text(table.reference_video) : "";
    if (!table.reference_video.codec.empty()) facts += (facts.empty() ? "" : ", ") + table.reference_video.codec;
    text += (facts.empty() ? "" : " (" + facts + ")") + "\n";
    std::vector<TableRow> rows;
    for (const TableRow& row : table.rows)
        if (!row.has_failed) rows.push_back(row);
    if (rows.empty()) return text;
    text += lines_of(rows, "model: ", [](const TableRow& row) { return models_of(row.log); });
    const std::string backend = backend_of(rows.front().log);
    const std::string speed = table.frames_per_second > 0 ? fixed(table.frames_per_second, 0) + " frames/s" : "";
    if (!backend.empty() || !speed.empty())
        text += "backend: " + (backend.empty() ? "-" : backend) + (speed.empty() ? "" : "; " + speed) + "\n";
    return text + frames_of(rows);
}

/// Of one video: a row for each score.
TerminalText list_of(const Table& table, bool is_bold) {
    Group group{"",
                {{"score", {}, true}, {"mean", {}, false}, {"p5", {}, false}, {"min", {}, false}, {"max", {}, false}}};
    for (const std::string& score : table.scores) {
        const std::string unit = unit_of(score);
        std::string& head = group.columns[0].cells.emplace_back(score);
        if (!unit.empty()) head.append(", ").append(unit);
        for (size_t c = 1; c < group.columns.size(); ++c)
            group.columns[c].cells.push_back(
                score_cell(score, pooled_of(table.rows.front().log, score, group.columns[c].head.c_str())));
    }
    return block_of({group}, table.scores.size(), is_bold);
}

} // namespace

std::vector<const char*> pools_of(const std::string& score) {
    if (better(score) == Better::kLower) return {"mean", "p50", "max"};
    return {"mean", "p5", "min"};
}

std::string unit_of(const std::string& score) {
    const auto has = [&](std::string_view part) { return score.find(part) != std::string::npos; };
    return has("psnr") ? "dB" : score.starts_with("cvvdp") ? "JOD" : "";
}

std::string score_cell(const std::string& score, double value) {
    constexpr std::string_view kSmall[] = {"ssim", "vif", "adm", "aim"};
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const bool is_small = score.find("ssimulacra") == std::string::npos &&
                          std::any_of(std::begin(kSmall), std::end(kSmall),
                                      [&](std::string_view each) { return score.find(each) != std::string::npos; });
    return fixed(value, is_small ? 4 : 2);
}

TerminalText text_of(const Table& table, size_t width, bool is_bold) {
    const Group facts = facts_of(table, width);
    const size_t rows = table.rows.size();
    std::vector<std::vector<Group>> blocks{{facts}};
    size_t taken = facts.width();
    for (const std::string& score : table.scores) {
        Group group = group_of(table, score);
        if (width > 0 && blocks.back().size() > 1 && taken + 2 * kGap + group.width() > width) {
            blocks.push_back({{"", {facts.columns.front()}}});
            taken = blocks.back().front().width();
        }
        taken += 2 * kGap + group.width();
        blocks.back().push_back(std::move(group));
    }
    TerminalText text;
    constexpr size_t kMostBeside = 4; // scores: of more, one below the other, a person finds one sooner
    if (rows == 1 && (blocks.size() > 1 || table.scores.size() > kMostBeside)) {
        text = block_of({facts}, rows, is_bold);
        text += "\n";
        text += list_of(table, is_bold);
    } else {
        for (const std::vector<Group>& block : blocks) {
            if (!text.shown().empty()) text += "\n";
            text += block_of(block, rows, is_bold);
        }
    }
    text += "\n";
    return text += foot_of(table);
}

size_t terminal_width() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0) return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* const columns = std::getenv("COLUMNS");
    const int told = columns != nullptr ? std::atoi(columns) : 0;
    return told > 0 ? static_cast<size_t>(told) : 80;
}

bool shows_bold() {
    const char *const none = std::getenv("NO_COLOR"), *const kind = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0') &&
           (kind == nullptr || std::string_view(kind) != "dumb");
}

std::string backend_of(const Json& log) {
    const std::string engine =
        cli::text_of(log, "engine"); // "CUDA on NVIDIA H100: batches of ...", "CPU: 2 threads, ..."
    return engine.substr(0, engine.starts_with("CUDA") ? engine.find(": ") : engine.find(','));
}

} // namespace qc::cli
