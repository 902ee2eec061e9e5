# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Streams that change, and frames whose scores mean something else: each is scored with a note, or ended with one error, and what was
scored before is written."""

import json
import unittest
import xml.etree.ElementTree

from harness import FilterTest, WithFakeEngine, ffmpeg, is_threaded, make, stop_behind

CLOCK = "settb=1/90000,setpts="


class WithDamage(FilterTest):
    """Packets whose middle is overwritten: the decoder conceals what it cannot read, and says so of the frame."""

    FRAMES = 40

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=self.FRAMES)
        self.whole = make(self.clips, "whole.mp4", self.reference, "-c:v", "mpeg4", "-g", "12", "-b:v", "300k")
        self.damaged = self.clips / "damaged.mp4"
        data = bytearray(self.whole.read_bytes())
        at = data.index(b"mdat") + 4
        size = int.from_bytes(data[at - 8:at - 4], "big")
        for part in (0.2, 0.45, 0.55, 0.7, 0.8):
            for offset in range(at + int(size * part), at + int(size * part) + 400, 97):
                data[offset] ^= 0xff
        self.damaged.write_bytes(data)

    def numbers(self, run, key):
        """Of the frames that carry the mark, from metadata and stats_file, which have to agree."""
        marked = [int(scores["n"]) for _, scores in run.tagged if key in scores]
        self.assertEqual({scores[key] for _, scores in run.tagged if key in scores}, {"1"} if marked else set())
        self.assertEqual([int(row["n"]) for row in run.stats if key in row], marked)
        return marked


class Damage(WithDamage):
    def test_of_main(self):
        run = self.score(self.damaged, self.reference)
        self.assert_ok(run)
        marked = self.numbers(run, "corrupt")
        self.assertTrue(0 < len(marked) < self.FRAMES / 2, run.text)
        self.assertEqual(self.numbers(run, "ref_corrupt"), [])
        self.assertEqual(run.log["corrupt_frame_numbers"], marked)
        self.assertEqual((run.log["distorted_stream"]["corrupt_frames"], run.log["reference_stream"]["corrupt_frames"]), (len(marked), 0))
        self.assertEqual(len(run.messages("Input 0 (main) has damaged frames, the first one at ")), 1)
        self.assertEqual(len(run.messages(f"damaged frames among the pairs, whose scores count like others: main:{len(marked)}")), 1)
        self.assertEqual(len(run.log["frames"]), run.pairing["frames"])

    def test_of_the_reference_and_a_rendition(self):
        run = self.score(self.reference, self.damaged, self.whole, self.damaged, options="renditions=3")
        self.assert_ok(run)
        marked = self.numbers(run, "ref_corrupt")
        self.assertTrue(marked)
        self.assertEqual(self.numbers(run, "2.corrupt"), marked)
        self.assertEqual((self.numbers(run, "corrupt"), self.numbers(run, "1.corrupt")), ([], []))
        for k, own in ((0, 0), (1, 0), (2, len(marked))):
            log = run.log_named(f"log.rendition{k}.json" if k else "log.json")
            self.assertEqual((log["distorted_stream"]["corrupt_frames"], log["reference_stream"]["corrupt_frames"]), (own, len(marked)))
            self.assertEqual(log["corrupt_frame_numbers"], marked)
        self.assertEqual(len(run.messages("has damaged frames")), 1)
        self.assertTrue(run.messages(f"like others: reference:{len(marked)} main2:{len(marked)}"))

    def test_of_a_rendition_alone(self):
        run = self.score(self.reference, self.reference, self.damaged, options="renditions=2")
        self.assert_ok(run)
        marked = self.numbers(run, "1.corrupt")
        self.assertTrue(marked)
        self.assertEqual((run.log["corrupt_frame_numbers"], run.log_named("log.rendition1.json")["corrupt_frame_numbers"]), ([], marked))

    def test_whole_streams_have_no_mark(self):
        run = self.score(self.whole, self.reference)
        self.assert_ok(run)
        self.assertEqual((self.numbers(run, "corrupt"), run.log["corrupt_frame_numbers"]), ([], []))
        self.assertNotIn("damaged", run.text)

    def test_skipped_frames_are_not_listed(self):
        everything = self.numbers(self.score(self.damaged, self.reference), "corrupt")
        self.assertTrue({number % 2 for number in everything} == {0, 1}, everything)
        run = self.score(self.damaged, self.reference, options="n_subsample=2")
        self.assertEqual(run.log["corrupt_frame_numbers"], [number for number in everything if number % 2 == 0])

    def test_lines(self):
        everything = self.numbers(self.score(self.damaged, self.reference), "corrupt")
        run = self.score(self.damaged, self.reference, options="log_path=lines.txt:log_fmt=jsonl")
        self.assert_ok(run)
        lines = [json.loads(line) for line in run.texts["lines.txt"].splitlines()]
        found = [(line["n"], line["corrupt"]) for line in lines if "corrupt" in line]
        self.assertEqual(found, [(number, ["main"]) for number in everything])

    def test_marks_of_a_filter_before_go(self):
        graph = "[0:v][1:v]quality_cuda=psnr:backend=cpu[d];[d][2:v]quality_cuda=psnr:backend=cpu,metadata=print:file=metadata.txt"
        run = ffmpeg(["-i", self.reference, "-i", self.damaged, "-i", self.reference, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertEqual(len(run.tagged), self.FRAMES)
        self.assertEqual([scores for _, scores in run.tagged if "ref_corrupt" in scores], [])


class DamageReadAhead(WithDamage, WithFakeEngine):
    def test_only_frames_that_left_count(self):
        """The stand-in's scores come ten frames late, so that some were paired that nobody wanted any more."""
        late = {"QC_FAKE_LAG": "10"}
        everything = self.fake_score(self.damaged, self.reference, environment=late, options="metrics=vmaf").log["corrupt_frame_numbers"]
        self.assertGreater(len(everything), 1)
        stop, frames = stop_behind(everything[0] + 1)
        self.assertLess(everything[1] - frames, 10, everything)
        run = self.fake_score(self.damaged, self.reference, environment=late, options="metrics=vmaf", **stop)
        self.assertEqual(run.log["corrupt_frame_numbers"], [number for number in everything if number < frames])
        self.assertEqual(run.log["distorted_stream"]["corrupt_frames"], len(run.log["corrupt_frame_numbers"]))


