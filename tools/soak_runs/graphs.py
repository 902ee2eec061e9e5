# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random graphs: what their inputs hold, what is asked of the filter, how they end; and ffmpeg's command line for them."""

import dataclasses
import functools
import os
import random
from fractions import Fraction

from soak_runs import pictures
from soak_runs.pairs import Account, Rules, Unsure
from soak_runs.pictures import LAYOUTS, Layout, Picture, Size

RATES = [Fraction(n, d) for n, d in ((25, 1), (50, 1), (30000, 1001), (24000, 1001), (24, 1), (30, 1), (60, 1), (60000, 1001),
                                     (12, 1), (120, 1), (10, 1), (15, 2))]
TIME_BASES = [Fraction(1, d) for d in (1000, 90000, 1000000, 12800, 15360, 600, 48000)]
MOST_BYTES = 6 << 20       # of all pictures of a graph
# How a run ends, or what else happens in it: filters side by side, and a reference that changes its size, with or without a new graph.
ENDINGS = ["whole"] * 9 + ["frames"] * 3 + ["time"] * 2 + ["signal"] * 2 + ["kill", "instances", "resized", "changed"]
IN_REAL_TIME = ("signal", "kill")
OF_SIZES = ("resized", "changed")
# Metrics whose scores are not predicted: they have to be numbers, and the same ones again.
OTHER_METRICS = [("vmaf", 40), ("ssim", 24), ("vmaf+ssim", 40), ("motion", 16), ("vif", 24), ("float_ms_ssim", 176), ("xpsnr", 16),
                 ("float_adm+adm", 40), ("psnr_hvs", 16), ("butteraugli", 8)]
IDENTICAL_SCORES = {"ssimulacra2": 100, "butteraugli": 0}  # metrics that take RGB, and what equal pictures score, as no others do


@dataclasses.dataclass
class Input:
    layout: Layout
    rate: Fraction
    time_base: Fraction
    stamps: list
    pictures: list

    @functools.cached_property
    def times(self):
        return [None if stamp is None else stamp * self.time_base for stamp in self.stamps]


@dataclasses.dataclass
class Filter:
    """One instance of the filter over some of the graph's inputs."""
    rules: Rules
    inputs: list                   # numbers: main, reference, further renditions
    metrics: str = "psnr"
    bitdepth: int = 0
    n_threads: int = 1
    async_depth: int = 0
    log_format: str = "json"
    stats_format: str = "scores"
    enable: tuple = ()             # (expression, function of the frame's number: whether it is switched off)


@dataclasses.dataclass
class Graph:
    seed: str
    size: Size
    inputs: list
    filters: list
    ending: str = "whole"
    stop: object = None            # frames, -t, (signal, seconds, waits for the first scores), or where the sizes change
    commands: list = dataclasses.field(default_factory=list)  # numbers of main frames at which "score" and "flush_log" are sent
    shared_log: bool = False       # all filters were given one name
    again: bool = False            # run it a second time with other threads and another queue
    keeps_rate: bool = True        # behind setpts, which gives the stamps, links have the rate that the input claims

    @property
    def name(self):
        first = self.filters[0]
        return (f"graph {self.seed}: {self.ending}, {self.size.width}x{self.size.height} "
                f"{'/'.join(each.layout.name for each in self.inputs)}, {first.metrics}, {first.rules.sync}, "
                f"{'/'.join(str(len(each.stamps)) for each in self.inputs)} frames")

    def account(self, instance, times=None):
        """times: of some of the filter's inputs, instead of what they have."""
        main = self.inputs[instance.inputs[0]]
        claimed = main.rate if self.keeps_rate or self.ending in OF_SIZES else 0
        own = [(times or {}).get(index, self.inputs[number].times) for index, number in enumerate(instance.inputs)]
        return Account(instance.rules, claimed, main.time_base, own,
                       instance.enable[1] if instance.enable else lambda number: False)


# ---- drawing ---------------------------------------------------------------------------------------------------------

