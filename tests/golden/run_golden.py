#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the scores that the real ffmpeg writes against libvmaf's, clip by clip.

Each golden clip (in <repository>/../shared/golden or $QC_SHARED/golden) is scored with the filter quality_cuda in several
configurations, and the JSON logs are compared with the recorded ones: every frame, pooled value and aggregate must be
equal to the last printed digit. Where libvmaf's own code paths differ, its plain C path counts; values that libvmaf
computes from uninitialised memory (pictures smaller than a metric's minimum) are not compared: there the filter has to
refuse.

Examples
  run_golden.py                              all clips, CPU backend
  run_golden.py --backend cuda --clips 'src01*,odd_*'
  run_golden.py --quick --keep /tmp/logs

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import fnmatch
import importlib.util
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FRAME_RATE = 25
TIMEOUT_S = 600
# Runs on one clip that one ffmpeg does, a filter for each: starting a process and a GPU's context takes longer than scoring.
GROUP = 16

# Smallest pictures (width and height) that the metrics are defined for.
MINIMUM_SIZE = {
    "adm": 33, "vif": 16, "motion": 3,
    "psnr": 1, "float_psnr": 1, "psnr_hvs": 16, "float_moment": 1, "xpsnr": 1,
    "float_ssim": 11, "float_ms_ssim": 176, "ciede": 2,
    "float_ansnr": 3, "float_adm": 17, "float_vif": 16, "float_motion": 3,
}
NOT_IN_LIBVMAF = ("xpsnr",)
MODEL_FEATURES = ("adm", "vif", "motion")

# What each metric writes, as patterns of names in libvmaf's log.
OUTPUTS = {
    "adm": ["integer_adm*", "integer_aim"],
    "vif": ["integer_vif*"],
    "motion": ["integer_motion*", "VMAF_integer_feature_motion*"],
    "psnr": ["psnr_y", "psnr_cb", "psnr_cr", "mse_*", "apsnr_*"],
    "float_psnr": ["float_psnr"],
    "psnr_hvs": ["psnr_hvs*"],
    "float_moment": ["float_moment*"],
    "xpsnr": ["xpsnr_?"],
    "float_ssim": ["float_ssim*"],
    "float_ms_ssim": ["float_ms_ssim*"],
    "ciede": ["ciede2000"],
    "float_ansnr": ["float_ansnr", "float_anpsnr"],
    "float_adm": ["adm*", "aim*"],
    "float_vif": ["vif", "vif_*"],
    "float_motion": ["motion", "motion2", "motion3"],
}

# How far CUDA may be from libvmaf where a metric's descriptor has a backend_bound.
CUDA_BOUNDS = {"ciede2000": 1e-5}

# Runs that XPSNR's golden values answer: their key, and our name for the run. The clips are played at FRAME_RATE.
XPSNR_RUNS = {"xpsnr_F25": "xpsnr", "xpsnr_F60": "xpsnr_fast"}


@dataclasses.dataclass
class Run:
    """One configuration of the filter, and the golden run that answers it."""

    golden: str
    metrics: tuple = ()  # of MINIMUM_SIZE
    options: dict = dataclasses.field(default_factory=dict)
    patterns: tuple = ()  # golden names to compare; default: OUTPUTS of the metrics
    renames: dict = dataclasses.field(default_factory=dict)  # name in our log -> golden name
    quick: bool = False
    smallest: dict = dataclasses.field(default_factory=dict)  # picture by metric, where options change MINIMUM_SIZE
    refused: bool = False  # libvmaf refuses it, for the pixel format or the size, or crashes: we have to refuse

    def compared(self, golden_run):
        """Golden names to compare, all of which the log has to have."""
        patterns = self.patterns or [p for metric in self.metrics for p in OUTPUTS[metric]]
        # libvmaf writes aggregates of planes that it never measured (4:0:0), as minus infinity; we write none.
        names = list(golden_run["metrics"]) + [n for n, v in golden_run.get("aggregate", {}).items() if v != "-inf"]
        return [n for n in names if matches(n, patterns)]


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def one_metric(metric, **settings):
    """One metric, with these options instead of the defaults."""
    return {"metrics": metric, "opts": "|".join(f"{metric}.{k}={v}" for k, v in settings.items())}


def variants(metric, *items):
    """A metric, and beside it instances with other options ("option=value:...")."""
    return {"metrics": metric, "feature": "|".join(f"name={metric}:{item}" for item in items)}


def unsettled(clip):
    """Scores that libvmaf computes from samples outside its planes, or from the wrong ones."""
    halved = "420" in clip["pix_fmt"] and (clip["width"] % 2 != 0 or clip["height"] % 2 != 0)
    return ("ciede2000",) if halved or "422" in clip["pix_fmt"] else ()


V0_MODELS = ["vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3"]

# Option sets of the golden runs. adm_csf_mode=1 is left out: it overflows in libvmaf, whose code paths then all differ.
ADM_OPTIONS = {
    "egl_1": "adm_enhn_gain_limit=1",
    "ssz": "adm_skip_scale0=true",
    "csf_2": "adm_csf_mode=2",
    "csf_3": "adm_csf_mode=3",
    "nvd_5_rdh_2160": "adm_norm_view_dist=5:adm_ref_display_height=2160",
    "min_0.9_nw_0.05": "adm_noise_weight=0.05:adm_min_val=0.9",
    "dlmw_0.2": "adm_dlm_weight=0.2",
}
FLOAT_ADM_OPTIONS = [
    "adm_enhn_gain_limit=1",
    "adm_csf_mode=1",
    "adm_csf_mode=2",
    "adm_bypass_cm=1",
    "adm_p_norm=2",
    "adm_adm3_apply_hm=true",
    "adm_norm_view_dist=5",
    "adm_skip_scale0=true",
    "adm_dlm_weight=0.2",
    "adm_noise_weight=0.05",
]
MOTION_OPTIONS = [
    "motion_five_frame_window=true",
    "motion_moving_average=true",
    "motion_five_frame_window=true:motion_moving_average=true",
    "motion_force_zero=true",
    "motion_blend_factor=0.5:motion_blend_offset=2",
    "motion_fps_weight=0.5",
    "motion_max_val=3",
]
# Golden runs with options that both SSIM metrics have.
SSIM_OPTIONS = {
    "ssim_lcs": {"enable_lcs": "true"},
    "ssim_db": {"enable_db": "true"},
    "ssim_db_clip": {"enable_db": "true", "clip_db": "true"},
}

# Of float_vif, with the smallest picture that the options leave defined; suffix of the names first.
FLOAT_VIF_OPTIONS = {
    "egl_1": (16, "vif_enhn_gain_limit=1"),
    "ks_1.5": (24, "vif_kernelscale=1.5"),
    "ps_0.5": (31, "vif_prescale=0.5"),
    "ps_0.5_pm_bilinear": (31, "vif_prescale=0.5:vif_prescale_method=bilinear"),
    "ps_0.5_pm_bicubic": (31, "vif_prescale=0.5:vif_prescale_method=bicubic"),
    "ps_0.5_pm_lanczos4": (31, "vif_prescale=0.5:vif_prescale_method=lanczos4"),
    "s1miv_0.9_s2miv_0.9_s3miv_0.9": (16, "vif_scale1_min_val=0.9:vif_scale2_min_val=0.9:vif_scale3_min_val=0.9"),
    "snsq_1.2": (16, "vif_sigma_nsq=1.2"),
    "ssclz": (16, "vif_skip_scale0=true"),
}
FLOAT_MOTION_OPTIONS = {
    "mdc": "motion_add_scale1=true",
    "mbf_0.5_mbo_2": "motion_blend_factor=0.5:motion_blend_offset=2",
    "mfs_1": "motion_filter_size=1",
    "mfs_3": "motion_filter_size=3",
    "force_0": "motion_force_zero=true",
    "mfw_0.5": "motion_fps_weight=0.5",
    "mmxv_3": "motion_max_val=3",
}

RUNS = [
    # "default" is split by metric (below), since each metric has its own smallest picture.
    Run("models_v0", MODEL_FEATURES, {"model": "|".join(f"version={m}:name={m}" for m in V0_MODELS)},
        ("integer_*", "VMAF_integer_*", "vmaf_*"), quick=True),
    Run("models_flags", MODEL_FEATURES,
        {"model": "version=vmaf_v0.6.1:name=transformed:enable_transform=true"
                  "|version=vmaf_v0.6.1:name=unclipped:disable_clip=true"
                  "|version=vmaf_v0.6.1neg:name=neg_transformed:enable_transform=true"},
        ("vmaf_v0.6.1+enable_transform", "vmaf_v0.6.1+disable_clip", "vmaf_v0.6.1neg+enable_transform"),
        {"transformed": "vmaf_v0.6.1+enable_transform", "unclipped": "vmaf_v0.6.1+disable_clip",
         "neg_transformed": "vmaf_v0.6.1neg+enable_transform"}),
    Run("psnr_apsnr_mse", ("psnr",), one_metric("psnr", enable_apsnr="true", enable_mse="true")),
    Run("psnr_min_sse", ("psnr",), one_metric("psnr", min_sse="0.5", enable_apsnr="true")),
    Run("psnr_luma_only", ("psnr",), one_metric("psnr", enable_chroma="false")),
    Run("psnr_reduced_hbd_peak", ("psnr",), one_metric("psnr", reduced_hbd_peak="true", enable_apsnr="true")),
    Run("xpsnr", ("xpsnr",), {"metrics": "xpsnr"}, quick=True),
    Run("xpsnr_fast", ("xpsnr",), one_metric("xpsnr", fps="60")),
    Run("options_vif", ("vif",), variants("vif", "vif_enhn_gain_limit=1", "vif_skip_scale0=true")),
    Run("options_adm", ("adm",), variants("adm", *ADM_OPTIONS.values()), tuple(f"integer_*_{s}" for s in ADM_OPTIONS)),
    Run("options_float_adm", ("float_adm",), variants("float_adm", *FLOAT_ADM_OPTIONS)),
    Run("options_motion", ("motion",), variants("motion", *MOTION_OPTIONS)),
    Run("options_motion", ("float_motion",), variants("float_motion", *FLOAT_MOTION_OPTIONS.values()),
        tuple(f"motion*_{s}" for s in FLOAT_MOTION_OPTIONS)),
    Run("debug", ("vif",), one_metric("vif", debug="true")),
    Run("debug", ("float_vif",), one_metric("float_vif", debug="true")),
    Run("float_motion_no_debug", ("float_motion",), one_metric("float_motion", debug="false"), ("motion2", "motion3")),
    Run("subsample3", ("float_motion",), {"n_subsample": "3", "metrics": "float_motion"}),
    Run("debug", ("adm",), one_metric("adm", debug="true")),
    Run("debug", ("float_adm",), one_metric("float_adm", debug="true")),
    Run("debug", ("motion",), one_metric("motion", debug="true")),
    *(Run(golden, (metric,), one_metric(metric, **settings)) for metric in ("float_ssim", "float_ms_ssim")
      for golden, settings in SSIM_OPTIONS.items()),
    Run("ssim_scale1", ("float_ssim",), one_metric("float_ssim", scale="1", enable_lcs="true")),
    Run("ssim_scale2", ("float_ssim",), one_metric("float_ssim", scale="2"), smallest={"float_ssim": 21}),
    Run("subsample3", MODEL_FEATURES + ("psnr",),
        {"n_subsample": "3", "metrics": "vmaf+psnr", "model": "version=vmaf_v0.6.1:name=vmaf_v0.6.1",
         "feature": "name=motion:motion_five_frame_window=true:motion_moving_average=true"},
        ("integer_*", "VMAF_integer_*", "psnr_?", "psnr_c?", "vmaf_v0.6.1")),
]


def default_runs(width, height, golden_data):
    """The golden run "default": all metrics that accept the picture in one run, one refusal for each that does not."""
    metrics = [m for m in MINIMUM_SIZE if m not in NOT_IN_LIBVMAF]
    too_large = [m for m in metrics if min(width, height) < MINIMUM_SIZE[m]]
    by_libvmaf = {item.get("feature") for item in golden_data["runs"].get("default", {}).get("refused", [])}
    refused = [m for m in metrics if m in by_libvmaf and m not in too_large]
    accepted = [m for m in metrics if m not in too_large and m not in refused]
    runs = [Run("default", tuple(accepted), {"metrics": "+".join(accepted)}, quick=True)]
    runs += [Run("default", (m,), {"metrics": m}, quick=True) for m in too_large]
    return runs + [Run("default", (m,), {"metrics": m}, quick=True, refused=True) for m in refused]


# Golden runs whose own list of what was asked for makes our configurations: everything that libvmaf accepted in one run
# of ffmpeg, and one run, which has to be refused cleanly, for each thing that it refused or crashed on.
LISTED_RUNS = ("models_v1", "options_cambi", "options_speed", "cambi_full_ref", "cambi_full_ref_enc", "cambi_full_ref_src")
LISTED_OUTPUTS = ("vmaf_v1*", "cambi*", "speed_*", "integer_adm3*", "integer_aim*", "integer_motion3*")


def options_of(item):
    """Options of the filter for one item of a golden run."""
    if "model" in item:
        return {"model": f"version={item['model']}:name={item['model']}"}
    settings = "".join(f":{key}={value}" for key, value in item.get("options", {}).items())
    return {"feature": f"name={item['feature']}{settings}"}


def joined(items):
    """Options of the filter for several items. Without a model the metrics are named, else VMAF would be scored too."""
    merged = {}
    for options in map(options_of, items):
        for key, value in options.items():
            merged[key] = f"{merged[key]}|{value}" if key in merged else value
    if "model" not in merged:
        merged["metrics"] = "+".join(sorted({item["feature"] for item in items}))
    return merged


def same_item(item, refused):
    return all(refused.get(key) == value for key, value in item.items())


def is_undefined(item, clip):
    """SpEED below its smallest plane: libvmaf crashes, or scores memory that it never wrote."""
    return item.get("feature", "").startswith("speed") and min(clip["width"], clip["height"]) < 80


def listed_runs(data, clip):
    for name in LISTED_RUNS:
        run = data["runs"].get(name)
        if run is None:
            continue
        refused = run.get("refused", [])
        accepted = [i for i in run["items"] if not any(same_item(i, r) for r in refused) and not is_undefined(i, clip)]
        if accepted:
            yield Run(name, (), joined(accepted), LISTED_OUTPUTS)
        for item in run["items"]:
            if item not in accepted:
                yield Run(name, (), joined([item]), LISTED_OUTPUTS, refused=True)


def float_runs(clip):
    """Options of the floating-point metrics that not every clip is defined for."""
    side = min(clip["width"], clip["height"])
    defined = {suffix: text for suffix, (smallest, text) in FLOAT_VIF_OPTIONS.items() if max(side, 16) >= smallest}
    yield Run("options_vif", ("float_vif",), variants("float_vif", *defined.values()),
              tuple(f"vif_scale?_{s}" for s in defined))
    for suffix, (_, text) in FLOAT_VIF_OPTIONS.items():
        if suffix not in defined:
            yield Run("options_vif", (), variants("float_vif", text), refused=True)
    yield Run("options_motion", () if "gray" in clip["pix_fmt"] else ("float_motion",),
              variants("float_motion", "motion_add_uv=true"), ("motion*_mau",), refused="gray" in clip["pix_fmt"])


class Scorer:
    """Runs ffmpeg on raw clips."""

    def __init__(self, ffmpeg, clips, backend, folder):
        self.ffmpeg, self.clips, self.backend, self.folder = ffmpeg, clips, backend, folder

    def filter_of(self, run, log):
        # One thread a run: the clips are small, several runs share the machine.
        options = {**run.options, "log_path": log, "backend": self.backend, "n_threads": "1"}
        return "quality_cuda=" + ":".join(f"{k}={quoted(v)}" for k, v in options.items())

    def score(self, clip, run, log):
        return self.play(clip, self.filter_of(run, log))

    def score_group(self, clip, runs, logs):
        """[(exit status, output)] of runs that should all succeed: in one process, or each in its own if that fails."""
        if len(runs) > 1:
            references = "".join(f"[r{i}]" for i in range(len(runs)))
            chain = [f"[1:v]split={len(runs)}{references}"]
            for i, (run, log) in enumerate(zip(runs, logs)):
                chain.append(f"[{f'd{i}' if i else '0:v'}][r{i}]{self.filter_of(run, log)}[d{i + 1}]")
            code, output = self.play(clip, ";".join(chain), ("-map", f"[d{len(runs)}]"))
            if code == 0:
                return [(code, output)] * len(runs)
            for log in logs:
                (self.folder / log).unlink(missing_ok=True)
        return [self.score(clip, run, log) for run, log in zip(runs, logs)]

    def play(self, clip, graph, maps=()):
        command = [self.ffmpeg, "-hide_banner", "-nostdin", "-v", "info", "-nostats"]
        for side in ("dis", "ref"):
            command += ["-f", "rawvideo", "-pix_fmt", clip["pix_fmt"], "-s", f"{clip['width']}x{clip['height']}",
                        "-r", str(FRAME_RATE), "-i", str(self.clips / clip[side])]
        command += ["-lavfi", graph, *maps, "-f", "null", "-"]
        try:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=TIMEOUT_S)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return "timeout", f"no end after {TIMEOUT_S} s"


