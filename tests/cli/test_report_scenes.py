# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scenes: pictures upon each other with a slider, in full size and in motion; all of them as tables and files."""

import base64
import csv
import io
import json
import unittest

import test_report
from made_logs import MOTION, cuts, made_log, run, said_once
from page import Page
from test_report import Reported
from test_report_page import Shown
from workbench import clip, command, ffmpeg, ffmpeg_that, fresh, single

LENGTHS = [40, 75, 30]
SCORE = ("-m", "psnr", "--parts", "1")


def scored(place, distorted, reference="ref.mkv"):
    log = place / "scores.json"
    outcome = command("score", clip(distorted) if isinstance(distorted, str) else distorted,
                      clip(reference) if isinstance(reference, str) else reference, *SCORE, "-o", log)
    assert outcome.returncode == 0, outcome.stderr
    return log


def large_pair(place):
    """Wider than a small picture."""
    source = ("-f", "lavfi", "-i", "testsrc2=s=960x540:r=25,trim=end_frame=60", "-pix_fmt", "yuv420p")
    ffmpeg(*source, "-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", place / "ref.mkv")
    ffmpeg(*source, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "40", place / "dist.mp4")
    return place / "dist.mp4", place / "ref.mkv"


class Slider(Shown):
    CUT = "parseFloat(document.querySelector('%s .stack').style.getPropertyValue('--cut'))"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = fresh("slider_clips")
        cls.log = scored(place, *large_pair(place))

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def box(self, selector):
        return self.look(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
                         "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")

    def press(self, text, where=".scene"):
        self.look(f"(() => {{ const b = [...document.querySelectorAll('{where} button')].find((e) => e.textContent === {json.dumps(text)}); "
                  "b.focus(); b.click(); })()")

    def colours(self, selector):
        """Of the middle of either half, as the screen shows them."""
        left, top, width, height = self.box(selector)
        left, top = left + self.look("scrollX"), top + self.look("scrollY")
        data = self.browser.call("Page.captureScreenshot", format="png", clip={"x": left, "y": top, "width": width, "height": height, "scale": 1})
        picture = self.place / "seen.png"
        picture.write_bytes(base64.b64decode(data["data"]))
        ffmpeg("-i", picture, "-vf", "scale=2:1:flags=area", "-f", "rawvideo", "-pix_fmt", "rgb24", self.place / "seen.rgb")
        return (self.place / "seen.rgb").read_bytes()

    def test_pointer_finger_and_keys_move_the_line(self):
        self.open(self.log)
        left, top, width, height = self.box(".stack")
        self.assertEqual(self.look(self.CUT % ".scene"), 50)
        self.browser.drag(left + width * 0.5, top + height * 0.5, left + width * 0.25, top + height * 0.5)
        self.assertAlmostEqual(self.look(self.CUT % ".scene"), 25, delta=1)
        for kind, share in (("touchStart", 0.3), ("touchMove", 0.6), ("touchMove", 0.8), ("touchEnd", None)):
            points = [] if share is None else [{"x": left + width * share, "y": top + height * 0.5}]
            self.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.assertAlmostEqual(self.look(self.CUT % ".scene"), 80, delta=1)
        self.look("document.querySelector('.scene input[type=range]').focus()")
        before = self.look(self.CUT % ".scene")
        self.key("ArrowLeft", 37)
        self.assertEqual(self.look(self.CUT % ".scene"), before - 1)
        said = self.look("(() => { const r = document.querySelector('.scene input[type=range]'); return [r.labels[0].textContent, "
                         "r.getAttribute('aria-valuetext')]; })()")
        self.assertEqual(said, ["Reference left of the line, distorted right", f"{before - 1:.0f} % of dist.mp4 is the reference"])
        self.assertEqual(self.browser.complaints(), [])

    def test_each_side_shows_its_picture(self):
        """With the reference replaced by red and the distorted by blue."""
        self.open(self.log, "--thumbnails", 1)
        paint = ("(() => [...document.querySelectorAll('.scene .stack img')].map((image, i) => { const c = document.createElement('canvas'); "
                 "c.width = 96; c.height = 54; const x = c.getContext('2d'); x.fillStyle = i ? '#0000ff' : '#ff0000'; x.fillRect(0, 0, 96, 54); "
                 "image.src = c.toDataURL(); return image.decode(); }))()")
        self.look(f"Promise.all({paint}).then(() => 1)")
        seen = self.colours(".scene .stack")
        self.assertTrue(seen[0] > 200 > 60 > seen[2] and seen[5] > 200 > 60 > seen[3], list(seen))

    def test_window_of_its_own(self):
        self.open(self.log, "--thumbnails", 2)
        self.press("Enlarge")
        self.assertTrue(self.look("document.getElementById('large').open"))
        self.until("document.querySelector('#large .stack').clientWidth === 960")
        self.assertEqual(self.look("document.querySelector('#large img').naturalWidth"), 960)
        self.until("document.getElementById('large-note').textContent === 'Full resolution, 960x540.'")
        self.assertEqual(self.look("[...document.querySelectorAll('#large .moving')].filter((e) => e.checkVisibility()).length"), 0)
        self.browser.show(width=500, height=700)
        self.look("document.getElementById('large-fit').click()")
        self.until("document.querySelector('#large .stack').clientWidth <= 500")
        self.browser.show(width=1280, height=900)
        self.key("Escape", 27)
        self.until("!document.getElementById('large').open")
        self.assertEqual(self.look("document.activeElement.textContent"), "Enlarge")
        self.assertEqual(self.browser.complaints(), [])

    def test_what_is_reduced_says_so(self):
        self.open(self.log, "--full-size", 0)
        self.press("Enlarge")
        self.until("document.getElementById('large-note').textContent.startsWith('Reduced to 480x270; report --full-size N keeps')")

    def test_clips_play_together(self):
        for kind in ("embed", "link"):
            self.open(self.log, "--thumbnails", 1, "--clips", kind)
            policy = self.look("document.querySelector('meta[http-equiv]').content")
            self.assertIn(f"; media-src {'blob:' if kind == 'embed' else chr(39) + 'self' + chr(39)}", policy)
            self.press("Play")
            self.until("document.querySelectorAll('#large video').length === 2 && document.querySelectorAll('#large video')[1].currentTime > 0.2")
            self.press("Pause", "#large")
            self.press("Frame on", "#large")
            self.until("[...document.querySelectorAll('#large video')].every((e) => e.paused && !e.seeking)")
            times = self.look("[...document.querySelectorAll('#large video')].map((e) => e.currentTime)")
            self.assertEqual(times[0], times[1])
            first = self.look("Number(document.querySelector('.scene').dataset.first)")
            self.assertEqual(self.text("large-frame"), f"frame {first + int(times[1] * 25 + 0.01)}")
            size = self.look("(({ videoWidth, videoHeight }) => [videoWidth, videoHeight])(document.querySelector('#large video'))")
            self.assertEqual(size, [960, 540])
            self.key("Escape", 27)
            self.until("!document.getElementById('large').open")
            self.browser.forget("blob:")
            self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(len(list((self.place / "report.clips").iterdir())), 2)

    def test_without_clips_the_policy_allows_none(self):
        self.open(self.log, "--thumbnails", 1)
        self.assertNotIn("media-src", self.look("document.querySelector('meta[http-equiv]').content"))
        self.assertEqual(self.look("[...document.querySelectorAll('.scene button')].map((e) => e.textContent)"), ["Enlarge"])


