# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven by its DevTools protocol over two pipes."""
import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile


def program():
    """Path of the browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or \
        shutil.which("google-chrome")


class Browser:
    """One window with one page. A context manager."""

    def __init__(self, javascript=True):
        self.profile = tempfile.mkdtemp(prefix="browser")
        self.number = itertools.count(1)
        self.messages = []
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        self.buffer = b""
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec 3<&%d 4>&%d; exec "$@"' % (down, up), "sh", program(),
             "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--user-data-dir=" + self.profile, "about:blank"],
            pass_fds=(down, up), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(down)
        os.close(up)
        self.session = None
        target = [t for t in self.call("Target.getTargets")["targetInfos"]
                  if t["type"] == "page"][0]
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(domain + ".enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not javascript)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        """The result of a command; events that come before it are kept."""
        number = next(self.number)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.messages.append(answer)

    def open(self, path, width, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.messages = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(m.get("method") == "Page.loadEventFired" for m in self.messages):
            self.messages.append(self._read())

    def problems(self):
        """Errors of scripts, and addresses that the page has requested in addition to its
        own."""
        found = []
        for message in self.messages:
            params = message.get("params", {})
            if message.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["exception"]["description"])
            if message.get("method") == "Log.entryAdded":
                found.append(params["entry"]["text"])
            if message.get("method") == "Network.requestWillBeSent" and \
                    params["type"] != "Document":
                found.append("asked for " + params["request"]["url"][:80])
        return found

    def value(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " +
                               result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def place(self, selector):
        """The middle of an element, scrolled into view."""
        box = self.value("(function(e){e.scrollIntoView({block:'center'});"
                         "var b=e.getBoundingClientRect();return [b.x,b.y,b.width,b.height]})"
                         "(document.querySelector(%s))" % json.dumps(selector))
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.place(selector)
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)

    def key(self, name):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowLeft": 37,
                                             "ArrowUp": 38, "ArrowRight": 39,
                                             "ArrowDown": 40}[name])

    def type(self, words):
        self.call("Input.insertText", text=words)

    def picture(self, path, whole=True):
        clip = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"],
                             "height": min(size["height"], 16000), "scale": 1}}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