def quoted(value):
    """Escapes an option value: once for the filter's options, then quoted for the filter graph."""
    return "'" + value.replace("\\", "\\\\").replace(":", "\\:") + "'"


class Comparer:
    """check_scores.py of the golden folder, called in this process."""

    def __init__(self, golden, backend):
        self.golden = golden
        self.bounds = {} if backend == "cpu" else CUDA_BOUNDS
        spec = importlib.util.spec_from_file_location("check_scores", golden / "check_scores.py")
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def compare(self, golden_file, log, run, names):
        arguments = [str(golden_file), str(log), "--run", run.golden, "--only", ",".join(names), "--quiet",
                     "--tol-int", "0", "--tol-float", "0", "--tol-vmaf", "0", "--extra", "ignore"]
        for name, bound in self.bounds.items():
            arguments += ["--tol", f"{name}={bound}"]
        for ours, theirs in run.renames.items():
            arguments += ["--map", f"{ours}={theirs}"]
        output, argv = io.StringIO(), sys.argv
        sys.argv = ["check_scores.py"] + arguments
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = self.module.main()
        except SystemExit as stop:
            status = stop.code
        finally:
            sys.argv = argv
        return status == 0, output.getvalue().strip()


def without_skipped_frames(golden_data, run, path):
    """libvmaf's metrics with a memory score every frame even under subsampling; logs hold every n-th frame only."""
    every = int(run.options["n_subsample"])
    metrics = {}
    for name, metric in golden_data["runs"][run.golden]["metrics"].items():
        kept = {k: [v if i % every == 0 else None for i, v in enumerate(values)]
                for k, values in metric.items() if k != "pooled"}
        metrics[name] = {**kept, "pooled": metric["pooled"]}
    runs = {run.golden: {**golden_data["runs"][run.golden], "metrics": metrics}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**golden_data, "runs": runs}, file)
    return path


