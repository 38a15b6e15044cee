# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl web, without a browser."""
import atexit
import contextlib
import http.client
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

from ctl import BUSY
from harness import BUILD, PATIENCE_S, check


class Web:
    def __init__(self, *options):
        end = time.monotonic() + PATIENCE_S
        while True:
            self.process = subprocess.Popen([BUILD / "app/quenchctl/quenchctl", "--listen", "127.0.0.1:0", *options, "web"],
                                            stderr=subprocess.PIPE, text=True)
            atexit.register(self.process.kill)
            line = self.process.stderr.readline()
            if not BUSY.search(line) or time.monotonic() > end:
                break
        found = re.search(r"(http://([^/\s]+)/)(?:#token=(\w+)?)?", line.strip())
        self.url, self.host, self.token = found.groups() if found else (None, None, None)
        check("web says where it is", found is not None, line)

    def get(self, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=PATIENCE_S) as reply:
            return reply.read().decode(), reply.headers

    def status(self, path, **headers):
        try:
            self.get(path, **headers)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

    def raw(self, method, path, headers, body=None, bytes_announced=None):
        """A request with exactly these headers, and a part of the body if more is announced. @return status, text, headers."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_S)
        connection.putrequest(method, "/" + path, skip_host=True, skip_accept_encoding=True)
        for key, value in headers.items():
            connection.putheader(key, value)
        if body is not None:
            connection.putheader("Content-Length", str(bytes_announced or len(body)))
        connection.endheaders()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before its body
            connection.send((body or "").encode())
        reply = connection.getresponse()
        with contextlib.closing(connection):
            return reply.status, reply.read().decode(), reply.headers

    def comes(self, *texts):
        """Wait until the data of the page has these texts."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if all(text in self.get("data")[0] for text in texts):
                return True
            time.sleep(0.1)
        return False

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)
