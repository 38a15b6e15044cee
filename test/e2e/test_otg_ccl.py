#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg --draft ccl-490: a collective of the draft for collectives, with the draft's own schema, and with a client that is made of it.

Two ports are a memif link. python3-jsonschema validates each request and each reply; openapi-client-axios makes the client, if it is installed.
"""
import json
import shutil

from configs import memif
from harness import check, check_equal, finish, skip, work_dir
from otg_bed import ROOT, Otg, device, settings

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")
from otg import ccl_table, schema  # noqa: E402
from otg_ccl_client import Client  # noqa: E402

DOCUMENT = ccl_table.document(schema.DOCUMENT, ccl_table.read_schemas())
NODE = shutil.which("node")
HAS_CLIENT = NODE is not None and (ROOT / "test" / "e2e" / "otg_client" / "node_modules" / "openapi-client-axios").is_dir()
ITERATIONS, KILOBYTES, GAP_MS = 5, 200, 2


def faults(kind, value):
    """What the schema has against a value."""
    validator = jsonschema.Draft7Validator({"$ref": f"#/components/schemas/{kind}"}, resolver=jsonschema.RefResolver("", DOCUMENT))
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}"[:200] for fault in validator.iter_errors(value)]


def rank(number, port):
    found = device(number, port, {})
    del found["rocev2"]
    return found


def configuration(**communicator):
    ring = {"name": "ring", "device_names": ["host1", "host2"],
            "generation": {"data_size": KILOBYTES, "data_size_unit": "kilobyte", "compute_gap": {"choice": "fixed", "fixed": {"ms": GAP_MS}}},
            "rocev2": {"ib_mtu": 1024, "connection_type": {"choice": "reliable_connection", "reliable_connection": {"dscp": 26}}}, **communicator}
    shuffle = {**ring, "name": "shuffle", "algorithm": {"choice": "all_to_all_direct"}}
    return {"ports": [{"name": "p1", "location": "a"}, {"name": "p2", "location": "b"}], "devices": [rank(1, "p1"), rank(2, "p2")],
            "options": {"per_port_options": [settings("p1"), settings("p2")]},
            "ccl": {"name": "job", "stages": [{"name": "only", "communicators": [ring, shuffle], "duration": {
                "choice": "fixed_iterations", "fixed_iterations": {"count": ITERATIONS, "interval_ms": 0}}}]}}


def state(word):
    return {"choice": "traffic", "traffic": {"choice": "ccl", "ccl": {"state": word}}}


def good(client, operation, kinds, body=None):
    request, wanted = kinds
    if request:
        check_equal(f"{operation}: the request is valid", faults(request, body), [])
    status, data = client.call(operation, body)
    check(f"{operation}: status", status == 200, (status, data))
    check_equal(f"{operation}: the reply is valid", faults(wanted, data), [])
    return data


def metrics(client, **request):
    reply = good(client, "get_metrics", ("Metrics.Request", "Metrics.Response"), {"choice": "ccl", "ccl": request})
    return {row["communicator_name"]: row for row in reply[reply["choice"]]}


def check_run(client, otg, what):
    good(client, "set_control_state", ("Control.State", "Warning"), state("start"))
    otg.wait(f"{what}: the end of all iterations", lambda: all(row["iteration_count"] == ITERATIONS for row in otg.metrics("ccl")))
    rows = metrics(client)
    check_equal(f"{what}: communicators", sorted(rows), ["ring", "shuffle"])
    ring, shuffle = rows["ring"], rows["shuffle"]
    check(f"{what}: a ring of two ranks has the bus bandwidth of its algorithm", abs(ring["bus_bw"] - ring["alg_bw"]) < 1e-9, ring)
    check(f"{what}: an all-to-all of two ranks has half of it", abs(shuffle["bus_bw"] - shuffle["alg_bw"] / 2) < 1e-9, shuffle)
    for row in rows.values():
        check(f"{what}: times are in order", GAP_MS / 1e3 < row["min_jct"] <= row["avg_jct"] <= row["max_jct"] and row["jct"] >= row["ideal_jct"], row)
        check(f"{what}: the gap is in reduce_time", abs(row["reduce_time"] - ITERATIONS * GAP_MS / 1e3) < 1e-9 and
              abs(row["trans_time"] + row["reduce_time"] - row["jct"]) < 1e-9, row)
        check(f"{what}: alg_bw is data_size / avg_jct", abs(row["alg_bw"] - 8e3 * KILOBYTES / row["avg_jct"] / 1e9) < 1e-9, row)
    check_equal(f"{what}: metrics", sorted(ring), sorted(ccl_table.METRICS))
    check_equal(f"{what}: columns", sorted(metrics(client, communicator_names=["ring"], column_names=["jct"])["ring"]), ["communicator_name", "jct"])


def check_refusals(otg):
    for change, words in (({"device_names": ["host1", "nobody"]}, "ccl.stages[0].communicators[0].device_names[1]: 'nobody': expected a device"),
                          ({"device_names": ["host1"]}, "device_names: expected 2 to 1024 devices"),
                          ({"algorithm": {"choice": "alternating_ring"}}, "algorithm.choice: \"alternating_ring\": refused: quench has no such algorithm"),
                          ({"algorithm": {"choice": "dual_tree", "phase": "all_gather"}}, "algorithm.phase: all_gather: expected ring_allreduce"),
                          ({"rocev2": {"qps_per_peer": 65}}, "rocev2.qps_per_peer: 65: expected at most 64"),
                          ({"generation": {"compute_gap": {"choice": "random", "random": {"min_ms": 9, "max_ms": 3}}}}, "min_ms = 9: expected at most max_ms, 3"),
                          ({"generation": {"data_size": 0}}, "generation.data_size: 0: expected")):
        status, reply = otg.ask("POST", "/config", configuration(**change))
        check(f"refused: {words}", status == 400 and any(words in line for line in reply["errors"]), (status, reply))
    two = configuration()
    two["ccl"]["stages"] *= 2
    status, reply = otg.ask("POST", "/config", two)
    check("refused: two stages", status == 400 and "ccl.stages: 2: expected one stage" in reply["errors"], reply)
    status, reply = otg.ask("POST", "/monitor/metrics", {"choice": "ccl", "ccl": {"communicator_names": ["none"]}})
    check("refused: a communicator that is not there", status == 400 and "'none': no such name" in reply["errors"][0], reply)


def check_table():
    """The table has the properties of the draft's schema, and no others; a reply has those that it says."""
    schemas = ccl_table.read_schemas()
    for kind, rows in ccl_table.TABLE.items():
        check_equal(f"{kind}: properties in the table", sorted(rows), sorted(schemas[kind]["properties"]))
    check_equal("Ccl.Metric", sorted(ccl_table.METRICS), sorted(schemas["Ccl.Metric"]["properties"]))
    of = {prop.get("$ref", prop.get("items", {}).get("$ref", "")).rpartition("/")[2] for found in schemas.values() for prop in found["properties"].values()}
    check_equal("objects that carried properties lead to are in the table", sorted(of - {""} - ccl_table.TABLE.keys()), [])


def main():
    check_table()
    work = work_dir()
    (work / "openapi.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    plain = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)})
    status, reply = plain.ask("POST", "/config", configuration())
    check("without --draft, there is no ccl", status == 400 and reply["errors"] == ["ccl: Config has no such property"], (status, reply))
    plain.stop()
    otg = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)}, "--http", "--draft", "ccl-490")
    clients = [("JSON", Client(otg))]
    if HAS_CLIENT:
        clients.append(("a made client", Client(otg, NODE, ROOT / "test/e2e/otg_client/drive.mjs", work / "openapi.json")))
    for what, client in clients:
        good(client, "set_config", ("Config", "Warning"), configuration())
        check_equal(f"{what}: get_config", good(client, "get_config", (None, "Config")), configuration())
        check_equal(f"{what}: before the start", metrics(client)["ring"]["iteration_count"], 0)
        check_run(client, otg, what)
    check_run(clients[0][1], otg, "again")
    good(clients[0][1], "set_control_state", ("Control.State", "Warning"), state("stop"))
    check_refusals(otg)
    check_equal("the refusals changed nothing", otg.ask("GET", "/config")[1], configuration())
    check_equal("exit code", otg.stop(), 0)
    finish()


main()