def missing_pooled(golden_run, log, run, names):
    """check_scores.py compares the pooled values that it finds; all have to be there."""
    pooled = {run.renames.get(n, n) for n in log.get("pooled_metrics", {})}
    return [f"{n}: no pooled values" for n in names if n in golden_run["metrics"] and n not in pooled]


def plain_c_differences(golden_run, log, run, names):
    """Where libvmaf's vector code and its plain C code differ, check_scores.py takes either. We have to equal the C."""
    unstable = set(golden_run.get("unstable", []))
    frames = {f["frameNum"]: f["metrics"] for f in log["frames"]}
    ours = {theirs: name for name, theirs in run.renames.items()}
    found = []
    for name in names:
        scalar = golden_run["metrics"].get(name, {}).get("scalar")
        if scalar is None or name in unstable:
            continue
        for number, want in enumerate(scalar):
            if number not in frames:
                continue  # subsampling; check_scores.py sees to frames that should be there
            got = frames[number].get(ours.get(name, name))
            if isinstance(want, (int, float)) and (got is None or abs(want - got) > 0.5001e-6):
                found.append(f"{name}: frame {number}: plain C {want!r}, log {got!r}")
                break
    return found


def xpsnr_runs(golden):
    """XPSNR's golden values by clip, in the form of libvmaf's runs. They cover the first frames only."""
    path, runs = golden / "xpsnr" / "clips.json", {}
    if not path.exists():
        return runs
    with open(path, encoding="utf-8") as file:
        for clip in json.load(file)["clips"]:
            runs[clip["clip"]] = {
                name: {"first_frames": True,
                       "metrics": {f"xpsnr_{c}": {"values": [f[key][i] for f in clip["frames"]]}
                                   for i, c in enumerate("yuv"[:len(clip["frames"][0][key])])}}
                for key, name in XPSNR_RUNS.items()}
    return runs


