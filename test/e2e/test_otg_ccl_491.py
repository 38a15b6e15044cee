#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg --draft ccl-491: a collective of the other draft, over HTTP, with the draft's own schema. Two ports are a memif link."""
from configs import memif
from harness import check, check_equal, finish, skip, work_dir
from otg_bed import Otg, device, settings

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")
from otg import ccl_491_table, schema  # noqa: E402

DOCUMENT = ccl_491_table.document(schema.DOCUMENT, ccl_491_table.read_schemas())
KEY, ITERATIONS, BYTES, DELAY_MS = "collective_communications", 4, 200_000, 2


def faults(kind, value):
    """What the schema has against a value."""
    validator = jsonschema.Draft7Validator({"$ref": f"#/components/schemas/{kind}"}, resolver=jsonschema.RefResolver("", DOCUMENT))
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}"[:200] for fault in validator.iter_errors(value)]


def nic(number):
    return {"device_instance_name": "host", "device_index": number, "component_name": "nic", "component_index": 0}


def configuration(system="all_reduce_unidirectional_ring", work=None, ranks=None):
    devices = [device(number, f"p{number}", {}) for number in (1, 2)]
    for one in devices:
        del one["rocev2"]
    single = {"collective_algorithm": {"algorithm_type": {"choice": "system", "system": system}}, "iterations": ITERATIONS, "iteration_append_delay": DELAY_MS,
              "datasizes": {"choice": "list", "list": {"size_bytes": [BYTES]}},
              "transport": {"choice": "rocev2", "rocev2": {"qps_per_rankpair": 2, "rdma_message_size": 65536}}, **(work or {})}
    binding = {"nic_bindings": [{"infrastructure_ref": nic(n), "ethernet_name": one["ethernets"][0]["name"]} for n, one in enumerate(devices)],
               "rank_bindings": ranks or [{"rank_id": n, "nic_refs": [nic(n)]} for n in (1, 0)]}
    return {"ports": [{"name": "p1", "location": "a"}, {"name": "p2", "location": "b"}], "devices": devices,
            "options": {"per_port_options": [settings("p1"), settings("p2")]},
            KEY: {"workload": {"choice": "single_collective", "single_collective": single}, "bindings": {"choice": "basic_binding", "basic_binding": binding}}}


def good(otg, path, kinds, body):
    request, wanted = kinds
    check_equal(f"{path}: the request is valid", faults(request, body), [])
    status, data = otg.ask("POST", path, body)
    check(f"{path}: status", status == 200, (status, data))
    check_equal(f"{path}: the reply is valid", faults(wanted, data), [])
    return data


def set_state(otg, word):
    good(otg, "/control/state", ("Control.State", "Warning"), {"choice": KEY, KEY: {"choice": "execution", "execution": {"state": word}}})


def state(otg):
    found = good(otg, "/monitor/states", ("States.Request", "States.Response"), {"choice": KEY, KEY: {"choice": "execution"}})[KEY]["execution"]
    return found.get("stopped", found)["choice"]


def summary(otg, **request):
    reply = good(otg, "/monitor/metrics", ("Metrics.Request", "Metrics.Response"),
                 {"choice": KEY, KEY: {"choice": "single_collective", "single_collective": {"choice": "summary", "summary": request}}})
    return reply[KEY]["single_collective"]["summary"]


def check_run(otg, system, factor):
    good(otg, "/config", ("Config", "Warning"), configuration(system))
    check_equal(f"{system}: get_config", otg.ask("GET", "/config")[1], configuration(system))
    check_equal(f"{system}: before the start", (state(otg), summary(otg)[0]["iterations"]), ("unrun", 0))
    set_state(otg, "start")
    otg.wait(f"{system}: the end of all iterations", lambda: state(otg) == "success")
    row, = summary(otg)
    check_equal(f"{system}: its row", (row["data_size"], row["collective"], row["iterations"], sorted(row)), (BYTES, system, ITERATIONS, sorted(ccl_491_table.METRICS)))
    check(f"{system}: the delay is in its time", row["completion_time"] > DELAY_MS and 0 < row["ideal"] <= 100, row)
    check(f"{system}: bandwidths", abs(row["algo_bw"] - BYTES / row["completion_time"] / 1e6) < 1e-9 and abs(row["bus_bw"] - factor * row["algo_bw"]) < 1e-9, row)
    check_equal(f"{system}: columns", sorted(summary(otg, column_names=["bus_bw"])[0]), ["bus_bw", "collective"])
    check_equal(f"{system}: other collectives", summary(otg, collective=["none"]), [])