class Kinds(FilterTest):
    """What pictures are: interlaced, HDR."""

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=3, size="352x288")

    def test_interlaced(self):
        for before, first, counts in (({0: "setparams=field_mode=tff"}, "Input 0 (main)", (3, 0)),
                                      ({1: "setparams=field_mode=bff"}, "Input 1 (reference)", (0, 3)),
                                      ({0: "setparams=field_mode=tff", 1: "setparams=field_mode=tff"}, "Input 0 (main)", (3, 3))):
            run = self.score(self.clip, self.clip, before=before)
            self.assert_ok(run)
            self.assertEqual(len(run.messages("has interlaced frames, the first one at 0.000 s")), 1)
            self.assertTrue(run.messages(f"{first} has interlaced frames"))
            self.assertEqual((run.log["distorted_stream"]["interlaced_frames"], run.log["reference_stream"]["interlaced_frames"]), counts)
        self.assertTrue(run.messages("interlaced frames among the pairs: main:3 reference:3"))

    def test_progressive(self):
        run = self.score(self.clip, self.clip, before={0: "setparams=field_mode=prog"})
        self.assert_ok(run)
        self.assertNotIn("interlaced", run.text)
        self.assertEqual(run.log["distorted_stream"]["interlaced_frames"], 0)

    def test_hdr_is_named(self):
        for transfer, name in (("smpte2084", "PQ"), ("arib-std-b67", "HLG"), ("bt709", None)):
            tags = f"setparams=color_trc={transfer}:color_primaries=bt2020"
            run = self.score(self.clip, self.clip, before={0: tags, 1: tags}, options="metrics=psnr")
            self.assert_ok(run)
            for side in ("distorted_stream", "reference_stream"):
                self.assertEqual((run.log[side]["transfer"], run.log[side]["primaries"], run.log[side]["hdr"]), (transfer, "bt2020", name))
            self.assertNotIn(" is HDR", run.text)  # nothing here was made for SDR
        run = self.score(self.clip, self.clip)
        self.assertEqual((run.log["distorted_stream"]["transfer"], run.log["distorted_stream"]["hdr"]), (None, None))

    def test_models_for_sdr_on_hdr(self):
        tags = "setparams=color_trc=smpte2084"
        for model in ("", ":model=vmaf_v0.6.1neg", ":model=version=vmaf_v0.6.1\\\\:name=mine"):
            run = self.score(self.clip, self.clip, before={1: tags}, options="metrics=vmaf" + model)
            self.assert_ok(run)
            self.assertEqual(len(run.messages("Input 1 (reference) is HDR (PQ): models such as ")), 1)
        run = self.score(self.clip, self.clip, before={0: tags, 1: tags}, options="metrics=vmaf")
        self.assertEqual(len(run.messages(" is HDR (PQ)")), 1)
        self.assertTrue(run.messages("Input 0 (main) is HDR (PQ): models such as vmaf were made for SDR"))

    def test_a_model_of_ones_own_is_its_owners_business(self):
        svm = "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:0.5 \n"
        model = {"model_type": "LIBSVMNUSVR", "norm_type": "linear_rescale", "slopes": [1.0, 1], "intercepts": [0, 0],
                 "feature_names": ["VMAF_integer_feature_motion2_score"], "model": svm}
        (self.folder / "own.json").write_text(json.dumps({"param_dict": {}, "model_dict": model}))
        for model, warnings in (("path=own.json", 0), ("own.json", 0), ("path=own.json|vmaf_v0.6.1", 1), ("auto", 1)):
            run = self.score(self.clip, self.clip, before={1: "setparams=color_trc=smpte2084"}, options=f"metrics=vmaf:model={model}")
            self.assert_ok(run)
            self.assertEqual(len(run.messages(" is HDR (PQ)")), warnings, model)

    def test_the_aliases_are_quiet(self):
        graph = "[0:v]setparams=field_mode=tff:color_trc=smpte2084[d];[1:v]setparams=color_trc=smpte2084[r];[d][r]libvmaf=log_path=log.xml"
        run = ffmpeg(["-i", self.clip, "-i", self.clip, "-lavfi", graph, "-f", "null", "-"], self.folder)
        if "No such filter" in run.text:
            self.skipTest("SKIPPED: this ffmpeg was built without the aliases")
        self.assert_ok(run)
        for text in ("interlaced", "HDR", "renditions"):
            self.assertNotIn(text, run.text)
        elements = [each.tag for each in xml.etree.ElementTree.parse(self.folder / "log.xml").getroot()]
        self.assertEqual(elements, ["params", "fyi", "frames", "pooled_metrics", "aggregate_metrics"])

    def test_xml(self):
        run = self.score(self.clip, self.clip, before={0: "setparams=color_trc=arib-std-b67"}, options="log_fmt=xml")
        self.assert_ok(run)
        root = xml.etree.ElementTree.parse(self.folder / "log.json").getroot()
        self.assertEqual((root.find("distorted_stream").attrib["hdr"], root.find("reference_stream").attrib["corrupt_frames"]), ("HLG", "0"))


