# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A process whose locale writes numbers with a decimal comma: messages, metadata, logs and statistics keep their points."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import FilterTest, preloading

LOCALE = "de_DE.UTF-8"
# ffmpeg itself leaves the C locale on; programs that use the filter as a library may not.
USE_LOCALE = r'''
#include <locale.h>
#include <stdio.h>
__attribute__((constructor)) static void use(void)
{
    if (setlocale(LC_ALL, ""))
        fprintf(stderr, "decimal point is %s\n", localeconv()->decimal_point);
}
'''


class Comma(FilterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-locale-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        if not shutil.which("localedef"):
            raise unittest.SkipTest("SKIPPED: no localedef to make a locale with a decimal comma")
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / LOCALE)], capture_output=True, check=False)
        if not (folder / LOCALE / "LC_NUMERIC").exists():
            raise unittest.SkipTest(f"SKIPPED: localedef makes no de_DE ({made.stderr.decode(errors='replace').strip()[:100]})")
        (folder / "use_locale.c").write_text(USE_LOCALE)
        try:
            subprocess.run([*os.environ.get("CC", "cc").split(), "-fPIC", "-shared", folder / "use_locale.c", "-o",
                            folder / "use_locale.so"], check=True)
        except FileNotFoundError as error:
            raise unittest.SkipTest("SKIPPED: no C compiler for the library that sets the locale") from error
        cls.environment = {"LOCPATH": str(folder), "LC_ALL": LOCALE, **preloading(folder / "use_locale.so")}

    def lines(self, run):
        self.assertIn("decimal point is ,", run.text, "the locale was not used")
        return [line for line in run.text.splitlines() if "quality_cuda" in line]

    def check(self, run):
        for line in self.lines(run):
            self.assertIsNone(re.search(r"\d,\d", line), line)

    def test_whole_run(self):
        clip = self.source(frames=10, size="320x240")
        arguments = {"options": "metrics=vmaf+psnr:model=auto", "verbosity": "debug"}
        run = self.score(clip, self.worse(clip), **arguments)
        self.assert_ok(run)
        self.check(run)
        plain = self.score(clip, self.worse(clip), environment={"LC_ALL": "C"}, **arguments)
        self.assertEqual((run.tagged, run.stats), (plain.tagged, plain.stats))

    def test_pauses(self):
        """Time stamps that do not overlap, frames that leave without scores, inputs that begin apart."""
        clip = self.source(frames=30)
        for before in ({1: "setpts=PTS+0.2/TB"}, {0: "setpts=PTS+0.2/TB"}, {1: "setpts=PTS+100/TB"}):
            run = self.score(clip, clip, before=before, options="metrics=psnr+motion")
            self.check(run)


if __name__ == "__main__":
    unittest.main()
