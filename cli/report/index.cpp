// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command `report`: of one title, or of many: a page of each, and one that lists them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "logs/logs.hpp"
#include "process/progress.hpp"
#include "report/html.hpp"
#include "report/report.hpp"
#include "report/report_page.hpp"
#include "report/report_sections.hpp"
#include "report/worst.hpp"
#include "results/outputs.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/terminal.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSaid = 10; ///< of files that are no logs

/// Logs of one reference.
struct ReportedTitle {
    std::string name, page; ///< the page's file
    std::vector<std::string> logs;
};

/// A line of the list.
struct Row {
    std::string name, page; ///< without a page it has none
    std::string verdict;    ///< or why it failed
    size_t encodes = 0, findings = 0;
    std::string score, where;
    double mean = NAN, worst = NAN; ///< of all encodes; of the worst scene
    int decimals = 2;
};

/// A log that was found, and what it is of.
struct FoundLog {
    std::string path, title, key;
};

bool is_log_name(const fs::path& path) {
    static const std::set<std::string> kEndings = {".json", ".jsonl", ".xml", ".csv"};
    return kEndings.count(path.extension().string()) > 0;
}

/// Whether it is taken with the first rendition's.
bool is_further_rendition(const fs::path& path) {
    const std::string ending = fs::path(path.stem()).extension().string();
    std::error_code error;
    return ending.starts_with(".rendition") &&
           fs::exists(path.parent_path() / (path.stem().stem().string() + path.extension().string()), error);
}

/// By its record; otherwise by the folder that holds it within the one that was named.
FoundLog found_log(const fs::path& path, const fs::path& top) {
    std::string why_not;
    const std::string own = path.stem().string();
    if (const auto made = read_provenance(path.string(), &why_not); made && made->files.size() > 1) {
        const SourceFile& reference = made->files[1];
        return {path.string(), fs::path(reference.path).stem().string(),
                "file " + (reference.checksum.empty() ? reference.path : reference.checksum)};
    }
    const fs::path folder = path.parent_path();
    if (top.empty() || fs::path(folder).lexically_relative(top) == ".")
        return {path.string(), own, "log " + path.string()};
    return {path.string(), folder.filename().string(), "folder " + folder.string()};
}

/// Whether a file of a folder is a log. @param others what is said of those that are none
bool is_log(const std::string& path, std::vector<std::string>* others) {
    std::string why_not;
    if (read_provenance(path, &why_not)) return true;
    try {
        read_log(path);
        return true;
    } catch (const Failure& failure) {
        others->push_back(std::string("left out: ") + failure.what());
        return false;
    }
}

std::vector<FoundLog> find_logs(const ReportOptions& options, std::vector<std::string>* others) {
    std::vector<FoundLog> found;
    for (const std::string& each : options.logs) {
        std::error_code error;
        if (!fs::is_directory(each, error)) {
            found.push_back(found_log(each, ""));
            continue;
        }
        std::vector<fs::path> paths;
        for (auto at = fs::recursive_directory_iterator(each, error);
             !error && at != fs::recursive_directory_iterator(); at.increment(error))
            if (at->is_regular_file(error) && is_log_name(at->path()) && !is_further_rendition(at->path()))
                paths.push_back(at->path());
        if (error) throw Failure(each + ": " + error.message());
        std::sort(paths.begin(), paths.end());
        for (const fs::path& path : paths)
            if (is_log(path.string(), others)) found.push_back(found_log(path, each));
    }
    return found;
}

/// As a name of a file that needs no quotes anywhere.
std::string plain_name(const std::string& name) {
    std::string plain;
    for (const char c : name)
        plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
    return plain.empty() ? "title" : plain;
}

std::vector<ReportedTitle> titles_of(const std::vector<FoundLog>& logs) {
    std::vector<ReportedTitle> titles;
    std::map<std::string, size_t> places;
    std::set<std::string> pages = {"index.html"};
    for (const FoundLog& each : logs) {
        const auto [place, is_new] = places.emplace(each.key, titles.size());
        if (is_new) {
            const std::string start = plain_name(each.title);
            std::string page = start + ".html";
            for (size_t k = 2; !pages.insert(page).second; ++k) page = start + "_" + std::to_string(k) + ".html";
            titles.push_back({each.title, page, {}});
        }
        titles[place->second].logs.push_back(each.path);
    }
    return titles;
}