class Grain(FilterTest):
    """Film grain that a decoder is to make: nobody sees it in the frames, unless the decoder hands over its parameters instead."""

    EXPORTED = ("-export_side_data", "film_grain")
    FRAMES = 6

    def setUp(self):
        super().setUp()
        codecs = ffmpeg(["-v", "quiet", "-codecs"], self.folder).stdout
        if "libsvtav1" not in codecs or "libdav1d" not in codecs:
            self.skipTest("SKIPPED: this ffmpeg was built without libsvtav1 or libdav1d")
        self.reference = self.source(frames=self.FRAMES, extra="noise=alls=25:allf=t:all_seed=5")
        coder = ["-c:v", "libsvtav1", "-preset", "10", "-crf", "40"]
        self.plain = make(self.clips, "plain.mkv", self.reference, *coder)
        self.grainy = make(self.clips, "grainy.mkv", self.reference, *coder, "-svtav1-params", "film-grain=40")

    def test_it_is_left_out_and_counted(self):
        run = self.score(self.grainy, self.reference, before_inputs=[self.EXPORTED])
        self.assert_ok(run)
        self.assertEqual((run.log["distorted_stream"]["film_grain_frames"], run.log["reference_stream"]["film_grain_frames"]), (self.FRAMES, 0))
        self.assertEqual(len(run.messages(f"scored without the grain: main:{self.FRAMES}")), 1, run.text)
        self.assertEqual(run.log["warnings"], [])
        by_the_decoder = self.score(self.grainy, self.reference, before_inputs=[("-c:v", "libdav1d", "-filmgrain", "0")])
        self.assertEqual([row["psnr_y"] for row in run.stats], [row["psnr_y"] for row in by_the_decoder.stats])

    def test_unasked_it_is_part_of_the_pictures(self):
        run, bare = (self.score(self.grainy, self.reference, before_inputs=[options]) for options in ((), self.EXPORTED))
        self.assertEqual(run.log["distorted_stream"]["film_grain_frames"], 0)
        self.assertNotIn("film grain", run.text)
        self.assertGreater(bare.stats[0]["psnr_y"], run.stats[0]["psnr_y"] + 0.1)

    def test_streams_without_it(self):
        run = self.score(self.plain, self.reference, before_inputs=[self.EXPORTED])
        self.assertEqual(run.log["distorted_stream"]["film_grain_frames"], 0)


