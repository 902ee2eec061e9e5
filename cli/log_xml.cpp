// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's XML, and the filter's, which has more attributes: elements and attributes, no text between them.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "failure.hpp"
#include "log_frames.hpp"
#include "logs.hpp"

namespace qc::cli {

namespace {

constexpr uint32_t kLastCharacter = 0x10ffff;

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

struct Tag {
    std::string_view name;
    Attributes attributes; ///< their values as text, without references
    bool is_end = false;   ///< </name>
};

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void append_utf8(uint32_t character, std::string* text) {
    const auto add = [text](uint32_t byte) { *text += static_cast<char>(byte); };
    if (character < 0x80) return add(character);
    if (character < 0x800) {
        add(0xc0 | character >> 6);
    } else if (character < 0x10000) {
        add(0xe0 | character >> 12);
        add(0x80 | (character >> 6 & 0x3f));
    } else {
        add(0xf0 | character >> 18);
        add(0x80 | (character >> 12 & 0x3f));
        add(0x80 | (character >> 6 & 0x3f));
    }
    add(0x80 | (character & 0x3f));
}

/// Reads tags, one after the other. @throws Failure where there is none
class Tags {
public:
    Tags(const std::string& path, std::string_view text) : path_(path), text_(text) {}

    /// @return nothing at the end
    std::optional<Tag> next() {
        for (;;) {
            skip_space();
            if (at_ == text_.size()) return std::nullopt;
            if (text_[at_] != '<') throw broken();
            if (!skip_past("<?", "?>") && !skip_past("<!--", "-->")) break;
        }
        ++at_;
        Tag tag;
        tag.is_end = take('/');
        tag.name = name();
        for (;;) {
            skip_space();
            if (take('>')) return tag;
            if (take('/')) {
                if (!take('>')) throw broken();
                return tag;
            }
            const std::string_view key = name();
            if (!take('=') || !take('"')) throw broken();
            tag.attributes.emplace_back(key, value());
        }
    }

private:
    Failure broken() const {
        return Failure(path_ + " is no XML from byte " + std::to_string(at_ + 1) +
                       " on, or ends there too early: " + kAcceptedLogs);
    }

    bool skip_past(std::string_view start, std::string_view end) {
        if (!text_.substr(at_).starts_with(start)) return false;
        const size_t found = text_.find(end, at_ + start.size());
        if (found == std::string_view::npos) throw broken();
        at_ = found + end.size();
        return true;
    }

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string_view name() {
        const size_t start = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) &&
               std::string_view("=/><\"&").find(text_[at_]) == std::string_view::npos)
            ++at_;
        if (at_ == start) throw broken();
        return text_.substr(start, at_ - start);
    }

    std::string value() {
        std::string value;
        for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '<') throw broken();
            if (text_[at_] != '&')
                value += text_[at_];
            else
                add_reference(&value);
        }
        if (!take('"')) throw broken();
        return value;
    }

    /// From its & to its semicolon.
    void add_reference(std::string* value) {
        static constexpr std::pair<std::string_view, char> kNamed[] = {
            {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
        const size_t end = text_.find(';', at_);
        if (end == std::string_view::npos) throw broken();
        std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
        if (name.starts_with('#')) {
            const bool is_hex = name.starts_with("#x");
            name.remove_prefix(is_hex ? 2 : 1);
            uint32_t character = 0;
            const auto [stop, error] =
                std::from_chars(name.data(), name.data() + name.size(), character, is_hex ? 16 : 10);
            if (error != std::errc() || stop != name.data() + name.size() || character > kLastCharacter) throw broken();
            append_utf8(character, value);
        } else {
            const auto* const known = std::find_if(std::begin(kNamed), std::end(kNamed),
                                                   [&](const auto& each) { return each.first == name; });
            if (known == std::end(kNamed)) throw broken();
            *value += known->second;
        }
        at_ = end;
    }

    const std::string& path_;
    std::string_view text_;
    size_t at_ = 0;
};

/// As JSON would have it: what reads as a number or truth value is one.
Json plain_value(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    const char* const last = text.data() + text.size();
    int64_t whole = 0;
    if (const auto [end, error] = std::from_chars(text.data(), last, whole); error == std::errc() && end == last)
        return whole;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last && value - value == 0 ? Json(value) : Json(text);
}

Json object_of(const Attributes& attributes, const std::string& path) {
    Json object = Json::object();
    for (const auto& [key, value] : attributes) {
        require_utf8(key, path);
        require_utf8(value, path);
        object[std::string(key)] = plain_value(value);
    }
    return object;
}

void add_frame(const Attributes& attributes, LogFrames* frames) {
    const auto number =
        std::find_if(attributes.begin(), attributes.end(), [](const auto& each) { return each.first == "frameNum"; });
    frames->begin(frames->number_of(number == attributes.end() ? Json() : plain_value(number->second)));
    for (const auto& [name, value] : attributes)
        if (name != "frameNum") frames->add(name, parse_score(value, *frames, name));
    frames->end();
}

/// What the element says of the run, under the names of a JSON log.
void add_to_head(const Tag& tag, const std::string& path, Json* head) {
    Json values = object_of(tag.attributes, path);
    if (tag.name == "fyi") {
        head->update(values);
    } else if (tag.name == "VMAF") {
        if (values.contains("version")) (*head)["version"] = values["version"];
    } else if (tag.name == "metric") {
        const std::string name = text_of(values, "name");
        values.erase("name");
        (*head)["pooled_metrics"][name] = std::move(values);
    } else if (tag.name != "frames" && tag.name != "pooled_metrics" && !values.empty()) {
        require_utf8(tag.name, path);
        (*head)[std::string(tag.name)] = std::move(values);
    }
}

} // namespace

ScoreLog parse_xml_log(const std::string& path, std::string_view text) {
    LogFrames frames(path, Layout::kXml);
    Json head = Json::object();
    Tags tags(path, text);
    bool is_open = false, is_closed = false;
    while (const auto tag = tags.next()) {
        if (!is_open && (tag->name != "VMAF" || tag->is_end))
            throw Failure(path + " is XML, but not of scores (its first element is no VMAF): " + kAcceptedLogs);
        is_open = true;
        if (tag->is_end)
            is_closed = is_closed || tag->name == "VMAF";
        else if (tag->name == "frame")
            add_frame(tag->attributes, &frames);
        else
            add_to_head(*tag, path, &head);
    }
    if (!is_closed) throw Failure(path + " ends too early, before </VMAF>: " + kAcceptedLogs);
    return frames.finish(std::move(head));
}

} // namespace qc::cli
