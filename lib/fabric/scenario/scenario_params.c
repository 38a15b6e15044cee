/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a scenario's own sections. */
#include "fabric/scenario/scenario.h"

#include "base/numbers/array.h"
#include "base/numbers/units.h"

#define MAX_RATE (800 * GBPS)

static const char *const forwarding_words[] = {"auto", "l2", "l3", NULL};
static const char *const ip_version_words[] = {"4", "6", NULL};

const struct field fabric_fields[] = {
	{FIELD_OF(struct fabric_params, topology), .type = FIELD_ENUM, .choices = topology_words,
	 .def = "star",
	 .help = "shape of the fabric: star: one switch; dumbbell: two switches; parking_lot: "
		 "`switches` in a row; testbed: 4 ToRs, 4 leaves and 2 spines, as in the DCQCN "
		 "paper; leaf_spine; fat_tree; rail_optimized: a leaf for each rail of a group of "
		 "servers, and spines; rail_only: a switch for each rail, and no spine; graph: as in "
		 "[switch NAME] and [link NAME]"},
	{FIELD_OF(struct fabric_params, hosts), .type = FIELD_U32, .min = 2,
	 .max = TOPOLOGY_MAX_HOSTS, .def = "5",
	 .help = "number of hosts, spread evenly over the switches with hosts; graph: sum "
		 "of hosts of all [switch NAME]"},
	{FIELD_OF(struct fabric_params, switches), .type = FIELD_U16, .min = 2, .max = 1024,
	 .def = "3", .help = "parking_lot: number of switches in the row"},
	{FIELD_OF(struct fabric_params, leaves), .type = FIELD_U16, .min = 1, .max = 1024,
	 .def = "4", .help = "leaf_spine: number of leaves (switches with hosts)"},
	{FIELD_OF(struct fabric_params, spines), .type = FIELD_U16, .min = 1, .max = SW_MAX_PORTS,
	 .def = "2",
	 .help = "leaf_spine, rail_optimized: number of spines (switches that connect all leaves)"},
	{FIELD_OF(struct fabric_params, fat_tree_k), .type = FIELD_U16, .min = 2, .max = 64,
	 .def = "4",
	 .help = "fat_tree: number of pods k, even; each pod has k/2 edge and k/2 aggregation "
		 "switches"},
	{FIELD_OF(struct fabric_params, groups), .type = FIELD_U16, .min = 1, .max = 512,
	 .def = "1",
	 .help = "rail_optimized: number of groups of servers, each with a leaf for each rail; "
		 "servers are spread evenly over them"},
	{FIELD_OF(struct fabric_params, nics_per_server), .type = FIELD_U16, .min = 1,
	 .max = SCENARIO_MAX_NICS, .def = "1",
	 .help = "NICs of a server: hosts 1 to N are those of the first server, and so on; they are "
		 "also its rails"},
	{FIELD_OF(struct fabric_params, server_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = MBPS, .max = 100000 * GBPS, .def = "3600G",
	 .help = "speed at which a rank sends to ranks of its server, and receives from them, "
		 "without frames"},
	{FIELD_OF(struct fabric_params, server_delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "1us",
	 .help = "latency from a rank to another one of its server"},
	{FIELD_OF(struct fabric_params, signal_delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = NS_PER_SEC, .def = "5us",
	 .help = "time from the end of a flow, round or message to that at which those that wait for "
		 "it by `after` or `barrier` hear of it, on all hosts and without frames"},
	{FIELD_OF(struct fabric_params, link_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = MBPS, .max = MAX_RATE, .def = "40G",
	 .help = "speed of every link, in each "
		 "direction"},
	{FIELD_OF(struct fabric_params, link_delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "1us", .help = "one-way propagation delay of every link"},
	{FIELD_OF(struct fabric_params, core_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MAX_RATE, .def = "0", .help = "speed of links between switches; 0: link_rate_bps"},
	{FIELD_OF(struct fabric_params, core_delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0",
	 .help = "propagation delay of links between switches; 0: link_delay_ns"},
	{FIELD_OF(struct fabric_params, forwarding), .type = FIELD_ENUM,
	 .choices = forwarding_words, .def = "auto",
	 .help = "l2: switches are bridges, with one path between any two hosts; l3: switches "
		 "are routers, with a subnet per switch with hosts, and use all shortest paths; "
		 "auto: l2 with one switch, else l3"},
	{FIELD_OF(struct fabric_params, ip_version), .type = FIELD_ENUM,
	 .choices = ip_version_words, .def = "4",
	 .help = "addresses of hosts and routers, and packets of flows: 4 or 6; the IPv6 addresses "
		 "are those of IPv4 after fd00::/96"},
	{FIELD_OF(struct fabric_params, ecmp_seed_by_stage), .type = FIELD_BOOL, .def = "on",
	 .help = "on: each stage of routers adds a different number (0, 10, 25, 40, ...) to "
		 "ecmp_hash_seed; off: all stages hash alike, so that flows polarise"},
	{FIELD_OF(struct fabric_params, reroute_after_ns), .least_bare = 100, .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1, .max = UINT64_MAX, .def = "never",
	 .help = "time from the last change of a link between routers until all routers use "
		 "shortest paths over the links that are up; never: routes do not change"},
	{FIELD_OF(struct fabric_params, backing_frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 16384, .def = "0",
	 .help = "bytes of switch buffer per allocated mbuf; 0: 512, or more in a large fabric, "
		 "so that at most 100000 mbufs are allocated"},
	{FIELD_OF(struct fabric_params, duration_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = 3600 * NS_PER_SEC, .def = "200ms", .help = "simulated time"},
	{FIELD_OF(struct fabric_params, measure_from_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0", .help = "start of the measured window"},
	{FIELD_OF(struct fabric_params, fluid_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "10s",
	 .help = "--out: time from the start that the fluid model also simulates, after the "
		 "packets; 0: not run. --fluid simulates the whole duration_ns"},
	{FIELD_OF(struct fabric_params, sample_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = NS_PER_SEC, .def = "100us",
	 .help = "time between rows of the CSV files"},
	{FIELD_OF(struct fabric_params, messages_csv), .type = FIELD_BOOL, .def = "on",
	 .help = "with --out: write a row for each completed message to messages.csv, about 90 "
		 "bytes each"},
	{FIELD_OF(struct fabric_params, flow_rows), .type = FIELD_U32, .max = 16000000,
	 .def = "100000",
	 .help = "largest number of flows (pairs of hosts) that results.json, flows.csv and times.csv "
		 "list: a row of results.json takes 7 KB of memory while it is written; the sums have "
		 "all flows"},
	{FIELD_OF(struct fabric_params, size_edges), .type = FIELD_STR, .min = 1,
	 .max = FLOW_HOSTS_CHARS, .def = "none",
	 .help = "slowdown by message size: upper ends of the sizes of each bucket, such as "
		 "3KB, 100KB, 1MB (at most 15; larger messages are a last bucket); none: ten "
		 "buckets with equally many messages"},
	{FIELD_OF(struct fabric_params, seed), .type = FIELD_U64, .max = INT64_MAX, .def = "1",
	 .help = "seed of all random choices"},
	{FIELD_OF(struct fabric_params, slow_hosts), .type = FIELD_STR, .max = FLOW_HOSTS_CHARS,
	 .def = "all",
	 .help = "hosts to which [receiver] applies: all, or a list such as 1-4 or 1,3, h1-h4, "
		 "T1/1-4"},
};
const unsigned int fabric_fields_n = ARRAY_LEN(fabric_fields);

static const char *const qp_per_message_words[] = {"auto", "on", "off", NULL};

static const char *const pattern_words[] = {"to_dst", "permutation", "all_to_all",
					    "ring",   "trace",       NULL};

const struct field flow_fields[] = {
	{FIELD_OF(struct flow_params, src), .type = FIELD_STR, .max = FLOW_HOSTS_CHARS,
	 .def = "all",
	 .help = "requesting hosts, one flow for each: such as 1-4 or 1,3, h1-h4, 1-64:8 (1, "
		 "9, ... 57), T1/1-4 (hosts 1 to 4 of switch T1), T1 (all its hosts) or all"},
	{FIELD_OF(struct flow_params, pattern), .type = FIELD_ENUM, .choices = pattern_words,
	 .def = "to_dst",
	 .help = "pairs of hosts: to_dst: each host of src to dst; permutation: each host of src "
		 "to one other at random, so that each receives from one; all_to_all: each host "
		 "of src to every other; ring: each host of src to the next; trace: from a "
		 "file; [job NAME] has collectives, whose messages wait for each other"},
	{FIELD_OF(struct flow_params, trace), .type = FIELD_STR, .max = EVENT_PATH_CHARS,
	 .def = "none",
	 .help = "pattern = trace: file with one line per message: src, dst, bytes, start in ns "
		 "and, if it waits for one, the number of an earlier message, after whose end its start "
		 "counts; the path is relative to the scenario's file"},
	{FIELD_OF(struct flow_params, dst), .type = FIELD_STR, .min = 1, .max = FLOW_HOSTS_CHARS,
	 .def = "none", .help = "pattern = to_dst: the responding host, such as 5, h5 or T4/1"},
	{FIELD_OF(struct flow_params, qp_count), .type = FIELD_U16, .min = 1, .max = 4096,
	 .def = "1", .help = "number of QPs of each flow"},
	{FIELD_OF(struct flow_params, qp_per_message), .type = FIELD_ENUM,
	 .choices = qp_per_message_words, .def = "auto",
	 .help = "on: each message of an open loop has a QP of its own, which starts at its arrival, "
		 "as the flows of other simulators do; off: the messages of a QP wait for each other; "
		 "auto: on with arrival = poisson or lognormal, unless an event, stopped, after or "
		 "rate_cap_bps applies to the flow, or verb is read and the run has more than a "
		 "million messages"},
	{FIELD_OF(struct flow_params, mtu_bytes), .type = FIELD_U16, .min = NIC_MIN_MTU,
	 .max = NIC_MAX_MTU, .def = "1024", .help = "path MTU: " NIC_MTU_TEXT},
	{FIELD_OF(struct flow_params, verb), .type = FIELD_ENUM, .choices = nic_verb_words,
	 .def = "write",
	 .help = "operation of each message: RDMA WRITE, WRITE with immediate data, SEND, RDMA "
		 "READ (data from dst to src), or UD SEND of one packet"},
	{FIELD_OF(struct flow_params, imm_timestamp), .type = FIELD_BOOL, .def = "off",
	 .help = "immediate data of verb = write_imm is the time at which the packet leaves; with "
		 "it, measure_pacing measures one-way times"},
	{FIELD_OF(struct flow_params, dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",
	 .help = "DSCP of the flow's data, and of ACK and NAK without ack_dscp; -1: data_dscp of [nic]"},
	{FIELD_OF(struct flow_params, cc), .type = FIELD_ENUM, .choices = cc_choice_words,
	 .def = "default",
	 .help = "congestion control of the flow; default: that of the sending host in [host NAME], "
		 "or cc of [nic]"},
	{FIELD_OF(struct flow_params, max_recv_wr), .type = FIELD_U32, .max = NIC_MAX_RECV_WR,
	 .def = "0",
	 .help = "receive WQEs of each QP of dst; each SEND, and each WRITE with immediate data, "
		 "takes one, or gets an RNR NAK if there is none; 0: unlimited"},
	{FIELD_OF(struct flow_params, post_recv_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NIC_MAX_POST_RECV_NS, .def = "0",
	 .help = "time to repost one receive WQE; WQEs are reposted one after another"},
	{FIELD_OF(struct flow_params, stopped), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: begin no message until an event with action = set changes this key to off"},
	{FIELD_OF(struct flow_params, after), .type = FIELD_STR, .min = 1, .max = FLOW_HOSTS_CHARS,
	 .def = "none",
	 .help = "names of other flows, separated by commas: this flow begins signal_delay_ns after "
		 "the last message of all of them has ended, and start_ns counts from there"},
	{FIELD_OF(struct flow_params, barrier), .type = FIELD_STR, .min = 1,
	 .max = FLOW_BARRIER_CHARS, .def = "none",
	 .help = "name of a barrier: the QPs of all flows with this name send one message each in a "
		 "round, and begin the next round together, signal_delay_ns after all have ended this "
		 "one; messages is the number of rounds"},
	WORKLOAD_FIELDS(struct flow_params, work, "4MB", "2"),
	{FIELD_OF(struct flow_params, load_ppm), .least_bare = 1000, .type = FIELD_U32,
	 .unit = UNIT_PPM, .max = 1000000, .def = "0", .live = true, .aliases = {{.name = "load"}},
	 .help = "payload rate of a host with arrival = poisson, lognormal or periodic, as a share "
		 "of the speed of its link: load = 30%; it is divided equally among the host's peers and "
		 "QPs and sets load_bps; 0: load_bps applies"},
	{FIELD_OF(struct flow_params, rate_cap_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0", .live = true,
	 .help = "highest rate of one QP, in wire bytes; 0: the link's rate"},
	{FIELD_OF(struct flow_params, trace_qps), .type = FIELD_U16, .max = NIC_MAX_TRACES,
	 .def = "0",
	 .help = "number of QPs of each flow, from the first, whose rate changes go to trace.csv"},
};
const unsigned int flow_fields_n = ARRAY_LEN(flow_fields);

const struct field switch_section_fields[] = {
	{FIELD_OF(struct switch_section, hosts), .type = FIELD_U16, .max = SW_MAX_PORTS, .def = "0",
	 .help = "topology = graph: number of hosts at this switch"},
	{FIELD_OF(struct switch_section, stage), .type = FIELD_U8, .max = 15, .def = "0",
	 .help = "topology = graph: stage of this switch for ecmp_seed_by_stage: number of hops "
		 "from the switches with hosts"},
};
const unsigned int switch_section_fields_n = ARRAY_LEN(switch_section_fields);

const struct field link_section_fields[] = {
	{FIELD_OF(struct link_section, ends), .type = FIELD_STR, .min = 1, .max = LINK_ENDS_CHARS,
	 .help = "ends of the link: two nodes, such as T1 L1 or h3 T1, or hosts and their "
		 "switch, such as h1-h4 T1; topology = graph: two switches create a new link; "
		 "otherwise the section applies to existing links"},
	{FIELD_OF(struct link_section, link_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MAX_RATE, .def = "0", .help = "speed in each direction; 0: as in [fabric]"},
	{FIELD_OF(struct link_section, link_delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0", .help = "one-way propagation delay; 0: as in [fabric]"},
	{FIELD_OF(struct link_section, frame_loss_ppb), .type = FIELD_U32, .max = CABLE_MAX_PPB,
	 .def = "0", .help = "randomly lost frames per 10^9, in each direction"},
	{FIELD_OF(struct link_section, bit_errors_per_tbit), .type = FIELD_U64,
	 .max = CABLE_MAX_BIT_ERRORS, .def = "0",
	 .help = "random bit errors per 10^12 bits; the receiver drops a frame with an error (1: "
		 "the 10^-12 that 802.3 allows)"},
	{FIELD_OF(struct link_section, wred_profile), .type = FIELD_STR, .max = SW_PROFILE_NAME,
	 .def = SW_PROFILE_DEFAULT,
	 .help = "WRED curve of the wred_queues at the link's switch ports: name of a [wred "
		 "NAME], none, or default (as in [wred] and [queue])"},
	{FIELD_OF(struct link_section, access_vlan), .type = FIELD_U16, .max = VLAN_MAX_ID,
	 .def = "1", .help = "with vlan_filtering: VLAN of a host's untagged frames; 0: none"},
	{FIELD_OF(struct link_section, tagged_vlans), .type = FIELD_STR, .max = VLAN_LIST_CHARS,
	 .def = "none",
	 .help = "with vlan_filtering: VLANs whose frames are tagged on the host's link, such as "
		 "10,20-29, or none"},
};
const unsigned int link_section_fields_n = ARRAY_LEN(link_section_fields);

const struct field static_route_fields[] = {
	{FIELD_OF(struct static_route, at), .type = FIELD_STR, .min = 1, .max = TOPOLOGY_NAME_CHARS,
	 .help = "switch to which the route belongs"},
	{FIELD_OF(struct static_route, to), .type = FIELD_STR, .min = 1, .max = TOPOLOGY_NAME_CHARS,
	 .help = "switch whose hosts are the destination"},
	{FIELD_OF(struct static_route, via), .type = FIELD_STR, .min = 1,
	 .max = TOPOLOGY_NAME_CHARS,
	 .help = "next hop, a neighbour of `at`; replaces the shortest paths and uses all cables "
		 "to the neighbour"},
};
const unsigned int static_route_fields_n = ARRAY_LEN(static_route_fields);