QUEUE_OF_A_GRAPH = 8  # frames, of FFmpeg from 7 on, between a decoder's thread and the graph's


class Colours(FilterTest):
    def test_changes_are_counted(self):
        """Primaries, which no FFmpeg converts, there and back."""
        clip = self.source(frames=20)
        parts = "".join(f"[{name}]trim=start_frame={start}:end_frame={end},setpts=PTS-STARTPTS,setparams=color_primaries={tag}[{name}{name}];"
                        for name, start, end, tag in (("a", 0, 8, "bt709"), ("b", 8, 12, "bt2020"), ("c", 12, 20, "bt709")))
        run = self.score(clip, clip, before={1: f"split=3[a][b][c];{parts}[aa][bb][cc]concat=n=3"})
        self.assert_ok(run)
        self.assertEqual((run.log["reference_stream"]["colour_changes"], run.log["distorted_stream"]["colour_changes"]), (2, 0))
        self.assertEqual(len(run.messages("Input 1 (reference) changes its colour tags at 0.320 s; those of the first pair go on being used")), 1)
        self.assertTrue(run.messages("changes of colour tags: reference:2"))
        self.assert_all_identical(run)


    def test_a_matrix_that_changes(self):
        """Said by the decoder in the middle of a stream: up to FFmpeg 6 frames just come with it, later there is a graph for each."""
        if " libx264 " not in ffmpeg(["-v", "quiet", "-encoders"], self.folder).stdout:
            self.skipTest("SKIPPED: this FFmpeg has no libx264")
        steady, half = self.source(frames=40), 20
        halves = [make(self.clips, f"{matrix}.h264", steady, "-vf", f"trim=start_frame={start}:end_frame={start + half},setparams=range=tv:"
                       f"colorspace={matrix}", "-c:v", "libx264", "-qp", "0", "-bf", "0")
                  for matrix, start in (("bt709", 0), ("bt470bg", half))]
        stream = self.clips / "matrices.h264"
        stream.write_bytes(b"".join(part.read_bytes() for part in halves))
        run = self.score(make(self.clips, "matrices.mp4", stream, "-c", "copy"), steady)
        self.assert_ok(run)
        self.assertEqual(run.log["distorted_stream"]["matrix"], "bt709")
        if is_threaded():
            second = run.log_named("log.2.json")
            self.assertEqual(second["distorted_stream"]["matrix"], "bt470bg")
            self.assertEqual(len(run.log["frames"]) + len(second["frames"]), len(run.stats))
            # How many of either input's frames FFmpeg ends the first graph with, is the threads' luck; those that are left are paired.
            came, unscored, unused = (sum(log["pairing"][key] for log in (run.log, second)) for key in ("frames", "unscored", "reference_unused"))
            self.assertEqual(len(run.stats), came - unscored)
            self.assertLessEqual(max(unscored, unused, 2 * half - came), QUEUE_OF_A_GRAPH)
        else:
            self.assertEqual(run.log["distorted_stream"]["colour_changes"], 1)
            self.assertEqual(len(run.messages("Input 0 (main) changes its colour tags at 0.800 s")), 1)
            self.assertEqual(len(run.stats), 2 * half)
        self.assert_all_identical(run)


