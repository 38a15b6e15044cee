#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Prometheus server scrapes a switch and a NIC; it holds what the exporter says, and takes rules and dashboard."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from harness import PATIENCE_S, _running, check, check_equal, finish, skip, until, work_dir
from metrics import Exporter, promtool, samples, start_nic, start_switch
from desk import prefix

SHARE = pathlib.Path(__file__).resolve().parents[2] / "share"
RULES = SHARE / "prometheus" / "quench.rules.yml"
DASHBOARD = SHARE / "grafana" / "quench.json"
CONFIG = """
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: quench
    static_configs: [{{targets: [{targets}]}}]
"""
METRIC = r"\bquench_[a-z0-9_]+"


class Prometheus:
    def __init__(self, work, ports):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{s.getsockname()[1]}"
        (work / "prometheus.yml").write_text(CONFIG.format(
            rules=RULES, targets=", ".join(f'"127.0.0.1:{port}"' for port in ports)))
        self.log = work / "prometheus.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/tsdb",
                 f"--web.listen-address={self.url[7:]}"], stdout=log, stderr=log)
        _running.append(self)

    def ask(self, path, **parameters):
        """The reply's data; None while it does not answer, or refuses."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=PATIENCE_S) as r:
                return json.loads(r.read())["data"]
        except (urllib.error.URLError, ConnectionError):
            return None

    def wait(self, what, ask):
        """What ask() returns when it is something."""
        end = time.monotonic() + PATIENCE_S
        while not (found := ask()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"Prometheus does not get to: {what}\n{self.log.read_text()}")
            time.sleep(0.1)
        return found

    def series(self, query):
        """{(name, labels): value}, without what Prometheus adds."""
        found = {}
        for row in (self.ask("query", query=query) or {"result": []})["result"]:
            labels = {k: v for k, v in row["metric"].items() if k not in ("__name__", "job", "instance")}
            found[row["metric"].get("__name__"), tuple(sorted(labels.items()))] = float(row["value"][1])
        return found


def parsed(text):
    """Samples of a text under the same names."""
    found = {}
    for name, value in samples(text).items():
        metric, _, labels = name.partition("{")
        pairs = [(k, re.sub(r"\\(.)", r"\1", v)) for k, v in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)]
        found[metric, tuple(sorted(pairs))] = value
    return found


def check_series(server, exporter, name):
    """All of a program that is quiet, but what goes on: times, the gaps between polls, and what the exporter counts."""
    moving = ("quench_run_elapsed", "quench_port_poll_gap_", "quench_exporter_", "rate_bytes_per_second", "goodput_bytes_per_second")
    def still(series):
        return {k: v for k, v in series.items() if not any(m in k[0] for m in moving)}

    there = still(parsed(exporter.get()[2]))
    held = still(server.series(f'{{__name__=~"quench_.+",prefix="{name}"}}'))
    wrong = {k: (v, held.get(k)) for k, v in there.items() if held.get(k) != v}
    check(f"Prometheus holds all {len(there)} series of {name} as they are", len(there) > 200 and not wrong,
          dict(list(wrong.items())[:5]))


def check_rules(server):
    groups = server.wait("rules", lambda: (lambda d: d if d and all(
        r["lastEvaluation"][0] != "0" for g in d["groups"] for r in g["rules"]) else None)(server.ask("rules")))
    rules = [r for g in groups["groups"] for r in g["rules"]]
    check_equal("every rule was evaluated without an error", {r["health"] for r in rules}, {"ok"})
    check_equal("and none fires", [r["name"] for r in rules if r["state"] == "firing"], [])
    for what in (("check", "rules", RULES), ("test", "rules", RULES.parent / "quench.rules.test.yml")):
        done = promtool(*what)
        check(f"promtool {' '.join(what[:2])}", done.returncode == 0, done.stdout + done.stderr)


def expressions(dashboard):
    found = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", [])]
    return found, [v["definition"] for v in dashboard["templating"]["list"] if "definition" in v]


def check_dashboard(server, exported):
    queries, variables = expressions(json.loads(DASHBOARD.read_text()))
    check("the dashboard has panels", len(queries) > 30, len(queries))
    # Without showLegend Grafana shows none; bytes are thousands here, as in files of configuration.
    panels = json.loads(DASHBOARD.read_text())["panels"]
    legends = [p["options"]["legend"].get("showLegend") for p in panels if "legend" in p.get("options", {})]
    check("its legends are shown", len(legends) > 15 and all(legends), legends)
    ports = {t["legendFormat"] for p in panels for t in p.get("targets", []) if "{{port}}" in t["legendFormat"]}
    check("legends of ports have their names", len(ports) > 8 and all("{{port_name}}" in text for text in ports), ports)
    lost = [q for q in queries if re.search(r"by \([^)]*\bport\b", q) and not re.search(r"by \([^)]*\bport_name\b", q)]
    check_equal("no sum by ports loses their names", lost, [])
    units = {p["fieldConfig"]["defaults"]["unit"] for p in panels if p["type"] != "row"}
    check_equal("its units are Grafana's", units - {"bps", "decbytes", "none", "ops", "percentunit", "pps", "s"}, set())
    for what, text in (("dashboard", " ".join(queries + variables)), ("alert rules", RULES.read_text()),
                       ("tests of alert rules", (RULES.parent / "quench.rules.test.yml").read_text())):
        unknown = set(re.findall(METRIC, text)) - exported
        check(f"every metric of the {what} is exported", not unknown, unknown)
    for query in queries:
        plain = re.sub(r"\$(prefix|port|queue|flow)", ".*", query.replace("$__rate_interval", "1m"))
        check_equal(f"Prometheus takes {query}", (server.ask("query", query=plain) or {}).get("resultType"), "vector")
    def empty():
        return [q for q in queries if "rate(" not in q and not server.series(re.sub(r"\$(prefix|port|queue|flow)", ".*", q))]

    # A scrape has what the programs answered in time.
    until(lambda: not empty())
    check_equal("and has series for each of those without a rate", empty(), [])


def main():
    if not shutil.which("prometheus"):
        skip("prometheus is not installed")
    work = work_dir()
    names = prefix("s"), prefix("n")
    programs = start_switch(work, names[0]), start_nic(work, names[1])
    for program in programs:
        program.wait_quiet()
    exporters = [Exporter(work, "-f", name, "--qps", 3) for name in names]
    server = Prometheus(work, [e.port for e in exporters])
    exported = {name for e in exporters for name, _ in parsed(e.get()[2])}
    server.wait("both programs", lambda: sorted(server.series("quench_up").values()) == [1, 1])
    for exporter, name in zip(exporters, names):
        check_series(server, exporter, name)
    # Its limit of time for a scrape is the interval: on a busy machine one may take longer.
    server.wait("a scrape of both without a fault",
                lambda: [(t["health"], t["lastError"]) for t in server.ask("targets")["activeTargets"]] == [("up", "")] * 2)
    about = server.ask("metadata", metric="quench_port_link_down_seconds")["quench_port_link_down_seconds"][0]
    check_equal("it took type and unit", (about["type"], about["unit"]), ("counter", "seconds"))
    check_rules(server)
    check_dashboard(server, exported)
    programs[0].stop()
    server.wait("the switch is down", lambda: server.series(f'quench_up{{prefix="{names[0]}"}} == 0'))
    server.wait("the alert is pending", lambda: any(
        a["labels"]["alertname"] == "QuenchProgramGone" and a["labels"]["prefix"] == names[0]
        for a in server.ask("alerts")["alerts"]))
    check("a program that is gone raises its alert", True)
    for process in (*exporters, server):
        process.process.terminate()
        process.process.wait(PATIENCE_S)
    programs[1].stop()
    finish()


main()
