// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reports on their way to the disk: whole or not at all, and never lost.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "contract/status.hpp"

namespace qc {

/// Text on its way into an open file, gathered into large writes. After an error nothing more is written.
class OutputFile {
public:
    /// @param descriptor is closed with the object @param patience_ms how long a reader may take nothing; negative: for
    ///        ever
    explicit OutputFile(int descriptor, int patience_ms = -1) : descriptor_(descriptor), patience_ms_(patience_ms) {}
    ~OutputFile() { static_cast<void>(finish()); }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    Status write(std::string_view text);
    /// Writes what is left and closes. @return errno of the first error, 0 for none
    int finish();

private:
    void write_out();

    int descriptor_, patience_ms_;
    int error_ = 0;
    std::string buffer_;
};

/// Writes a file's text; may be called again, for another file.
using Content = std::function<Status(OutputFile* file)>;

/// Has `content` written to `path`, so that path never holds half of it and the text is not lost:
///
/// - It is written to a temporary file beside path, which is then renamed to path. A file that was there is replaced,
///   with its mode and owner kept.
/// - A symbolic link, a file with several hard links, one whose owner cannot be kept, and one that cannot be renamed
///   over (a mount of its own, another user's in a sticky folder) stay what they are: the finished text is copied into
///   them.
/// - Where nothing can be made beside path, the temporary file lies in temporary_folder(), /tmp or the current folder.
/// - A pipe or a device is written directly; a named pipe must have a reader within kPatienceMs (writing.hpp), and one
///   that takes nothing for so long is given up. A name of one of this process's open descriptors (/dev/stdout,
///   /dev/fd/3) is that descriptor: its file goes on where it stands, and is neither replaced nor cut.
/// - If all that fails, the text stays in a file of another name, and the error says in which.
///
/// @return the content's own failure, with path as it was; QC_ERROR_IO with path, the reason, and where the text is
Status write_file(const std::string& path, const Content& content);

} // namespace qc
