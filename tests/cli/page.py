# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a report's page has, read without a browser."""

import array
import base64
import html.parser
import json
import math

MISSING = -2147483648
VOID = {"meta", "link", "img", "br", "input", "hr"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.scripts, self.tables, self.elements, self.open_tags, self.text = {}, {}, [], [], []
        self.cell = self.row = self.table = self.caption = self.script = None
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.index = json.loads(self.scripts["index"])

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open_tags.append(tag)
        if tag == "script":
            self.script = attributes.get("id", f"script{len(self.scripts)}")
            self.scripts[self.script] = ""
        elif tag == "table":
            self.table = []
        elif tag == "caption":
            self.caption = ""
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in self.open_tags:
            while self.open_tags.pop() != tag:
                pass
        if tag == "script":
            self.script = None
        elif tag == "table":
            self.tables[self.caption_text] = self.table
        elif tag == "caption":
            self.caption_text, self.caption = self.caption, None
        elif tag == "tr":
            self.table.append(self.row)
        elif tag in ("td", "th"):
            self.row.append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.script is not None:
            self.scripts[self.script] += data
            return
        self.text.append(data)
        if self.caption is not None:
            self.caption += data
        if self.cell is not None:
            self.cell += data

    def words(self):
        return " ".join("".join(self.text).split())

    def values(self, encode, score):
        """(values, how many frames each stands for); of several the means"""
        entry = next(each for each in self.index["series"] if each["encode"] == encode and each["score"] == score)
        raw = base64.b64decode(self.scripts[entry["id"]])
        if entry["kind"] == "doubles":
            values = array.array("d", raw)
        else:
            values = [math.nan if value == MISSING else value / 1e6 for value in array.array("i", raw)]
        return list(values if entry["step"] == 1 else values[:len(values) // 3]), entry["step"]

    def frames(self, encode):
        frames = self.index["encodes"][encode]["frames"]
        if "id" in frames:
            return [int(value) for value in array.array("d", base64.b64decode(self.scripts[frames["id"]]))]
        return [frames["first"] + i * frames["stride"] for i in range(frames["count"])]

    def images(self):
        return [(attributes["alt"], base64.b64decode(attributes["src"].partition(",")[2])) for tag, attributes in self.elements if tag == "img"]
