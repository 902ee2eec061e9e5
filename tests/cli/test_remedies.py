# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Whatever option a message of this command advises is taken from its real output, typed as it stands, and helps."""

import re
import shlex
import unittest

from workbench import X264, clip, command, ffmpeg, fresh

#: an option as a message has it, with its value; a sentence goes on behind it
OPTION = re.compile(r"(?<![\w=-])--[a-z][a-z-]*(?:[ =](?:'[^']*'|[\w:./=+|-]*[\w/|]))?")
#: behind an option that takes no value
WORDS = {"or", "and", "names", "says", "leaves", "to", "is", "by"}


def remedies_of(line):
    """What may be typed of a line, in its order."""
    found = [text if text.partition(" ")[2] not in WORDS else text.partition(" ")[0] for text in OPTION.findall(line.split(": ", 1)[1])]
    meant = re.search(r"did you mean (.*)\?$", line)
    return [meant.group(1)] if meant else found


class Remedies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = fresh("remedies")
        cls.good, cls.reference = clip("closed.mp4"), clip("ref.mkv")

    def made(self, name, *arguments, source="closed.mp4"):
        path = self.place / name
        if not path.exists():
            ffmpeg("-i", clip(source), *arguments, path)
        return path

    def check(self, distorted, expected, *arguments, about="", metrics=("-m", "psnr")):
        """@param expected remedies of the line that has `about`, each of which makes it go, and scores"""
        typed = ("score", distorted, self.reference, *metrics, *arguments, "--frames", 60)
        line = self.said_of(command(*typed), about)
        self.assertEqual([each for each in remedies_of(line) if each not in " ".join(map(str, typed))], expected, line)
        for remedy in expected:
            again = command(*typed, *shlex.split(remedy))
            with self.subTest(remedy):
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertNotIn(line, again.stderr)
                if about:
                    self.assertNotIn(about, again.stderr)

    def said_of(self, run, about):
        lines = [line for line in run.stderr.splitlines() if about in line]
        self.assertEqual(len(lines), 1, run.stderr)
        return lines[0]

    def test_sizes(self):
        self.check(clip("small.mp4"), ["--filter dist0:scale=160:120:flags=bicubic", "--scale bicubic"], about="scale first")
        self.check(self.good, ["--scale bicubic"], "--scale-to", "320x240", about="without scale")

    def test_turned(self):
        turned = self.made("turned.mp4", "-vf", "transpose=2", *X264)
        self.check(turned, ["--filter dist0:transpose=1"], about="turned by 90 degrees")

    def test_interlaced(self):
        remedies = ["--filter dist0:setfield=prog", "--filter dist0:bwdif=mode=send_frame"]
        self.check(clip("interlaced.ts"), remedies, about="scores are made for progressive ones")

    def test_times(self):
        shifted = self.made("shifted.mkv", "-vf", "trim=start_frame=3,setpts=PTS-STARTPTS", "-c:v", "ffv1", source="ref.mkv")
        self.check(shifted, ["--filter ref:setpts=PTS-0.120000/TB", "--align auto"], about="ahead of the reference")

    def test_range(self):
        full = self.made("full.mkv", "-vf", "scale=out_range=full,setparams=range=limited", *X264)
        self.check(full, ["--filter dist0:scale=in_range=full:out_range=limited"], about="range: ")

    def test_what_pictures_do_not_suit(self):
        self.check(self.good, ["--on-unsupported skip"], about="leaves out what", metrics=("-m", "psnr+cambi"))

    def test_metrics_of_options(self):
        self.check(self.good, ["--metrics vmaf+psnr"], "--opts", "psnr.enable_mse=true", about="ask for it too", metrics=())

    def test_words(self):
        """What was meant stands at the place of what was typed."""
        for word, meant, arguments in (("pnsr", "psnr", ["score", self.good, self.reference, "-m", "pnsr"]),
                                       ("ssimulacra3", "ssimulacra2", ["score", self.good, self.reference, "-m", "ssimulacra3"]),
                                       ("v0.6.1ng", "vmaf_v0.6.1neg", ["score", self.good, self.reference, "--model", "v0.6.1ng"]),
                                       ("--aling", "--align", ["score", self.good, self.reference, "-m", "psnr", "--aling", "start"]),
                                       ("scor", "score", ["scor", self.good, self.reference, "-m", "psnr"])):
            run = command(*arguments, "--frames", 3)
            with self.subTest(word):
                self.assertEqual((run.returncode, remedies_of(self.said_of(run, "did you mean"))), (2, [meant]))
                again = command(*[meant if each == word else each for each in arguments], "--frames", 3)
                self.assertEqual(again.returncode, 0, again.stderr)
        run = command("score", self.good, self.reference, "-m", "neg")
        again = command("score", self.good, self.reference, *shlex.split(remedies_of(run.stderr.strip())[0]), "--frames", 3)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_shards_that_are_missing(self):
        plan = self.place / "plan.json"
        self.assertEqual(command("plan", plan, self.good, self.reference, "-m", "psnr", "--parts", 2, "-o", self.place / "log.json").returncode, 0)
        line = self.said_of(command("merge", plan), "missing shards")
        numbers = line.partition("missing shards: ")[2].partition(" (")[0].split()
        for number in numbers:
            typed = re.search(r"; quality-cuda (.* N) makes each", line).group(1)
            self.assertEqual(command(*[number if word == "N" else word for word in shlex.split(typed)]).returncode, 0)
        self.assertEqual((len(numbers), command("merge", plan).returncode), (2, 0))

    def test_other_streams(self):
        two = self.place / "two.mkv"
        ffmpeg("-i", self.good, "-i", clip("short.mp4"), "-map", "0:v", "-map", "1:v", "-c", "copy", two)
        line = self.said_of(command("score", two, self.reference, "-m", "psnr"), "is scored, not")
        self.assertEqual(remedies_of(line), ["--stream"])
        other = re.search(r"not ([0-9]+)", line).group(1)
        again = command("score", two, self.reference, "-m", "psnr", "--stream", f"dist:{other}", "--allow-unpaired")
        self.assertEqual((again.returncode, "is scored, not" in again.stderr), (0, False), again.stderr)

    def test_endings(self):
        line = self.said_of(command("score", self.good, self.reference, "-o", self.place / "x.png"), "a log ends in")
        for ending in re.findall(r"\.(?:jsonl|json|csv|xml)\b", line):
            self.assertEqual(command("score", self.good, self.reference, "-m", "psnr", "--frames", 3, "-o", self.place / f"x{ending}").returncode, 0)
        self.assertIn("quality-cuda report makes a page or a plot of it", line)
        self.assertEqual(command("report", self.place / "x.json", "-q", "--csv", self.place / "table.csv").returncode, 0)

    def test_decoding(self):
        typed = ("score", self.good, self.reference, "-m", "psnr", "--frames", 3, "--rotate", "180")
        line = self.said_of(command(*typed, "--hwaccel", "cuda"), "done on the CPU")
        accepted = re.search(r"; (\w+) and (\w+) are accepted", line).groups()
        self.assertEqual(accepted, ("auto", "none"))
        for word in accepted:
            self.assertEqual(command(*typed, "--hwaccel", word).returncode, 0)


if __name__ == "__main__":
    unittest.main()