def first_frame_differences(golden_run, log):
    """Every golden value against the log's, which has six decimals, and null for infinity."""
    found = []
    for name, metric in golden_run["metrics"].items():
        got = [frame["metrics"].get(name, "missing") for frame in log["frames"]]
        for number, want in enumerate(metric["values"]):
            have = got[number] if number < len(got) else "missing"
            equal = have is None if want == "inf" else isinstance(have, (int, float)) and abs(want - have) <= 0.5001e-6
            if not equal:
                found.append(f"{name}: frame {number}: golden {want!r}, log {have!r}")
    return found


def smallest_missed(clip, run):
    """Smallest sides of the run's metrics that the clip stays below."""
    side = min(clip["width"], clip["height"])
    return [MINIMUM_SIZE[m] for m in run.metrics if run.smallest.get(m, MINIMUM_SIZE[m]) > side]


class NotComparable(Exception):
    """The reference has no settled value here."""


def check(clip, golden_data, golden_file, run, code, output, log, comparer):
    """None if all is as expected, else what is not."""
    golden_run = golden_data["runs"][run.golden]
    too_large = smallest_missed(clip, run)
    if too_large:
        return check_refusal(clip, code, output, too_large)
    if run.refused:
        return check_format_refusal(run, code, output) if run.metrics else check_clean_refusal(code, output)
    if code != 0:
        return f"ffmpeg ended with {code}:\n{tail(output)}"
    if not log.exists():
        return f"no log was written:\n{tail(output)}"
    with open(log, encoding="utf-8") as file:
        content = json.load(file)
    names = [name for name in run.compared(golden_run) if name not in unsettled(clip)]
    if not names:
        return "the golden run has nothing to compare with"
    if golden_run.get("first_frames"):
        return "\n".join(first_frame_differences(golden_run, content)) or None
    if set(names) <= set(golden_run.get("unstable", [])):
        raise NotComparable("libvmaf computes all of it from memory that it never wrote")
    if "n_subsample" in run.options:
        golden_file = without_skipped_frames(golden_data, run, log.with_suffix(".golden.json"))
    equal, text = comparer.compare(golden_file, log, run, names)
    differences = [] if equal else [text]
    differences += missing_pooled(golden_run, content, run, names)
    differences += plain_c_differences(golden_run, content, run, names)
    return "\n".join(differences) or None


