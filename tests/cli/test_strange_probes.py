# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What ffprobe says of a file is what the file says of itself, which may be anything: it ends in a plan or in one line of our own."""

import itertools
import json
import os
import unittest

from workbench import FFMPEG, FRAMES, clip, command, fresh

#: Where a file's word stands for a number, a fraction or a text.
VALUES = ["0/0", "1/0", "0/1", "-1/25", "25/-1", "1/4294967296", "4294967296/1", "9223372036854775807/1", "1/9223372036854775807",
          "99999999999999999999/3", "1e308/1e-308", "25", "/", "", "nan", "inf", "-inf", "1e999", "-1e300", "N/A", "9223372036854775807",
          "-9223372036854775808", "99999:99:99", "2147483648:0:0", "x" * 3000, "%s%n", 0, -1, 2**31, 2**63, 2**64, -2**63, 1e300, -0.0, 0.5,
          None, True, [], {}, [[]], {"x": 1}]
FACTS = {
    "streams": [{"index": 0, "codec_name": "ffv1", "codec_type": "video", "width": 160, "height": 120, "pix_fmt": "yuv420p",
                 "r_frame_rate": "25/1", "avg_frame_rate": "25/1", "time_base": "1/1000", "duration": "6.0",
                 "disposition": {"attached_pic": 0, "timed_thumbnails": 0},
                 "tags": {"DURATION": "00:00:06.000000000"}, "side_data_list": [{"rotation": 0}]}],
    "format": {"format_name": "matroska,webm", "start_time": "0.000000"}}
TIMES = ("time_base", "r_frame_rate", "start_time", "duration")
ALL = os.environ.get("QC_TEST_LEVEL") == "all"
NAMES = ("a.mkv", "b.mkv")
PACKETS = "".join(f"{40 * n},{40 * n},100,{'K' if n % 5 == 0 else '_'}__\n" for n in range(FRAMES))
STAMPS = ["", "x", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "4611686018427387904", "-1152921504606846976", "0", "nan"]


def places(value, path=()):
    """Of all values in nested lists and objects, and of these themselves."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def replaced(path, other):
    """FACTS with another value at a place; ... takes it away."""
    facts = json.loads(json.dumps(FACTS))
    if not path:
        return other
    *above, last = path
    holder = facts
    for key in above:
        holder = holder[key]
    if other is ...:
        del holder[last]
    else:
        holder[last] = other
    return facts


class StrangeProbes(unittest.TestCase):
    def setUp(self):
        self.place = fresh("probes_" + self.id().rpartition(".")[2])
        (self.place / "ffmpeg").symlink_to(FFMPEG)
        probe = self.place / "ffprobe"
        probe.write_text('#!/bin/sh\nfor name; do :; done\nname="${name#file:}"\n'
                         'case "$*" in *packet=pts*) cat "$name.packets";; *) cat "$name.facts";; esac\n')
        probe.chmod(0o755)
        for name in NAMES:
            (self.place / name).symlink_to(clip("ref.mkv"))
        self.say()
        self.strange = itertools.cycle([NAMES[:1], NAMES[1:], NAMES])

    def say(self, names=NAMES, facts=json.dumps(FACTS), packets=PACKETS):
        """What is said of these files, and what is usual of the others."""
        for name in NAMES:
            (self.place / (name + ".facts")).write_text(facts if name in names else json.dumps(FACTS))
            (self.place / (name + ".packets")).write_text(packets if name in names else PACKETS)

    def plan(self, *options):
        plan = self.place / "plan"
        plan.unlink(missing_ok=True)
        run = command("plan", plan, *(self.place / name for name in NAMES), "-m", "psnr", "--parts", 2, "-o", self.place / "log", *options,
                      "--ffmpeg", self.place / "ffmpeg")
        said = run.stderr.splitlines()
        self.assertIn(run.returncode, (0, 1, 2), run.stderr[:2000])
        self.assertLessEqual(len(said), 3, run.stderr[:2000])
        self.assertNotRegex(run.stderr, "exception|terminate|runtime error|std::|Sanitizer|stoi|vector")
        if run.returncode == 0:
            for stretch in itertools.chain(*(part["inputs"] for part in json.loads(plan.read_text())["titles"][0]["parts"])):
                self.assertLess(max(map(abs, stretch.values())), 2**62)
        else:
            self.assertEqual(len(said), 1, run.stderr[:2000])
        return run

    def test_as_it_should_be(self):
        runs = [self.plan(), self.plan("--start", 0.2, "--frames", 20)]
        self.assertEqual([run.stdout for run in runs], ["2\n", "1\n"], [run.stderr for run in runs])

    def test_facts(self):
        cuts = itertools.cycle([(), ("--start", 0.2), ("--frames", 3), ("--duration", 0.1)])
        tried = itertools.cycle(VALUES)
        for path in places(FACTS):
            # Each place has some of the values in turn, and those that are numbers or times more of them.
            count = len(VALUES) // (1 if ALL else 5) if path and path[-1] in TIMES else 4 if ALL else 1
            for value in [*itertools.islice(tried, count), *([...] if path else [])]:
                self.say(next(self.strange), facts=json.dumps(replaced(path, value)))
                with self.subTest(path=path, value=value):
                    self.plan(*next(cuts))

    def test_no_facts(self):
        for text in ("", "{", "[]", "null", "\x00", '{"streams": [{"codec_type": "video"}]}', '{"streams": [{}, 3, null, []]}', "[" * 100000):
            self.say(next(self.strange), facts=text)
            with self.subTest(text=text[:40]):
                self.plan()

    def test_packets(self):
        for stamp, other in itertools.product(STAMPS, STAMPS[-3:] if ALL else STAMPS[-2:-1]):
            for line in (f"{stamp},{other},{stamp},K__", f"{other},{stamp},100,K__"):
                self.say(next(self.strange), packets=PACKETS + line + "\n")
                with self.subTest(line=line):
                    self.plan("--start", 0.3)
        for text in ("", "\n\n", ",,,,,\n", "0\n1\n2\n", "K" * 100000):
            self.say(next(self.strange), packets=text)
            with self.subTest(text=text[:20]):
                self.plan()


if __name__ == "__main__":
    unittest.main()
