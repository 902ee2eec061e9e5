# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pictures whose scores are known: flat levels under a pattern that both sides share, and a mark in the upper third of luma.

The difference of two pictures is one number for the marked rows and one for the others, so their squared error and their
moments have a closed form. Pictures are made of repeated rows: without a loop over samples, in any size.
"""

import array
import dataclasses
import math
import struct
import sys
import zlib

CELL = (0, 3, 1, 6, 2, 7, 4, 5)  # sample (x, y) has CELL[(x + y) % 8] on top of its level
SMALLEST_MSE = 1e-16


@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    chroma: str            # 400, 420, 422, 444 or rgb
    depth: int = 8
    shift: int = 0         # unused low-order bits of the word
    form: str = "planar"   # or semi (nv12), packed (rgb24), gbr (planar, green first)


LAYOUTS = [
    Layout("gray", "400"), Layout("gray10le", "400", 10), Layout("gray12le", "400", 12), Layout("gray16le", "400", 16),
    *(Layout(f"yuv{chroma}p{suffix}", chroma, depth) for chroma in ("420", "422", "444")
      for suffix, depth in (("", 8), ("10le", 10), ("12le", 12), ("16le", 16))),
    Layout("nv12", "420", form="semi"), Layout("p010le", "420", 10, 6, "semi"), Layout("p016le", "420", 16, 0, "semi"),
    Layout("nv16", "422", form="semi"), Layout("p210le", "422", 10, 6, "semi"), Layout("p216le", "422", 16, 0, "semi"),
    Layout("rgb24", "rgb", form="packed"), Layout("gbrp", "rgb", form="gbr"), Layout("gbrp10le", "rgb", 10, form="gbr"),
    Layout("gbrp12le", "rgb", 12, form="gbr"), Layout("gbrp16le", "rgb", 16, form="gbr"),
]


@dataclasses.dataclass(frozen=True)
class Picture:
    """Levels are of 8 bits; `fine` is added in the lowest bits of deeper samples."""
    levels: tuple = (100, 128, 128)
    mark: int = 0
    fine: int = 0


@dataclasses.dataclass(frozen=True)
class Size:
    width: int
    height: int

    @property
    def marked_rows(self):
        return self.height // 3

    def chroma(self, chroma):
        """(width, height) of a stored chroma plane."""
        return (self.width if chroma in ("444", "rgb") else (self.width + 1) // 2,
                (self.height + 1) // 2 if chroma == "420" else self.height)


def words(layout, samples):
    """Samples, from 0 to the depth's largest, as they lie in memory."""
    if layout.depth == 8:
        return bytes(samples)
    values = array.array("H", (sample << layout.shift for sample in samples))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def repeated(cell, count):
    """The first `count` bytes of the cell, over and over."""
    return (cell * (count // len(cell) + 1))[:count]


def sample_of(layout, level, fine):
    return (level << (layout.depth - 8)) + (fine if layout.depth > 8 else 0)


def pattern_rows(layout, size, level, fine, height):
    """Rows of the pattern over a level; row y begins at cell y % 8, so `height` has to begin at a row divisible by 8."""
    cells = [words(layout, [sample_of(layout, level + CELL[(x + y) % 8], fine) for x in range(8)]) for y in range(8)]
    row_bytes = size.width * len(cells[0]) // 8
    return repeated(b"".join(repeated(cell, row_bytes) for cell in cells), row_bytes * height)


def luma(layout, size, picture, level):
    """The plane with its mark."""
    top = pattern_rows(layout, size, level + picture.mark, picture.fine, size.height)
    rest = pattern_rows(layout, size, level, picture.fine, size.height)
    border = len(top) // size.height * size.marked_rows
    return top[:border] + rest[border:]


def flat(layout, width, height, levels, fine):
    """A plane, or two interleaved ones, without pattern."""
    return words(layout, [sample_of(layout, level, fine) for level in levels]) * (width * height)


def picture_bytes(layout, size, picture):
    if layout.form == "packed":
        cells = [[level + CELL[(x + y) % 8] for x in range(8) for level in picture.levels] for y in range(8)]
        row = 3 * size.width
        return repeated(b"".join(repeated(bytes(cell), row) for cell in cells), row * size.height)
    if layout.form == "gbr":
        red, green, blue = picture.levels
        return b"".join(pattern_rows(layout, size, level, picture.fine, size.height) for level in (green, blue, red))
    planes = luma(layout, size, picture, picture.levels[0])
    if layout.chroma == "400":
        return planes
    width, height = size.chroma(layout.chroma)
    if layout.form == "semi":
        return planes + flat(layout, width, height, picture.levels[1:], picture.fine)
    return planes + b"".join(flat(layout, width, height, [level], picture.fine) for level in picture.levels[1:])


# ---- what two pictures score -----------------------------------------------------------------------------------------

def scored_depth(layouts, bitdepth):
    """At which all pictures of a run are scored."""
    deepest = max(layout.depth for layout in layouts)
    return 10 if bitdepth == 10 and deepest == 8 else deepest


def scaled(layout, level, fine, depth):
    """A sample at the depth that is scored. Gray is of full range: its bits are repeated, so that white stays white."""
    sample, shift = sample_of(layout, level, fine), depth - layout.depth
    return sample << shift | (sample >> (layout.depth - shift) if layout.chroma == "400" else 0)


def squared_errors(size, depth, first, second):
    """Mean squared error of each plane; first and second: (layout, picture). Where samples are shifted, the pattern cancels out."""
    def difference(plane, mark):
        values = [scaled(layout, picture.levels[plane] + (picture.mark if mark else 0), picture.fine, depth)
                  for layout, picture in (first, second)]
        return values[0] - values[1]
    if first[0].chroma == "400":
        return [gray_error(size, depth, first, second)]
    marked, rows = size.marked_rows, size.height
    errors = [(marked * difference(0, True) ** 2 + (rows - marked) * difference(0, False) ** 2) / rows]
    return errors + [float(difference(plane, False) ** 2) for plane in (1, 2)]


def gray_error(size, depth, first, second):
    """The pattern, the same on both sides, matters here: bits are repeated by what they are."""
    total = 0
    for is_rest, counts in enumerate(mean_of_cells(size)):
        for cell, count in enumerate(counts):
            values = [scaled(layout, picture.levels[0] + CELL[cell] + (0 if is_rest else picture.mark), picture.fine, depth)
                      for layout, picture in (first, second)]
            total += count * (values[0] - values[1]) ** 2
    return total / (size.width * size.height)


def psnr(mse, depth, capped=True):
    peak = (1 << depth) - 1
    value = 10 * math.log10(peak * peak / max(mse, SMALLEST_MSE))
    return min(value, 6 * depth + 12) if capped else value


def psnr_scores(size, depth, distorted, reference):
    errors = squared_errors(size, depth, distorted, reference)
    return {f"psnr_{name}": psnr(mse, depth) for name, mse in zip(("y", "cb", "cr"), errors)}


def mean_of_cells(size):
    """How often each cell of the pattern is seen, by marked and other rows."""
    columns = [(size.width - x + 7) // 8 for x in range(8)]
    counted = [[0] * 8, [0] * 8]
    for y in range(size.height):
        for x in range(8):
            counted[y >= size.marked_rows][(x + y) % 8] += columns[x]
    return counted


def moments(size, depth, layout, picture):
    """Mean and mean square of luma, at the scale of 8 bits."""
    first = second = 0
    for is_rest, counted in enumerate(mean_of_cells(size)):
        for cell, count in enumerate(counted):
            value = scaled(layout, picture.levels[0] + CELL[cell] + (0 if is_rest else picture.mark), picture.fine, depth)
            first, second = first + count * value, second + count * value * value
    samples, unit = size.width * size.height, 1 << (depth - 8)
    return first / samples / unit, second / samples / unit / unit


def moment_scores(size, depth, distorted, reference):
    (ref1, ref2), (dis1, dis2) = (moments(size, depth, *side) for side in (reference, distorted))
    return {"float_moment_ref1st": ref1, "float_moment_dis1st": dis1, "float_moment_ref2nd": ref2, "float_moment_dis2nd": dis2}


def psnr_line(size, depth, distorted, reference):
    """The numbers of a line of stats_format=psnr."""
    errors = squared_errors(size, depth, distorted, reference)
    chroma = size.chroma(reference[0].chroma)
    weights = [size.width * size.height] + [chroma[0] * chroma[1]] * (len(errors) - 1)
    mean = sum(mse * weight for mse, weight in zip(errors, weights)) / sum(weights)
    found = {}
    for name, mse in zip(("avg", "y", "u", "v"), [mean, *errors]):
        found[f"mse_{name}"] = mse
        found[f"psnr_{name}"] = psnr(mse, depth, capped=False) if mse else math.inf
    return found


def gray_png(size, level):
    """A plain gray picture as a PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", size.width, size.height, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([level]) * size.width) * size.height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