def check_clean_refusal(code, output):
    """A failure with a line of ours, not a crash and not a score."""
    if code == 0:
        return "accepted, although libvmaf refuses it or crashes"
    if code == "timeout" or code < 0 or "Parsed_quality_cuda" not in output:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    return None


def check_refusal(clip, code, output, smallest):
    """Below a metric's smallest picture the run has to fail with a line that says what arrived and what is needed."""
    if code == 0:
        return f"accepted, although pictures below {max(smallest)}x{max(smallest)} have no defined score"
    if code == "timeout" or code < 0:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    size = f"{clip['width']}x{clip['height']}"
    limits = "|".join(f"{n}x{n}" for n in smallest)
    lines = [line for line in output.splitlines() if size in line and re.search(rf"(?<!\d)({limits})(?!\d)", line)]
    return None if lines else f"no line names both {size} and the smallest size ({limits}):\n{tail(output)}"


def check_format_refusal(run, code, output):
    """What libvmaf does not score in this pixel format has to fail with a line that names the metric."""
    if code == 0:
        return "accepted, although libvmaf refuses this pixel format"
    if code == "timeout" or code < 0:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    lines = [line for line in output.splitlines() if f"{run.metrics[0]}: a picture" in line
             or f"{run.metrics[0]}: " in line and "bits per sample" in line]
    return None if lines else f"no line says what {run.metrics[0]} refuses:\n{tail(output)}"


