/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * quality_cuda_run: what happens around scores, for front ends that feed the engine. Which frame is compared with
 * which, what was scored and what was left out, and how that is told.
 *
 * It is in the same library as quality_cuda.h. Unlike that one it is for front ends which are built together with the
 * library: it may change with each minor version, in any way.
 *
 * Everything here is a value, or a handle of one owner: what is offered goes in, a decision comes out. No function
 * knows FFmpeg or CUDA, reads a clock, or keeps a state that the caller does not hold, except that live.h has a thread
 * that waits, and interrupts.h the handlers of the process. Handles are not safe for use by several threads at once;
 * different ones are independent.
 */
#ifndef QUALITY_CUDA_RUN_H
#define QUALITY_CUDA_RUN_H

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/bars.h"
#include "quality_cuda_run/conditions.h"
#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/crops.h"
#include "quality_cuda_run/doubts.h"
#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/files.h"
#include "quality_cuda_run/geometry.h"
#include "quality_cuda_run/inputs.h"
#include "quality_cuda_run/interrupts.h"
#include "quality_cuda_run/libvmaf.h"
#include "quality_cuda_run/live.h"
#include "quality_cuda_run/merge.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/options.h"
#include "quality_cuda_run/origin.h"
#include "quality_cuda_run/pacing.h"
#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/preview.h"
#include "quality_cuda_run/ranges.h"
#include "quality_cuda_run/receiver.h"
#include "quality_cuda_run/record.h"
#include "quality_cuda_run/report.h"
#include "quality_cuda_run/rows.h"
#include "quality_cuda_run/search.h"
#include "quality_cuda_run/session.h"
#include "quality_cuda_run/sink.h"
#include "quality_cuda_run/sources.h"
#include "quality_cuda_run/text.h"
#include "quality_cuda_run/verdict.h"

#endif /* QUALITY_CUDA_RUN_H */
