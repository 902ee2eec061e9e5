# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Logs in the filter's layout with whatever scores a test wants, and the command on them."""

import json
import math
import subprocess

from workbench import COMMAND, TIMEOUT_SECONDS

MOTION = "VMAF_integer_feature_motion_sad_score"


def made_log(path, scores, frames=None, rate=25.0, **head):
    """@param scores lists by name; None in them is what the filter writes as null"""
    count = len(next(iter(scores.values())))
    frames = range(count) if frames is None else frames
    facts = {"version": "3.2.0", "quality_cuda_version": "0.1.0", "complete": True,
             "models": [{"name": "vmaf", "model": "vmaf_v0.6.1", "score_range": [0, 100]}] if "vmaf" in scores else [],
             "pairing": {"frames": count, "paired": count, "scored": count, "unscored": 0, "max_abs_dt": 0.0, "frame_rate": rate, "max_dt": 0.02},
             "end": "end of stream", "reason": None, "reference_format": "yuv420p", **head}
    facts["frames"] = [{"frameNum": n, "metrics": {name: values[i] for name, values in scores.items()}} for i, n in enumerate(frames)]
    facts["pooled_metrics"] = {name: {"mean": round(sum(kept) / len(kept), 6), "min": min(kept), "max": max(kept)}
                               for name, values in scores.items() if (kept := [value for value in values if value is not None])}
    path.write_text(json.dumps(facts), encoding="utf-8")
    return path


def cuts(lengths):
    """Motion with a peak wherever a scene of these lengths begins."""
    values = []
    for k, length in enumerate(lengths):
        values += [30.0 if k else 0.0] + [round(1 + 0.5 * math.sin(i), 6) for i in range(1, length)]
    return values


def run(*arguments, environment=None):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, env=environment)