def tail(text, lines=6):
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])


def jobs_of(clips, golden, quick, largest):
    """(clip, golden data, golden file, run) for all that is to be done."""
    xpsnr = xpsnr_runs(golden)
    for clip in clips:
        if quick and clip["width"] * clip["height"] * clip["frames"] > largest:
            continue
        golden_file = golden / clip["golden"]
        with open(golden_file, encoding="utf-8") as file:
            data = json.load(file)
        data["runs"].update(xpsnr.get(clip["name"], {}))
        runs = default_runs(clip["width"], clip["height"], data) + RUNS
        for run in runs + list(listed_runs(data, clip)) + list(float_runs(clip)):
            if run.golden in data["runs"] and (run.quick or not quick):
                yield clip, data, golden_file, run


def groups_of(jobs):
    """Numbers of the jobs that one ffmpeg does: on one clip, none of them to be refused."""
    groups, scored = [], {}
    for number, (clip, _, _, run) in enumerate(jobs):
        if run.refused or smallest_missed(clip, run):
            groups.append([number])
            continue
        group = scored.get(clip["name"])
        if group is None or len(group) == GROUP:
            group = scored[clip["name"]] = []
            groups.append(group)
        group.append(number)
    return groups


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ffmpeg", default=os.environ.get("QC_FFMPEG", str(REPOSITORY / "build/ffmpeg/bin/ffmpeg")),
                        help="program to test (default: %(default)s)")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda", "auto"])
    parser.add_argument("--shared", default=os.environ.get("QC_SHARED", str(REPOSITORY.parent / "shared")), metavar="DIR",
                        help="where golden/ lies (default: %(default)s)")
    parser.add_argument("--clips", default="*", metavar="PATTERNS", help="clips to take, comma-separated shell patterns")
    parser.add_argument("--runs", default="*", metavar="PATTERNS", help="golden runs to take")
    parser.add_argument("--quick", action="store_true", help="small clips, default metrics and models only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many ffmpeg at once (default: one per core)")
    parser.add_argument("--keep", metavar="DIR", help="keep unpacked clips and logs there")
    parser.add_argument("--json", metavar="FILE", help="write the counts and failures there")
    return parser.parse_args()


