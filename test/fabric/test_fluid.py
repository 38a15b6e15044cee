#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fluid model of a scenario file: alone, refused, and beside the packets of the same file.

    test_fluid.py QUENCH_LAB CONFIG_DIR CASE

Bounds are of simulated results only; a run on a slow machine gives the same numbers.
"""
import csv
import pathlib
import json
import re
import subprocess
import tempfile

from scenarios import expect, results, run, with_config


def near(got, wanted, share, text):
    expect(abs(got - wanted) <= share * abs(wanted), f"{text}: {got}, expected {wanted} within {share:.1%}")


def changed(config, folder, changes):
    """config/incast-4to1.ini with values of keys replaced: {(section, key): value}; None leaves a key out."""
    out, section, left = [], None, dict(changes)
    for line in (pathlib.Path(config) / "incast-4to1.ini").read_text(encoding="utf-8").splitlines():
        key = line.split("=")[0].strip()
        if line.startswith("["):
            out += [f"{k} = {v}" for (s, k), v in left.items() if s == section and v is not None]
            left = {where: v for where, v in left.items() if where[0] != section}
            section = line.strip("[]")
        if (section, key) in left:
            value = left.pop((section, key))
            line = "" if value is None else f"{key} = {value}"
        out.append(line)
    out += [f"{k} = {v}" for (s, k), v in left.items() if s == section and v is not None]
    expect(all(s == section for s, _ in left), f"no section for {left}")
    path = pathlib.Path(folder) / "changed.ini"
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    return path


def incast(n):
    return {("fabric", "hosts"): n + 1, ("flow incast", "src"): f"1-{n}", ("flow incast", "dst"): n + 1}


def fixed_point(lab, config):
    """40G, the paper's parameters, packets of 1106 wire bytes: p*, queue and alpha by the number of flows."""
    worked = {2: (0.86e-3, 21.8e3), 4: (2.09e-3, 45.7e3), 8: (5.03e-3, 103.1e3), 10: (6.67e-3, 135.0e3), 12: (8.39e-3, 168.5e3)}
    with tempfile.TemporaryDirectory() as folder:
        for n, (mark, queue) in worked.items():
            r = results(lab, "--fluid", "--duration", "10ms", changed(config, folder, incast(n)))
            expect((r["program"], r["scenario"], r["duration_ns"]) == ("quench-lab", "changed", 10_000_000), "settings")
            (q,) = r["fluid"]["queues"]
            point = q["fixed_point"]
            print(f"N {n}: p* {point['mark_probability']:.4g}, queue {point['queue_bytes']} B")
            expect((q["node"], q["port"], q["queue"], point["interior"]) == ("s1", n, 3, True), f"N {n}: {q}")
            near(point["mark_probability"], mark, 0.006, f"N {n}: p*")
            near(point["queue_bytes"], queue, 0.004, f"N {n}: queue")
            expect([f["name"] for f in r["fluid"]["flows"]] == [f"incast h{i}" for i in range(1, n + 1)], "names")
            for flow in r["fluid"]["flows"]:
                near(flow["fixed_point"]["rate_bps"], 40e9 / n, 1e-6, f"N {n}: {flow['name']}")
        r = results(lab, "--fluid", changed(config, folder, incast(16)))
        point = r["fluid"]["queues"][0]["fixed_point"]
        expect(not point["interior"] and point["queue_bytes"] == 200_000 and point["mark_probability"] > 0.01, f"N 16: {point}")


