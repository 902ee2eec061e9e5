# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Opens, uses and closes sessions of the library, several kinds in turn, until SIGINT; then says how many there were.

usage: sessions.py LIBRARY cpu|cuda SESSIONS_A_SECOND

It is a program of its own, so that its memory is the library's and nothing else's grows in it.
"""
import ctypes
import itertools
import os
import sys
import time

QC_ABI_VERSION = 5
QC_MAX_RENDITIONS = 16
QC_OK, QC_AGAIN, QC_END = 0, 1, 2
BACKENDS = {"cuda": 1, "cpu": 2}
CHROMA = {"400": 0, "420": 1, "444": 3}
FRAMES = 6
# (width, height, chroma, renditions, metrics)
KINDS = [(176, 144, "420", 1, b"vmaf|psnr"), (64, 48, "444", 3, b"psnr|ssim"), (320, 180, "420", 1, b"vmaf|ssim|ciede"),
         (97, 65, "400", 2, b"psnr|motion"), (176, 176, "420", 1, b"all")]


class Format(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("width", "height", "chroma", "depth", "shift", "container_bits", "semi_planar",
                                                  "rgb", "pixel_step")] + \
               [("sample_offset", ctypes.c_int * 3), ("colour", ctypes.c_int * 5), ("big_endian", ctypes.c_int),
                ("reserved", ctypes.c_int * 6)]


class Picture(ctypes.Structure):
    _fields_ = [("plane", ctypes.c_void_p * 3), ("pitch_bytes", ctypes.c_ssize_t * 3), ("memory", ctypes.c_int),
                ("cuda_stream", ctypes.c_void_p), ("reserved", ctypes.c_int64 * 4)]


class Frame(ctypes.Structure):
    _fields_ = [("reference", Picture), ("distorted", Picture * QC_MAX_RENDITIONS), ("weights", Picture), ("map", Picture),
                ("release", ctypes.c_void_p), ("opaque", ctypes.c_void_p), ("reserved", ctypes.c_int64 * 8)]


class Config(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("reference", Format), ("renditions", ctypes.c_int),
                ("distorted", Format * QC_MAX_RENDITIONS), ("frame_rate", ctypes.c_double), ("bitdepth", ctypes.c_int),
                ("metrics", ctypes.c_char_p), ("model", ctypes.c_char_p), ("feature", ctypes.c_char_p), ("options", ctypes.c_char_p),
                ("stats_format", ctypes.c_int), ("n_subsample", ctypes.c_int), ("skip_unsupported", ctypes.c_int),
                ("backend", ctypes.c_int), ("device", ctypes.c_int), ("cuda_context", ctypes.c_void_p), ("n_threads", ctypes.c_int),
                ("batch", ctypes.c_int), ("slots", ctypes.c_int), ("latency_first", ctypes.c_int), ("log", ctypes.c_void_p),
                ("log_opaque", ctypes.c_void_p), ("selftest", ctypes.c_int), ("reserved", ctypes.c_int)]


class Row(ctypes.Structure):
    _fields_ = [("frame", ctypes.c_int64), ("value", ctypes.POINTER(ctypes.c_double)), ("present", ctypes.c_char_p),
                ("reserved", ctypes.c_int64 * 5)]


def load(path):
    library = ctypes.CDLL(path)
    handle = ctypes.c_void_p
    library.qc_session_create.argtypes = [ctypes.POINTER(Config), ctypes.POINTER(handle), ctypes.c_char_p]
    library.qc_session_submit.argtypes = [handle, ctypes.POINTER(Frame)]
    library.qc_session_receive.argtypes = [handle, ctypes.c_int, ctypes.POINTER(Row)]
    library.qc_session_write_log.argtypes = [handle, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, handle, ctypes.c_int]
    for name in ("flush", "destroy", "scored_frames", "error"):
        getattr(library, f"qc_session_{name}").argtypes = [handle]
    library.qc_session_error.restype = ctypes.c_char_p
    library.qc_session_scored_frames.restype = ctypes.c_int64
    if library.qc_abi_version() != QC_ABI_VERSION:
        sys.exit(f"the library has ABI {library.qc_abi_version()}, this program knows {QC_ABI_VERSION}")
    return library


class Kind:
    """A configuration with two pictures, made once."""

    def __init__(self, backend, width, height, chroma, renditions, metrics):
        self.config = Config(struct_size=ctypes.sizeof(Config), renditions=renditions, metrics=metrics, backend=BACKENDS[backend],
                             n_threads=2, skip_unsupported=1)
        layout = Format(width=width, height=height, chroma=CHROMA[chroma], depth=8, container_bits=8)
        self.config.reference = layout
        for rendition in range(renditions):
            self.config.distorted[rendition] = layout
        self.buffers = [bytes((x * step + 31) % 251 for x in range(width)) * height for step in (3, 5)]
        pictures = []
        for buffer in self.buffers:
            picture = Picture()
            for plane in range(1 if chroma == "400" else 3):
                picture.plane[plane] = ctypes.cast(buffer, ctypes.c_void_p)
                picture.pitch_bytes[plane] = width
            pictures.append(picture)
        self.frame = Frame(reference=pictures[0])
        for rendition in range(renditions):
            self.frame.distorted[rendition] = pictures[1]


def use(library, kind, log):
    """One session from its opening to its end."""
    session, error = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
    if library.qc_session_create(ctypes.byref(kind.config), ctypes.byref(session), error) != QC_OK:
        sys.exit(f"no session: {error.value.decode()}")
    row, status = Row(), QC_OK
    for _ in range(FRAMES):
        status = library.qc_session_submit(session, ctypes.byref(kind.frame))
        while status == QC_OK:
            status = library.qc_session_receive(session, 0, ctypes.byref(row))
    if status >= 0:
        status = library.qc_session_flush(session)
    while status == QC_OK:
        status = library.qc_session_receive(session, 1, ctypes.byref(row))
    if status != QC_END or library.qc_session_scored_frames(session) != FRAMES or \
            library.qc_session_write_log(session, 0, log, 0, 1, None, 0) != QC_OK:
        sys.exit(f"a session failed: {library.qc_session_error(session).decode()}")
    library.qc_session_destroy(session)


def main():
    library, backend, pace = load(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    kinds = [Kind(backend, *kind) for kind in KINDS]
    count, log = 0, os.path.abspath("session.json").encode()
    try:
        for kind in itertools.cycle(kinds):
            use(library, kind, log)
            count += 1
            if pace:
                time.sleep(1 / pace)
    except KeyboardInterrupt:
        pass
    print(f"{count} sessions", file=sys.stderr)


if __name__ == "__main__":
    main()
