// SPDX-License-Identifier: BSD-2-Clause-Patent
// The result of everything that can fail inside the library. No exceptions, no aborts.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <locale.h>
#include <memory>
#include <string>
#include <utility>

#include "quality_cuda/types.h"

namespace qc {

/// What a terminal or a log would not take for text becomes '?'. Takes no memory of its own.
inline std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

/// A status code and, for failures, one line of text for the user. Must be looked at. Copies share their text: where
/// memory is short, a failure that exists can still be kept and handed on.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(qc_status code, std::string text)
        : code_(code), text_(std::make_shared<const std::string>(one_line(std::move(text)))) {}

    /// Takes no memory. @param text lives as long as the program
    static Status lasting(qc_status code, const std::string& text) noexcept {
        Status status;
        status.code_ = code;
        status.text_ = std::shared_ptr<const std::string>(std::shared_ptr<void>(), &text);
        return status;
    }

    bool ok() const { return code_ == QC_OK; }
    qc_status code() const { return code_; }
    const std::string& text() const {
        static const std::string none;
        return text_ != nullptr ? *text_ : none;
    }

private:
    qc_status code_ = QC_OK;
    std::shared_ptr<const std::string> text_; ///< null: none
};

/// The C locale in this thread, whatever the process has: decimal points in messages.
class PlainLocale {
public:
    PlainLocale() {
        static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
        callers_ = uselocale(plain);
    }
    ~PlainLocale() { uselocale(callers_); }
    PlainLocale(const PlainLocale&) = delete;
    PlainLocale& operator=(const PlainLocale&) = delete;

private:
    locale_t callers_;
};

/// printf for std::string, with decimal points in every locale.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
    const PlainLocale locale;
    va_list args;
    va_start(args, pattern);
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, pattern, args);
    va_end(args);
    std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    va_end(again);
    return text;
}

inline Status invalid(std::string text) {
    return {QC_ERROR_INVALID, std::move(text)};
}
inline Status unsupported(std::string text) {
    return {QC_ERROR_UNSUPPORTED, std::move(text)};
}
/// The same failure with what it is about in front.
inline Status prefixed(const std::string& about, const Status& status) {
    return status.ok() ? status : Status(status.code(), about + ": " + status.text());
}

} // namespace qc

/// Returns early with the status of an expression that failed.
#define QC_RETURN_IF_ERROR(expression)                                                                                 \
    do {                                                                                                               \
        ::qc::Status qc_status_ = (expression);                                                                        \
        if (!qc_status_.ok()) return qc_status_;                                                                       \
    } while (0)
