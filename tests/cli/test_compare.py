# SPDX-License-Identifier: BSD-2-Clause-Patent
"""quality-cuda compare: what it computes against an independent calculation, and what it refuses."""

import json
import math
import random
import statistics
import unittest

from made_logs import BROKEN_LOGS, MOTION, cuts, made_log, run, said_once
from workbench import clip, fresh, single

LENGTHS = [40, 75, 30, 110, 55, 20, 90, 64, 33, 48]  # of scenes, in frames
NORMAL = statistics.NormalDist()


class MersenneTwister:
    """MT19937 as its authors seed it, on top of Python's, which seeds otherwise."""

    def __init__(self, seed):
        state = [seed]
        for i in range(1, 624):
            state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
        self.source = random.Random()
        self.source.setstate((3, (*state, 624), None))

    def __call__(self):
        return self.source.getrandbits(32)


def percentile(values, percent):
    values = sorted(values)
    rank = percent / 100 * (len(values) - 1)
    low = math.floor(rank)
    return values[low] + (values[math.ceil(rank)] - values[low]) * (rank - low)


def intervals(a, b, lengths, draws, seed, confidence):
    """BCa of the mean difference, percentile of the difference of 5th percentiles; frame by frame."""
    scenes, at = [], 0
    for length in lengths:
        scenes.append((a[at:at + length], b[at:at + length]))
        at += length
    mean = lambda pieces: statistics.fmean([y - x for p, q in pieces for x, y in zip(p, q)])
    low = lambda pieces: percentile([y for _, q in pieces for y in q], 5) - percentile([x for p, _ in pieces for x in p], 5)
    numbers, means, lows = MersenneTwister(seed), [], []
    for _ in range(draws):
        drawn = [scenes[numbers() * len(scenes) >> 32] for _ in scenes]
        means.append(mean(drawn))
        lows.append(low(drawn))
    observed = mean(scenes)
    bias = NORMAL.inv_cdf((sum(each < observed for each in means) + sum(each == observed for each in means) / 2) / draws)
    left_out = [mean(scenes[:k] + scenes[k + 1:]) for k in range(len(scenes))]
    centre = statistics.fmean(left_out)
    acceleration = sum((centre - each) ** 3 for each in left_out) / (6 * sum((centre - each) ** 2 for each in left_out) ** 1.5)
    tail = (1 - confidence / 100) / 2
    ends = []
    for share in (tail, 1 - tail):
        z = bias + NORMAL.inv_cdf(share)
        ends.append(percentile(means, 100 * NORMAL.cdf(bias + z / (1 - acceleration * z))))
    return ends, [percentile(lows, 100 * tail), percentile(lows, 100 * (1 - tail))]


def noisy(seed, lengths, base, per_scene, per_frame):
    source, values = random.Random(seed), []
    for length in lengths:
        level = base + source.gauss(0, per_scene)
        values += [round(level + source.gauss(0, per_frame), 6) for _ in range(length)]
    return values


