# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What run_golden.py asks of ffmpeg: configurations of the filter, and the golden runs that answer them.

Names, scores and smallest pictures of the metrics are the build's (support/metrics.py).
"""

import dataclasses
import json

from support.golden_clips import matches

# Runs on one clip that one ffmpeg does, a filter for each: starting a process and a GPU's context takes longer than scoring.
GROUP = 16
MODEL_FEATURES = ("adm", "vif", "motion")
# Values of whole streams, which a metric's outputs do not name.
AGGREGATES = {"psnr": ["apsnr_*"]}

# Runs that XPSNR's golden values answer: their key, and our name for the run. The clips are played at FRAME_RATE.
XPSNR_RUNS = {"xpsnr_F25": "xpsnr", "xpsnr_F60": "xpsnr_fast"}


@dataclasses.dataclass
class Run:
    """One configuration of the filter, and the golden run that answers it."""

    golden: str
    metrics: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)
    patterns: tuple = ()  # golden names to compare; default: what the metrics write
    renames: dict = dataclasses.field(default_factory=dict)  # name in our log -> golden name
    quick: bool = False
    smallest: dict = dataclasses.field(default_factory=dict)  # picture by metric, where options change it
    refused: bool = False  # libvmaf refuses it, for the pixel format or the size, or crashes: we have to refuse

    def compared(self, golden_run, metrics):
        """Golden names to compare, all of which the log has to have."""
        patterns = self.patterns or [p for name in self.metrics for p in patterns_of(metrics[name])]
        # libvmaf writes aggregates of planes that it never measured (4:0:0), as minus infinity; we write none.
        names = list(golden_run["metrics"]) + [n for n, v in golden_run.get("aggregate", {}).items() if v != "-inf"]
        return [n for n in names if matches(n, patterns)]


def patterns_of(metric):
    """Names that a metric writes in libvmaf's log, options appended."""
    return [p for output in metric.outputs for p in (output, output + "_*")] + AGGREGATES.get(metric.name, [])


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
    # The model that "vmaf" is, beside other metrics.
    Run("models_v0", MODEL_FEATURES + ("psnr",), {"metrics": "vmaf+psnr+vif+adm+motion"}, ("vmaf_v0.6.1",),
        {"vmaf": "vmaf_v0.6.1"}, quick=True),
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


def default_runs(clip, golden_data, metrics):
    """The golden run "default": all metrics that accept the picture in one run, one refusal for each that does not."""
    golden_run = golden_data["runs"].get("default", {})
    by_libvmaf = {item.get("feature") for item in golden_run.get("refused", [])}
    asked = [name for name, metric in metrics.items() if name not in LISTED_METRICS and
             (name in by_libvmaf or any(matches(score, patterns_of(metric)) for score in golden_run.get("metrics", {})))]
    too_large = [m for m in asked if min(clip["width"], clip["height"]) < metrics[m].smallest(clip["pix_fmt"])]
    refused = [m for m in asked if m in by_libvmaf and m not in too_large]
    accepted = [m for m in asked if m not in too_large and m not in refused]
    runs = [Run("default", tuple(accepted), {"metrics": "+".join(accepted)}, quick=True)]
    runs += [Run("default", (m,), {"metrics": m}, quick=True) for m in too_large]
    runs += [Run("default", (m,), {"metrics": m}, quick=True, refused=True) for m in refused]
    return runs + list(default_listed_runs(clip, golden_run))


def default_listed_runs(clip, golden_run):
    """CAMBI and SpEED with their defaults. Whether they accept a picture is no matter of its smaller side alone."""
    by_libvmaf = {item.get("feature") for item in golden_run.get("refused", [])}
    for metric in LISTED_METRICS:
        refused = metric in by_libvmaf or is_undefined({"feature": metric}, clip)
        yield Run("default", () if refused else (metric,), {"metrics": metric}, smallest={metric: 1}, refused=refused)




# Golden runs whose own list of what was asked for makes our configurations: everything that libvmaf accepted in one run
# of ffmpeg, and one run, which has to be refused cleanly, for each thing that it refused or crashed on.
LISTED_RUNS = ("models_v1", "options_cambi", "options_speed", "cambi_full_ref", "cambi_full_ref_enc", "cambi_full_ref_src")
LISTED_METRICS = ("cambi", "speed_chroma", "speed_temporal")
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


def smallest_missed(clip, run, metrics):
    """Smallest sides of the run's metrics, with its options, that the clip stays below."""
    side = min(clip["width"], clip["height"])
    smallest = [run.smallest.get(m, metrics[m].smallest(clip["pix_fmt"])) for m in run.metrics]
    return [least for least in smallest if least > side]


def runs_of(clip, golden_data, metrics):
    return default_runs(clip, golden_data, metrics) + RUNS + list(listed_runs(golden_data, clip)) + list(float_runs(clip))


def jobs_of(clips, golden, metrics, arguments):
    """(clip, golden data, golden file, run) for all that is to be done."""
    xpsnr = xpsnr_runs(golden)
    wanted = arguments.runs.split(",")
    for clip in clips:
        golden_file = golden / clip["golden"]
        with open(golden_file, encoding="utf-8") as file:
            data = json.load(file)
        data["runs"].update(xpsnr.get(clip["name"], {}))
        for run in runs_of(clip, data, metrics):
            if run.golden in data["runs"] and matches(run.golden, wanted) and (run.quick or not arguments.quick):
                yield clip, data, golden_file, run


def scores_without_metric(golden_run, metrics):
    """Names of golden scores that none of our metrics writes."""
    patterns = [p for metric in metrics.values() for p in patterns_of(metric)] + ["vmaf"]
    return [name for name in golden_run.get("metrics", {}) if not matches(name, patterns)]


def never_compared(compared, arguments):
    """What no clip answered, though every clip and run was asked for: such a check could not fail. `compared`: the runs
    that were held against golden values."""
    if arguments.clips != "*" or arguments.runs != "*":
        return []
    met = {(run.golden, run.metrics) for run in compared}
    expected = [run for run in RUNS if run.quick or not arguments.quick]
    missing = [f"{run.golden} ({'+'.join(run.metrics)})" for run in expected if (run.golden, run.metrics) not in met]
    if arguments.quick:
        return missing
    missing += [name for name in LISTED_RUNS if name not in {run.golden for run in compared}]
    tried = {name for run in compared for name in run.metrics}
    return missing + [name for name in LISTED_METRICS if name not in tried]


def groups_of(jobs, metrics):
    """Numbers of the jobs that one ffmpeg does: on one clip, none of them to be refused."""
    groups, scored = [], {}
    for number, (clip, _, _, run) in enumerate(jobs):
        if run.refused or smallest_missed(clip, run, metrics):
            groups.append([number])
            continue
        group = scored.get(clip["name"])
        if group is None or len(group) == GROUP:
            group = scored[clip["name"]] = []
            groups.append(group)
        group.append(number)
    return groups
