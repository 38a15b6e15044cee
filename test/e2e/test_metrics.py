#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The exporter of metrics: every key has a meaning and a family, values are quenchctl's, programs come and go."""
import json
import pathlib
import re
import shutil
import signal
import subprocess

from harness import check, check_equal, finish, run, work_dir
from metrics import CTL, FRAMES, Exporter, promtool, start_nic, start_switch
from desk import Desk, prefix

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

# What tells rows apart, and parameters that are shown beside counters.
NOT_MEASURED = {"port", "queue", "pg", "prio", "local_qpn", "total", "next", "detection_time_ns", "restoration_time_ns",
                "kind", "index", "age_ns"}
# Replies, and the objects of whose keys they are made.
SWITCH_REPLIES = {"ports": ["port"], "device_stats": ["device"], "queues,1": ["queue"], "pg,0": ["pg"], "pfc": ["pfc"],
                  "pfcwd": ["pfcwd"], "drops": ["drop"], "malformed": ["malformed"], "ecn": ["wred", "queue"],
                  "buffer": ["buffer", "pool", "ledger"], "fdb": ["fdb"], "interfaces": ["interface"],
                  "router": ["router"], "lldp": ["dcbx"]}
CC_SECTIONS = re.findall(r"^CC\(\w+, \w+, (\w+)\)", (pathlib.Path(__file__).parents[2] / "lib/cc/cc_table.h").read_text(), re.M)
NIC_REPLIES = {"port": ["port", "pfc", "device"], "nic": ["nic", "drop", "np", *CC_SECTIONS],
               "flows": ["flow"], "qps": ["qp"]}


def names_of(t):
    """{object: names}, counters and gauges together; a priority's key for each."""
    found = {}
    for row in t.rows("counters") + t.rows("gauges"):
        found.setdefault(row["object"], set()).update(row["name"].replace("N", str(p)) for p in range(8 if "N" in row["name"] else 1))
    return found


def numbers_in(value, key=""):
    """Keys of the numbers in a reply, however deep."""
    if isinstance(value, (dict, list)):
        for name, item in value.items() if isinstance(value, dict) else ((key, item) for item in value):
            yield from numbers_in(item, name)
    elif isinstance(value, (int, float)):
        yield key


def check_meanings(name, replies):
    """Every number of every reply is a counter or a gauge, and has a meaning."""
    t = Desk(name)
    names = names_of(t)
    for command, objects in replies.items():
        known = set().union(*(names[o] for o in objects)) | NOT_MEASURED
        method, *port = command.split(",")
        nameless = set(numbers_in(t.call(method, port=int(port[0]) if port else None))) - known
        check(f"{command}: each number has a meaning", not nameless, nameless)
    for rows in (t.rows("counters"), t.rows("gauges")):
        check("each key has help", all(row["help"] for row in rows), [row["name"] for row in rows if not row["help"]])