def worked_margin(flows, delay_s, mark):
    """
    Phase margin in degrees and crossover in Hz, by numpy, from the equations: events of SIGCOMM 2015 (7) to (9), with exact derivatives by complex
    steps; states alpha, R_T and R_C in packets per second, and the queue in bytes. The loop is cut at the sending rate.
    """
    import numpy as np  # only this case needs it
    packet, link, tau, tau_alpha, timer, byte_counter, f, g = 8 * 1106, 40e9, 50e-6, 55e-6, 55e-6, 10e6 / 1106, 5, 1 / 256
    rate, additive = link / packet / flows, 40e6 / packet

    def events(p, r):
        unmarked = np.log1p(-p)
        rises = [r * p / np.expm1(-n * unmarked) for n in (byte_counter, timer * r)]
        late = [rise * np.exp(f * n * unmarked) for rise, n in zip(rises, (byte_counter, timer * r))]
        return np.array([-np.expm1(tau * r * unmarked) / tau, -np.expm1(tau_alpha * r * unmarked), sum(rises), sum(late)])

    cuts, alpha, rises, late = events(mark, rate)
    gap = additive * late / cuts
    # The fixed point is that of the equations: increases and cuts of R_C are equal. The last packet of a message is shorter, on average by 0.2 B.
    expect(abs(gap / 2 * rises / (rate * alpha / 2 * cuts) - 1) < 2e-3, f"{flows} flows: {mark} is not p*")

    def forced(of_events):
        by_cuts, by_alpha, by_rises, by_late = of_events
        return np.array([g / tau_alpha * by_alpha, additive * by_late - gap * by_cuts, gap / 2 * by_rises - rate * alpha / 2 * by_cuts])

    step = 1e-30
    by_mark, by_rate = (forced(events(*at).imag / step) for at in ((mark + 1j * step, rate), (mark, rate + 1j * step)))
    system = np.array([[-g / tau_alpha, 0, 0], [0, -cuts, cuts], [-rate / 2 * cuts, rises / 2, -rises / 2 - alpha / 2 * cuts]])
    marks = flows * 1086 * 0.01 / 195e3  # per second, by a change of each rate of a packet per second
    omegas = np.geomspace(30, 1e6, 30_000)
    loops = np.array([-np.exp(-1j * w * delay_s) * np.linalg.solve(1j * w * np.eye(3) - system, by_rate + by_mark * marks / (1j * w))[2] for w in omegas])
    gains, phases = np.log(abs(loops)), np.unwrap(np.angle(loops))
    phases -= 2 * np.pi * (phases[0] > 0)
    at = np.flatnonzero(np.diff(np.sign(gains)))
    margins = 180 + np.degrees(phases[at])
    return margins.min(), omegas[at[margins.argmin()]] / (2 * np.pi)


def margin(lab, config):
    """The phase margin is that of an independent computation; its sign is that of CoNEXT 2016; there is none where flows differ."""
    signs = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in (2, 4, 10, 64):
            for delay in ("1us", "12us", "21us"):
                # The slope goes on to p = 1: 64 flows need 6.5 %.
                r = results(lab, "--fluid", "--duration", "1ms", "--set", "fabric.measure_from_ns=0", "--set", "wred.Pmax=100%", "--set", "wred.Kmax=19505KB",
                            changed(config, folder, {**incast(n), ("fabric", "link_delay_ns"): delay}))["fluid"]
                point, loop_ns = r["queues"][0]["fixed_point"], r["flows"][0]["loop_delay_ns"]
                degrees, hertz = worked_margin(n, loop_ns / 1e9, point["mark_probability"])
                print(f"N {n}, loop of {loop_ns / 1e3:.1f} us: {point['phase_margin_deg']:.2f} degrees at {point['crossover_hz']:.0f} Hz, by numpy {degrees:.2f} at {hertz:.0f}")
                expect(abs(point["phase_margin_deg"] - degrees) < 0.05, f"N {n}, {delay}: {point}, expected {degrees}")
                near(point["crossover_hz"], hertz, 2e-3, f"N {n}, {delay}: crossover")
                signs[n, delay] = point["phase_margin_deg"] > 0
        expect([signs[n, "21us"] for n in (2, 4, 10, 64)] == [True, False, False, True] and all(signs[n, "1us"] for n in (2, 4, 10, 64)), f"{signs}")
        # A table for people, and none where p* is above Pmax.
        for n, shown in ((4, r"s1 port 4 queue 3 +0\.2087 +45\.\d+ +1\d\.\d "), (20, r"s1 port 20 queue 3 +1\.58\d\d +200\.00 +- ")):
            done = run(lab, "--fluid", "--duration", "1ms", "--set", "fabric.measure_from_ns=0", changed(config, folder, incast(n)))
            expect(re.search(shown, done.stdout), f"N {n}: {done.stdout}")


