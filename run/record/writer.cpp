// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/writer.hpp"

#include <array>
#include <bit>
#include <cerrno>

#include <unistd.h>

#include "quality_cuda_run/engine.h"
#include "run/origin/origin.hpp"
#include "run/text/guard.hpp"

namespace qc::run {

namespace {

template <class T>
std::string_view bytes_of(const T* values, size_t count) {
    return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

/// Within a call on the session, where nothing can fail: the next entry will say so.
void write_measured(void* writer, int64_t row, const uint64_t* words, int64_t count) {
    const auto* measured = reinterpret_cast<const int64_t*>(words); // the same bits
    static_cast<RecordWriter*>(writer)->add(Kind::kMeasured, {&row, 1}, {measured, static_cast<size_t>(count)});
}

} // namespace

RecordWriter::RecordWriter(std::string path, int inputs) : path_(std::move(path)), inputs_(inputs) {
    const std::array<int64_t, 2> head = {kRecordVersion, inputs};
    add(Kind::kHead, head, qc_version());
}

bool RecordWriter::give_up(int error) {
    if (error_ == 0) error_ = error != 0 ? error : EIO;
    return false;
}

bool RecordWriter::write(std::string_view bytes) {
    if (bytes.empty()) return true; // of no entry's words: a null pointer, which fwrite() must not see
    errno = 0;
    return std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size() || give_up(errno);
}

bool RecordWriter::begin() {
    if (error_ != 0) return false;
    if (file_) return true;
    // One that exists is another run's: that of an instance of the front end before this one, too.
    if (access(path_.c_str(), F_OK) == 0) return give_up(EEXIST);
    errno = 0;
    file_.reset(std::fopen((path_ + kUnfinished).c_str(), "wbxe"));
    if (!file_) return give_up(errno);
    return write(std::exchange(waiting_, std::string()));
}

bool RecordWriter::add(Kind kind, std::span<const int64_t> words, std::span<const int64_t> more) {
    const EntryHead head{static_cast<uint32_t>(kind), static_cast<uint32_t>(words.size() + more.size())};
    if (error_ != 0) return false;
    if (file_)
        return write(bytes_of(&head, 1)) && write(bytes_of(words.data(), words.size())) &&
               write(bytes_of(more.data(), more.size()));
    waiting_.append(bytes_of(&head, 1)).append(bytes_of(words.data(), words.size()));
    waiting_.append(bytes_of(more.data(), more.size()));
    return true;
}

bool RecordWriter::add_format(int number, const char* name) {
    const auto known = formats_.find(number);
    if (known != formats_.end() && known->second == name) return error_ == 0;
    formats_[number] = name;
    const int64_t word = number;
    return add(Kind::kFormat, {&word, 1}, name);
}

bool RecordWriter::add_pair(int64_t row, uint32_t renditions, const int64_t* pts) {
    const std::array<int64_t, kPairStamps> words = {row, renditions, broke_};
    return add(Kind::kPair, words, std::span(pts, static_cast<size_t>(inputs_)));
}

bool RecordWriter::follow(qc_session* session, const qc_config& config) {
    return add(Kind::kSession, words_of(config)) &&
           (qc_session_on_measured(session, write_measured, this) == QC_OK || give_up(EINVAL)) &&
           add(Kind::kEngine, {}, qc_session_description(session)) && add(Kind::kOrigin, {}, origin_json(session));
}

bool RecordWriter::finish(double frame_rate, double tolerance, bool is_whole) {
    is_over_ = true;
    if (!file_) return error_ == 0;
    const std::array<int64_t, 2> words = {std::bit_cast<int64_t>(frame_rate), std::bit_cast<int64_t>(tolerance)};
    add(Kind::kRate, words);
    errno = 0;
    if (std::fflush(file_.get()) != 0) give_up(errno);
    file_.reset();
    if (error_ != 0 || !is_whole) return error_ == 0;
    return std::rename((path_ + kUnfinished).c_str(), path_.c_str()) == 0 || give_up(errno);
}

} // namespace qc::run

using qc::run::Kind;
using qc::run::RecordWriter;

struct qcr_record : RecordWriter {
    using RecordWriter::RecordWriter;
};

namespace {

/// A record that lacks an entry for want of memory is not whole either.
template <class Body>
qc_status recorded(qcr_record* record, const Body& body) {
    if (record == nullptr || record->is_over()) return QC_OK;
    if (!qc::run::guarded(false, body)) record->give_up(ENOMEM);
    return record->error() == 0 ? QC_OK : QC_ERROR_IO;
}

} // namespace

qcr_record* qcr_record_create(const char* path, int inputs) {
    return qc::run::guarded<qcr_record*>(nullptr, [&] { return new qcr_record(path, inputs); });
}

void qcr_record_destroy(qcr_record* record) {
    delete record;
}

qc_status qcr_record_input(qcr_record* record, int input, const qcr_recorded_input* facts) {
    return recorded(record, [&] {
        const std::array<int64_t, qc::run::kInputWords> words = {
            input,           facts->width,    facts->height,    facts->format,   facts->clock_num, facts->clock_den,
            facts->rate_num, facts->rate_den, facts->shape_num, facts->shape_den};
        return record->add_format(facts->format, facts->format_name) && record->add(Kind::kInput, words);
    });
}

qc_status qcr_record_said(qcr_record* record, qcr_level level, const char* text) {
    const int64_t word = level;
    return recorded(record, [&] { return record->add(Kind::kSaid, {&word, 1}, std::string_view(text)); });
}

qc_status qcr_record_frame(qcr_record* record, int input, const qcr_recorded_frame* frame) {
    return recorded(record, [&] {
        const std::array<int64_t, qc::run::kFrameWords> words = {input,
                                                                 frame->pts,
                                                                 frame->width,
                                                                 frame->height,
                                                                 frame->format,
                                                                 frame->facts.is_corrupt,
                                                                 frame->facts.is_interlaced,
                                                                 frame->facts.is_concealed,
                                                                 frame->facts.has_grain,
                                                                 frame->facts.range,
                                                                 frame->facts.matrix,
                                                                 frame->facts.primaries,
                                                                 frame->facts.transfer,
                                                                 frame->facts.chroma_location,
                                                                 frame->packet_bytes};
        return record->begin() && record->add_format(frame->format, frame->format_name) &&
               record->add(Kind::kFrame, words);
    });
}

qc_status qcr_record_end(qcr_record* record, int input, int64_t status, int64_t pts) {
    const std::array<int64_t, qc::run::kEndWords> words = {input, status, pts};
    return recorded(record, [&] { return record->begin() && record->add(Kind::kEnd, words); });
}

qc_status qcr_record_session(qcr_record* record, qc_session* session, const qc_config* config) {
    return recorded(record, [&] { return record->follow(session, *config); });
}

qc_status qcr_record_pair(qcr_record* record, int64_t row, uint32_t renditions, const int64_t* pts) {
    return recorded(record, [&] { return record->add_pair(row, renditions, pts); });
}

void qcr_record_break(qcr_record* record) {
    if (record != nullptr) record->pause();
}

qc_status qcr_record_finish(qcr_record* record, double frame_rate, double tolerance, int is_whole) {
    return recorded(record, [&] { return record->finish(frame_rate, tolerance, is_whole != 0); });
}

int qcr_record_error(const qcr_record* record) {
    return record != nullptr ? record->error() : 0;
}
