# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by tests/Makefile. The sources are generated. Scores are compared digit by digit: the CPU backend's are the same on
# every machine.

QUALITY_CUDA_BLUR = split[ref][tmp];[tmp]avgblur=4[main];[main][ref]quality_cuda=backend=cpu
QUALITY_CUDA_PAIR = testsrc2=size=300x200:rate=5:duration=1,format=yuv420p,$(QUALITY_CUDA_BLUR)
QUALITY_CUDA_NULL = -f null /dev/null

# Scores as metadata.
FATE_QUALITY_CUDA += fate-filter-quality_cuda-vmaf
fate-filter-quality_cuda-vmaf: CMD = ffmpeg -lavfi "$(QUALITY_CUDA_PAIR),metadata=print:file=-" $(QUALITY_CUDA_NULL)

FATE_QUALITY_CUDA += fate-filter-quality_cuda-bitdepth
fate-filter-quality_cuda-bitdepth: CMD = ffmpeg -lavfi "$(QUALITY_CUDA_PAIR):bitdepth=10:feature=name=psnr,metadata=print:file=-" $(QUALITY_CUDA_NULL)

FATE_QUALITY_CUDA += fate-filter-quality_cuda-metrics
fate-filter-quality_cuda-metrics: CMD = ffmpeg -lavfi "testsrc2=size=300x200:rate=5:duration=1,format=yuv444p,$(QUALITY_CUDA_BLUR):metrics=psnr+ssim+xpsnr+cambi,metadata=print:file=-" $(QUALITY_CUDA_NULL)

# Two renditions of one reference, the second of them the reference itself.
FATE_QUALITY_CUDA += fate-filter-quality_cuda-renditions
fate-filter-quality_cuda-renditions: CMD = ffmpeg -lavfi "testsrc2=size=300x200:rate=5:duration=1,format=yuv420p,split=3[ref][tmp][same];[tmp]avgblur=4[main];[main][ref][same]quality_cuda=backend=cpu:metrics=psnr:renditions=2,metadata=print:file=-" $(QUALITY_CUDA_NULL)

# Pairs and their times: half of the reference's frames; no partner before the reference begins; every third pair.
FATE_QUALITY_CUDA += fate-filter-quality_cuda-rates
fate-filter-quality_cuda-rates: CMD = ffmpeg -lavfi "testsrc2=size=300x200:rate=10:duration=1,format=yuv420p,split[ref][tmp];[tmp]framestep=2[main];[main][ref]quality_cuda=backend=cpu:metrics=psnr:stats_file=-" $(QUALITY_CUDA_NULL)

FATE_QUALITY_CUDA += fate-filter-quality_cuda-late
fate-filter-quality_cuda-late: CMD = ffmpeg -lavfi "testsrc2=size=300x200:rate=5:duration=2,format=yuv420p,split[tmp][main];[tmp]trim=start_frame=3[ref];[main][ref]quality_cuda=backend=cpu:metrics=psnr:stats_file=-" $(QUALITY_CUDA_NULL)

FATE_QUALITY_CUDA += fate-filter-quality_cuda-subsample
fate-filter-quality_cuda-subsample: CMD = ffmpeg -lavfi "$(QUALITY_CUDA_PAIR):metrics=psnr:n_subsample=3:stats_file=-" $(QUALITY_CUDA_NULL)

# Lines as the filter psnr has them.
FATE_QUALITY_CUDA += fate-filter-quality_cuda-stats_format
fate-filter-quality_cuda-stats_format: CMD = ffmpeg -lavfi "$(QUALITY_CUDA_PAIR):metrics=psnr:stats_format=psnr:stats_file=-" $(QUALITY_CUDA_NULL)

# The frames leave untouched.
FATE_QUALITY_CUDA_FRAMES = fate-filter-quality_cuda-frames
fate-filter-quality_cuda-frames: CMD = framecrc -lavfi "$(QUALITY_CUDA_PAIR):metrics=psnr"

QUALITY_CUDA_FILTERS = QUALITY_CUDA TESTSRC2 FORMAT SPLIT AVGBLUR METADATA FRAMESTEP TRIM
FATE_QUALITY_CUDA-$(call ALLYES, $(QUALITY_CUDA_FILTERS:%=%_FILTER) WRAPPED_AVFRAME_ENCODER NULL_MUXER PIPE_PROTOCOL) += $(FATE_QUALITY_CUDA)
FATE_QUALITY_CUDA-$(call FILTERFRAMECRC, $(QUALITY_CUDA_FILTERS)) += $(FATE_QUALITY_CUDA_FRAMES)

FATE_FFMPEG += $(FATE_QUALITY_CUDA-yes)
fate-vfilter fate-filter-quality_cuda: $(FATE_QUALITY_CUDA-yes)