def draw_stamps(rng, rate, time_base, count, offset):
    """Strictly rising: with or without jitter, dropped frames, gaps and changes of pace."""
    jitter = rng.choice([0, 0, 0, 0.2, 0.45])
    dropped = rng.choice([0, 0, 0.05, 0.3])
    gap = rng.choice([0, 0, rng.randrange(2, 14), rng.randrange(10, 40)])
    gap_at = rng.randrange(count)
    pace = rng.choice([1, 1, 1, 1, 1, Fraction(1, 2), 2, Fraction(3, 2), Fraction(19, 20)])
    stamps, frame = [], 0
    while len(stamps) < count:
        if len(stamps) == gap_at and stamps:
            frame, gap = frame + gap, 0
        if rng.random() >= dropped:
            time = offset + (frame + Fraction(rng.uniform(-jitter, jitter)).limit_denominator(1000)) * pace / rate
            stamp = round(time / time_base)
            stamps.append(max(stamp, stamps[-1] + 1) if stamps else max(stamp, 0))
        frame += 1
    return stamps


def draw_pictures(rng, layout, count):
    """Levels that tell neighbours apart; now and then a frame shows the same as the one before."""
    found, step = [], rng.choice([1, 3, 7])
    first = rng.randrange(16, 60)
    for number in range(count):
        if found and rng.random() < 0.1:
            found.append(found[-1])
            continue
        level = first + number * step % 130
        found.append(Picture((level, rng.randrange(16, 230), 16 + (number * 5) % 200), rng.choice([0, 0, 1, 20]),
                             rng.randrange(1 << (layout.depth - 8))))
    return found


def draw_input(rng, layout, rate, count, offset, like=None):
    """`like`: an input that this one shares its clock and pictures with, as the coded form of a reference would."""
    time_base = rng.choice([1 / rate, *TIME_BASES]) if like is None or rng.random() < 0.5 else like.time_base
    stamps = draw_stamps(rng, rate, time_base, count, offset)
    if like is not None and rng.random() < 0.4:
        time_base, stamps = like.time_base, like.stamps[:count]
    shown = draw_pictures(rng, layout, len(stamps))
    if like is not None and rng.random() < 0.6:
        # Mostly the same pictures: identical ones have the highest score, which a wrong partner would not.
        for number in range(min(len(stamps), len(like.pictures))):
            if rng.random() < 0.8:
                fine = like.pictures[number].fine if layout.depth == like.layout.depth else 0
                shown[number] = dataclasses.replace(like.pictures[number], fine=fine)
    return Input(layout, rate, time_base, stamps, shown)


def draw_size(rng):
    def side():
        return min(640, max(16, int(2 ** rng.uniform(4, 9.4))))
    return Size(side(), side())


def frame_bytes(layout, size):
    return len(pictures.picture_bytes(layout, size, Picture((16, 16, 16))))


def draw_rules(rng, rate, is_cut):
    """`is_cut`: the run is interrupted, and a pair must not depend on what comes behind it."""
    sync = rng.choice(["nearest"] * 5 + ["index"] + ([] if is_cut else ["floor", "floor"]))
    max_dt = 0 if is_cut else rng.choice([0] * 5 + [Fraction(rng.randrange(1, 60), 1000), round(1 / rate, 4)])
    return Rules(sync, "pass" if is_cut else rng.choice(["pass", "pass", "endall", "repeat"]), Fraction(max_dt), rng.random() < 0.2,
                 rng.choice([1, 1, 1, 1, 2, 3, 7]), rng.random() < 0.7)


def draw_enable(rng, count):
    begin, length, period = rng.randrange(count), rng.randrange(1, 30), rng.randrange(2, 25)
    on = rng.randrange(1, period)
    return rng.choice([(f"between(n,{begin},{begin + length})", lambda n: not begin <= n <= begin + length),
                       (f"lt(mod(n,{period}),{on})", lambda n: n % period >= on),
                       (f"gte(n,{begin})", lambda n: n < begin)])


def draw_metrics(rng, size, chroma, n_subsample):
    if chroma == "rgb":
        return rng.choice(list(IDENTICAL_SCORES))
    metrics = "psnr" + ("+moment" if rng.random() < 0.4 else "")
    name, smallest = rng.choice(OTHER_METRICS)
    fits = min(size.width, size.height) >= smallest and (name != "psnr_hvs" or chroma != "400")
    if rng.random() < 0.4 and fits and not (n_subsample > 1 and name == "xpsnr"):
        metrics += "+" + name
    return metrics