def check_formats(exporter):
    status, kind, text = exporter.get()
    check_equal("OpenMetrics: status and type", (status, kind),
                (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
    check("it ends with # EOF", text.endswith("\n# EOF\n"))
    if text_string_to_metric_families:
        families = list(text_string_to_metric_families(text))
        check("OpenMetrics' own parser takes it", len(families) > 150, len(families))
        check("every family has help and a type", all(f.documentation and f.type in ("counter", "gauge") for f in families))
        units = {f.unit for f in families}
        check_equal("only base units", units - {"", "bytes", "seconds", "ratio", "bytes_per_second", "packets", "frames"},
                    set())
    status, kind, text = exporter.get(accept="*/*")
    check_equal("text: status and type", (status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
    check("it knows no unit and no end", "# UNIT" not in text and "# EOF" not in text)
    if shutil.which("promtool"):
        done = promtool("check", "metrics", input=text)
        check_equal("promtool check metrics", (done.returncode, done.stdout + done.stderr), (0, ""))


def check_values(exporter, switch, nic):
    """Both programs are quiet: what quenchctl shows is what is exported."""
    def show(name, words):
        done = run(CTL, "--json", "--since-start", "--file-prefix", name, *words.split())
        return json.loads(done.stdout)

    s = exporter.samples()
    mine = f'program="quench-switch",prefix="{switch}"'
    for row in show(switch, "show interfaces")["rows"]:
        at = f'{mine},port="{row["port"]}",device="{row["device"]}"'
        for key in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "tx_pause_frames", "refusals"):
            check_equal(f"port {row['port']} {key}", s[f"quench_port_{key}_total{{{at}}}"], row[key])
        check_equal("its speed in bytes", s[f"quench_port_link_speed_bytes_per_second{{{at}}}"] * 8, row["link_speed_bps"])
    wrong = []
    for words, thing, rows, keys in (
            ("show queue counters", "queue", "queues", ("tx_packets", "tx_bytes", "ecn_marked_packets", "drop_packets")),
            ("show priority-group counters", "pg", "pgs", ("rx_packets", "rx_bytes", "drop_packets"))):
        for row in show(switch, words)[rows]:
            at = f'{mine},port="{row["port"]}",{thing}="{row[thing]}"'
            wrong += [(at, key) for key in keys if s[f"quench_{thing}_{key}_total{{{at}}}"] != row[key]]
    check("queues and groups are as quenchctl shows them", not wrong, wrong)
    check_equal("frames of queue 3", s[f'quench_queue_tx_packets_total{{{mine},port="1",queue="3"}}'], FRAMES)
    check_equal("a drop by reason", s[f'quench_drop_packets_total{{{mine},port="0",reason="reserved_address"}}'], 1)
    check_equal("a threshold", s[f'quench_wred_green_max_threshold_bytes{{{mine},port="1",queue="3"}}'],
                show(switch, "show ecn")["rows"][0]["green_max_threshold_bytes"])
    check_equal("link pause has no priority", s[f'quench_pfc_rx_global_pause_transition_total{{{mine},port="2"}}'], 0)
    check("priorities are labels", f'quench_pfc_tx_pause_total{{{mine},port="0",prio="3"}}' in s)

    mine = f'program="quench-nic",prefix="{nic}"'
    for row in show(nic, "show flows")["rows"]:
        flow = row["flow"].replace("\\", "\\\\").replace('"', '\\"')
        for key in ("messages", "payload_bytes", "cnps_handled"):
            check_equal(f"flow {row['flow']} {key}", s[f'quench_flow_{key}_total{{{mine},flow="{flow}"}}'], row[key])
    counters = show(nic, "show counters")
    check_equal("NIC: packets", s[f"quench_nic_tx_packets_total{{{mine}}}"], counters["tx_packets"])
    check_equal("NIC: CNPs ignored", s[f"quench_rp_cnp_ignored_total{{{mine}}}"], counters["rp_cnp_ignored"])
    check_equal("NIC: a drop by reason", s[f'quench_drop_packets_total{{{mine},reason="malformed"}}'], 0)
    check_equal("NIC: QPs, of which some are exported", s[f"quench_nic_qps{{{mine}}}"], 120)
    check_equal("the first QPs", sum("quench_qp_tx_packets_total" in name and mine in name for name in s), 3)


def check_programs(work, exporter, switch, name):
    up = f'quench_up{{program="quench-switch",prefix="{name}"}}'
    check_equal("the switch is up", exporter.samples()[up], 1)
    check_equal("the switch is killed", switch.stop(signal.SIGKILL), -signal.SIGKILL)
    exporter.wait_until("the switch is down", lambda s: s.get(up) == 0)
    check("its counters are gone", not any(f'prefix="{name}"' in n and "_port_" in n for n in exporter.samples()))
    exporter.wait_for(f"dpdk/{name}/.*the program has ended")
    again = start_switch(work, name)
    again.wait_started()
    exporter.wait_until("it is up again", lambda s: s.get(up) == 1)
    check("and counts from the start", any(f'prefix="{name}"' in n and "_port_" in n for n in exporter.samples()))
    check_equal("exit code", again.stop(), 0)
    exporter.wait_until("a program that was stopped is not down", lambda s: up not in s)


def check_command(work, nic):
    done = run(CTL, "-f", nic, "show", "metrics", "text")
    check("show metrics text", done.returncode == 0 and done.stderr == "" and "# TYPE quench_up gauge" in done.stdout,
          done.stderr)
    check("show metrics", run(CTL, "-f", nic, "show", "metrics").stdout.endswith("# EOF\n"))
    done = run(CTL, "-f", nic, "--output", work / "metrics.prom", "show", "metrics", "text")
    check("show metrics into a file", done.returncode == 0 and "quench_up" in (work / "metrics.prom").read_text(), done.stderr)
    with open("/dev/full", "w") as full:
        done = subprocess.run([CTL, "-f", nic, "show", "metrics"], stdout=full, stderr=subprocess.PIPE, text=True)
    check("a full disk is said", done.returncode == 1 and "standard output" in done.stderr, done.stderr)
    for options, words in ((("show", "metrics", "xml"), "expected openmetrics or text"),
                           (("-f", "qe-none", "show", "metrics"), "no program with --file-prefix qe-none"),
                           (("--output", "x", "serve-metrics"), "--output: expected show metrics"),
                           (("--qps", "5000", "show", "metrics"), "--qps = 5000: expected a number from 0 to 4096"),
                           (("--listen", "9880x", "serve-metrics"), "expected ADDRESS:PORT"),
                           (("--listen", "nowhere:1", "serve-metrics"), "expected ADDRESS:PORT"),
                           (("--listen", "127.0.0.1:70000", "serve-metrics"), "expected ADDRESS:PORT")):  # shared: no port of TCP
        done = run(CTL, *options)
        # Wrong usage, after which systemd does not try again, and a program that is not there.
        check(f"{' '.join(options)} is refused", done.returncode == (1 if "-f" in options else 2) and words in done.stderr, done.stderr)


def main():
    work = work_dir()
    names = prefix("s"), prefix("n")
    switch, nic = start_switch(work, names[0]), start_nic(work, names[1])
    switch.wait_quiet()
    nic.wait_quiet()
    check_meanings(names[0], SWITCH_REPLIES)
    check_meanings(names[1], NIC_REPLIES)
    # Without a name: all that run, those of others among them.
    both = Exporter(work, "--qps", 3)
    check_formats(both)
    both.wait_until("both are up", lambda s: all(any(f'prefix="{n}"' in x and v == 1 for x, v in s.items() if "quench_up" in x)
                                                 for n in names))
    check_values(both, *names)
    taken = run(CTL, "--listen", f"127.0.0.1:{both.port}", "serve-metrics")
    check("a port that is taken is said", taken.returncode == 1 and "Address already in use" in taken.stderr, taken.stderr)
    check_programs(work, both, switch, names[0])
    check_command(work, names[1])
    check_equal("exit code of the exporter", both.stop(), 0)
    check_equal("exit code of the NIC", nic.stop(), 0)
    finish()


if __name__ == "__main__":
    main()
