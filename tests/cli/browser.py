# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A browser without a window, told what to do through two pipes by the protocol of its developers' tools."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WHY_NONE = "SKIPPED: no chromium"
PATIENCE_SECONDS = 60


class Browser:
    """One page at a time; remembers what the page complained of."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="quality-cuda-browser-", ignore_cleanup_errors=True)
        command_end, self.write_end = os.pipe()
        self.read_end, answer_end = os.pipe()
        # The browser reads from descriptor 3 and writes to 4, whatever numbers the pipes have here.
        script = f'exec 3<&{command_end} 4>&{answer_end}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe",
             "about:blank"],
            pass_fds=(command_end, answer_end), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_end)
        os.close(answer_end)
        self.number, self.rest, self.session, self.events = 0, b"", None, []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @staticmethod
    def slowness():
        """How many times longer than alone a process takes here now, beside all others: 1 on an idle machine."""
        start, computed = time.monotonic(), time.process_time()
        while time.process_time() - computed < 0.2:
            pass
        return max(1.0, (time.monotonic() - start) / (time.process_time() - computed))

    def close(self):
        os.close(self.write_end)  # it ends by itself when nobody tells it what to do
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        self.folder.cleanup()

    def message(self, deadline):
        while b"\0" not in self.rest:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            message = self.message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def show(self, width=1280, height=900, dark=False, mobile=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """@return milliseconds until the plots were drawn, as the page itself measures them"""
        self.events = []
        self.call("Page.navigate", url=f"file://{path}")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            drawn = self.evaluate(f"location.href.startsWith('file:') && document.readyState === 'complete' "
                                  "? document.documentElement.dataset.drawnMs || null : null")
            if drawn is not None:
                return int(drawn)
            if self.complaints() and self.evaluate("document.readyState") == "complete":
                return None
            time.sleep(0.02)
        raise TimeoutError(f"{path} was not drawn: {self.complaints()}")

    def complaints(self):
        """Errors and warnings of scripts, the console, and the browser itself; and whatever it fetched beside the page."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
                found.append("fetches " + parameters["request"]["url"])
        return found

    def forget(self, part):
        """What a test itself gave cause for."""
        self.events = [event for event in self.events if part not in json.dumps(event)]

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, x, y, to_x, to_y):
        self.move_to(x, y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for k in range(1, 6):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to_x - x) * k / 5, y=y + (to_y - y) * k / 5, button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def double_click(self, x, y):
        self.move_to(x, y)
        for count in (1, 2):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))
