// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/html.hpp"

#include <cstdint>

#include "words/json_text.hpp"

namespace qc::cli {

std::string escaped(std::string_view text) {
    std::string html;
    for (const char c : text) {
        switch (c) {
        case '&':
            html += "&amp;";
            break;
        case '<':
            html += "&lt;";
            break;
        case '>':
            html += "&gt;";
            break;
        case '"':
            html += "&quot;";
            break;
        case '\'':
            html += "&#39;";
            break;
        case '\0':
            html += "?";
            break;
        default:
            html += c;
        }
    }
    return html;
}

std::string script_json(const Json& json) {
    std::string text;
    for (const char c : json_text(json)) {
        if (c == '<')
            text += "\\u003c"; // only strings have one
        else
            text += c;
    }
    return text;
}

std::string base64(std::string_view bytes) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t group = 0;
        for (size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
        for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

Cell text_cell(std::string_view text) {
    return {escaped(text), false, false};
}

Cell number_cell(const std::string& number) {
    return {escaped(number), true, false};
}

Cell head_cell(std::string_view text) {
    return {escaped(text), false, true};
}

std::string table(std::string_view caption, const std::vector<std::string>& columns,
                  const std::vector<std::vector<Cell>>& rows, const std::string& attributes) {
    std::string html = "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"" + escaped(caption) +
                       "\"><table" + (attributes.empty() ? "" : " ") + attributes + "><caption>" + escaped(caption) +
                       "</caption>\n<thead><tr>";
    for (size_t i = 0; i < columns.size(); ++i) {
        const bool is_number = !rows.empty() && i < rows[0].size() && rows[0][i].is_number;
        html +=
            std::string("<th scope=\"col\"") + (is_number ? " class=\"number\">" : ">") + escaped(columns[i]) + "</th>";
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const auto& row : rows) {
        html += "<tr>";
        for (const Cell& cell : row)
            html += cell.is_header   ? "<th scope=\"row\">" + cell.html + "</th>"
                    : cell.is_number ? "<td class=\"number\">" + cell.html + "</td>"
                                     : "<td>" + cell.html + "</td>";
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string list_of(const std::vector<std::string>& texts, const char* kind) {
    if (texts.empty()) return "";
    std::string html = std::string("<ul class=\"") + kind + "\">\n";
    for (const std::string& each : texts) html += "<li>" + escaped(each) + "</li>\n";
    return html + "</ul>\n";
}

std::string section(const char* id, const char* title, const std::string& html) {
    if (html.empty()) return "";
    const std::string name = id;
    return "<section id=\"" + name + "\" aria-labelledby=\"" + name + "-title\">\n<h2 id=\"" + name + "-title\">" +
           title + "</h2>\n" + html + "</section>\n";
}

std::string paragraph(std::string_view text, const char* kind) {
    return std::string("<p") + (*kind != '\0' ? std::string(" class=\"") + kind + "\"" : "") + ">" + escaped(text) +
           "</p>\n";
}

} // namespace qc::cli