Row row_of(const ReportedTitle& title, const Report& report, const std::vector<std::string>& findings) {
    Row row;
    row.name = title.name;
    row.page = title.page;
    row.verdict = verdicts_of(report, findings).front();
    row.encodes = report.encodes.size();
    row.findings = findings.size();
    row.score = report.score;
    row.decimals = decimals_of(report, report.score);
    double sum = 0, count = 0;
    for (const Encode& each : report.encodes)
        if (const double mean = each.log.mean(report.score); std::isfinite(mean)) {
            sum += mean;
            ++count;
        }
    row.mean = count > 0 ? sum / count : NAN;
    const WorstScene* const worst = worst_of_all(report);
    if (worst == nullptr) return row;
    const Encode& encode = report.encodes[worst->encode];
    const std::string time = time_text(encode.log.frames[worst->scene.begin], encode.log.frame_rate());
    row.worst = worst->mean;
    row.where = encode.label + (time.empty() ? "" : " at " + time) + ", frames " + scene_text(encode, worst->scene);
    return row;
}

/// One title's page. A title that fails does not keep others from theirs.
Row report_title(const ReportOptions& options, const ReportedTitle& title, std::vector<std::string>* said) {
    ReportOptions own = options;
    own.index.clear();
    own.logs = title.logs;
    own.output = (fs::path(options.index) / title.page).string();
    own.is_quiet = true;
    try {
        const Report report = write_report(own);
        const std::vector<std::string> findings = findings_of(report);
        for (const std::string& each : findings) said->push_back(title.name + ": " + each);
        for (const std::string& each : report.notes) said->push_back("note: " + title.name + ": " + each);
        return row_of(title, report, findings);
    } catch (const Interrupted&) {
        throw;
    } catch (const Failure& failure) {
        said->push_back(title.name + " has no page: " + failure.what());
        Row row;
        row.name = title.name;
        row.verdict = failure.what();
        row.findings = 1;
        return row;
    }
}

/// A cell that the list is ordered by, whatever it shows.
std::string cell(const std::string& html, double order) {
    return "<td class=\"number\" data-order=\"" + (std::isfinite(order) ? fixed(order, 6) : "") + "\">" + html +
           "</td>";
}

std::string html_of(const Row& row) {
    const bool has_page = !row.page.empty();
    const std::string name = escaped(row.name),
                      score = row.score.empty() ? "" : " <small>" + escaped(row.score) + "</small>";
    return "<tr><th scope=\"row\">" + (has_page ? "<a href=\"" + escaped(row.page) + "\">" + name + "</a>" : name) +
           "</th><td>" + escaped(has_page ? row.verdict : "no page: " + row.verdict) + "</td>" +
           cell(std::to_string(row.encodes), static_cast<double>(row.encodes)) +
           cell(escaped(fixed(row.mean, row.decimals)) + score, row.mean) +
           cell(escaped(fixed(row.worst, row.decimals)) + score, row.worst) + "<td>" +
           (row.where.empty() ? "-" : "<a href=\"" + escaped(row.page) + "#worst\">" + escaped(row.where) + "</a>") +
           "</td>" +
           cell(row.findings > 0 ? "<strong>" + std::to_string(row.findings) + "</strong>" : "0",
                static_cast<double>(row.findings)) +
           "</tr>\n";
}

/// The worst first, those without a score before them.
void sort_rows(std::vector<Row>* rows) {
    std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) {
        const auto order = [](const Row& row) {
            if (std::isnan(row.worst)) return -INFINITY;
            return static_cast<float>(better(row.score) == Better::kLower ? -row.worst : row.worst);
        };
        return order(a) < order(b);
    });
}