class Clips(Reported):
    def numbers(self, video):
        """Of its frames, as their upper halves tell them."""
        raw = self.place / "frames.gray"
        ffmpeg("-i", video, "-vf", "format=gray,crop=128:40:0:0,scale=1:1:flags=area:in_range=full:out_range=full", "-fps_mode", "passthrough",
               "-f", "rawvideo", raw)
        return [value * 219 / 255 for value in raw.read_bytes()]

    def test_frames_are_those_that_were_compared(self):
        """Of an encode that begins thirty frames later than its reference."""
        distorted, reference = self.place / "cut.mkv", self.place / "ref.mkv"
        for path, more in ((distorted, ",select='gte(n,30)',setpts=PTS-STARTPTS"), (reference, "")):
            ffmpeg("-f", "lavfi", "-i", test_report.Pictures.SOURCE + more, "-c:v", "ffv1", "-g", "7", path)
        log = single([distorted, reference], "metrics=psnr:align=auto:watch=0", f"{self.place.name}.json")
        page = self.report(log, "--distorted", distorted, "--reference", reference, "--scene-frames", "50", "--full-size", "3", "--clips", "link")
        clips = [attributes for tag, attributes in page.elements if attributes.get("class") == "scene" and "data-clips" in attributes]
        self.assertEqual(len(clips), 3)
        for facts in clips:
            for which in ("reference", "distorted"):
                numbers = self.numbers(self.place / facts[f"data-{which}"])
                self.assertGreater(len(numbers), 37)
                for k, number in enumerate(numbers):
                    self.assertAlmostEqual(number, int(facts["data-first"]) + 30 + k, delta=1.7, msg=(facts, which))

    def test_why_there_are_none(self):
        log = scored(self.place, "closed.mp4")
        bare = ffmpeg_that(self.place, '*-encoders*', 'echo " V....D mpeg4 "; exit 0')
        outcome = command("report", log, "-o", self.page, "--clips", "embed", "--ffmpeg", bare)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("no clips: this ffmpeg has no encoder whose video browsers play", outcome.stderr)
        self.assertIn("no clips: this ffmpeg", Page(self.page).words())
        said_once(self, run("report", log, "-o", "-", "--clips", "link"), 2, "--clips embed is accepted")
        said_once(self, run("report", log, "-o", self.page, "--clips", "some"), 2, "--clips")


