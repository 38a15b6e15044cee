# SPDX-License-Identifier: BSD-3-Clause
"""Operations of the API by their names: as JSON over HTTP, or through a client that Node.js makes of the API's document."""
import atexit
import json
import os
import subprocess

PATHS = {"set_config": ("POST", "/config"), "get_config": ("GET", "/config"), "set_control_state": ("POST", "/control/state"), "get_metrics": ("POST", "/monitor/metrics")}


class Client:
    def __init__(self, otg, node=None, script=None, document=None):
        """node: the program that runs the script with the document; None: JSON over HTTP"""
        self.otg, self.process = otg, None
        if node is not None:
            self.process = subprocess.Popen([node, script, document, otg.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env={**os.environ, "NODE_OPTIONS": ""})
            atexit.register(self.process.kill)

    def call(self, operation, body=None):
        """@return (status, JSON)"""
        if self.process is None:
            return self.otg.ask(*PATHS[operation], body)
        self.process.stdin.write(json.dumps({"operation": operation, "body": body}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return reply["status"], reply["data"]