class Compared(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.motion = cuts(LENGTHS)
        self.vmaf = noisy(1, LENGTHS, 80, 6, 2)

    def logs(self, a, b, **head):
        return [made_log(self.place / name, {MOTION: self.motion, **scores}, **head) for name, scores in (("a.json", a), ("b.json", b))]

    def compare(self, *arguments):
        outcome = run("compare", *arguments, "--json")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        return json.loads(outcome.stdout)

    def one(self, a, b, *arguments):
        return self.compare(*self.logs({"vmaf": a}, {"vmaf": b}), *arguments)["scores"][0]


class Statistics(Compared):
    def test_identical(self):
        score = self.one(self.vmaf, self.vmaf)
        for key in ("difference", "p5_difference", "better_share", "worse_share"):
            self.assertEqual(score[key], 0, key)
        self.assertEqual((score["interval"], score["p5_interval"], score["verdict"]), ([0, 0], [0, 0], "equal"))

    def test_clear_difference(self):
        source = random.Random(5)
        better = [round(value + 2 + source.gauss(0, 1), 6) for value in self.vmaf]
        score = self.one(self.vmaf, better)
        low, high = score["interval"]
        self.assertTrue(1.5 < low < score["difference"] < high < 2.5, score)
        self.assertEqual(score["verdict"], "better")
        self.assertEqual(self.one(better, self.vmaf)["verdict"], "worse")

    def test_no_clear_difference(self):
        """As large a mean difference as above, but of one scene alone."""
        other = list(self.vmaf)
        begin = sum(LENGTHS[:3])
        for i in range(begin, begin + LENGTHS[3]):
            other[i] = round(other[i] + 2 * len(other) / LENGTHS[3], 6)
        score = self.one(self.vmaf, other)
        self.assertAlmostEqual(score["difference"], 2, 5)
        self.assertLessEqual(score["interval"][0], 0)
        self.assertEqual(score["verdict"], "no clear difference")

    def test_against_an_independent_calculation(self):
        for seed, draws, confidence in ((1, 800, 95), (7, 300, 90), (4294967295, 200, 99)):
            with self.subTest(seed=seed):
                other = noisy(2, LENGTHS, 81, 7, 3)
                score = self.one(self.vmaf, other, "--resamples", draws, "--seed", seed, "--confidence", confidence)
                mean, low = intervals(self.vmaf, other, LENGTHS, draws, seed, confidence)
                for ours, theirs in zip(score["interval"] + score["p5_interval"], mean + low):
                    self.assertAlmostEqual(ours, theirs, 7)
                self.assertAlmostEqual(score["difference"], statistics.fmean(y - x for x, y in zip(self.vmaf, other)), 9)
                self.assertAlmostEqual(score["p5_difference"], percentile(other, 5) - percentile(self.vmaf, 5), 9)

    def test_all_digits_of_percentiles(self):
        """JSON shows them, so another way to round is another text."""
        for seed in range(2, 8):
            other = noisy(seed, LENGTHS, 81, 7, 3)
            score = self.one(self.vmaf, other)
            self.assertEqual((score["p5_a"], score["p5_b"]), (percentile(self.vmaf, 5), percentile(other, 5)), seed)

    def test_shares(self):
        other = [value + change for value, change in zip(self.vmaf, [1.5, -0.5, -2.5, 0.9, 3.5] * (len(self.vmaf) // 5))]
        for arguments, threshold, up, down in (([], 1, 0.4, 0.2), (["--threshold", "2"], 2, 0.2, 0.2), (["--threshold", "vmaf=0.1"], 0.1, 0.6, 0.4),
                                               (["--threshold", "9", "--threshold", "vmaf=3"], 3, 0.2, 0)):
            with self.subTest(arguments):
                score = self.one(self.vmaf, other, *arguments)
                self.assertEqual(score["threshold"], threshold)
                self.assertAlmostEqual(score["better_share"], up, 9)
                self.assertAlmostEqual(score["worse_share"], down, 9)

    def test_small_scores_have_a_small_threshold(self):
        ssim = [value / 100 for value in self.vmaf]
        score = self.compare(*self.logs({"float_ssim": ssim}, {"float_ssim": [value + 0.02 for value in ssim]}))["scores"][0]
        self.assertEqual((score["threshold"], score["better_share"]), (0.01, 1))

    def test_lower_is_better(self):
        higher = [value + 3 for value in self.vmaf]
        falling, rising = ("mse_y", "cambi", "butteraugli", "butteraugli_3norm"), ("ciede2000", "ssimulacra2")
        for name, verdict in [(name, "worse") for name in falling] + [(name, "better") for name in rising]:
            score = self.compare(*self.logs({name: self.vmaf}, {name: higher}))["scores"][0]
            self.assertEqual(score["verdict"], verdict, name)
            self.assertEqual((score["better_share"], score["worse_share"]), (0, 1) if verdict == "worse" else (1, 0), name)

    def test_worst_scenes_first(self):
        other, starts = list(self.vmaf), [sum(LENGTHS[:k]) for k in range(len(LENGTHS))]
        for scene, loss in ((6, 5), (2, 3), (9, 1)):
            for i in range(starts[scene], starts[scene] + LENGTHS[scene]):
                other[i] -= loss
        worst = self.one(self.vmaf, other)["worst_scenes"]
        self.assertEqual([(each["first_frame"], each["last_frame"]) for each in worst[:3]],
                         [(starts[k], starts[k] + LENGTHS[k] - 1) for k in (6, 2, 9)])
        for each, loss in zip(worst, (5, 3, 1)):
            self.assertAlmostEqual(each["difference"], -loss, 9)

    def test_frames_without_a_score(self):
        holes = [None if i % 7 == 0 else value for i, value in enumerate(self.vmaf)]
        score = self.one(self.vmaf, holes)
        self.assertEqual((score["frames"], score["difference"]), (sum(value is not None for value in holes), 0))

    def test_seed_decides(self):
        logs = self.logs({"vmaf": self.vmaf}, {"vmaf": noisy(2, LENGTHS, 81, 7, 3)})
        one, again, other = (run("compare", *logs, "--seed", seed).stdout for seed in (3, 3, 4))
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)


class Scenes(Compared):
    def scenes(self, *arguments, scores=None, **head):
        scores = scores or {"vmaf": self.vmaf, MOTION: self.motion}
        log = made_log(self.place / "log.json", scores, **head)
        return self.compare(log, log, *arguments)

    def test_between_cuts(self):
        self.assertEqual(self.scenes()["scenes"], len(LENGTHS))

    def test_long_ones_are_divided(self):
        """100 frames are ten seconds at 10 a second: one scene of 110 is longer."""
        self.assertEqual(self.scenes(rate=10.0)["scenes"], len(LENGTHS) + 1)

    def test_short_ones_are_none(self):
        """At 60 a second half a second is 30 frames: that of 20 goes to another."""
        self.assertEqual(self.scenes(rate=60.0)["scenes"], len(LENGTHS) - 1)

    def test_motion_alone_is_no_cut(self):
        shaken = [value * 10 for value in cuts([sum(LENGTHS)])]
        found = self.scenes(scores={"vmaf": self.vmaf, MOTION: shaken})
        self.assertEqual(found["scenes"], 3)  # of 565 frames in pieces of ten seconds

    def test_without_motion_windows(self):
        found = self.scenes(scores={"vmaf": self.vmaf})
        self.assertEqual(found["scenes"], math.ceil(len(self.vmaf) / 50))
        self.assertIn("windows of at most 50 frames", found["scene_source"])

    def test_fixed_length(self):
        self.assertEqual(self.scenes("--scene-frames", 20)["scenes"], math.ceil(len(self.vmaf) / 20))

    def test_names_of_motion_with_options(self):
        """As models that set some have them."""
        self.assertEqual(self.scenes(scores={"vmaf": self.vmaf, MOTION + "_mmxv_18": self.motion})["scenes"], len(LENGTHS))

    def blocks(self, seconds, *arguments):
        """Of one scene without a cut."""
        count = round(25 * seconds)
        vmaf = noisy(3, [25] * (count // 25 + 1), 80, 3, 1)[:count]
        motion = [1.0] * count
        better = [value + 1 + i % 3 for i, value in enumerate(vmaf)]
        return self.compare(*self.logs({"vmaf": vmaf, MOTION: motion}, {"vmaf": better, MOTION: motion}), *arguments), vmaf, better

    def test_blocks_of_time_where_scenes_are_few(self):
        for seconds, length, lengths in ((8, 25, [25] * 8), (28, 50, [50] * 14)):
            with self.subTest(seconds):
                found, vmaf, better = self.blocks(seconds, "--resamples", 300)
                self.assertLess(found["scenes"], 5)
                self.assertEqual(found["drawn"], f"blocks of about {length} frames")
                mean, low = intervals(vmaf, better, lengths, 300, 1, 95)
                score = found["scores"][0]
                for ours, theirs in zip(score["interval"] + score["p5_interval"], mean + low, strict=True):
                    self.assertAlmostEqual(ours, theirs, 7)
                self.assertEqual(score["verdict"], "better")
                self.assertIn("intervals speak of this clip alone", " ".join(found["notes"]))
        self.assertEqual(self.scenes()["drawn"], "scenes")

    def test_too_short_for_blocks(self):
        found = self.blocks(4.9)[0]
        self.assertEqual((found["scores"][0]["interval"], found["drawn"]), (None, "scenes"))
        self.assertIn("no interval", " ".join(found["notes"]))

    def test_too_few_for_an_interval(self):
        found = self.scenes("--scene-frames", 200)
        self.assertEqual((found["scenes"], found["scores"][0]["interval"], found["scores"][0]["verdict"]), (3, None, None))
        self.assertIn("at least 5 scenes", " ".join(found["notes"]))


class Refused(Compared):
    def refuse(self, part, a=None, b=None, head_b=None, frames_b=None):
        scores = {MOTION: self.motion, "vmaf": self.vmaf}
        one = made_log(self.place / "a.json", a or scores)
        other = made_log(self.place / "b.json", b or scores, frames=frames_b, **(head_b or {}))
        for pair in ((one, other), (other, one)):
            said_once(self, run("compare", *pair), 1, "cannot be compared: ")
            said_once(self, run("compare", *pair), 1, part)

    def test_number_of_frames(self):
        self.refuse("frames", b={MOTION: self.motion[:-1], "vmaf": self.vmaf[:-1]})

    def test_other_frames(self):
        frames = list(range(len(self.vmaf)))
        frames[-1] += 1
        self.refuse("place 564 has frame", frames_b=frames)

    def test_models(self):
        self.refuse("models differ: vmaf: ", head_b={"models": [{"name": "vmaf", "model": "vmaf_v0.6.1neg"}]})
        logs = [self.place / f"{name}.json" for name in "ab"]
        said_once(self, run("compare", *logs), 1, 'models differ: vmaf: "vmaf_v0.6.1" and "vmaf_v0.6.1neg"')

    def test_all_kinds_of_differences_at_once(self):
        head = {"models": [{"name": "vmaf", "model": "x"}], "conventions": {"ssimulacra2": {"transfer": "bt1886"}}, "reference_format": "gray"}
        for part in ("models differ: ", "conventions differ: ", "pixel formats of the reference differ: "):
            self.refuse(part, head_b=head)

    def test_conventions(self):
        self.refuse("conventions differ: ssimulacra2.transfer: ", head_b={"conventions": {"ssimulacra2": {"transfer": "bt1886 (assumed)"}}})

    def conventions(self, a, b):
        logs = [made_log(self.place / f"{name}.json", {MOTION: self.motion, "vmaf": self.vmaf}, conventions={"cvvdp": {"matrix": "bt709", **each}})
                for name, each in (("a", a), ("b", b))]
        return run("compare", *logs)

    def test_where_a_tag_came_from_is_no_difference(self):
        """An encoder that writes tags against one that leaves them to the reference, or to what is assumed."""
        same = ["left (tagged)", "left (as the reference)", "left (assumed)", "reference left (tagged), distorted left (as the reference)"]
        for a in same:
            for b in same:
                self.assertEqual(self.conventions({"siting": a}, {"siting": b}).returncode, 0, (a, b))
        for b in ("center (tagged)", "reference left (tagged), distorted center (tagged)"):
            self.assertEqual(self.conventions({"siting": same[0]}, {"siting": b}).returncode, 1, b)

    def test_every_difference_is_told_and_nothing_else(self):
        padding = {f"same{k}": "x" * 50 for k in range(20)}
        outcome = self.conventions({**padding, "range": "limited (tagged)", "display": 1}, {**padding, "range": "full (tagged)", "more": "y"})
        self.assertEqual(outcome.returncode, 1)
        for part in ('cvvdp.range: "limited (tagged)" and "full (tagged)"', "cvvdp.display: 1 and none", 'cvvdp.more: none and "y"'):
            self.assertIn(part, outcome.stderr)
        self.assertNotIn("same", outcome.stderr)

    def test_frame_rate(self):
        self.refuse("frame rates differ: ", head_b={"pairing": {"frame_rate": 50.0}})

    def test_reference_format(self):
        self.refuse("pixel formats of the reference differ: ", head_b={"reference_format": "yuv420p10le"})

    def test_another_reference(self):
        moved = list(self.motion)
        moved[333] += 0.000001
        self.refuse("their references differ: VMAF_integer_feature_motion_sad_score of frame 333", b={MOTION: moved, "vmaf": self.vmaf})

    def test_nothing_in_common(self):
        self.refuse("in common", a={MOTION: self.motion, "float_ssim": self.vmaf}, b={MOTION: self.motion, "psnr_y": self.vmaf})

    def test_broken_logs(self):
        whole = made_log(self.place / "whole.json", {"vmaf": self.vmaf})
        for name, (text, part) in BROKEN_LOGS.items():
            with self.subTest(name):
                broken = self.place / f"{name}.json"
                broken.write_bytes(text)
                for pair in ((broken, whole), (whole, broken)):
                    said_once(self, run("compare", *pair), 1, part)
        said_once(self, run("compare", whole, self.place / "nowhere.json"), 1, "nowhere.json cannot be read: No such file")
        said_once(self, run("compare", whole, self.place), 1, "is a folder")

    def test_a_head_of_other_types_is_no_crash(self):
        log = made_log(self.place / "odd.json", {"vmaf": self.vmaf}, models="none", pairing=[1, {"frame_rate": "x"}], conventions=7, complete="no",
                       reference_format={"a": [None]}, quality_cuda_version=3, reason=[])
        self.assertEqual(run("compare", log, log).returncode, 0)

    def test_options(self):
        logs = self.logs({"vmaf": self.vmaf}, {"vmaf": self.vmaf})
        for arguments, part in ((["--resamples", "99"], "--resamples"), (["--seed", "-1"], "--seed"), (["--seed", "4294967296"], "--seed"),
                                (["--confidence", "100"], "--confidence"), (["--confidence", "nan"], "--confidence"),
                                (["--scene-frames", "1"], "--scene-frames"),
                                (["--threshold", "x"], "--threshold=x: a number from 0 on"), (["--threshold", "-1"], "--threshold=-1"),
                                (["--threshold", "=1"], "--threshold==1"), (["--threshold", "nan"], "--threshold=nan"),
                                (["--threshold", "psnr_y=1"], "the logs have no score psnr_y"), (["-m", "psnr_y"], "has no score psnr_y"),
                                (["-m", "vmaf++"], "one of the names is empty"), (["--nonsense"], "--nonsense")):
            with self.subTest(arguments):
                said_once(self, run("compare", *logs, *arguments), 2, part)
        said_once(self, run("compare", logs[0]), 2, "b is required")


class Gates(Compared):
    def check(self, logs, condition, code):
        outcome = run("compare", *logs, "--fail-if", condition)
        self.assertEqual((outcome.returncode, len(outcome.stderr.splitlines())), (code, 1 if code else 0), (condition, outcome.stderr))
        return outcome.stderr

    def test_differences(self):
        logs = self.logs({"vmaf": self.vmaf}, {"vmaf": [value - 1.5 for value in self.vmaf]})
        for condition, code in (("delta(vmaf.mean)<-1", 3), ("delta(vmaf.mean)<-2", 0), ("delta(vmaf.mean)>=-1.5000001", 3), ("delta(vmaf.p5)<-1", 3),
                                ("delta(vmaf.min)<-1.6", 0), ("delta(vmaf.max)<=-1.4", 3), ("delta(vmaf.p50)>-1", 0)):
            with self.subTest(condition):
                self.check(logs, condition, code)
        said = self.check(logs, "delta(vmaf.mean)<-1", 3)
        self.assertEqual(said, f"{logs[1]} against {logs[0]}: delta(vmaf.mean) is -1.500000 (delta(vmaf.mean)<-1)\n")
        self.check(logs[::-1], "delta(vmaf.mean)<-1", 0)
        outcome = run("compare", *logs, "--fail-if", "delta(vmaf.mean)<-9", "--fail-if", "delta(vmaf.p5)<0", "--json")
        self.assertEqual((outcome.returncode, json.loads(outcome.stdout)["models"]), (3, {"vmaf": "vmaf_v0.6.1"}))

    def test_no_number_opens_no_gate(self):
        """Each log has the pool of its own frames only if all have the score."""
        holes = [None if i == 3 else value for i, value in enumerate(self.vmaf)]
        self.assertIn("is no number", self.check(self.logs({"vmaf": self.vmaf}, {"vmaf": holes}), "delta(vmaf.p10)<-99", 3))

    def test_mistakes(self):
        logs = self.logs({"vmaf": self.vmaf}, {"vmaf": self.vmaf})
        for condition in ("vmaf.mean<1", "delta(vmaf.mean", "delta(vmaf)<1", "delta(vmaf.mean)<x", "delta(vmaf.median)<1", "delta(vmaf.mean)", ""):
            said_once(self, run("compare", *logs, "--fail-if", condition), 2, "delta(SCORE.POOL)<NUMBER is accepted")
        said_once(self, run("compare", *logs, "--fail-if", "delta(psnr_y.mean)<1"), 2, "psnr_y is not compared; vmaf are, and -m names others")


class RealLogs(unittest.TestCase):
    def test_features_of_a_model_are_none_of_its_scores(self):
        log = single([clip("large.mp4"), clip("large_ref.mkv")], "model=version=vmaf_v1.0.16_3d0h", "compare_v1.json")
        outcome = run("compare", log, log, "--json")
        self.assertEqual([each["score"] for each in json.loads(outcome.stdout)["scores"]], ["vmaf"])
        other = single([clip("large.mp4"), clip("large_ref.mkv")], "vmaf", "compare_v0.json")
        said_once(self, run("compare", other, log), 1, 'models differ: vmaf: "vmaf_v0.6.1" and "vmaf_v1.0.16_3d0h"')

    def test_two_encodes(self):
        a, b = (single([clip(name), clip("ref.mkv")], "metrics=vmaf+psnr", f"compare_{name}.json") for name in ("closed.mp4", "hevc.mkv"))
        outcome = run("compare", a, b, "--json", "-m", "all", "--scene-frames", "15")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        found = {each["score"]: each for each in json.loads(outcome.stdout)["scores"]}
        self.assertEqual(set(found) & {"vmaf", "psnr_y", "integer_adm2"}, {"vmaf", "psnr_y", "integer_adm2"})
        self.assertNotIn("integer_motion2", found)
        for name, score in found.items():
            for key, log in (("a", a), ("b", b)):
                pooled = json.loads(log.read_text())["pooled_metrics"][name]
                self.assertAlmostEqual(score["mean_" + key], pooled["mean"], 5, name)
                self.assertAlmostEqual(score["p5_" + key], pooled["p5"], 5, name)

    def test_text(self):
        a = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=vmaf+psnr", "compare_text.json")
        outcome = run("compare", a, a, "--scene-frames", "15")
        lines = outcome.stdout.splitlines()
        self.assertEqual((outcome.returncode, outcome.stderr, lines[0]), (0, "", f"A: {a}"))
        self.assertIn("\nmodels: vmaf is vmaf_v0.6.1\n", outcome.stdout)
        self.assertRegex(outcome.stdout, r"\nvmaf +\d+\.\d{6} +\d+\.\d{6} +0\.000000 +\[0\.000000, 0\.000000\] .* equal\n")

    def test_another_reference(self):
        a = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=vmaf", "compare_a.json")
        b = single([clip("closed.mp4"), clip("ref.mp4")], "metrics=vmaf", "compare_b.json")
        said_once(self, run("compare", a, b), 1, "their references differ")


if __name__ == "__main__":
    unittest.main()
