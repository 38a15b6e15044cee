# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg in this process, in front of quench-nics that are none: they accept what `check` accepts, and count nothing."""
import http.client
import json
import pathlib
import tempfile
import threading

from fake import PATIENCE_S  # finds the tools
from otg import plan, results, server, tester
from otg.generator import Driven
from quench.desk import Failed


class Nothing(Driven):
    """A quench-nic that is none."""

    def __init__(self, name, check):
        self.name, self.check, self.text, self.runs, self.late_ns = name, check, "", False, 0

    def start(self, text):
        self.write(text)
        self.commit()
        self.runs = True

    def wait_started(self):
        pass

    def find(self):
        return False

    def is_ready(self):
        return self.runs

    def why(self):
        return f"port {self.name}: ended"

    def write(self, text):
        self.next = text

    def commit(self):
        self.check(self.next)
        self.text = self.next

    def call(self, method, **params):
        streams = [line[8:-1] for line in self.text.splitlines() if line.startswith("[frames ")]
        return {"nic": {**dict.fromkeys(results.PORT_KEYS, 0)}, "port": {"link": "up", "device_stats": {"oerrors": 0}, "poll_late_ns": self.late_ns}, "qp": {"hold": "", "peer_mac": ""},
                "qps": {"rows": []}, "frames": {"rows": [{"name": name, "started": 0, "missed_bytes": 0, **dict.fromkeys(results.RAW_KEYS, 0)} for name in streams]}}[method]

    def capture(self, order):
        raise Failed(f"port {self.name}: no capture")

    def is_attached(self):
        return False

    def stop(self):
        self.runs = False


class Otg:
    """The server, and a connection to it."""

    def __init__(self, texts, check=lambda text: None, token=None):
        """texts: {name of a port: what configurations call it}"""
        self.folder = tempfile.TemporaryDirectory()
        outlets = {name: tester.Outlet(plan.Location(name, 10**9, texts=found), lambda name=name: Nothing(name, check)) for name, found in texts.items()}
        self.tester = tester.Tester(outlets, pathlib.Path(self.folder.name))
        self.server = server.Server("127.0.0.1", 0, server.Api(self.tester, "test"), None, token)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=PATIENCE_S)

    def ask(self, method, path, body=None, **headers):
        """body: JSON, or bytes. @return (status, JSON)"""
        self.connection.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body).encode(),
                                {"Content-Type": "application/json", **headers})
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read())

    def end(self):
        self.connection.close()
        self.server.shutdown()
        self.server.server_close()
        self.tester.end()
        self.folder.cleanup()