def translation(lab, config):
    """What of the file reaches the model."""
    with tempfile.TemporaryDirectory() as folder:
        def model(changes, *options):
            return results(lab, "--fluid", *options, changed(config, folder, changes))["fluid"]

        # Four cables, two packets and two CNPs (98 B) of serialization at 40 Gb/s.
        delays = [model({("fabric", "link_delay_ns"): d}, "--duration", "1ms")["flows"][0]["loop_delay_ns"] for d in ("1us", "21us")]
        expect(delays[0] in range(4478, 4484) and delays[1] == delays[0] + 80_000, f"loop delays {delays}")
        delayed = model({("np", "np_cnp_delay_ns"): "50us"}, "--duration", "1ms")["flows"][0]["loop_delay_ns"]
        expect(delayed == delays[0] + 50_000, f"np_cnp_delay_ns: {delayed}")
        # A loop of 85 us: ten flows swing, two rest.
        for n, swings in ((2, False), (10, True)):
            q = model({**incast(n), ("fabric", "link_delay_ns"): "21us"})["queues"][0]
            print(f"N {n}, links of 21 us: queue {q['queue_min_bytes']} to {q['queue_max_bytes']} B")
            expect((q["queue_max_bytes"] - q["queue_min_bytes"] > 100e3) == swings, f"N {n}: {q}")
        # READ: h5's data goes to h1..h4, one queue each, and h5's link is what they share.
        r = model({("flow incast", "verb"): "read"}, "--duration", "20ms")
        expect([(q["port"], q["queue_max_bytes"]) for q in r["queues"]] == [(i, 0) for i in range(4)], f"READ: {r['queues']}")
        for flow in r["flows"]:
            near(flow["wire_rate_bps"], 10e9, 1e-3, f"READ {flow['name']}")
        # A cap of 5 Gb/s each fills half of the link.
        r = model({("flow incast", "rate_cap_bps"): "5G"})
        expect(r["queues"][0]["fixed_point"]["mark_probability"] == 0 and r["queues"][0]["queue_max_bytes"] == 0, f"{r['queues']}")
        near(r["flows"][0]["wire_rate_bps"], 5e9, 1e-3, "capped")
        # Ends: 100 messages of 4 MB take 400e6 x 1106/1024 B of the link.
        r = model({("flow incast", "messages"): 25, ("flow incast", "start_ns"): "5ms", ("fabric", "measure_from_ns"): 0})
        near(sum(f["wire_rate_bps"] for f in r["flows"]), 25 * 4 * 4e6 * 1105.8 / 1024 * 8 / 0.2, 2e-3, "bytes of flows that end")
        # Two QPs of a host have twice its share.
        r = model({("flow incast", "qp_count"): 2})
        near(r["flows"][0]["fixed_point"]["rate_bps"], 10e9, 1e-6, "two QPs")
        near(r["queues"][0]["fixed_point"]["queue_bytes"], 103.1e3, 0.004, "eight QPs")


def several(folder, config, fabric, flows):
    """The incast's parameters over another fabric and other flows."""
    text = (pathlib.Path(config) / "incast-4to1.ini").read_text(encoding="utf-8").replace("topology = star\nhosts = 5\n", fabric)
    text = text[:text.index("[flow incast]")]
    for name, lines in flows.items():
        text += f"[flow {name}]\nmtu_bytes = 1024\nmessage_bytes = 4MB\n{lines}\n"
    path = pathlib.Path(folder) / "several.ini"
    path.write_text(text, encoding="utf-8")
    return path


