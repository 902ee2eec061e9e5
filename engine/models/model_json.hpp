// SPDX-License-Identifier: BSD-2-Clause-Patent
// Model files in the format that libvmaf publishes: JSON around a libsvm text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/model.hpp"

namespace qc {

/// Largest model file that is read: forty times the largest published one.
constexpr size_t kMaxModelBytes = size_t{16} << 20;

/// Whether it is called like the models of libvmaf's first versions: pickled Python, of which nothing is read.
bool is_old_model_file(std::string_view path);

/// @return QC_ERROR_IO if the file cannot be read, QC_ERROR_INVALID with one line that names the file and what is wrong
Status load_model_file(const std::string& path, std::shared_ptr<const Model>* model);

/// The same from memory; `name` stands for the file in messages.
Status parse_model_json(std::string_view json, std::string_view name, std::shared_ptr<const Model>* model);

/// Text of libsvm's model format (svm_type nu_svr, kernel_type rbf).
Status parse_libsvm(std::string_view text, int dimensions, SupportVectorMachine* svm);

} // namespace qc
