// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a path stands for, and whether it can be written: asked before the run, without touching any file that is there,
// and without waiting for anybody. Knows the file system, nothing of a run. Results are 0 or an errno below 0.
#pragma once

#include <string>

#include "quality_cuda_run/files.h"

namespace qc::run {

/// @param path zeroed; set, with a canonical name that free_path() frees
int resolve_path(const std::string& name, qcr_path* path);
void free_path(qcr_path* path);

/// Whether two paths are one file: by name, or by hard links.
bool is_same_file(const std::string& canonical, const std::string& other);

/// Whether it is plain already that writing will fail.
/// @param replaceable a file that must not be written will do if another one may take its name
/// @param try_it      finds out by making, and deleting, a file of its own; otherwise by what the system says, at no
/// cost
int check_writable(const qcr_path& path, bool replaceable, bool try_it);

/// Whether another file may take its name, which is tried in its folder.
int check_replaceable(const qcr_path& path);

/// /dev/full: opens like any other device, and takes nothing.
bool is_always_full(const qcr_path& path);

} // namespace qc::run