def packet_queue(result, node, port):
    (row,) = [p for p in result["ports"] if (p["node"], p["port"]) == (node, port)]
    (queue,) = [q for q in row["queues"] if q["queue"] == 3]
    return queue


def switches(lab, config):
    """Several switches: the ways of packets, and what each queue on them holds."""
    with tempfile.TemporaryDirectory() as folder:
        # A flow over two links, and one beside it on each.
        r = results(lab, several(folder, config, "topology = parking_lot\nswitches = 3\nhosts = 6\n",
                                 {"long": "src = 1\ndst = 6", "west": "src = 2\ndst = 4", "east": "src = 3\ndst = 5"}))
        model = {f["name"]: f["fixed_point"]["rate_bps"] for f in r["fluid"]["flows"]}
        for flow in r["flows"]:
            print(f"parking lot, {flow['name']}: {flow['wire_rate_bps'] / 1e9:.2f} Gb/s, model {model[flow['name']] / 1e9:.2f}")
            near(flow["wire_rate_bps"], model[flow["name"]], 0.10, f"parking lot, {flow['name']}")
        expect(model["long h1"] < 15e9 and abs(model["west h2"] - model["east h3"]) < 1e6, f"parking lot: {model}")
        held = {(q["node"], q["port"]): q["fixed_point"]["queue_bytes"] for q in r["fluid"]["queues"] if q["fixed_point"]["queue_bytes"] > 0}
        expect(held.keys() == {("s1", 2), ("s2", 3)}, f"parking lot: queues {held}")
        for (node, port), queue in held.items():
            near(packet_queue(r, node, port)["queue_mean_bytes"], queue, 0.25, f"parking lot, {node}")
        # A dumbbell's incast waits before the link in the middle, not behind it.
        r = results(lab, several(folder, config, "topology = dumbbell\nhosts = 8\n", {"incast": "src = 1-4\ndst = 8"}))
        queues = {q["node"]: (q["fixed_point"]["queue_bytes"], packet_queue(r, q["node"], q["port"])["queue_mean_bytes"]) for q in r["fluid"]["queues"]}
        print(f"dumbbell: {queues}")
        near(queues["s1"][1], queues["s1"][0], 0.15, "dumbbell, s1")
        expect(queues["s2"][0] == 0 and queues["s2"][1] < 1000, f"dumbbell: {queues}")
        # 32 QPs over two spines: each on the way that its packets take.
        r = results(lab, "--duration", "20ms", "--set", "fabric.measure_from_ns=0",
                    several(folder, config, "topology = leaf_spine\nleaves = 4\nspines = 2\nhosts = 16\n",
                            {"all": "src = all\npattern = permutation\nqp_count = 2"}))
        taken = {(p["node"], p["port"]) for p in r["ports"] for q in p["queues"] if q["queue"] == 3 and q["tx_bytes"] > 10e6}
        known = {(q["node"], q["port"]) for q in r["fluid"]["queues"]}
        expect(len(known) > 25 and taken == known, f"ways of packets {taken}, of the model {known}")
        # Too many beside packets, not alone.
        path = several(folder, config, "topology = leaf_spine\nleaves = 4\nspines = 2\nhosts = 16\n", {"all": "src = all\npattern = all_to_all"})
        r = results(lab, "--duration", "1ms", "--set", "fabric.measure_from_ns=0", path)
        expect("at most 128 queues, summed over the paths of all classes of equal flows, and 8192 flows" in
               r["fluid"].get("refused", ""), f"{r['fluid']}")
        r = results(lab, "--fluid", "--duration", "10us", "--set", "fabric.measure_from_ns=0", path)
        expect(len(r["fluid"]["flows"]) == 240, f"{len(r['fluid']['flows'])} flows alone")


