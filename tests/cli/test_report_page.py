# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The report's page in a browser: how soon it is there, what it shows under the pointer, phones, dark mode, print, and no complaint."""

import base64
import json
import math
import random
import re
import shutil
import subprocess
import time
import unittest

import browser
from made_logs import MOTION, cuts, made_log
from test_report import EVIL, HAS_PAGE
from test_report_summary import LEVELS, made_ladder
from workbench import clip, command, fresh, single

FRAMES, SECONDS_TO_OPEN = 100000, 2.0
PHONE = {"width": 390, "height": 844, "mobile": True}
DESK = {"width": 1280, "height": 900}


def inked_columns(path, colour):
    """In how many columns of a picture (PPM) a colour is met."""
    head, size, _, samples = path.read_bytes().split(b"\n", 3)
    width = int(size.split()[0])
    assert head == b"P6"
    return len({i // 3 % width for i in range(0, len(samples), 3) if all(abs(samples[i + k] - colour[k]) < 40 for k in range(3))})


@unittest.skipUnless(HAS_PAGE, "SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
@unittest.skipUnless(browser.PROGRAM, browser.WHY_NONE)
class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.page = self.place / "report.html"
        self.browser.show(**DESK)

    def report(self, *arguments):
        outcome = command("report", *arguments, "-o", self.page, "-q")
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        return self.page

    def open(self, *arguments):
        self.browser.open(self.report(*arguments))
        self.assertEqual(self.browser.complaints(), [])

    def look(self, expression):
        return self.browser.evaluate(expression)

    def text(self, element):
        return self.look(f"document.getElementById({json.dumps(element)}).textContent")

    def until(self, expression):
        for _ in range(200):
            if self.look(expression):
                return
            time.sleep(0.02)
        self.fail(f"never true: {expression}; window: {self.text('window')}")

    def ink(self, colour, tolerance=0, plot="time"):
        """How many columns of a plot have a colour."""
        red, green, blue = (int(colour[i:i + 2], 16) for i in (0, 2, 4))
        seen = self.look(f"(() => {{ const c = document.querySelector('#{plot}-plot canvas');"
                         "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();"
                         f"const near = (a, b) => Math.abs(a - b) <= {tolerance};"
                         "for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 100 && "
                         f"near(d[i], {red}) && near(d[i + 1], {green}) && near(d[i + 2], {blue})) seen.add((i / 4) % c.width);"
                         "return seen.size; })()")
        self.browser.forget("willReadFrequently")
        return seen

    def area(self):
        """Of the plot over time: left, top, width, height in the window, without its axes."""
        return self.look("(() => { const p = document.getElementById('time-plot'); p.scrollIntoView({block: 'center'}); "
                         "const b = p.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")

    def made(self, name="log.json", shift=0.0, frames=600, **head):
        source = random.Random(frames)
        vmaf = [round(85 + 10 * math.sin(i / 50) + source.random() + shift, 6) for i in range(frames)]
        return made_log(self.place / name, {MOTION: cuts([75] * (frames // 75)), "vmaf": vmaf, "psnr_y": [round(v / 2.2, 6) for v in vmaf]}, **head)


class Opening(Shown):
    def test_hundred_thousand_frames(self):
        source = random.Random(1)
        scores = {MOTION: [30.0 if i % 113 == 0 else 1.5 for i in range(FRAMES)]}
        for name in ("integer_adm2", *(f"integer_vif_scale{k}" for k in range(4)), "integer_motion2", "vmaf"):
            scores[name] = [round(source.gauss(80, 5), 6) for _ in range(FRAMES)]
        self.report(made_log(self.place / "long.json", scores))
        times = []
        for _ in range(3):
            times.append(self.browser.open(self.page) / 1000)
            self.assertEqual(self.browser.complaints(), [])
        self.assertLess(min(times), SECONDS_TO_OPEN * self.browser.slowness(), times)
        # A feature that was not decoded yet is there when it is asked for.
        started = time.monotonic()
        self.look("(() => { const s = document.getElementById('score'); s.value = 'integer_adm2'; s.dispatchEvent(new Event('change')); })()")
        self.assertLess(time.monotonic() - started, SECONDS_TO_OPEN * self.browser.slowness())
        self.assertIn(f"integer_adm2 of frames 0 to {FRAMES - 1}", self.text("window"))

    def test_complaints_are_heard(self):
        """What the other tests rely on."""
        for line, part in (("<script>nowhere()</script>", "Content Security Policy"), ('<img src="http://localhost:9/x.png">', "localhost:9"),
                           ('<img src="data:image/png;base64,AAAA" onerror="1">', "Content Security Policy")):
            self.report(self.made())
            self.page.write_text(self.page.read_text(encoding="utf-8").replace("<main>", "<main>" + line), encoding="utf-8")
            self.browser.open(self.page)
            self.until("document.readyState === 'complete'")
            time.sleep(0.1)
            self.look("1")
            self.assertIn(part, " ".join(self.browser.complaints()))

    def test_a_script_that_was_changed_does_not_run(self):
        self.report(self.made())
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(text.count("startTime();\n"), 1)
        self.page.write_text(text.replace("startTime();\n", "startTime(); \n"), encoding="utf-8")
        self.assertIsNone(self.browser.open(self.page))
        self.assertIn("Content Security Policy", " ".join(self.browser.complaints()))

    def test_nothing_of_a_log_runs(self):
        head = {"reason": EVIL, "complete": False, "engine": EVIL, "models": [{"name": "vmaf", "model": EVIL}], EVIL: {EVIL: EVIL}}
        logs = [self.made(f"{k}.json", shift=k, **head) for k in range(2)]
        self.open(*logs, "--compare", "--labels", EVIL + "," + EVIL, "--ladders", EVIL + "," + EVIL, "--bit-rates", "100,200")
        self.look("(() => { const s = document.getElementById('score'); for (const o of s.options) { s.value = o.value; "
                  "s.dispatchEvent(new Event('change')); } })()")
        self.assertIsNone(self.look("window.hacked || null"))
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.look("document.querySelectorAll('#encodes img, #ladder-legend img, main script').length"), 0)
        self.assertIn(EVIL, self.text("encodes"))

    def test_names_of_scores_are_text(self):
        names = ['<meta http-equiv=refresh content="0;url=about:blank">', "<style>body { display: none }</style>",
                 "<form action=x><input name=y></form>",
                 "<iframe srcdoc=x></iframe>", "<base href=x>", "<img src=x>", "<b>&lt;b&gt;</b>", "<svg><a href=x>", "</div></body>"]
        scores = {name: [float(k + i) for i in range(20)] for k, name in enumerate(names)}
        self.open(made_log(self.place / "names.json", {MOTION: cuts([10, 10]), **scores}))
        self.assertEqual(sorted(set(names) - set(self.look("[...document.getElementById('score').options].map((o) => o.value)"))), [])
        for name in names:
            self.look("(() => { const s = document.getElementById('score'); "
                      f"s.value = {json.dumps(name)}; s.dispatchEvent(new Event('change')); }})()")
            self.assertEqual(self.look("document.querySelector('#distribution-plot .dygraph-xlabel').textContent"), name)
            strangers = "meta[http-equiv=refresh], main style, form, iframe, frame, base, main b, main a[href=x], main img[src=x]"
            self.assertEqual(self.look(f"document.querySelectorAll('{strangers}').length"), 0, name)
            self.assertEqual(self.look("getComputedStyle(document.body).display"), "block")
        time.sleep(0.2)
        self.assertTrue(self.look("location.href").startswith("file:"))
        self.assertEqual(self.browser.complaints(), [])

    def test_a_page_goes_nowhere(self):
        """What would come through all the same is held by the policy."""
        self.report(self.made())
        text = self.page.read_text(encoding="utf-8")
        away = '<base href="http://localhost:9/"><form action="http://localhost:9/"><button id=go>x</button></form>'
        self.page.write_text(text.replace("<main>", "<main>" + away), encoding="utf-8")
        self.browser.open(self.page)
        self.look("document.getElementById('go').click()")
        time.sleep(0.2)
        self.assertTrue(self.look("document.baseURI").startswith("file:"))
        self.assertTrue(self.look("location.href").startswith("file:"))


class Pointing(Shown):
    def point_at(self, share):
        left, top, width, height = self.area()
        self.browser.move_to(left + width * share, top + height * 0.4)
        self.until("document.getElementById('pointer').textContent !== ''")
        return int(re.search(r"frame (\d+)", self.text("pointer"))[1])

    def test_scores_under_the_pointer_are_the_logs(self):
        log = single([clip("closed.mp4"), clip("hevc.mkv"), clip("ref.mkv")], "metrics=vmaf+psnr", "page_values.json")
        logs = [json.loads(path.read_text()) for path in (log, log.with_name("page_values.rendition1.json"))]
        self.open(log)
        for score in ("vmaf", "psnr_cb", "integer_vif_scale2"):
            self.look(f"(() => {{ const s = document.getElementById('score'); s.value = '{score}'; s.dispatchEvent(new Event('change')); }})()")
            seen = set()
            for share in (0.2, 0.5, 0.75, 0.95):
                frame = self.point_at(share)
                seen.add(frame)
                for k, each in enumerate(logs):
                    self.assertEqual(self.text(f"value{k}"), f"{each['frames'][frame]['metrics'][score]:.6f}", (score, frame))
            self.assertEqual(len(seen), 4)

    def test_pointer_of_a_long_title_tells_single_frames(self):
        log = self.made(frames=30000)
        self.open(log)
        frame = self.point_at(0.6)
        self.assertEqual(self.text("value0"), f"{json.loads(log.read_text())['frames'][frame]['metrics']['vmaf']:.6f}")

    def test_crosshair(self):
        self.open(self.made())
        self.assertEqual(self.look("[...document.querySelectorAll('#time-plot .crosshair')].map((e) => e.hidden)"), [True, True])
        self.point_at(0.5)
        self.assertEqual(self.look("[...document.querySelectorAll('#time-plot .crosshair')].map((e) => e.hidden)"), [False, False])
        self.browser.move_to(2, 2)
        self.until("document.getElementById('pointer').textContent === ''")

    def test_drag_zooms_and_double_click_shows_all(self):
        self.open(self.made(frames=30000))
        left, top, width, height = self.area()
        self.browser.drag(left + width * 0.4, top + height * 0.4, left + width * 0.5, top + height * 0.4)
        self.until("!document.getElementById('window').textContent.includes('frames 0 to')")
        first, last = map(int, re.search(r"frames (\d+) to (\d+)", self.text("window")).groups())
        self.assertTrue(2000 < last - first < 4500, (first, last))
        self.browser.double_click(left + width * 0.4, top + height * 0.4)
        self.until("document.getElementById('window').textContent.includes('frames 0 to 29999')")
        self.assertEqual(self.browser.complaints(), [])

    def test_buttons(self):
        self.open(self.made())
        windows = []
        for button in ("closer", "closer", "later", "earlier", "wider", "wider", "wider"):
            self.look(f"document.getElementById('{button}').click()")
            windows.append(tuple(map(int, re.search(r"frames (\d+) to (\d+)", self.text("window")).groups())))
        widths = [last - first for first, last in windows]
        self.assertTrue(all(abs(width - wanted) <= 2 for width, wanted in zip(widths, (299, 149, 149, 149, 299, 599, 599))), windows)
        self.assertGreater(windows[2][0], windows[1][0])
        self.assertEqual(windows[-1], (0, 599))

    def test_scene_in_the_plot(self):
        self.open(self.made())
        first, last = self.look("(() => { const b = document.querySelector('button.show'); b.click();"
                                "return [+b.dataset.first, +b.dataset.last]; })()")
        low, high = map(int, re.search(r"frames (\d+) to (\d+)", self.text("window")).groups())
        self.assertTrue(low <= first <= first + 74 == last <= high < low + 150, (low, first, last, high))

    def test_encodes_can_be_hidden(self):
        self.open(self.made("a.json"), self.made("b.json", shift=-30))
        self.assertGreater(self.ink("d55e00"), 100)
        self.look("document.querySelectorAll('#encodes input')[1].click()")
        self.assertEqual(self.ink("d55e00"), 0)
        self.look("document.querySelectorAll('#encodes input')[0].click()")
        self.look("document.querySelectorAll('#encodes input')[1].click()")
        self.assertGreater(self.ink("d55e00"), 100)
        self.assertEqual(self.browser.complaints(), [])

    def test_every_fourth_frame_makes_a_line(self):
        frames = range(0, 1600, 4)
        log = made_log(self.place / "log.json", {"vmaf": [80 + 10 * math.sin(n / 99) for n in frames]}, frames=frames)
        self.open(log)
        self.assertGreater(self.ink("0072b2", 60), 1000)


class FirstScreen(Shown):
    """Of twelve encodes, as most people look at."""

    def twelve(self, *more):
        ladders = [made_ladder(self.place, codec) for codec in LEVELS]
        logs, rates = [log for ladder in ladders for log, _ in ladder.values()], [str(rate) for ladder in ladders for rate in ladder]
        self.open(*logs, "--bit-rates", ",".join(rates), *more)

    def box(self, selector):
        return self.look(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); "
                         "return {left: b.left, top: b.top, right: b.right, bottom: b.bottom}; })()")

    def test_answers_are_on_it(self):
        self.twelve()
        self.assertLess(self.box(".verdicts")["bottom"], 400)
        self.assertLess(self.box(".matrix tbody tr:last-child")["bottom"], 900)
        self.assertLess(self.box("#ladder-plot")["top"], 1100)
        self.assertLess(self.box("#bd-rate")["top"], 1100)
        fits = "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.getElementById('bd-rate').parentElement)"
        self.assertTrue(self.look(fits))

    def test_lines_have_their_ladders_colours(self):
        self.twelve()
        self.assertGreater(self.ink("0072b2"), 100)
        self.assertGreater(self.ink("d55e00"), 100)
        self.assertEqual(self.ink("007a5a"), 0)

    def test_long_names_wrap(self):
        logs = [self.made(f"{'a_rather_long_name_of_an_encode_' * 3}{k}.json", shift=-k) for k in range(3)]
        self.open(*logs)
        self.assertLess(self.box(".matrix tbody td:last-child")["right"], 1280)
        self.assertLess(self.box(".matrix tbody th")["right"], 500)

    def test_narrow(self):
        """The first score is in sight without scrolling; the names stay while the numbers move below them."""
        for dark in (False, True):
            self.browser.show(width=360, height=740, mobile=True, dark=dark)
            self.twelve()
            self.assertEqual(self.look("[document.documentElement.scrollWidth, innerWidth]"), [360, 360])
            mean = self.box(".matrix tbody td.group")
            self.assertTrue(0 < mean["left"] < mean["right"] <= 360, mean)
            self.look("document.querySelector('.matrix').parentElement.scrollLeft = 9999")
            name, number = self.box(".matrix tbody th"), self.box(".matrix tbody td:last-child")
            self.assertTrue(0 <= name["left"] < name["right"] < 180, name)
            self.assertTrue(name["right"] < number["left"] < number["right"] <= 360, (name, number))

    @unittest.skipUnless(shutil.which("pdftoppm"), "SKIPPED: no pdftoppm (poppler-utils)")
    def test_two_pages_of_paper(self):
        self.twelve()
        paper = self.place / "paper.pdf"
        paper.write_bytes(base64.b64decode(self.browser.call("Page.printToPDF")["data"]))
        subprocess.run(["pdftoppm", "-r", "72", paper, self.place / "page"], check=True)
        pages = sorted(self.place.glob("page-*.ppm"))
        self.assertEqual(len(pages), 2)
        for page in pages:
            for colour in ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)):
                self.assertGreater(inked_columns(page, colour), 150, (page.name, colour))

    def test_bit_rate_goes_with_the_scores(self):
        log = self.place / "scores.json"
        self.assertEqual(command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", "1", "-o", log).returncode, 0)
        self.open(log, "--thumbnails", 0)
        self.assertFalse(self.look("document.getElementById('rates').hidden"))
        labels = "[...document.querySelectorAll('#%s-plot .dygraph-axis-label-x')].map((e) => e.textContent)"
        for _ in range(2):
            self.assertEqual(self.look(labels % "time"), self.look(labels % "rate"))
            self.assertGreater(self.ink("0072b2", plot="rate"), 500)
            self.look("document.getElementById('closer').click()")
        self.assertEqual(self.browser.complaints(), [])
        self.open(self.made())
        self.assertTrue(self.look("document.getElementById('rates').hidden"))

    def test_axis_has_frames_and_times(self):
        self.open(self.made())
        labels = self.look("[...document.querySelectorAll('#time-plot .dygraph-axis-label-x')].map((e) => e.innerText)")
        self.assertIn("250\n0:10.0", labels + [label.replace("\r", "") for label in labels])


class Looks(Shown):
    def test_phone(self):
        for dark in (False, True):
            self.browser.show(**PHONE, dark=dark)
            long = self.made("a_name_that_is_much_too_long_for_a_phone_and_has_no_blank_at_all_in_it.json", shift=1)
            self.open(self.made("a.json"), long, "--compare", "--bit-rates", "300,600")
            self.assertEqual(self.look("[document.documentElement.scrollWidth, innerWidth]"), [390, 390])
            self.assertGreater(self.look("document.getElementById('time-plot').clientWidth"), 300)

    def contrast(self, one, other):
        def luminance(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    def test_contrast(self):
        """As the Web Content Accessibility Guidelines 2.1 ask for: 4.5 of text, 3 of lines."""
        for dark in (False, True):
            self.browser.show(**DESK, dark=dark)
            self.open(self.made())
            colour = lambda name: self.look(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
            paper = colour("paper")
            self.assertEqual(self.look("getComputedStyle(document.body).backgroundColor"), "rgb(15, 20, 25)" if dark else "rgb(255, 255, 255)")
            for name in ("ink", "faint", "link", "bad"):
                self.assertGreaterEqual(self.contrast(colour(name), paper), 4.5, (dark, name))
            self.assertGreaterEqual(self.contrast(colour("ink"), colour("panel")), 4.5)
            for k in range(6):
                self.assertGreaterEqual(self.contrast(colour(f"series-{k}"), paper), 3, (dark, k))

    def test_theme_changes_while_the_page_is_open(self):
        self.open(self.made())
        self.assertGreater(self.ink("0072b2"), 100)
        self.browser.show(**DESK, dark=True)
        deadline = time.monotonic() + 10
        while self.ink("0072b2") > 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual((self.ink("0072b2"), self.ink("56b4e9") > 100), (0, True))
        self.assertEqual(self.browser.complaints(), [])

    def test_print(self):
        """Of a dark page too on white paper, without what is folded and what only a screen can show."""
        self.browser.show(**DESK, dark=True)
        self.open(self.made("a.json"), self.made("b.json", shift=-1), "--compare", "--bit-rates", "300,600")
        self.look("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.look("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertLessEqual(self.look("document.querySelector('#time-plot img').clientWidth"), 700)
        self.browser.show(width=794, height=1123, dark=True, media="print")  # A4 at 96 dots an inch
        self.until("document.documentElement.scrollWidth <= 794")
        left = "['#worst', '#pairing', '#provenance', 'details', 'nav'].filter((e) => document.querySelector(e).checkVisibility())"
        self.assertEqual(self.look(left), [])
        self.browser.show(**DESK, dark=True)
        self.look("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.look("getComputedStyle(document.body).backgroundColor"), "rgb(15, 20, 25)")
        self.assertEqual(self.browser.complaints(), [])

    @unittest.skipUnless(shutil.which("pdftoppm"), "SKIPPED: no pdftoppm (poppler-utils)")
    def test_paper_has_the_plots(self):
        """Read by another program than the one that printed; each curve crosses its plot, of a dark page too."""
        for dark in (False, True):
            self.browser.show(**DESK, dark=dark)
            self.open(self.made("a.json"), self.made("b.json", shift=-5), "--compare", "--bit-rates", "300,600")
            paper = self.place / "paper.pdf"
            paper.write_bytes(base64.b64decode(self.browser.call("Page.printToPDF")["data"]))
            subprocess.run(["pdftoppm", "-r", "72", paper, self.place / "page"], check=True)
            for colour in ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)):
                for number, least in ((1, 180), (2, 180)):
                    self.assertGreater(inked_columns(self.place / f"page-{number}.ppm", colour), least, (dark, colour, number))

    def test_names_for_those_who_do_not_see(self):
        self.open(self.made("a.json"), self.made("b.json", shift=1), "--compare", "--bit-rates", "300,600")
        nameless = self.look("[...document.querySelectorAll('select, input, button')].filter((e) => e.offsetParent && "
                             "!(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute('aria-label')).map((e) => e.outerHTML)")
        self.assertEqual(nameless, [])
        for kind, wanted in (("table:not(:has(caption))", 0), ("img:not([alt]):not(.dygraph-rangesel-zoomhandle)", 0),
                             ("section:not([aria-labelledby])", 0), ("h1", 1)):
            self.assertEqual(self.look(f"document.querySelectorAll('{kind}').length"), wanted, kind)
        levels = [int(level) for level in self.look("[...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName[1]).join('')")]
        self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels)

    def test_plots_of_rate_and_distribution(self):
        self.open(self.made("a.json"), self.made("b.json", shift=2), "--ladders", "x,x", "--bit-rates", "300,600")
        self.assertFalse(self.look("document.getElementById('ladder-plot').hidden"))
        self.assertGreater(self.look("document.querySelectorAll('#ladder-plot canvas').length"), 0)
        self.look("document.querySelector('input[value=histogram]').click()")
        self.assertIn("in 40 bins", self.text("distribution-text"))
        self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    unittest.main()
