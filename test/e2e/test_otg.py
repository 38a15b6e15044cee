#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg: two hosts and quench-switch between them, configured and driven by the Open Traffic Generator API alone.

The switch's egress to the receiver is a fifth of its other links, so that it marks. Each count of the API is that of quench-nic and of the switch.
"""
from configs import LOOP_SWITCH, memif
from harness import Program, check, check_equal, check_ledger, eal, finish, work_dir
from otg_bed import Otg, device, flow, pfc, settings, tx_port
from desk import Desk

DCQCN = {"minimum_rate_limmit": 0.1, "additive_increment_rate": 0.2, "hyper_increment_rate": 1, "rate_increment_threshold": 5,
         "rate_increment_time": 600, "initial_rate_after_first_cnp": 50, "maximum_rate_decrement_at_time": 50}
VERBS = ("write", "send", "read", "write_with_immediate")


def configuration(version=4, **protocol):
    """Each verb with QPs of its own; h1 sends, h2 answers."""
    mine = [(f"t-{verb}", 100 + n, {"initial_psn": 7 * n, "udp_source_port": 50000 + n, "dscp": 26 if verb == "send" else 24})
            for n, verb in enumerate(VERBS)]
    theirs = [(f"r-{verb}", 300 + 3 * n, {"virtual_address": "00007f0000000000", "remote_key": "beef"}) for n, verb in enumerate(VERBS)]
    flows = [flow(f"f {verb}", f"t-{verb}", f"r-{verb}", verb=verb) for verb in VERBS]
    flows[3]["rocev2_verb"]["write_with_immediate"] = {"immediate_data": "c0ffee"}
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{**pfc(["tx", "rx"]), "speed": "speed_1_gbps"}],
        "devices": [device(1, "tx", {2: mine}, version), device(2, "rx", {1: theirs}, version)],
        "options": {"per_port_options": [settings("tx", **DCQCN), settings("rx", **DCQCN)], "protocol_options": protocol},
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port("tx", flows)]}]},
    }


def check_results(otg, flows, version):
    for row in flows:
        name = row["flow_name"]
        check(f"{name}: messages complete", row["message_tx"] > 10, row)
        check_equal(f"{name}: messages at both ends", row["message_tx"], row["message_complete_rx"])
        check_equal(f"{name}: frames at both ends", (row["data_frames_tx"] - row["data_frames_retransmitted"], row["tx_bytes"], row["frame_delta"]),
                    (row["data_frames_rx"], row["rx_bytes"], 0))
        check_equal(f"{name}: frames of its messages", row["data_frames_rx"], -(-64000 // 1024) * row["message_tx"])
        check_equal(f"{name}: answers at both ends, and nothing out of sequence", (row["ack_tx"], row["nak_tx"], row["nak_rx"], row["frame_sequence_error"]),
                    (row["ack_rx"], 0, 0, 0))
        check(f"{name}: READs need no ACKs", (row["ack_tx"] == 0) == (name == "f read"), row)
        check_equal(f"{name}: CNPs at both ends", row["cnp_tx"], row["cnp_rx"])
        check(f"{name}: time and addresses", row["flow_completion_time"] > 0 and ("src_ipv4" in row) == (version == 4), row)
    # Of READ the data come from the switch's other side, which is not congested.
    check("the switch marked, and CNPs answered", sum(row["ecn_ce_rx"] for row in flows) >= sum(row["cnp_tx"] for row in flows) > 0)
    ports = {row["name"]: row for row in otg.metrics("port")}
    check("ports: transmit, link and speed", [(p["transmit"], p["link"], p["speed"]) for p in ports.values()] == [("stopped", "up", 125000)] * 2, ports)
    check("ports: all that one sends, the other receives, but the switch's pause frames and answers to ARP",
          ports["rx"]["frames_rx"] >= sum(row["data_frames_tx"] for row in flows if row["flow_name"] != "f read"), ports)
    peers = otg.metrics(f"rocev2_ipv{version}")
    check_equal("peers: all QPs are up", [(p["qp_configured"], p["qp_up"], p["qp_down"], p["connect_request_tx"]) for p in peers], [(4, 4, 0, 0)] * 2)


UNFIT = [
    ("devices[0].ethernets[0].mac", {"mac": "01:00:5e:00:00:01"}, {}),
    ("devices[0].ethernets[0].mac", {"mac": "ff:ff:ff:ff:ff:ff"}, {}),
    ("devices[0].ethernets[0].ipv4_addresses[0].gateway_mac.value", {}, {"gateway_mac": {"choice": "value", "value": "03:00:00:00:00:01"}}),
    ("stateful_flows.rocev2[0].tx_ports[0].transmit_type.target_line_rate.flows[0]", {}, {"gateway": "10.0.0.1", "prefix": 31}),
]


def check_refused(otg):
    """Addresses that no host, and no gateway of one, can have."""
    for path, ethernet, address in UNFIT:
        config = configuration()
        changed = config["devices"][0]["ethernets"][0]
        changed.update(ethernet)
        changed["ipv4_addresses"][0].update(address)
        status, reply = otg.ask("POST", "/config", config)
        check(f"{path} is refused: {ethernet or address}", status == 400 and reply["errors"][0].startswith(path), (status, reply))


def run(work, version):
    # Headroom for all that the senders may have in flight: 3 QPs of 9 messages. A switch that gets no CPU for longer than a pause
    # lasts loses no frame.
    text = LOOP_SWITCH.replace("buffer_bytes = 4MB", "buffer_bytes = 6MB").replace("xoff_bytes = 500KB", "xoff_bytes = 1600KB")
    switch = Program(work, "switch", "switch", text, eal(memif("server", 0, work), memif("server", 1, work, 1)), "--idle-sleep", 50)
    switch.wait_started()
    otg = Otg(work, {"a": memif("client", 0, work), "b": memif("client", 1, work)})
    if version == 4:
        check_refused(otg)
    config = configuration(version)
    check_equal(f"IPv{version}: set_config warns of nothing", otg.set_config(config), {"warnings": []})
    check_equal("get_config returns it", otg.good("GET", "/config"), config)
    check("nothing is sent before the start", all(row["data_frames_tx"] == 0 for row in otg.metrics("rocev2_flow")))
    otg.traffic("start")
    otg.wait("marks", lambda: sum(row["cnp_rx"] for row in otg.metrics("rocev2_flow")) > 20 and
             all(row["message_complete_rx"] > 20 for row in otg.metrics("rocev2_flow")))
    rates = [row["data_rx_rate"] for row in otg.metrics("rocev2_flow")]
    check("rates are those of now", all(rate < 1 for rate in rates) and sum(rates) > 0, rates)
    otg.traffic("stop", "f write")
    otg.traffic("pause")
    otg.wait_quiet()
    flows = otg.metrics("rocev2_flow")
    check_results(otg, flows, version)
    before = {row["flow_name"]: row["message_tx"] for row in flows}
    otg.traffic("resume", "f send")
    otg.wait("more messages", lambda: otg.flow("f send")["message_tx"] > before["f send"])
    otg.traffic("stop")
    otg.wait_quiet()
    check_equal("resume continues, and one flow only", [row["message_tx"] == before[row["flow_name"]] for row in otg.metrics("rocev2_flow")],
                [True, False, True, True])
    otg.traffic("start", "f read")
    otg.wait("READs", lambda: otg.flow("f read")["message_tx"] > 0)
    otg.traffic("stop")
    otg.wait_quiet()
    sent = {row["local_qpn"]: row["tx_messages"] for row in Desk(f"{otg.prefix}-b").rows("qps")}[flows[VERBS.index("read")]["dest_qp"]]
    check_equal("start counts from 0: the NIC has the messages before it, too", sent, before["f read"] + otg.flow("f read")["message_tx"])
    check_equal("chosen columns", otg.metrics("rocev2_flow", per_qp={"column_names": ["port_tx"]})[0], {"flow_name": "f write", "port_tx": "tx"})
    check_equal("quench-otg ends well", otg.stop(), 0)
    check_equal("the switch ends well", switch.stop(), 0)
    w = switch.json()
    check_equal("the switch dropped nothing", {k: n for p in w["ports"] for k, n in p["drops"].items() if n and k != "link_down"}, {})
    check_ledger("switch", w)


run(work_dir(), 4)
run(work_dir(), 6)
finish()