def ends(lab, config):
    """Where packets leave the model, it says so."""
    with tempfile.TemporaryDirectory() as folder:
        for n, text in ((4, None), (10, "p* is above half of Pmax"), (16, "p* is above Pmax")):
            path = changed(config, folder, incast(n))
            note = results(lab, "--fluid", "--duration", "1ms", path)["fluid"]["queues"][0]["fixed_point"]["note"]
            table = subprocess.run([lab, "--fluid", "--no-progress", "--duration", "1ms", path], capture_output=True, text=True).stdout
            expect(note is None if text is None else note.startswith(text), f"N {n}: {note}")
            expect(("\n* p*" in table) == (text is not None) and (text or "") in table, f"N {n}: {table}")


def bounded(lab, config):
    """Beside packets the model ends at fluid_ns, and says so; with 0 it does not run."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = changed(config, folder, incast(4)), pathlib.Path(folder, "out")
        done = run(lab, "--out", out, "--duration", "4ms", "--set", "fabric.measure_from_ns=1ms", "--set", "fabric.fluid_ns=2ms", path)
        r = json.loads((out / "results.json").read_text(encoding="utf-8"))["fluid"]
        rows = (out / "fluid_flows.csv").read_text(encoding="utf-8").splitlines()
        expect(r["end_ns"] == 2_000_000 == int(rows[-1].split(",")[0]) and "queue_mean_bytes" in r["queues"][0], f"{r}, {rows[-1]}")
        expect("fluid model: the first 2.000 ms, as fluid_ns" in done.stderr, done.stderr)
        run(lab, "--out", out, "--duration", "4ms", "--set", "fabric.measure_from_ns=3ms", "--set", "fabric.fluid_ns=2ms", path)
        r = json.loads((out / "results.json").read_text(encoding="utf-8"))["fluid"]
        expect("queue_mean_bytes" not in r["queues"][0], f"a mean of a window that the model did not reach: {r}")
        r = results(lab, "--fluid", "--duration", "4ms", "--set", "fabric.measure_from_ns=3ms", "--set", "fabric.fluid_ns=2ms", path)["fluid"]
        expect(r["end_ns"] == 4_000_000, f"alone: {r}")
        run(lab, "--out", folder + "/none", "--duration", "4ms", "--set", "fabric.fluid_ns=0", path)
        r = json.loads(pathlib.Path(folder, "none", "results.json").read_text(encoding="utf-8"))["fluid"]
        expect("fluid_ns" in r.get("refused", "") and not pathlib.Path(folder, "none", "fluid_flows.csv").exists(), f"{r}")


def refused(lab, config):
    """One line that names file, section, key and value, and code 2; beside packets, the same in the results."""
    rows = (("nic", "cc", "dctcp"), ("rp", "rp_profile", "mlx"), ("rp", "rp_clamp_tgt_rate", "off"), ("np", "np_cnp_moderation", "port"),
            ("wred", "wred_weight", "3"), ("wred", "wred_green_enable", "off"), ("wred", "ecn", "ecn_none"),
            ("flow incast", "arrival", "on_off"), ("flow incast", "verb", "ud_send"), ("flow incast", "dscp", "0"))
    extra = {"pattern": {("flow incast", "dst"): None, ("flow incast", "messages"): 6}, "arrival": {("flow incast", "on_ns"): "1ms", ("flow incast", "off_ns"): "1ms"},
             "verb": {("flow incast", "message_bytes"): 1024}}
    with tempfile.TemporaryDirectory() as folder:
        for section, key, value in rows:
            path = changed(config, folder, {(section, key): value, **extra.get(key, {})})
            done = run(lab, "--quiet", "--fluid", path)
            expect(done.returncode == 2 and done.stderr.count("error:") == 1, f"{key}: {done}")
            expect(re.search(rf"{re.escape(str(path))}:\d+: \[{section}\] {key} = {value}: expected", done.stderr), f"{key}: {done.stderr}")
        r = results(lab, "--duration", "1ms", changed(config, folder, {("nic", "cc"): "dctcp"}))
        expect(r["fluid"].keys() == {"refused"} and r["fluid"]["refused"].startswith("[nic] cc: expected dcqcn"), f"{r['fluid']}")
        # Events: what changes the run is refused by its name, what only counts or lies behind the end is not.
        link, host = {"node": "h1"}, {"node": "h5"}
        rows = (("link_down", link, "links"), ("switch_restart", {"node": "s1", "for_ns": "1ms"}, "links"), ("tx_disable", {"node": "s1"}, "ports"),
                ("pause_storm", host, "pauses"), ("slow_receiver", {**host, "drain_rate_bps": "1G"}, "pauses"), ("loss", {**link, "frame_ppb": 1}, "loses"),
                ("corrupt", {**link, "frame_ppb": 1}, "loses"), ("bit_errors", {**link, "bit_errors_per_tbit": 1}, "loses"),
                ("reorder", {**link, "frame_ppb": 1, "delay_ns": "1us"}, "order"), ("delay", {**link, "delay_ns": "5us"}, "delays"),
                ("send", {**link, "frame": "02" * 60}, "injected"), ("set", {"set": "wred.Kmax=300KB"}, "parameters"))
        for action, keys, word in rows:
            text = (pathlib.Path(config) / "incast-4to1.ini").read_text(encoding="utf-8")
            path = pathlib.Path(folder) / "events.ini"
            lines = [f"{k} = {v}" for k, v in {"at_ns": "1ms", "action": action, **keys}.items()]
            path.write_text(text + "\n[event e]\n" + "\n".join(lines) + "\n", encoding="utf-8")
            done = run(lab, "--quiet", "--fluid", path)
            # A longer cable may need more headroom, which is said, too.
            said = [line for line in done.stderr.splitlines() if "warning: " not in line]
            expect(done.returncode == 2 and len(said) == 1, f"{action}: {done}")
            expect(re.search(rf"{path}:\d+: \[event e\] action = {action}: expected another one: ", done.stderr) and word in done.stderr,
                   f"{action}: {done.stderr}")
            refused_beside = results(lab, "--duration", "2ms", path)["fluid"]
            expect(refused_beside.keys() == {"refused"}, f"{action}, beside packets: {refused_beside.keys()}")
            if action != "set":
                expect("queues" in results(lab, "--fluid", "--duration", "500us", path)["fluid"], f"{action} behind the end")
        for action, keys in (("dump", {}), ("clear_counters", {}), ("pfc_delay", {"node": "s1", "quanta": 10}), ("loss", {**link, "frame_ppb": 0}), ("link_up", link)):
            lines = [f"{k} = {v}" for k, v in {"at_ns": "1ms", "action": action, **keys}.items()]
            path.write_text(text + "\n[event e]\n" + "\n".join(lines) + "\n", encoding="utf-8")
            expect("queues" in results(lab, "--fluid", "--duration", "2ms", path)["fluid"], f"{action} is refused")
        done = run(lab, "--quiet", "--fluid", "--out", folder, "--trace", "incast", config + "/incast-4to1.ini")
        expect(done.returncode == 2 and "--trace" in done.stderr, f"--trace: {done}")


def outputs(lab, config):
    """fluid_*.csv go with the results they belong to; the digest is that of the packets."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        names = {"fluid.json", "fluid_flows.csv", "fluid_queues.csv"}
        scenario = config + "/incast-4to1.ini"
        expect(run(lab, "--quiet", "--fluid", "--out", out, "--duration", "2ms", scenario).returncode == 0, "--fluid --out")
        expect({p.name for p in out.iterdir()} == names, f"{sorted(out.iterdir())}")
        with open(out / "fluid_flows.csv", encoding="utf-8") as file:
            flows = list(csv.DictReader(file))
        with open(out / "fluid_queues.csv", encoding="utf-8") as file:
            queues = list(csv.DictReader(file))
        expect(list(flows[0]) == "time_ns flow wire_rate_bps rp_rate_bps rp_target_rate_bps alpha".split(), "columns of flows")
        expect(list(queues[0]) == "time_ns node port queue queue_bytes mark_probability".split(), "columns of queues")
        expect([int(r["time_ns"]) for r in queues] == list(range(100_000, 2_000_001, 100_000)), "a row each sample")
        expect(len(flows) == 4 * len(queues), "a row for each flow")
        # The first sample: 40 Gb/s until p is 1 and comes back (18 us), then R_C' = -R_C / 2 tau: 29.6 Gb/s, less the first marks.
        near(float(flows[0]["wire_rate_bps"]), 28e9, 0.05, "the start")
        with_model, without = results(lab, "--duration", "2ms", "--out", out, scenario), results(lab, "--duration", "2ms", scenario)
        expect(with_model["digest"] == without["digest"], "the model is in the digest")
        expect("wire_rate_bps" in with_model["fluid"]["flows"][0] and "wire_rate_bps" not in without["fluid"]["flows"][0], "series")
        expect((out / "fluid_flows.csv").exists(), "beside packets")
        expect(run(lab, "--quiet", "--duration", "2ms", "--out", out, config + "/incast-4to1-dctcp.ini").returncode == 0, "dctcp")
        expect(not (out / "fluid_flows.csv").exists() and not (out / "fluid_queues.csv").exists(), "series of another run are left")
        expect(not list(out.glob("*.part")), "parts are left")


