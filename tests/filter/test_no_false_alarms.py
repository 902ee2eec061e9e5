# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Ordinary videos beside ordinary encodes of them: nothing is warned of. What the watch of the contents looks for (offsets, rates,
ranges, turns, bars, other videos, parts) is not there, whatever the pictures are like."""

import subprocess
import unittest

from harness import FFMPEG, FilterTest, make

SIZE, RATE, FRAMES = "240x136", 25, 96
TEST = f"testsrc2=s={SIZE}:r={RATE}"
ZOOM = f"mandelbrot=s={SIZE}:rate={RATE}:end_scale=0.02:end_pts=120"
SLOW = f"mandelbrot=s={SIZE}:rate={RATE}:end_scale=0.5:end_pts=4000"
GRADIENT = f"gradients=s={SIZE}:r={RATE}:seed=3:speed=0.02"
COLOUR = "color={}:s=" + f"{SIZE}:r={RATE}"
#: Lines of text from below to above.
CREDITS = ",".join(f"drawbox=x={20 + 7 * line % 50}:y=136+{line * 19}-t*25*{{0}}:w={60 + 31 * line % 90}:h=9:c=white:t=fill" for line in range(30))
#: Each is a source and what is done to it, and is the master and its encode alike.
MASTERS = {
    "test picture": (TEST, "null"),
    "zoom": (ZOOM, "null"),
    "slow zoom": (SLOW, "null"),
    "fade in": (ZOOM, "fade=in:0:60"),
    "fade out": (ZOOM, "fade=out:30:60"),
    "fade in and out": (ZOOM, "fade=in:0:20,fade=out:60:20"),
    "fade to white": (ZOOM, "fade=out:40:40:color=white"),
    "black": (COLOUR.format("black"), "null"),
    "white": (COLOUR.format("white"), "null"),
    "gray": (COLOUR.format("gray"), "null"),
    "black start": (TEST, "lutyuv=16:128:128:enable=lt(n\\,50)"),
    "black end": (TEST, "lutyuv=16:128:128:enable=gt(n\\,50)"),
    "black in the middle": (TEST, "lutyuv=16:128:128:enable=between(n\\,30\\,60)"),
    "still": (ZOOM, "loop=loop=-1:size=1"),
    "still that begins to move": (ZOOM, "loop=loop=50:size=1"),
    "video that comes to a stand": (ZOOM, "loop=loop=-1:size=1:start=40"),
    "stills": (ZOOM, "select=not(mod(n\\,24)),setpts=N*24/25/TB,fps=25"),
    "slates": (TEST, "framestep=24,fps=25"),
    "on twos": (ZOOM, "framestep=2,fps=25"),
    "on fours": (ZOOM, "framestep=4,fps=25"),
    "pulldown": (ZOOM, "fps=20,fps=25"),
    "cut": (TEST, "negate=enable=gt(n\\,48)"),
    "cuts": (TEST, "hflip=enable=lt(mod(n\\,20)\\,10)"),
    "flashes": (ZOOM, "lutyuv=y=235:enable=eq(mod(n\\,12)\\,0)"),
    "flicker": (ZOOM, "lutyuv=y=val*0.8:enable=mod(n\\,2)"),
    "strobe": (TEST, "negate=enable=mod(n\\,2)"),
    "noise": (COLOUR.format("gray"), "noise=alls=80:allf=t:all_seed=3"),
    "noisy": (ZOOM, "noise=alls=30:allf=t:all_seed=3"),
    "credits": (COLOUR.format("black"), CREDITS.format(1)),
    "fast credits": (COLOUR.format("black"), CREDITS.format(5)),
    "pan": (f"testsrc2=s=480x136:r={RATE}", "crop=240:136:2*n:0"),
    "loop of 10": (ZOOM, "loop=loop=-1:size=10"),
    "loop of 40": (ZOOM, "loop=loop=-1:size=40"),
    "loop there and back": (ZOOM, "trim=end_frame=24,split[a][b];[b]reverse[c];[a][c]concat,loop=loop=-1:size=48"),
    "a shot that comes again": (TEST, "loop=loop=1:size=30,setpts=N/25/TB"),
    "symmetry": (TEST, "crop=240:68:0:0,split[a][b];[b]vflip[c];[a][c]vstack"),
    "squares": (COLOUR.format("gray"), "geq=lum=if(lt(mod(X+N*3\\,60)\\,30)\\,200\\,60):cb=128:cr=128"),
    "gradients": (GRADIENT, "null"),
    "dark scene": (ZOOM, "lutyuv=y=16+(val-16)*0.1"),
    "bright scene": (ZOOM, "lutyuv=y=235-(235-val)*0.2"),
    "letterbox": (TEST, "drawbox=0:0:240:18:black:fill,drawbox=0:118:240:18:black:fill"),
    "pillarbox": (ZOOM, "drawbox=0:0:30:136:black:fill,drawbox=210:0:30:136:black:fill"),
    "test chart": (f"smptebars=s={SIZE}:r={RATE}", "null"),
    "wipe": (TEST, "drawbox=x=0:y=0:w=240:h=136:c=black:t=fill:enable=lt(n\\,1),rotate=a=0.02*n"),
    "interview": (TEST, "crop=60:40:90:50,scale=80:60,pad=240:136:80:40:0x306090"),
}


def encoders():
    """An encode of what people upload, and one of what they complain of."""
    listed = subprocess.run([FFMPEG, "-hide_banner", "-encoders"], capture_output=True, text=True, check=True).stdout
    if " libx264 " not in listed:
        return {"fine": ("-c:v", "mpeg4", "-q:v", "6"), "coarse": ("-c:v", "mpeg2video", "-q:v", "28")}
    x264 = ("-c:v", "libx264", "-preset", "veryfast", "-threads", "1")
    return {"fine": (*x264, "-crf", "26"), "coarse": (*x264, "-crf", "42")}


class NoFalseAlarms(FilterTest):
    def assert_quiet(self, run):
        self.assert_ok(run)
        self.assertEqual([*run.messages("alignment: "), *run.messages("contents: "), *run.messages("range: ")], [])
        self.assertEqual(run.log["alignment"]["findings"], [])

    def test_made_ones(self):
        self.assertGreaterEqual(len(MASTERS), 40)
        encodes = encoders()
        for number, (name, (source, chain)) in enumerate(MASTERS.items()):
            master = make(self.clips, f"{number}.nut", source, "-vf", f"{chain},trim=end_frame={FRAMES},format=yuv420p", "-r", str(RATE),
                          "-c:v", "ffvhuff")
            for quality, codec in encodes.items():
                with self.subTest(name, quality=quality):
                    self.assert_quiet(self.score(make(self.clips, f"{number}-{quality}.mkv", master, *codec), master))

    def test_the_first_part_of_each(self):
        """The reference goes on, which is no reason to look for anything elsewhere."""
        codec = encoders()["fine"]
        for number, name in enumerate(("zoom", "still", "black start", "loop of 40", "credits", "a shot that comes again", "slow zoom")):
            with self.subTest(name):
                source, chain = MASTERS[name]
                master = make(self.clips, f"whole{number}.nut", source, "-vf", f"{chain},trim=end_frame=160,format=yuv420p", "-r", str(RATE),
                              "-c:v", "ffvhuff")
                part = make(self.clips, f"part{number}.mkv", master, "-frames:v", "70", *codec)
                self.assert_quiet(self.score(part, master))


if __name__ == "__main__":
    unittest.main()
