# SPDX-License-Identifier: BSD-3-Clause
"""All commands of quenchctl."""
from __future__ import annotations

from typing import Any

from quenchctl.command import NIC, SWITCH, Command

CLEAR_KINDS = "interface, queue, priority-group, pfc, pfcwd, drop, router, nic, flow, times, qp"
PAUSES = "port frames pfc0=PFC0 pfc1=PFC1 pfc2=PFC2 pfc3=PFC3 pfc4=PFC4 pfc5=PFC5 pfc6=PFC6 pfc7=PFC7 link"
PAUSED = "pfc0 pfc1 pfc2 pfc3 pfc4 pfc5 pfc6 pfc7 link"
PAUSE_TIMES = ("port prio rx_pause_transition=rx_pauses rx_pause_duration_ns=rx_paused tx_pause_transition=tx_pauses "
               "tx_pause_duration_ns=tx_paused")


def one(words: str, help_: str, program: str | None, method: str, **more: Any) -> Command:
    """A show of an object."""
    return Command(words, help_, program, "show.show:show", method=method, watchable=True, **more)


def table(words: str, help_: str, program: str | None, method: str, list_: str, columns: str, members: str | None = "", run: str = "show.show:show",
          **more: Any) -> Command:
    """A show of rows."""
    return Command(words, help_, program, run, method=method, list=list_, columns=columns, members=members, watchable=True, **more)


def sent(words: str, help_: str, program: str | None, kind: str, list_: str, columns: str, noun: str = "pools") -> Command:
    """A clear of watermarks, which shows what they were."""
    return Command(words, help_, program, "show.show:send", method="clear_watermark", fixed=(("kind", kind),), list=list_, columns=columns, members="",
                   active="watermark_bytes", noun=noun, sort="watermark_bytes")