class Stamps(FilterTest):
    """Time stamps that restart or jump. The pictures are the same, so that a wrong pair is seen."""

    RESTART = "if(lt(N\\,25)\\,N\\,N-25)/25"
    STEADY = "N/25"

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=50)

    def pair(self, main, reference, options="", frames=None):
        run = self.score(self.clip, frames or self.clip, before={0: f"{CLOCK}({main})/TB", 1: f"{CLOCK}({reference})/TB"}, options=options)
        self.assert_ok(run)
        self.assert_all_identical(run)
        return run

    def test_both_restart(self):
        """Whichever side's stamps are a little later, and whichever comes first."""
        for shift in ("0", "0.001", "0.004", "-0.001", "-0.004"):
            with self.subTest(shift):
                run = self.pair(self.RESTART, f"{self.RESTART}+{shift}")
                self.assert_counts(run, frames=50, paired=50, unscored=0, reference_unused=0, reference_repeated=0)
                self.assertEqual(len(run.messages("the time stamps jump from ")), 1)
                self.assertTrue(run.messages("jumps of time stamps: main:1 reference:1"))
                self.assertEqual(run.log["distorted_stream"]["timestamp_jumps"], 1)

    def test_both_restart_twice(self):
        twice = "mod(N\\,20)/25"
        run = self.pair(twice, f"{twice}+0.002")
        self.assert_counts(run, frames=50, paired=50)
        self.assertTrue(run.messages("jumps of time stamps: main:2 reference:2"))

    def test_one_restarts(self):
        """Nothing is compared that does not belong together, and everything leaves."""
        for main, reference, lost in ((self.RESTART, self.STEADY, "after_reference"), (self.STEADY, self.RESTART, "gaps")):
            run = self.pair(main, reference)
            self.assert_counts(run, **{"frames": 50, "paired": 25, lost: 25, "reference_unused": 25})
            self.assertEqual(len(run.out), 50)

    def test_the_other_side_is_not_read_for_ever(self):
        run = self.pair(self.RESTART, self.STEADY, frames=self.source(frames=300))
        self.assert_counts(run, frames=50, paired=25, gaps=25)
        self.assertTrue(run.messages("and more that were not read"))

    def test_main_goes_on_if_the_reference_alone_restarted(self):
        clip = self.source(frames=250)
        run = self.score(clip, clip, before={0: f"{CLOCK}({self.STEADY})/TB", 1: f"{CLOCK}({self.RESTART})/TB"}, options="allow_unpaired=1")
        self.assert_ok(run)
        self.assertEqual(len(run.out), 250)
        self.assertGreater(run.pairing["paired"], 100)  # from where the reference's new stamps reach main's

    def test_a_wrong_stamp(self):
        """One frame is not used; those around it are."""
        for main, reference in ((f"if(eq(N\\,25)\\,{wrong}\\,N/25)", self.STEADY) for wrong in ("0", "0.9", "500")):
            run = self.pair(main, reference)
            self.assert_counts(run, frames=50, paired=49, gaps=1, reference_unused=1)
            run = self.pair(reference, main)
            self.assert_counts(run, frames=50, paired=49, gaps=1, reference_unused=1)

    def test_a_wrong_last_stamp(self):
        run = self.pair("if(eq(N\\,49)\\,0\\,N/25)", self.STEADY)
        self.assert_counts(run, frames=50, paired=49)

    def test_both_jump_ahead(self):
        ahead = "if(lt(N\\,25)\\,N\\,N+1000)/25"
        run = self.pair(ahead, f"{ahead}+0.001")
        self.assert_counts(run, frames=50, paired=50)
        self.assertTrue(run.messages("Input 0 (main): the time stamps jump from 0.960 s to 41.000 s"))

    def test_a_rendition_restarts(self):
        run = self.score(self.clip, self.clip, self.clip, options="renditions=2", before={2: f"{CLOCK}({self.RESTART})/TB"})
        self.assert_ok(run)
        self.assert_counts(run, frames=50, paired=50)
        self.assertEqual(run.log_named("log.rendition1.json")["pairing"]["rendition_gaps"], 25)
        self.assertEqual(run.log_named("log.rendition1.json")["distorted_stream"]["timestamp_jumps"], 1)

    def test_pairs_by_number_look_at_no_stamp(self):
        run = self.pair(self.RESTART, self.STEADY, options="sync=index")
        self.assert_counts(run, frames=50, paired=50)
        self.assertNotIn("jump", run.text)

    def test_a_pause_is_no_jump(self):
        pause = "if(lt(N\\,25)\\,N\\,N+200)/25"
        run = self.pair(pause, pause)
        self.assert_counts(run, frames=50, paired=50)
        self.assertNotIn("jump", run.text)

    def test_variable_frame_rate(self):
        """Frames left out, and stamps that shake by less than half a frame."""
        run = self.score(self.clip, self.clip, before={0: f"select=mod(n*n\\,7)-2,{CLOCK}(T+0.012*mod(N\\,2))/TB"})
        self.assert_ok(run)
        self.assert_all_identical(run)
        self.assertEqual(run.pairing["paired"], run.pairing["frames"])
        self.assertLess(run.pairing["frames"], 50)