def skip_all(reason, arguments):
    print(f"SKIPPED golden scores through ffmpeg: {reason}")
    report(arguments, [], [], [reason])
    return 0


def report(arguments, passed, failures, skipped):
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"passed": len(passed), "failed": failures, "skipped": skipped}, file, indent=1)
    print(f"{len(passed)} passed, {len(failures)} failed, {len(skipped)} skipped")


def main():
    arguments = parse_arguments()
    golden = pathlib.Path(arguments.shared).resolve() / "golden"
    if not (golden / "manifest.json").exists():
        return skip_all(f"no golden scores in {golden}", arguments)
    if not os.access(arguments.ffmpeg, os.X_OK):
        print(f"no ffmpeg at {arguments.ffmpeg}: run tools/setup")
        report(arguments, [], ["no ffmpeg"], [])
        return 1
    with open(golden / "manifest.json", encoding="utf-8") as file:
        clips = [c for c in json.load(file)["clips"] if matches(c["name"], arguments.clips.split(","))]
    with tempfile.TemporaryDirectory(prefix="qc_golden_") as temporary:
        folder = pathlib.Path(arguments.keep or temporary).resolve()
        return run_all(arguments, golden, clips, folder)


def unpack(golden, clips, folder):
    """Unpacks the clips; names of several may refer to one file."""
    command = [sys.executable, str(golden / "unpack_clips.py"), str(folder)] + [c["name"] for c in clips]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_all(arguments, golden, clips, folder):
    unpacked = unpack(golden, clips, folder / "clips")
    if unpacked.returncode != 0:
        print(unpacked.stdout)
        report(arguments, [], ["unpacking the clips"], [])
        return 1
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    comparer = Comparer(golden, arguments.backend)
    passed, failures, skipped, start = [], [], [], time.monotonic()
    jobs = [job for job in jobs_of(clips, golden, arguments.quick, largest=700_000)
            if matches(job[3].golden, arguments.runs.split(","))]
    if not jobs:
        print("nothing to do: no clip and run match")
        report(arguments, [], ["nothing was selected"], [])
        return 1

    def score(group):
        runs = [jobs[number][3] for number in group]
        clip = jobs[group[0]][0]
        logs = [f"{number:04d}_{clip['name']}_{run.golden}.json" for number, run in zip(group, runs)]
        for log in logs:
            (folder / log).unlink(missing_ok=True)
        return [(number, *result, folder / log) for number, result, log in zip(group, scorer.score_group(clip, runs, logs), logs)]

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for number, code, output, log in itertools.chain.from_iterable(pool.map(score, groups_of(jobs))):
            clip, data, golden_file, run = jobs[number]
            name = f"{clip['name']} / {run.golden} ({'+'.join(run.metrics)})"
            try:
                problem = check(clip, data, golden_file, run, code, output, log, comparer)
            except NotComparable as reason:
                skipped.append(f"{name}: {reason}")
                print(f"SKIPPED {name}: {reason}")
            else:
                (failures if problem else passed).append(name)
                if problem:
                    print(f"FAILED {name}\n{problem}")
            if not arguments.keep:
                log.unlink(missing_ok=True)
                log.with_suffix(".golden.json").unlink(missing_ok=True)
    print(f"{len(clips)} clips, {len(jobs)} runs in {time.monotonic() - start:.0f} s, "
          f"backend {arguments.backend}")
    report(arguments, passed, failures, skipped)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
