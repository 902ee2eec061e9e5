// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's XML, and the filter's, which has more attributes: elements and attributes, no text between them.
#include <expat.h>

#include <charconv>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "logs/layouts.hpp"
#include "logs/log_frames.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;

/// As JSON would have it: what reads as a number or truth value is one.
Json plain_value(std::string_view text) {
    if (text == "true" || text == "false") return text == "true";
    const char* const last = text.data() + text.size();
    int64_t whole = 0;
    if (const auto [end, error] = std::from_chars(text.data(), last, whole); error == std::errc() && end == last)
        return whole;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last && value - value == 0 ? Json(value) : Json(text);
}

Json object_of(const Attributes& attributes) {
    Json object = Json::object();
    for (const auto& [key, value] : attributes) object[std::string(key)] = plain_value(value);
    return object;
}

void add_frame(const Attributes& attributes, LogFrames* frames) {
    Json number;
    for (const auto& [name, value] : attributes)
        if (name == "frameNum") number = plain_value(value);
    frames->begin(frames->number_of(number));
    for (const auto& [name, value] : attributes)
        if (name != "frameNum") frames->add(name, parse_score(value, *frames, name));
    frames->end();
}

/// What the element says of the run, under the names of a JSON log.
void add_to_head(std::string_view element, const Attributes& attributes, Json* head) {
    Json values = object_of(attributes);
    if (element == "fyi") {
        head->update(values);
    } else if (element == "VMAF") {
        if (values.contains("version")) (*head)["version"] = values["version"];
    } else if (element == "metric") {
        const std::string name = text_of(values, "name");
        values.erase("name");
        (*head)["pooled_metrics"][name] = std::move(values);
    } else if (element != "frames" && element != "pooled_metrics" && !values.empty()) {
        (*head)[std::string(element)] = std::move(values);
    }
}

/// One log while expat reads it. Expat is C: no exception may pass through it.
class Reading {
public:
    explicit Reading(const std::string& path) : path_(path), frames_(path, Layout::kXml) {}

    /// @throws Failure
    ScoreLog read(std::string_view text) {
        const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
        if (parser == nullptr) throw std::bad_alloc();
        parser_ = parser.get();
        XML_SetUserData(parser_, this);
        XML_SetStartElementHandler(parser_, begin_element);
        XML_SetDoctypeDeclHandler(parser_, begin_doctype, nullptr);
        while (!text.empty()) { // expat counts in int
            const std::string_view piece = text.substr(0, kPieceBytes);
            parse(piece);
            text.remove_prefix(piece.size());
        }
        parse({}, true);
        return frames_.finish(std::move(head_));
    }

private:
    static constexpr size_t kPieceBytes = size_t{1} << 24;

    void parse(std::string_view piece, bool is_last = false) {
        const XML_Status status = XML_Parse(parser_, piece.data(), static_cast<int>(piece.size()), is_last ? 1 : 0);
        if (thrown_) std::rethrow_exception(thrown_);
        if (status == XML_STATUS_OK) return;
        throw Failure(path_ + " is no XML, or not all of it, from line " +
                      std::to_string(XML_GetCurrentLineNumber(parser_)) +
                      " on: " + XML_ErrorString(XML_GetErrorCode(parser_)) + "; " + kAcceptedLogs);
    }

    template <typename Body>
    void guarded(Body&& body) noexcept {
        try {
            body();
        } catch (...) {
            thrown_ = std::current_exception();
            XML_StopParser(parser_, XML_FALSE);
        }
    }

    static void XMLCALL begin_element(void* self, const char* element, const char** attributes) {
        auto* const reading = static_cast<Reading*>(self);
        reading->guarded([&] { reading->add(element, attributes); });
    }

    /// Logs have none, and entities that a document makes up can grow without end.
    static void XMLCALL begin_doctype(void* self, const char*, const char*, const char*, int) {
        auto* const reading = static_cast<Reading*>(self);
        reading->guarded([&] { throw Failure(reading->path_ + " has a DOCTYPE, which no log has: " + kAcceptedLogs); });
    }

    void add(std::string_view element, const char** names_and_values) {
        if (!std::exchange(is_open_, true) && element != "VMAF")
            throw Failure(path_ + " is XML, but not of scores (its first element is no VMAF): " + kAcceptedLogs);
        Attributes attributes;
        for (const char** at = names_and_values; *at != nullptr; at += 2) attributes.emplace_back(at[0], at[1]);
        require_few(attributes.size(), "names in one element", path_);
        if (element == "frame")
            add_frame(attributes, &frames_);
        else
            add_to_head(element, attributes, &head_);
        require_few(head_.size(), "elements", path_);
        require_few(member(head_, "pooled_metrics").size(), "metrics", path_);
    }

    const std::string& path_;
    LogFrames frames_;
    Json head_ = Json::object();
    XML_Parser parser_ = nullptr;
    bool is_open_ = false; ///< the first element was seen
    std::exception_ptr thrown_;
};

} // namespace

ScoreLog parse_xml_log(const std::string& path, std::string_view text) {
    return Reading(path).read(text);
}

} // namespace qc::cli