class Lists(Reported):
    def setUp(self):
        super().setUp()
        count = sum(LENGTHS)
        self.logs = [made_log(self.place / f"{name}.json", {MOTION: cuts(LENGTHS), "vmaf": [base + i % 17 for i in range(count)]})
                     for name, base in (("a,b", 70), ("c", 80))]

    def expected(self, base):
        begin, rows = 0, []
        for length in LENGTHS:
            values = [base + i % 17 for i in range(begin, begin + length)]
            rows.append((begin, begin + length - 1, sum(values) / length, min(values), begin + values.index(min(values))))
            begin += length
        return rows

    def test_csv(self):
        path = self.place / "scenes.csv"
        self.assertEqual(run("report", *self.logs, "--scenes", path).returncode, 0)
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        self.assertEqual([row["label"] for row in rows], ["a,b"] * 3 + ["c"] * 3)
        for row, (first, last, mean, worst, frame) in zip(rows, self.expected(70) + self.expected(80), strict=True):
            self.assertEqual([int(row[name]) for name in ("first_frame", "last_frame", "worst_frame")], [first, last, frame])
            self.assertEqual((row["mean"], row["worst"], row["score"]), (f"{mean:.6f}", f"{worst:.6f}", "vmaf"))
            self.assertEqual((float(row["start"]), float(row["end"])), (first / 25, (last + 1) / 25))
            self.assertEqual(row["first_timecode"], f"00:00:{first // 25:02}:{first % 25:02}")
            self.assertEqual(row["last_timecode"], f"00:00:{last // 25:02}:{last % 25:02}")
        self.assertEqual(run("report", *self.logs, "--scenes", "-").stdout, path.read_text())

    def test_json(self):
        path = self.place / "scenes.json"
        self.assertEqual(run("report", *self.logs, "--scenes", path).returncode, 0)
        found = json.loads(path.read_text())
        self.assertEqual((found["score"], [each["label"] for each in found["encodes"]]), ("vmaf", ["a,b", "c"]))
        for each, base in zip(found["encodes"], (70, 80), strict=True):
            self.assertIn(MOTION, each["found"])
            got = [(s["first_frame"], s["last_frame"], s["mean"], s["worst"], s["worst_frame"]) for s in each["scenes"]]
            for one, other in zip(got, self.expected(base), strict=True):
                self.assertEqual(one[:2] + one[3:], other[:2] + other[3:])
                self.assertAlmostEqual(one[2], other[2])
        self.assertEqual(found["encodes"][0]["scenes"][1]["first_timecode"], "00:00:01:15")

    def test_page(self):
        page = self.report(*self.logs)
        table = page.tables["Scenes by vmaf: the mean, and in small the worst frame's"]
        self.assertEqual(table[0], ["frames", "time code", "a,b", "c", "in the plot"])
        for row, one, other in zip(table[1:], self.expected(70), self.expected(80), strict=True):
            self.assertEqual(row[0], f"{one[0]}-{one[1]}")
            self.assertEqual(row[2:4], [f"{each[2]:.2f} {each[3]:.2f}" for each in (one, other)])

    def test_names_that_are_refused(self):
        said_once(self, run("report", *self.logs, "--scenes", self.place / "scenes.txt"), 2, "ends in .csv or .json is accepted")
        said_once(self, run("report", *self.logs, "--scenes", self.logs[0]), 2, "the scenes, is a log too")


if __name__ == "__main__":
    unittest.main()
