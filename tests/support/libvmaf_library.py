# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libvmaf.so.3 as programs in other languages call it, by ctypes."""
import ctypes
import errno
import pathlib

P, U, D = ctypes.c_void_p, ctypes.c_uint, ctypes.c_double


class Configuration(ctypes.Structure):
    _fields_ = [("log_level", ctypes.c_int), ("n_threads", U), ("n_subsample", U), ("cpumask", ctypes.c_uint64), ("gpumask", ctypes.c_uint64)]


class Picture(ctypes.Structure):
    _fields_ = [("pix_fmt", ctypes.c_int), ("bpc", U), ("w", U * 3), ("h", U * 3), ("stride", ctypes.c_ssize_t * 3), ("data", P * 3),
                ("ref", P), ("priv", P)]


class ModelConfig(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("flags", ctypes.c_uint64)]


class CollectionScore(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("bagging", D), ("stddev", D), ("lo", D), ("hi", D)]


FORMATS = {"420": 1, "422": 2, "444": 3, "400": 4}
FLAGS = {None: 0, "disable_clip": 1, "enable_transform": 2, "disable_transform": 4}
POOLS = {"min": 1, "max": 2, "mean": 3, "harmonic_mean": 4}
REPORTS = {"xml": 1, "json": 2, "csv": 3, "sub": 4}


class Failed(Exception):
    """A call that did not return 0."""


def load(build):
    library = ctypes.CDLL(str(pathlib.Path(build).resolve() / "compat/libvmaf/libvmaf.so.3"))
    library.vmaf_version.restype = ctypes.c_char_p
    library.vmaf_model_destroy.restype = library.vmaf_model_collection_destroy.restype = None
    return library


class Context:
    """One run: what is asked for, pictures of raw planar samples, scores."""

    def __init__(self, library, threads=1, subsample=0, log_level=1):
        self.library, self.handle, self.models, self.collections, self.pictures = library, P(), {}, {}, 0
        self.call("vmaf_init", ctypes.byref(self.handle), Configuration(log_level, threads, subsample, 0, 0))

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            raise Failed(f"{name}: {errno.errorcode.get(-result, result)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for model in self.models.values():
            self.library.vmaf_model_destroy(model)
        for collection in self.collections.values():
            self.library.vmaf_model_collection_destroy(collection)
        self.call("vmaf_close", self.handle)

    def options(self, settings):
        dictionary = P()
        for key, value in settings.items():
            self.call("vmaf_feature_dictionary_set", ctypes.byref(dictionary), key.encode(), value.encode())
        return dictionary

    def use_feature(self, name, **settings):
        self.call("vmaf_use_feature", self.handle, name.encode(), self.options(settings))

    def use_model(self, version, name=None, flags=None, collection=False, overloads=None):
        name = name or version
        model, rest = P(), P()
        config = ModelConfig(name.encode(), FLAGS[flags])
        if collection:
            self.call("vmaf_model_collection_load", ctypes.byref(model), ctypes.byref(rest), ctypes.byref(config), version.encode())
            self.collections[name] = rest
        else:
            self.call("vmaf_model_load", ctypes.byref(model), ctypes.byref(config), version.encode())
        self.models[name] = model
        for extractor, settings in (overloads or {}).items():
            self.call("vmaf_model_feature_overload", model, extractor.encode(), self.options(settings))
        self.call("vmaf_use_features_from_model", self.handle, model)
        if collection:
            self.call("vmaf_use_features_from_model_collection", self.handle, rest)

    def picture(self, pix_fmt, bits, width, height, planes):
        """@param planes bytes of each, rows of halved chroma as long as FFmpeg has them, rounded up"""
        picture = Picture()
        self.call("vmaf_picture_alloc", ctypes.byref(picture), FORMATS[pix_fmt], bits, width, height)
        sample = 2 if bits > 8 else 1
        for plane, data in enumerate(planes):
            row = -(-width // 2 if plane and pix_fmt in ("420", "422") else -width) * sample
            for y in range(picture.h[plane]):
                ctypes.memmove(picture.data[plane] + y * picture.stride[plane], data[y * row:(y + 1) * row], picture.w[plane] * sample)
        return picture

    def read(self, reference, distorted, index=None):
        self.call("vmaf_read_pictures", self.handle, ctypes.byref(reference), ctypes.byref(distorted), self.pictures if index is None else index)
        self.pictures += 1

    def flush(self):
        self.call("vmaf_read_pictures", self.handle, None, None, 0)

    def value(self, function, *arguments):
        score = D()
        self.call(function, self.handle, *arguments[:1], *arguments[1:-1], ctypes.byref(score), *([U(arguments[-1])]))
        return score.value

    def feature(self, name, index):
        return self.value("vmaf_feature_score_at_index", name.encode(), index)

    def model(self, name, index):
        return self.value("vmaf_score_at_index", self.models[name], index)

    def collection(self, name, index):
        score = CollectionScore()
        self.call("vmaf_score_at_index_model_collection", self.handle, self.collections[name], ctypes.byref(score), U(index))
        return score

    def pooled_feature(self, name, method, low, high):
        score = D()
        self.call("vmaf_feature_score_pooled", self.handle, name.encode(), POOLS[method], ctypes.byref(score), U(low), U(high))
        return score.value

    def write(self, path, layout):
        self.call("vmaf_write_output", self.handle, str(path).encode(), REPORTS[layout])
