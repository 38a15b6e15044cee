# SPDX-License-Identifier: BSD-3-Clause
"""A switch and a NIC with all features on that have something to count, and an exporter of their metrics."""
import re
import subprocess
import time
import urllib.error
import urllib.request

from configs import flow_to_itself, full_switch, nic, port, section
from frames import ECT0, roce, write_pcap
from harness import BUILD, PATIENCE_S, Program, _running, run
from desk import eal

CTL = BUILD / "app/quenchctl/quenchctl"
FRAMES = 300
SWITCH = full_switch() + port(0, link_speed_bps="1G") + port(1, link_speed_bps="10G") + port(2, link_speed_bps="10G", flow_control="pause")
JOB = section("job ring", ranks="10.0.0.1-10.0.0.2", ranks_here="0-1", bytes="4KB")
JOB_QPS = 8


def start_switch(work, name):
    """Forwards FRAMES frames, drops one, and is quiet then."""
    frames = [roce("02:00:00:00:07:07", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26, ECT0, bytes(64))
              for i in range(FRAMES)] + [b"\x01\x80\xc2\x00\x00\x05" + bytes(54)]
    write_pcap(work / "in.pcap", frames)
    return Program(work, "switch", f"switch{name}", SWITCH, eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap",
        f"net_pcap2,tx_pcap={work}/out2.pcap"), "--stats-interval", 0.2, "--idle-sleep", 1000)


def start_nic(work, name, job=""):
    """Sends each QP's message to itself, and stays. job: JOB, or none."""
    text = nic(1, link_speed_bps="1G", first_qpn=100, measure_pacing="on", measure_times="on") + flow_to_itself(
        'write "a\\b"', 60, first=100 + (JOB_QPS if job else 0), messages=1, message_bytes=1000) + job
    return Program(work, "nic", f"nic{name}", text, eal(name, "net_ring0"), "--stats-interval", 0.2, "--idle-sleep", 1000,
                   "--stay")


class Exporter:
    """quenchctl serve-metrics."""

    def __init__(self, work, *options):
        self.err_path = work / f"exporter{len(_running)}.err"
        with open(self.err_path, "w") as err:
            self.process = subprocess.Popen([CTL, "--listen", "127.0.0.1:0", *map(str, options), "serve-metrics"],
                                            stdout=subprocess.DEVNULL, stderr=err)
        _running.append(self)
        self.url = self.wait_for(r"http://[^/]+").group()
        self.port = int(self.url.rpartition(":")[2])

    def err(self):
        return self.err_path.read_text()

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.err())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"quenchctl serve-metrics: no {pattern}: {self.err()}")
            time.sleep(0.02)
        return found

    def get(self, path="/metrics", accept="application/openmetrics-text;version=1.0.0", **headers):
        """(status, content type, text); the status of a refusal, too."""
        request = urllib.request.Request(self.url + path, headers={"Accept": accept, **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                return reply.status, reply.headers["Content-Type"], reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def samples(self):
        return samples(self.get()[2])

    def wait_until(self, what, condition):
        def holds():
            try:
                return condition(self.samples())
            except ConnectionError:  # a server that is full makes room for others
                return False

        end = time.monotonic() + PATIENCE_S
        while not holds():
            if time.monotonic() > end:
                raise SystemExit(f"the exporter does not get to: {what}\n{self.err()}")
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


def ordered(series):
    """With program and prefix as the first labels, then the others by name: prometheus_client orders all by name."""
    name, _, rest = series.rstrip("}").partition("{")
    pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', rest)
    pairs.sort(key=lambda pair: (("program", "prefix").index(pair[0]) if pair[0] in ("program", "prefix") else 2, pair[0]))
    return name + ("{" + ",".join(f'{k}="{v}"' for k, v in pairs) + "}" if pairs else "")


class Samples(dict):
    """{series: value}, whatever the order of the labels that are asked for."""

    def __getitem__(self, series):
        return super().__getitem__(ordered(series))

    def __contains__(self, series):
        return super().__contains__(ordered(series))

    def get(self, series, default=None):
        return super().get(ordered(series), default)


def samples(text):
    """{series: value}"""
    return Samples((ordered(line.rpartition(" ")[0]), float(line.rpartition(" ")[2])) for line in text.splitlines() if line and line[0] != "#")


def labels(**kw):
    return ",".join(f'{k}="{v}"' for k, v in kw.items())


def promtool(*arguments, **kw):
    return run("promtool", *arguments, **kw)
