# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Compares ffmpeg's logs with golden scores: every frame, pooled value and aggregate, to the last printed digit."""

import contextlib
import importlib.util
import io
import json
import sys


class Comparer:
    """check_scores.py of the golden folder, called in this process."""

    def __init__(self, golden, bounds):
        """`bounds`: how far the scores of some names may be away, {name: absolute}."""
        self.bounds = bounds
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