#: What a file may be that is no log, and a part of what is said of it.
BROKEN_LOGS = {
    "empty": (b"", "is empty"),
    "text": (b"no log at all\n", "is no JSON from byte"),
    "cut": (b'{"frames": [{"frameNum": 0, "metrics": {"vmaf": 9', "ends there too early"),
    "list": (b"[1, 2]", "is no object"),
    "number": (b"7", "is no object"),
    "no_frames": (b'{"version": "3.2.0"}', "has no frames"),
    "frames_object": (b'{"frames": {"a": {"b": 1}}}', "has no frame"),
    "frames_null": (b'{"frames": null}', "has no frames"),
    "no_frame": (b'{"frames": []}', "has no frames with scores"),
    "no_score": (b'{"frames": [{"frameNum": 0, "metrics": {}}]}', "without any score"),
    "frame_number": (b'{"frames": [3]}', "is no object"),
    "frame_list": (b'{"frames": [[{"frameNum": 0, "metrics": {"vmaf": 9}}]]}', "has no frames with scores"),
    "without_number": (b'{"frames": [{"metrics": {"vmaf": 9}}]}', "has no frameNum"),
    "negative": (b'{"frames": [{"frameNum": -1, "metrics": {"vmaf": 9}}]}', "has no frameNum"),
    "fraction": (b'{"frames": [{"frameNum": 0.5, "metrics": {"vmaf": 9}}]}', "has no frameNum"),
    "huge_frame": (b'{"frames": [{"frameNum": 18446744073709551615, "metrics": {"vmaf": 9}}]}', "has no frameNum"),
    "twice": (b'{"frames": [{"frameNum": 4, "metrics": {"vmaf": 9}}, {"frameNum": 4, "metrics": {"vmaf": 9}}]}', "have to ascend"),
    "no_metrics": (b'{"frames": [{"frameNum": 0}]}', 'has no object "metrics"'),
    "text_score": (b'{"frames": [{"frameNum": 0, "metrics": {"vmaf": "9"}}]}', "vmaf is no number"),
    "nan": (b'{"frames": [{"frameNum": 0, "metrics": {"vmaf": NaN}}]}', "is no JSON from byte"),
    "too_large": (b'{"frames": [{"frameNum": 0, "metrics": {"vmaf": 1e999}}]}', "no computer can hold"),
    "huge": (b'{"frames": [{"frameNum": 0, "metrics": {"vmaf": -1e308}}]}', "beyond 1e15"),
    "deep": (b'{"conventions": ' + b"[" * 100000 + b"]" * 100000 + b', "frames": []}', "nests deeper"),
    "deep_frame": (b'{"frames": [{"frameNum": 0, "metrics": ' + b'{"a": ' * 5000 + b"1" + b"}" * 5000 + b"}]}", "nests deeper"),
    "bytes": (b'{"frames": [{"frameNum": 0, "metrics": {"v\xff\xfe": 9}}]}', "is no JSON from byte"),
    "line_without_number": (b'{"type": "frame", "scores": {"vmaf": 9}}\n{"type": "frame", "scores": {"vmaf": 8}}\n', "has no frameNum"),
    "line_of_the_end": (b'{"type": "end", "scores": {"vmaf": 9}}\n', "has no frames with scores"),
    "line_cut": (b'{"type": "frame", "n": 0, "scores": {"vmaf": 9}}\n{"type": "frame", "n": 1, "sco', "line 2 is no line of the filter"),
    "line_twice": (b'{"type": "frame", "n": 1, "scores": {"vmaf": 9}}\n{"type": "frame", "n": 1, "scores": {"vmaf": 8}}\n', "have to ascend"),
    "line_text": (b'{"type": "frame", "n": 0, "scores": {"vmaf": "9"}}\n', "line 1: vmaf is no number"),
    "line_deep": (b'{"type": "frame", "n": 0, "scores": {"vmaf": ' + b"[" * 100000 + b"]" * 100000 + b'}}\n', "nests deeper"),
    "line_huge": (b'{"type": "frame", "n": 0, "scores": {"vmaf": 1e999}}\n', "no computer can hold"),
    "windows": (b'{"type": "window", "start": 0, "end": 1, "scores": {"vmaf": {"mean": 9}}}\n', "has windows and no frames"),
    "xml": (b'<VMAF version="3.2.0">\n</VMAF>\n', "has no frames with scores"),
    "xml_other": (b"<html><body></body></html>\n", "is XML, but not of scores"),
    "xml_cut": (b'<VMAF>\n<frames>\n<frame frameNum="0" vmaf="9" />\n', "is no XML, or not all of it, from line 4 on: no element found"),
    "xml_torn": (b'<VMAF>\n<frames>\n<frame frameNum="0" vmaf="9', "is no XML, or not all of it, from line 3 on: unclosed token"),
    "xml_text": (b'<VMAF><frame frameNum="0" vmaf="good" /></VMAF>', "vmaf is no number"),
    "xml_number": (b'<VMAF><frame frameNum="0.5" vmaf="9" /></VMAF>', "has no frameNum"),
    "xml_entity": (b'<VMAF><fyi engine="&nbsp;" /><frame frameNum="0" vmaf="9" /></VMAF>', "from line 1 on: undefined entity"),
    "xml_bytes": (b'<VMAF><fyi engine="\xff" /><frame frameNum="0" vmaf="9" /></VMAF>', "line 1 on: not well-formed"),
    "xml_doctype": (b'<!DOCTYPE VMAF [<!ENTITY a "9">]>\n<VMAF><frame frameNum="0" vmaf="&a;" /></VMAF>', "has a DOCTYPE"),
    "csv": (b"Frame,vmaf,\n", "has no frames with scores"),
    "csv_shifted": (b"Frame,vmaf,psnr_y,\n0,9,30,\n1,31,\n", "frame 1 of the list has 1 scores of 2"),
    "csv_text": (b"Frame,vmaf,\n0,good,\n", "vmaf is no number"),
    "csv_number": (b"Frame,vmaf,\n-1,9,\n", "has no frameNum"),
    "csv_huge": (b"Frame,vmaf,\n0,1e999,\n", "no computer can hold"),
    "csv_bytes": (b"Frame,v\xff,\n0,9,\n", "no UTF-8"),
}


def said_once(test, outcome, code, part):
    """One line, which says what is to be said."""
    test.assertEqual(outcome.returncode, code, outcome.stdout[-300:] + outcome.stderr[-300:])
    lines = outcome.stderr.splitlines()
    test.assertEqual(len(lines), 1, outcome.stderr[-1000:])
    test.assertTrue(lines[0].startswith("quality-cuda: "), lines[0][:300])
    test.assertIn(part, lines[0])
    test.assertEqual(outcome.stdout, "")
