# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The judgement of gpu-check's part "memory": growth is caught, a flat run passes, too little is no answer."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from gpu_checks.memory import Sample, judge, sample  # noqa: E402

FRAMES = 20000


PAGES_OF_FILES = 40000  # KiB


def samples_of(resident, gpu, step=500, pages=lambda _: PAGES_OF_FILES):
    """Samples every `step` frames; the other arguments are functions of the frame."""
    return [Sample(frame, int(resident(frame)), int(resident(frame) - pages(frame)), int(gpu(frame))) for frame in range(0, FRAMES + 1, step)]


def flat(value):
    return lambda _: value


class Judgement(unittest.TestCase):
    def assert_fails(self, samples, text):
        wrong, found = judge(samples, FRAMES)
        self.assertIsNotNone(wrong, found)
        self.assertIn(text, wrong)

    def test_flat_run(self):
        self.assertIsNone(judge(samples_of(flat(148000), flat(551)), FRAMES)[0])

    def test_noise_is_no_growth(self):
        self.assertIsNone(judge(samples_of(lambda frame: 148000 + frame % 1500, flat(551)), FRAMES)[0])

    def test_host_memory_grows(self):
        self.assert_fails(samples_of(lambda frame: 148000 + frame * 0.2, flat(551)), "KiB of its own grew by 1.5 %")

    def test_pages_of_files_do_not_count(self):
        samples = samples_of(lambda frame: 148000 + frame, flat(551), pages=lambda frame: PAGES_OF_FILES + frame)
        self.assertIsNone(judge(samples, FRAMES)[0])

    def test_gpu_memory_grows(self):
        self.assert_fails(samples_of(flat(148000), lambda frame: 551 + frame / 1000), "MiB of GPU memory grew by")

    def test_growth_before_the_first_tenth_does_not_count(self):
        self.assertIsNone(judge(samples_of(lambda frame: 148000 if frame >= FRAMES // 10 else 1000, flat(551)), FRAMES)[0])

    def test_samples_of_the_end_are_not_used(self):
        """Growth that the end of the process gives back is growth, and what the end gives back is no fall."""
        def ending(frame):
            return 3 if frame > 0.95 * FRAMES else 551 + frame / 1000
        self.assert_fails(samples_of(flat(148000), ending), "MiB of GPU memory grew by")
        only_the_end = [Sample(1500, 148000, 108000, 551)] * 20 + [Sample(FRAMES, 65000, 25000, 3)] * 20
        self.assert_fails(only_the_end, "too few samples")

    def test_too_few_samples(self):
        self.assert_fails([], "too few samples")
        self.assert_fails(samples_of(flat(148000), flat(551), step=3000), "too few samples")
        early = [s for s in samples_of(flat(148000), flat(551)) if s.frame < FRAMES / 2]
        self.assert_fails(early, "too few samples")

    def test_memory_that_cannot_be_read(self):
        self.assert_fails(samples_of(flat(148000), flat(0)), "MiB of GPU memory could not be read")
        self.assert_fails(samples_of(flat(0), flat(551)), "KiB of its own could not be read")


# Reports as ffmpeg -progress does, 100 frames every 20 ms, and keeps argv[2] bytes of each frame.
GROWING = """
import sys, time
kept = []
for frame in range(0, 4001, 100):
    kept.append(b"x" * (100 * int(sys.argv[2])))
    with open(sys.argv[1], "a") as progress:
        progress.write(f"frame={frame}\\nprogress=continue\\n")
    time.sleep(0.02)
sys.exit(int(sys.argv[3]))
"""


class Sampling(unittest.TestCase):
    """A process that grows, and one that does not, as they are sampled."""

    def sampled(self, kept, status=0):
        with tempfile.TemporaryDirectory() as folder:
            progress = f"{folder}/progress.txt"
            command = [sys.executable, "-c", GROWING, progress, str(kept), str(status)]
            return sample(command, progress, timeout=60, read_gpu=lambda: 551)

    def test_growing_process(self):
        status, samples = self.sampled(kept=2000)
        self.assertEqual(status, 0)
        self.assertIn("KiB of its own grew", judge(samples, 4000)[0] or "")

    def test_flat_process(self):
        status, samples = self.sampled(kept=0)
        self.assertEqual((status, judge(samples, 4000)[0]), (0, None))

    def test_exit_status(self):
        self.assertEqual(self.sampled(kept=0, status=3)[0], 3)


if __name__ == "__main__":
    unittest.main()