REFUSED = (
    ({"system": "all_to_all_pxn"}, 'system: "all_to_all_pxn": refused: PXN needs servers'),
    ({"system": "gather_parallel"}, "refused: quench has no such algorithm"),
    ({"work": {"datasizes": {"choice": "list", "list": {"size_bytes": [1000, 2000]}}}}, "size_bytes: [1000, 2000]: expected one size"),
    ({"work": {"datasizes": {"choice": "multiplier", "multiplier": {}}}}, "refused: a run has one size"),
    ({"work": {"transport": {"choice": "tcp"}}}, "refused: quench-nic speaks RoCEv2"),
    ({"work": {"transport": {"choice": "rocev2", "rocev2": {"qps_per_rankpair": 65}}}}, "qps_per_rankpair: 65: expected at most 64"),
    ({"work": {"transport": {"choice": "rocev2", "rocev2": {"reuse_qps": False}}}}, "reuse_qps: false: expected true"),
    ({"work": {"iterations": 2_000_000}}, "iterations: 2000000: expected at most 1000000"),
    ({"ranks": [{"rank_id": 0, "nic_refs": [nic(0)]}]}, "rank_bindings: expected 2 to 1024 ranks"),
    ({"ranks": [{"rank_id": 0, "nic_refs": [nic(0)]}, {"rank_id": 0, "nic_refs": [nic(1)]}]}, "rank_bindings[1].rank_id: 0: expected each number from 0 to 1 once"),
    ({"ranks": [{"rank_id": 0, "nic_refs": [nic(0)]}, {"rank_id": 1, "nic_refs": [nic(7)]}]}, "rank_bindings[1].nic_refs: expected one NIC of nic_bindings"),
    ({"ranks": [{"rank_id": 0, "nic_refs": [nic(0)]}, {"rank_id": 1, "nic_refs": [nic(0), nic(1)]}]}, "rank_bindings[1].nic_refs: expected one NIC of nic_bindings"),
)


def check_refusals(otg):
    for change, words in REFUSED:
        status, reply = otg.ask("POST", "/config", configuration(**change))
        check(f"refused: {words}", status == 400 and any(words in line for line in reply["errors"]), (status, reply))
    for what in ("workload", "bindings"):
        lacks = configuration()
        del lacks[KEY][what]
        status, reply = otg.ask("POST", "/config", lacks)
        check(f"refused without {what}", status == 400 and reply["errors"] == [f"{KEY}.{what}: expected one"], (status, reply))


def check_table():
    """The table has the properties of the draft's objects, and no others."""
    schemas = ccl_491_table.read_schemas()
    for kind, rows in ccl_491_table.TABLE.items():
        check_equal(f"{kind}: properties in the table", sorted(rows), sorted(schemas[kind]["properties"]))
    check_equal("objects of the schema", sorted(schemas), sorted([*ccl_491_table.TABLE, *ccl_491_table.REPLIES]))


def main():
    check_table()
    work = work_dir()
    plain = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)})
    status, reply = plain.ask("POST", "/config", configuration())
    check("without --draft, there is no such property", status == 400 and reply["errors"] == [f"{KEY}: Config has no such property"], (status, reply))
    plain.stop()
    otg = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)}, "--http", "--draft", "ccl-491")
    status, reply = otg.ask("POST", "/monitor/states", {"choice": KEY, KEY: {"choice": "execution"}})
    check("no state without a configuration", status == 400 and reply["errors"] == [f"{KEY}: the configuration has none"], (status, reply))
    check_run(otg, "all_reduce_unidirectional_ring", 1)
    check_run(otg, "all_to_all_parallel", 0.5)
    set_state(otg, "start")
    set_state(otg, "stop")
    check("stopped by hand, or at its end", state(otg) in ("manual", "success"), state(otg))
    before = otg.ask("GET", "/config")[1]
    check_refusals(otg)
    check_equal("the refusals changed nothing", otg.ask("GET", "/config")[1], before)
    check_equal("exit code", otg.stop(), 0)
    finish()


main()
