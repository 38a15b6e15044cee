# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl web, without a browser."""
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

from harness import BUILD, PATIENCE_S, check


class Web:
    def __init__(self, *options):
        self.process = subprocess.Popen([BUILD / "app/quenchctl/quenchctl", "--listen", "127.0.0.1:0", *options, "web"],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.url = re.search(r"http://\S+", line).group(0) if "http" in line else None
        check("web says where it is", self.url is not None, line)

    def get(self, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=PATIENCE_S) as reply:
            return reply.read().decode(), reply.headers

    def status(self, path, **headers):
        try:
            self.get(path, **headers)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

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