# A switch and a NIC may have different commands of the same words.
COMMANDS = [
    Command("top", "live view of rates, queues and pauses on the terminal; q quits", None, "top.top:run", goes_on=True),
    one("show info", "program, version, run time", None, "info"),
    table("show interfaces", "ports, their frames and bytes", SWITCH, "ports", "rows",
          "port device link link_speed_bps=speed rx_packets rx_bytes tx_packets tx_bytes rx_pause_frames=rx_pause tx_pause_frames=tx_pause "
          "learned_addresses=macs", shape="interfaces"),
    one("show interfaces", "the port, its frames and pauses", NIC, "port"),
    one("show interfaces PORT", "all counters of a port", SWITCH, "port"),
    table("show polls", "times between polls of the ports", SWITCH, "ports", "rows",
          "port device poll_gap_p50_ns=p50 poll_gap_p99_ns=p99 poll_gap_max_ns=max"),
    table("show device counters", "frames that devices received, sent and lost", SWITCH, "device_stats", "rows",
          "port ipackets opackets imissed rx_nombuf ierrors oerrors",
          active="ipackets opackets imissed rx_nombuf ierrors oerrors", noun="devices"),
    table("show mempools", "mbuf pools and their use", None, "mempools", "rows", "pool mbufs in_use"),
    table("show queue counters [PORT]", "packets sent, marked and dropped by queues", SWITCH, "queues", "queues",
          "port queue tx_packets tx_bytes ce_in_packets=ce_in ecn_marked_packets=marked drop_packets=dropped drop_bytes=dropped_bytes "
          "wred_drop_packets=by_wred",
          active="tx_packets ecn_marked_packets drop_packets", noun="queues", by_port=True),
    table("show queue wredcounters [PORT]", "packets and bytes that WRED marked and dropped", SWITCH, "queues", "queues",
          "port queue wred_drop_packets=wred_dropped wred_drop_bytes=wred_dropped_bytes ecn_marked_packets=marked ecn_marked_bytes=marked_bytes",
          active="wred_drop_packets ecn_marked_packets", noun="queues", by_port=True),
    table("show maps [PORT]", "maps, lossless priorities and scheduler in force; own: of the port's section", SWITCH, "maps", "maps", "port key value own",
          by_port=True),
    table("show queue watermark unicast [PORT]", "the same, in SONiC's words", SWITCH, "queues", "queues",
          "port queue queue_bytes=now watermark_bytes=watermark persistent_watermark_bytes=persistent", active="queue_bytes watermark_bytes",
          noun="queues", sort="watermark_bytes", by_port=True),
    table("show queue watermark [PORT]", "bytes in queues, now and at most", SWITCH, "queues", "queues",
          "port queue queue_bytes=now watermark_bytes=watermark persistent_watermark_bytes=persistent", active="queue_bytes watermark_bytes",
          noun="queues", sort="watermark_bytes", by_port=True),
    table("show priority-group counters [PORT]", "packets received by priority group", SWITCH, "pg", "pgs",
          "port pg rx_packets rx_bytes drop_packets=dropped", active="rx_packets drop_packets", noun="priority groups", by_port=True),
    table("show priority-group drop [PORT]", "packets that the buffer dropped", SWITCH, "pg", "pgs", "port pg drop_packets=dropped", active="drop_packets",
          noun="priority groups", sort="drop_packets", by_port=True),
    table("show priority-group watermark shared [PORT]", "shared bytes of priority groups, now and at most", SWITCH, "pg", "pgs",
          "port pg shared_bytes=shared shared_watermark_bytes=watermark shared_persistent_watermark_bytes=persistent",
          active="shared_bytes shared_watermark_bytes", noun="priority groups", sort="shared_watermark_bytes", by_port=True),
    table("show priority-group watermark headroom [PORT]", "headroom bytes of priority groups, now and at most", SWITCH, "pg", "pgs",
          "port pg headroom_bytes=headroom headroom_watermark_bytes=watermark headroom_persistent_watermark_bytes=persistent",
          active="headroom_bytes headroom_watermark_bytes", noun="priority groups", sort="headroom_watermark_bytes", by_port=True),
    table("show priority-group watermark [PORT]", "bytes in priority groups, now and at most", SWITCH, "pg", "pgs",
          "port pg reserved_bytes=reserved shared_bytes=shared headroom_bytes=headroom watermark_bytes=watermark "
          "shared_watermark_bytes=shared_watermark headroom_watermark_bytes=headroom_watermark",
          active="reserved_bytes shared_bytes headroom_bytes watermark_bytes", noun="priority groups", sort="watermark_bytes", by_port=True),
    table("show pfc counters", "pause frames by port and priority", SWITCH, "pfc", "rows", PAUSES, shape="pauses", active=PAUSED, noun="rows"),
    table("show pfc counters", "pause frames by priority", NIC, "port", "", PAUSES, shape="pauses"),
    table("show pfc durations", "pauses that ended, and their total time, by port and priority", SWITCH, "pfc", "rows", PAUSE_TIMES, shape="pause_times"),
    table("show pfc durations", "pauses that ended, and their total time, by priority", NIC, "port", "", PAUSE_TIMES, shape="pause_times"),
    table("show pfc history [PORT]", "the latest pauses, with their start in UTC and since the program's", SWITCH, "pauses", "pauses",
          "port way prio start_at=at start_ns=start duration_ns=duration lasts", by_port=True),
    table("show pfc history", "the latest pauses, with their start in UTC and since the program's", NIC, "pauses", "pauses",
          "way prio start_at=at start_ns=start duration_ns=duration lasts"),
    table("show pfcwd", "pause storms by port and priority", SWITCH, "pfcwd", "rows",
          "port prio queue status storms=storms/ended storm_detected_at=last_start storm_restored_at=last_end longest_storm_ns=longest "
          "tx=tx/dropped rx=rx/dropped",
          members="pfcwd big_red_switch", shape="storms"),
    table("show ecn", "marking curves, marks, and which ports received Not-ECT frames that were due for a mark", SWITCH, "ecn", "rows",
          "port queue green_min_threshold_bytes=min green_max_threshold_bytes=max green_drop_probability_ppm=max_prob ecn queue_bytes "
          "tx_packets ecn_marked_packets=marked marked_pct=share ecn_not_ect_packets=not_ect",
          shape="marks", active="queue_bytes tx_packets", noun="queues", run="show.ecn:show"),
    Command("show mark-accuracy PORT QUEUE", "marks by queue length, against the curve: of the next second, or with mark_accuracy = on since the start",
            SWITCH, "show.ecn:accuracy", watchable=True),
    table("show buffer", "pools, headroom, balance of bytes", SWITCH, "buffer", "pools",
          "pool size_bytes=size used_bytes=used watermark_bytes=watermark persistent_watermark_bytes=persistent", members=None),
    table("show buffer-pool watermark", "bytes in pools, now and at most", SWITCH, "buffer", "pools",
          "pool used_bytes=used watermark_bytes=watermark persistent_watermark_bytes=persistent"),
    one("show headroom-pool watermark", "headroom bytes of all priority groups together, at most", SWITCH, "buffer",
            members="headroom_pool_watermark_bytes=watermark headroom_pool_persistent_watermark_bytes=persistent"),
    table("show drops", "dropped packets by port and reason", SWITCH, "drops", "rows", "port reason packets", shape="drops", sort="packets"),
    table("show drops", "dropped packets by reason", NIC, "nic", "", "reason packets", shape="nic_drops", sort="packets"),
    table("show fdb", "addresses and their ports", SWITCH, "fdb", "rows", "mac domain port type age_ns=age",
          members="entries learned moved aged learn_failures learn_limited", port_texts="domain"),
    table("show vlan", "VLANs and their ports", SWITCH, "vlans", "rows", "vlan untagged tagged", members="vlan_filtering", port_texts="untagged tagged"),
    Command("show route", "static routes, and the connected subnets", SWITCH, "show.route:all_routes", watchable=True),
    table("show route hops", "next hops of routes, and what was routed to them", SWITCH, "nexthops", "rows", "nexthop interface out_packets out_octets",
          sort="out_packets", port_texts="interface"),
    Command("show route ADDRESS...", "which next hop ADDRESS, or the flow ADDRESS SOURCE SOURCE_PORT DESTINATION_PORT PROTOCOL, takes, and why", SWITCH,
            "show.route:one", watchable=True),
    table("show neighbors", "neighbours of the router", SWITCH, "neigh", "rows", "ip interface mac state", port_texts="interface"),
    table("show router interfaces", "interfaces of the router", SWITCH, "interfaces", "rows",
          "interface ip ip6 in_packets in_octets in_error_packets=in_errors out_packets out_octets", port_texts="interface"),
    one("show router counters", "counters of the router", SWITCH, "router"),
    table("show lldp", "LLDP neighbours, and the result of DCBX", SWITCH, "lldp", "rows",
          "port neighbour system_name chassis_id port_id pfc_state pfc_ours pfc_peer pfc_agreed tx_frames=tx rx_frames=rx"),
    one("show counters", "all counters", NIC, "nic"),
    table("show flows", "flows, their messages and rates: the mean since the start or a clear, and now", NIC, "flows", "rows",
          "flow gone qps wire_rate_bps=mean_wire goodput_bps=mean_goodput present_wire_rate_bps=wire_now messages "
          "retransmitted_packets=resent cnps_sent cnps_handled ce_packets completion_p50_ns=completion_p50 completion_p99_ns=completion_p99 "
          "rtt_p50_ns=rtt_p50 waits_for",
          rates=True),
    table("show jobs", "jobs whose ranks run here, and the times of their iterations", NIC, "jobs", "rows",
          "name state ranks_here=ranks ranks_of_all=all iterations_ended=ended iterations jct_mean_ns=mean jct_p99_ns=p99 jct_max_ns=max "
          "jct_cv=variation bus_bandwidth_bps=bus rp_cnp_handled=CNPs retransmitted_packets=resent paused_ns=paused waits_rank=waits waits_for=for why"),
    Command("show times FLOW", "histograms of a flow's completion, round-trip and one-way times, slowdown, jitter and burst gaps", NIC, "show.times:run",
            watchable=True),
    table("show frames", "streams of [frames NAME], and what they sent", NIC, "frames", "rows", "name started paused tx_packets tx_bytes missed_bytes"),
    table("show signatures", "signed frames that were received, by number of their stream", NIC, "signatures", "rows",
          "signature rx_packets rx_bytes lost reordered duplicates old latency_min_ns=latency_min latency_avg_ns=latency_avg latency_max_ns=latency_max"),
    table("show qp", "QPs, their rates and packets", NIC, "qps", "rows",
          "local_qpn=qpn peer_qpn=peer flow rate_bps=rate target_rate_bps=target alpha wire_rate_bps=mean_wire tx_packets rx_packets "
          "retransmitted_packets=resent cnps_sent cnps_handled done error"),
    one("show qp QPN", "one QP, by its local number", NIC, "qp"),
    table("show connections", "connections by RDMA CM, and their flows", NIC, "connections", "rows",
          "flow active state peer_ip cm_port local_qpn=qpn peer_qpn=peer"),
    table("show traces", "traced QPs, and what started their traces", NIC, "traces", "rows", "local_qpn=qpn flow qp trace_qps on clients written",
          members="total most"),
    Command("show trace ID", "stored rows of a QP's trace; ID: its number, FLOW or FLOW#I", NIC, "trace.follow:show", watchable=True),
    Command("trace qp ID [ON|OFF]", "each change of a QP's rate as it happens; on: record them until off", NIC, "trace.follow:run", goes_on=True),
    Command("show hot", "the longest queues of all programs, with the flows that fill them", None, "where.hot:run", alone=True),
    Command("show pauses", "who paused whom, in all programs: roots, how long, and which flows are delayed", None, "where.pauses:run", alone=True),
    Command("explain queue PORT QUEUE", "what waits in a queue, which ports and flows it came from, and why it does not leave", SWITCH, "where.queue:run",
            watchable=True),
    Command("explain qp ID", "the state of a QP and the causes of its rate, in words", NIC, "trace.explain:run", watchable=True),
    one("show cnp", "the notification point: counters and keys", NIC, "np"),
    one("show dcqcn", "congestion control: counters and keys", NIC, "rp"),
    Command("capture PORT FILE", "write the frames of a port to a pcapng file until Ctrl-C or a limit; -: standard output", None, "capture:run"),
    Command("show metrics [FORMAT]", "every counter and gauge, once; FORMAT: openmetrics, text", None, "metrics.metrics:show", alone=True),
    Command("serve-metrics", "serve show metrics by HTTP, for Prometheus, until a signal", None, "metrics.metrics:serve", alone=True),
    Command("web", "a live page of running programs on a loopback address, until a signal", None, "web.web:run", alone=True),
    Command("clear counters [KIND]", "let show commands count from now on; quantiles, maxima and watermarks stay; KIND: " + CLEAR_KINDS, None,
            "show.clear:run"),
    sent("clear queue watermark unicast [PORT]", "the same, in SONiC's words", SWITCH, "queue", "rows", "port index=queue watermark_bytes=was", "queues"),
    sent("clear queue watermark [PORT]", "show and clear the highest length of each queue", SWITCH, "queue", "rows", "port index=queue watermark_bytes=was", "queues"),
    sent("clear priority-group watermark shared [PORT]", "show and clear the highest shared use of each group", SWITCH, "pg_shared", "rows",
         "port index=pg watermark_bytes=was", "priority groups"),
    sent("clear priority-group watermark headroom [PORT]", "show and clear the highest headroom use of each group", SWITCH, "pg_headroom", "rows",
         "port index=pg watermark_bytes=was", "priority groups"),
    sent("clear priority-group watermark [PORT]", "show and clear the highest use of each group", SWITCH, "pg", "rows", "port index=pg watermark_bytes=was", "priority groups"),
    sent("clear buffer-pool watermark", "show and clear the highest use of each pool", SWITCH, "buffer_pool", "rows", "index=pool watermark_bytes=was"),
    sent("clear headroom-pool watermark", "show and clear the highest headroom use", SWITCH, "headroom_pool", "rows", "watermark_bytes=was"),
    Command("show config", "the configuration in force, as save writes it; --json: active keys that differ from the defaults", None, "config:show",
            watchable=True),
    table("show config changes", "active keys that differ from the file", None, "config_changes", "rows", "section key from=file to=running",
          port_texts="section"),
    Command("save [FILE]", "write the configuration in force to its file, or to another one; comments stay", None, "config:save"),
    Command("reload [FILE]", "read the configuration file again, or another one; all keys change, or none", None, "change:reload", tries=True),
    Command("set SECTION.KEY=VALUE...", "change keys, as written in the file; all, or none", None, "change:set_keys", tries=True),
    Command("remove route PREFIX", "remove a static route, as a reload of the file without its section would", SWITCH, "change:remove_route"),
    Command("remove FLOW", "remove a flow, as a reload of the file without its section would", NIC, "change:remove"),
    Command("connect perftest HOST[:PORT] [KEY=VALUE...]", "send to ib_send_bw, ib_write_bw or ib_read_bw, which waits there as a server", NIC,
            "perftest.run:connect", keys_help="perftest.options:print_keys"),
    Command("listen perftest [KEY=VALUE...]", "serve ib_send_bw, ib_write_bw or ib_read_bw: one run of a client", NIC, "perftest.run:listen",
            keys_help="perftest.options:print_keys"),
    Command("start FLOW", "let a flow or job start messages, as set \"flow FLOW.stopped=off\"", NIC, "change:start"),
    Command("stop FLOW", "let a flow or job finish its messages and start no more, as set \"flow FLOW.stopped=on\"", NIC, "change:stop"),
    Command("reset FLOW", "reset the QPs of a flow to their initial PSN, after a restart of the peer; or a stopped job to its start", NIC, "show.show:send", method="reset"),
    Command("set interface tx-disabled PORT ON|OFF", "stop or resume sending data on a port", SWITCH, "change:set_tx_disabled", tries=True),
    Command("set interface pfc-delay PORT QUANTA", "delay the effect of received pauses on a port", SWITCH, "change:set_pfc_delay", tries=True),
    Command("set pfcwd big-red-switch ON|OFF", "make all watched queues drop", SWITCH, "change:set_big_red_switch", tries=True),
    Command("call METHOD [NAME=VALUE...]", "send any request, and print its result as JSON; VALUE: JSON, or a text", None, "call:run", watchable=True),
    Command("import nxos FILE", "a running-config of NX-OS as a file of quench-switch", None, "convert:nxos", alone=True),
    Command("import sonic FILE", "a config_db.json of SONiC as a file of quench-switch", None, "convert:sonic", alone=True),
    Command("import mlnx FILE", "an mlx5 adapter's DCQCN settings as a file of quench-nic", None, "convert:mlnx", alone=True),
    Command("import chakra PREFIX", "Chakra traces PREFIX.0.et, PREFIX.1.et and so on as a job (GOAL)", None, "convert:chakra", alone=True),
    Command("import simai FILE", "a workload of SimAI or AICB as a job (GOAL)", None, "convert:simai", alone=True),
    Command("import nccl FILE", "the rings of a NCCL_GRAPH_DUMP_FILE as a job (GOAL)", None, "convert:nccl", alone=True),
    Command("export sonic FILE", "a file of quench-switch as a config_db.json of SONiC", None, "convert:export_sonic", alone=True),
]