class Formats(FilterTest):
    """A stream whose pixel format changes in the middle."""

    HALF = 20

    def setUp(self):
        super().setUp()
        self.steady = self.source(frames=2 * self.HALF)
        halves = [make(self.clips, f"{layout}.raw", self.steady, "-frames:v", self.HALF, "-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", layout, "-f",
                       "rawvideo") for layout in ("yuvj420p", "yuvj444p")]
        stream = self.clips / "layouts.mjpeg"
        stream.write_bytes(b"".join(half.read_bytes() for half in halves))
        self.half_changed = make(self.clips, "layouts.mkv", stream, "-c", "copy")

    def test_without_a_new_graph(self):
        run = self.score(self.half_changed, self.steady, before_inputs=(("-reinit_filter", "0"),))
        self.assert_fails(run, "Input 0 (main) changed from 176x144 yuvj420p to 176x144 yuvj444p at 0.800 s",
                          f"INCOMPLETE after {self.HALF} frames")
        self.assertEqual((run.log["end"], len(run.log["frames"]), len(run.stats)), ("failure", self.HALF, self.HALF))

    def test_with_a_new_graph(self):
        """Luma can be compared before and after; each graph has its log."""
        run = self.score(self.half_changed, self.steady, options="opts=psnr.enable_chroma=false")
        self.assert_ok(run)
        second = run.log_named("log.2.json")
        self.assertIsNotNone(second, run.text)
        self.assertEqual([log["distorted_format"] for log in (run.log, second)], ["yuvj420p", "yuvj444p"])
        self.assertEqual(len(run.log["frames"]) + len(second["frames"]), len(run.stats))
        self.assertGreater(len(second["frames"]), 0)


if __name__ == "__main__":
    unittest.main()