def draw_filter(rng, graph_size, inputs, numbers, is_cut):
    main = inputs[numbers[0]]
    rules = draw_rules(rng, main.rate, is_cut)
    instance = Filter(rules, numbers, draw_metrics(rng, graph_size, main.layout.chroma, rules.n_subsample))
    instance.bitdepth = rng.choice([0, 0, 0, 0, 10])
    instance.n_threads = rng.choice([1, 1, 2, 3])
    instance.async_depth = rng.choice([0, 0, 1, 2, 5, 30])
    instance.log_format = rng.choice(["json"] * 5 + ["xml", "csv", "sub"])
    if rng.random() < 0.25:
        instance.enable = draw_enable(rng, len(main.stamps))
    if len(numbers) == 2 and main.layout.chroma != "rgb" and rng.random() < 0.15 and not is_cut:
        instance.stats_format = "psnr"
    if "psnr_hvs" in instance.metrics and any(inputs[i].layout.depth > 12 for i in numbers):
        instance.metrics = "psnr"
    return instance


def draw_inputs(rng, size, ending, renditions):
    chroma = rng.choice(["400", "420", "420", "420", "422", "444", "rgb"])
    if ending in OF_SIZES:
        chroma = "400"
    layouts = [layout for layout in LAYOUTS if layout.chroma == chroma and (ending not in OF_SIZES or layout.depth == 8)]
    if rng.random() < 0.5:  # one layout, else a mixture
        layouts = [rng.choice(layouts)]
    chosen = [rng.choice(layouts) for _ in range(renditions + 1)]
    bytes_of_all = sum(frame_bytes(layout, size) for layout in chosen)
    most = max(2, min(300 if ending in IN_REAL_TIME else 120, MOST_BYTES // bytes_of_all))
    count = most if ending in IN_REAL_TIME else max(1, min(most, int(2 ** rng.uniform(0, 7.5))))
    rate = Fraction(rng.choice([50, 100, 200])) if ending in IN_REAL_TIME else rng.choice(RATES)
    base = rng.choice([0, 0, 0, Fraction(1, 3), 10, 36000])
    reference_rate = rate if rng.random() < 0.7 or ending in IN_REAL_TIME else rng.choice(RATES)
    inputs = [draw_input(rng, chosen[1], reference_rate, count, base)]
    for number in range(renditions):
        shift = rng.choice([0] * 6 + [Fraction(1, 1000), Fraction(1, 4) / rate, 3 / rate, 12 / rate])
        length = max(1, min(most, round(count * rng.choice([1, 1, 1, 0.5, 0.9, 1.3]))))
        inputs.append(draw_input(rng, chosen[0 if number == 0 else number + 1], rate, length, base + shift, inputs[0]))
    inputs[0], inputs[1] = inputs[1], inputs[0]
    return inputs


def draw_stop(rng, graph):
    """How an early end is asked for; None where the graph is too short for it."""
    account = graph.account(graph.filters[0])
    main = graph.inputs[0]
    most = len(account.decisions)
    # ffmpeg's own -t counts from zero, the filter that it puts into the graph from the first frame.
    if most < 3 or (graph.ending == "time" and main.stamps[0]):
        return None
    if graph.ending == "frames":
        return rng.randrange(1, most)
    if graph.ending == "time":
        number = rng.randrange(1, most - 1)
        # ffmpeg rounds the time to ticks of the stream: four fifths of one are the next one.
        begin, end = main.times[number:number + 2]
        return float(round(begin + (end - begin) * Fraction(4, 5), 6))
    return rng.choice(["SIGINT", "SIGTERM"]) if graph.ending == "signal" else "SIGKILL", rng.uniform(0, 1.2), rng.random() < 0.8


def try_to_draw(rng, seed, ending, keeps_rate):
    size = draw_size(rng)
    if ending in IN_REAL_TIME:
        size = Size(min(size.width, 96), min(size.height, 96))
    renditions = 1 if ending in OF_SIZES else rng.choice([1, 1, 1, 2, 3, 4])
    inputs = draw_inputs(rng, size, ending, renditions)
    graph = Graph(seed, size, inputs, [], ending, keeps_rate=keeps_rate)
    sets = [list(range(renditions + 1))]
    if ending == "instances":
        sets = [rng.sample(range(renditions + 1), 2) if renditions > 1 else rng.choice([[0, 1], [1, 0]])
                for _ in range(rng.choice([2, 2, 3]))]
    graph.filters = [draw_filter(rng, size, inputs, numbers, ending in IN_REAL_TIME + OF_SIZES) for numbers in sets]
    if ending == "whole" and rng.random() < 0.1 and graph.filters[0].rules.sync != "index":
        for each in inputs:
            take_stamps(rng, each)
    for instance in graph.filters:
        account = graph.account(instance)
        # A run that is refused shows its counts too; but two in one process would stop each other, and what an interrupted run
        # is refused for depends on when that was.
        if ending in IN_REAL_TIME or (account.fails() and (ending != "whole" or rng.random() < 0.5)):
            instance.rules = dataclasses.replace(instance.rules, allow_unpaired=True)
        if None in [account.ends(track) for track in range(1, len(instance.inputs))]:
            raise Unsure
        # An output without a frame is ffmpeg's error from FFmpeg 7 on, at a time that is its own, and would stop the filters beside it.
        if ending == "instances" and not account.decisions:
            raise Unsure
    if ending in OF_SIZES:
        prepare_sizes(rng, graph)
    elif ending not in ("whole", "instances"):
        graph.stop = draw_stop(rng, graph)
        if graph.stop is None:
            graph.ending = "whole"
    graph.again = graph.ending in ("whole", "frames", "time") and rng.random() < 0.3
    graph.shared_log = ending == "instances" and rng.random() < 0.5
    if rng.random() < 0.2 and len(sets) == 1:
        timed = [number for number, stamp in enumerate(graph.inputs[0].stamps) if stamp is not None]
        graph.commands = sorted(rng.sample(timed, min(len(timed), 3)))
    return graph


def take_stamps(rng, each):
    """Some frames have none."""
    some = rng.choice([0, 0.05, 0.3])
    each.stamps = [None if rng.random() < some else stamp for stamp in each.stamps]


def prepare_sizes(rng, graph):
    """The reference's pictures change their size: plain ones in PNG."""
    instance = graph.filters[0]
    instance.rules = Rules(allow_unpaired=True)
    instance.metrics, instance.enable, instance.bitdepth = "psnr", (), 0
    instance.log_format, instance.stats_format = "json", "scores"
    count = max(len(graph.inputs[0].stamps), 20)
    graph.inputs = [Input(each.layout, Fraction(25), Fraction(1, 25), list(range(count)),
                          [Picture((16 + rng.randrange(200), 16, 16)) for _ in range(count)]) for each in graph.inputs]
    graph.stop = sorted(rng.sample(range(2, count), 2))


def draw(seed, ending=None, keeps_rate=True):
    """The graph of a seed, any text. ending: the one that is wanted, though a graph may turn out too short for it; keeps_rate: as
    running.setpts_keeps_rate() says of the ffmpeg that is to run it."""
    rng = random.Random(seed)
    while True:
        try:
            return try_to_draw(rng, seed, ending or rng.choice(ENDINGS), keeps_rate)
        except Unsure:
            continue


# ---- ffmpeg ----------------------------------------------------------------------------------------------------------

def stamps_expression(stamps):
    """An expression of N for setpts. ffmpeg takes no more than 100 terms in a row."""
    terms, last = [], 0
    for number, stamp in enumerate(stamps):
        if stamp is None:
            terms.append(f"if(eq(N,{number}),NAN)")
        elif stamp != last:
            terms.append(f"{stamp - last}*gte(N,{number})")
            last = stamp
    groups = ["+".join(terms[begin:begin + 50]) for begin in range(0, len(terms), 50)]
    return "+".join(f"({group})" for group in groups) or "0"


def options_of(graph, instance, number, backend):
    rules = instance.rules
    options = {"metrics": instance.metrics, "backend": backend, "sync": rules.sync, "eof_action": rules.eof_action,
               "n_subsample": rules.n_subsample, "n_threads": instance.n_threads, "async_depth": instance.async_depth,
               "bitdepth": instance.bitdepth, "renditions": len(instance.inputs) - 1, "allow_unpaired": int(rules.allow_unpaired),
               "align": "start" if rules.align_start else "none", "log_fmt": instance.log_format,
               "stats_format": instance.stats_format, "log_path": log_name(0 if graph.shared_log else number), "stats_file": f"stats{number}.txt"}
    if rules.max_dt:
        options["max_dt"] = f"{float(rules.max_dt):.6f}"
    if instance.enable:
        options["enable"] = f"'{instance.enable[0]}'"
    return ":".join(f"{key}={value}" for key, value in options.items())


def log_name(number, rendition=0, part=1):
    middle = f".{part}" if part > 1 else ""
    return f"log{number}{middle}.rendition{rendition}.json" if rendition else f"log{number}{middle}.json"


def lavfi(graph, backend):
    """The graph's text, and the labels of its outputs."""
    chains, uses = [], {number: [] for number in range(len(graph.inputs))}
    for index, instance in enumerate(graph.filters):
        for number in instance.inputs:
            uses[number].append(f"[i{number}f{index}]")
    for number, each in enumerate(graph.inputs):
        chain = f"settb={each.time_base.numerator}/{each.time_base.denominator},setpts='{stamps_expression(each.stamps)}'"
        if graph.ending in OF_SIZES:  # a new graph counts its frames anew, so stamps have to come from the file
            is_scaled = number == 1 and graph.ending == "resized"
            chain = f"scale={graph.size.width}:{graph.size.height},format=gray" if is_scaled else "null"
        if number == 0 and graph.commands:
            chain += f",sendcmd=c='{sent_commands(graph)}'"
        labels = uses[number]
        chain += f",split={len(labels)}" if len(labels) > 1 else ""
        chains.append(f"[{number}:v]{chain}{''.join(labels) or ',nullsink'}")
    # Not -frames:v, which from FFmpeg 7 on ends the encoder, and the graph some time later. Like -t this looks at one frame more.
    enough = f",trim=end_frame={graph.stop}" if graph.ending == "frames" else ""
    for index, instance in enumerate(graph.filters):
        pads = "".join(f"[i{number}f{index}]" for number in instance.inputs)
        chains.append(f"{pads}quality_cuda={options_of(graph, instance, index, backend)},metadata=print:file=metadata{index}.txt{enough}[o{index}]")
    return ";".join(chains), [f"[o{index}]" for index in range(len(graph.filters))]


def sent_commands(graph):
    times = [f"{float(graph.inputs[0].times[number]):.6f}" for number in graph.commands]
    return ";".join(f"{time} quality_cuda score,quality_cuda flush_log" for time in times)


def command(graph, ffmpeg, backend):
    arguments = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-y", "-v", "info"]
    for number, each in enumerate(graph.inputs):
        rate = f"{each.rate.numerator}/{each.rate.denominator}"
        if graph.ending in IN_REAL_TIME:
            arguments += ["-re"]
        if graph.ending in OF_SIZES and number == 1:
            arguments += ["-reinit_filter", "0"] if graph.ending == "changed" else []
            arguments += ["-f", "png_pipe", "-framerate", rate, "-i", f"in{number}.png"]
            continue
        arguments += ["-f", "rawvideo", "-pixel_format", each.layout.name, "-video_size", f"{graph.size.width}x{graph.size.height}",
                      "-framerate", rate, "-i", f"in{number}.raw"]
    text, outputs = lavfi(graph, backend)
    arguments += ["-lavfi", text]
    stop = ["-t", graph.stop] if graph.ending == "time" else []
    for index, label in enumerate(outputs):
        arguments += ["-map", label, *map(str, stop), "-fps_mode", "passthrough", "-enc_time_base", "1:1000000", "-f", "framemd5",
                      f"out{index}.framemd5"]
    return arguments


def write_inputs(graph, folder):
    for number, each in enumerate(graph.inputs):
        is_png = graph.ending in OF_SIZES and number == 1
        with open(os.path.join(folder, f"in{number}.{'png' if is_png else 'raw'}"), "wb") as file:
            for index, picture in enumerate(each.pictures):
                file.write(png_of(graph, index, picture) if is_png else frame_of(graph, each, picture))


def frame_of(graph, each, picture):
    if graph.ending in OF_SIZES:  # no pattern: it would not survive the scaler
        return pictures.flat(each.layout, graph.size.width, graph.size.height, picture.levels[:1], 0)
    return pictures.picture_bytes(each.layout, graph.size, picture)


def png_of(graph, index, picture):
    """A plain gray picture, of another size in the middle of the stream."""
    first, last = graph.stop
    size = Size(graph.size.width + 8, graph.size.height + 6) if first <= index < last else graph.size
    return pictures.gray_png(size, picture.levels[0])