def slopes(lab, config):
    """
    Where the queue stays away from both ends of the slope, packets hold what the model holds: ten flows on a slope ten
    times as steep, and on the paper's slope carried on beyond 200 KB to where p is 1. With its end: test_packets.py.
    """
    with tempfile.TemporaryDirectory() as folder:
        for changes, seeds in (({("wred", "Pmax"): "10%"}, (1,)), ({("wred", "Pmax"): "100%", ("wred", "Kmax"): "19505KB"}, (1, 2))):
            runs = [results(lab, "--seed", seed, changed(config, folder, {**incast(10), **changes})) for seed in seeds]
            point = runs[0]["fluid"]["queues"][0]["fixed_point"]["queue_bytes"]
            mean = sum(r["bottleneck"]["queue_mean_bytes"] for r in runs) / len(runs)
            print(f"{changes}: queue {mean / 1e3:.1f} KB, model {point / 1e3:.1f} KB")
            near(mean, point, 0.05, "mean queue")
            for r in runs:
                for i, flow in enumerate(r["flows"]):
                    near(flow["wire_rate_bps"], r["fluid"]["flows"][i]["fixed_point"]["rate_bps"], 0.15, flow["name"])


def loop_delay(lab, config):
    """Packets with a loop of 85 us: ten flows swing between an empty queue and beyond Kmax, two do as with 5 us."""
    with tempfile.TemporaryDirectory() as folder:
        for n, swings in ((2, False), (10, True)):
            queues = {}
            for delay in ("1us", "21us"):
                r = results(lab, "--duration", "100ms", changed(config, folder, {**incast(n), ("fabric", "link_delay_ns"): delay}))
                queues[delay] = q = r["bottleneck"]
                print(f"N {n}, links of {delay}: queue mean {q['queue_mean_bytes']} p50 {q['queue_p50_bytes']} p99 {q['queue_p99_bytes']} B, "
                      f"link use {q['link_use']:.3f}")
            long, short = queues["21us"], queues["1us"]
            if swings:
                expect(long["queue_p50_bytes"] < 5e3 and long["queue_p99_bytes"] > 230e3 and long["link_use"] < 0.93, f"N {n}: {long}")
            else:
                expect(long["queue_p99_bytes"] < 1.5 * short["queue_p99_bytes"] and long["link_use"] > 0.975, f"N {n}: {long}, {short}")


if __name__ == "__main__":
    with_config(fixed_point, margin, translation, switches, ends, bounded, refused, outputs, slopes, loop_delay)