std::string body_of(const std::vector<Row>& rows, const std::vector<std::string>& others) {
    const auto with_findings =
        static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const Row& each) { return each.findings > 0; }));
    std::string html =
        paragraph(with_findings == 0 ? "Nothing speaks against the scores of any title."
                                     : std::to_string(with_findings) + " of " + std::to_string(rows.size()) +
                                           " titles have findings that speak against their scores: their pages tell.",
                  with_findings == 0 ? "" : "banner");
    html +=
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Titles\"><table id=\"titles\"><caption>Titles, "
        "the worst first</caption>\n<thead><tr>";
    for (const auto& [name, is_number] : {std::pair("title", false),
                                          {"verdict", false},
                                          {"encodes", true},
                                          {"mean", true},
                                          {"worst scene", true},
                                          {"where", false},
                                          {"findings", true}})
        html += std::string("<th scope=\"col\"") + (is_number ? " class=\"number\"" : "") + ">" + name + "</th>";
    html += "</tr></thead>\n<tbody>\n";
    for (const Row& row : rows) html += html_of(row);
    return html + "</tbody></table></div>\n" + list_of(others, "notes") +
           paragraph("Report by quality-cuda " QC_VERSION ".");
}

void require_alone(const ReportOptions& options) {
    const std::pair<const char*, bool> others[] = {{"-o", !options.output.empty()},
                                                   {"--csv", !options.csv.empty()},
                                                   {"--png", !options.png.empty()},
                                                   {"--scenes", !options.scenes.empty()},
                                                   {"--reference", !options.reference.empty()},
                                                   {"--distorted", !options.distorted.empty()},
                                                   {"--command", !options.commands.empty()},
                                                   {"--labels", !options.labels.empty()},
                                                   {"--ladders", !options.ladders.empty()},
                                                   {"--titles", !options.titles.empty()},
                                                   {"--bit-rates", !options.bit_rates.empty()},
                                                   {"--compare", options.compare}};
    for (const auto& [name, is_given] : others)
        if (is_given)
            throw Failure(std::string("--index with ") + name + ", which is of one title: one of them is accepted",
                          kMisused);
    if (!has_page()) throw Failure(kWithoutPage);
}

/// @return whether there are any
bool say_refusals(const Report& report) {
    bool is_any = false;
    for (const ComparedPair& each : report.comparisons) {
        if (each.refusal.empty()) continue;
        say("quality-cuda: " + each.refusal);
        is_any = true;
    }
    return is_any;
}

/// A title that fails has a line that says why.
ExitCode report_titles(const ReportOptions& options) {
    require_alone(options);
    std::vector<std::string> others, said;
    const std::vector<FoundLog> logs = find_logs(options, &others);
    if (logs.empty()) throw Failure(options.logs.front() + (others.empty() ? " has no logs" : ": " + others.front()));
    const std::vector<ReportedTitle> titles = titles_of(logs);
    std::error_code error;
    fs::create_directories(options.index, error);
    if (error) throw Failure("--index=" + options.index + ": " + error.message());
    const std::string index = (fs::path(options.index) / "index.html").string();
    Outputs outputs;
    for (const FoundLog& each : logs) outputs.reads(each.path, "a log");
    outputs.writes(index, "the list of titles");
    Tally tally("titles", titles.size(), !options.is_quiet);
    std::vector<Row> rows;
    for (const ReportedTitle& each : titles) {
        rows.push_back(report_title(options, each, &said));
        tally.add();
    }
    sort_rows(&rows);
    write_whole(index, index_page_of(std::to_string(titles.size()) + (titles.size() == 1 ? " title" : " titles"),
                                     body_of(rows, others)));
    for (size_t i = 0; i < std::min(others.size(), kMostSaid); ++i) said.push_back("note: " + others[i]);
    if (others.size() > kMostSaid)
        said.push_back("note: and " + std::to_string(others.size() - kMostSaid) + " further files that are no logs");
    if (!options.is_quiet)
        for (const std::string& each : said) say(each);
    const bool has_all = std::none_of(rows.begin(), rows.end(), [](const Row& each) { return each.page.empty(); });
    return has_all ? kDone : kFailed;
}

} // namespace

ExitCode report(const ReportOptions& options) {
    if (!options.index.empty()) return report_titles(options);
    std::error_code error;
    for (const std::string& each : options.logs)
        if (std::filesystem::is_directory(each, error))
            throw Failure(each + " is a folder: a log is accepted; --index FOLDER makes a page of each title, and one "
                                 "of them all",
                          kMisused);
    const Report report = write_report(options);
    if (!options.is_quiet)
        for (const std::string& note : report.notes) say("note: " + note);
    return say_refusals(report) ? kFailed : kDone;
}

} // namespace qc::cli
