/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the switch, of a port and of the router. */
#include <stddef.h>

#include "base/array.h"
#include "switch/params/limits.h"
#include "switch/params/params.h"

/* 802.3 leaves the longest frame to the link; NX-OS's "mtu 9216" with header, one tag and FCS. */
#define MAX_FRAME_DEFAULT "9238"

/* SONiC's PORT_STORM_CONTROL, in bits per second. */
#define STORM_FIELD(kind, words)                                                                   \
	{                                                                                          \
		.name = "storm_control_" words "_bps",                                             \
		.offset = offsetof(struct sw_port_params, storm_bps[kind]), .type = FIELD_U64,     \
		.unit = UNIT_BPS, .max = MAX_LINK_SPEED, .def = "0", .live = true,                 \
		.help = "what this port may flood others with in " words                           \
			" frames, wire bytes; 0: no limit"                                         \
	}

/* The words of [pfcwd] after "default". */
static const char *const port_action_words[] = {"default", "drop", "forward", "alert", NULL};

static const char *const flow_control_words[] = {"off", "pfc", "pause", "auto", NULL};

const struct field sw_port_fields[] = {
	{FIELD_OF(struct sw_port_params, device), .type = FIELD_STR, .min = 1,
	 .max = SW_DEVICE_CHARS, .def = "any",
	 .help = "EAL's name of the device, such as 0000:3b:00.0 or net_pcap0; any: the next in "
		 "EAL's order that no port names"},
	{FIELD_OF(struct sw_port_params, mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "source address of PFC frames; all zero: the device's own"},
	{FIELD_OF(struct sw_port_params, link_speed_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = MIN_LINK_SPEED, .max = MAX_LINK_SPEED,
	 .aliases = {{.name = "link_speed"}, {.name = "speed"}},
	 .help = "real speed of the link: length of a pause quantum, and the shaper's default "
		 "(virtual devices report made-up speeds)"},
	{FIELD_OF(struct sw_port_params, shaper_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MAX_LINK_SPEED, .def = "0", .live = true, .aliases = {{.name = "shaper_rate"}},
	 .help = "egress shaper of data, in wire bytes; 0: the link speed. Pause frames are "
		 "charged to it and do not wait for it"},
	{FIELD_OF(struct sw_port_params, cable_length_m), .type = FIELD_U32, .max = 100000,
	 .def = "5", .live = true, .aliases = {{.name = "cable_length"}},
	 .help = "length of the cable, for the headroom that --thresholds prints"},
	{FIELD_OF(struct sw_port_params, peer_response_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0", .live = true,
	 .help = "how long the peer goes on sending after a pause has reached it, for "
		 "--thresholds; 0: what 802.3 31B.3.7 allows at link_speed_bps; a peer in "
		 "software needs its poll interval and its transmit ring"},
	{FIELD_OF(struct sw_port_params, access_vlan), .type = FIELD_U16, .max = VLAN_MAX_ID,
	 .def = "1", .live = true,
	 .help = "VLAN of untagged frames, which leave this port untagged; 0: they are dropped; "
		 "with vlan_filtering"},
	{FIELD_OF(struct sw_port_params, tagged_vlans), .type = FIELD_STR, .max = VLAN_LIST_CHARS,
	 .def = "none", .live = true,
	 .help = "VLANs whose frames come and leave tagged, such as 10,20-29, or none; with "
		 "vlan_filtering"},
	STORM_FIELD(SW_STORM_BROADCAST, "broadcast"),
	STORM_FIELD(SW_STORM_MULTICAST, "multicast"),
	STORM_FIELD(SW_STORM_UNKNOWN_UNICAST, "unknown_unicast"),
	{FIELD_OF(struct sw_port_params, max_learned_addresses), .type = FIELD_U32,
	 .max = FDB_MAX_ENTRIES, .def = "0", .live = true,
	 .help = "addresses that are learned on this port at a time; frames from others are "
		 "forwarded and counted; 0: no limit"},
	{FIELD_OF(struct sw_port_params, flow_control), .type = FIELD_ENUM,
	 .choices = flow_control_words, .def = "pfc", .live = true,
	 .help = "pause frames that are obeyed and sent: none, 802.1Qbb, 802.3x, or 802.1Qbb for "
		 "what DCBX finds agreed; NX-OS's mode off, on, auto are off, pfc, auto"},
	{FIELD_OF(struct sw_port_params, pfc_asymmetric), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "obey PFC on all eight priorities, and send it for those of pfc_enable"},
	{FIELD_OF(struct sw_port_params, tx_disabled), .type = FIELD_BOOL, .def = "off",
	 .live = true, .help = "for tests: the port holds all data; pause frames still leave"},
	{FIELD_OF(struct sw_port_params, pfc_delay_quanta), .type = FIELD_U16, .max = UINT16_MAX,
	 .def = "0", .live = true, .aliases = {{.name = "pfc_delay"}},
	 .help = "for tests: a pause frame is obeyed this many quanta after it arrived"},
	{FIELD_OF(struct sw_port_params, pfcwd), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "the PFC watchdog looks at this port, if [pfcwd] is on"},
	{FIELD_OF(struct sw_port_params, pfcwd_interface_multiplier), .type = FIELD_U16,
	 .max = 1000, .def = "0", .live = true,
	 .help = "nxos: this port's in place of shutdown_multiplier; 0: that"},
	{FIELD_OF(struct sw_port_params, pfcwd_action), .type = FIELD_ENUM,
	 .choices = port_action_words, .def = "default", .live = true,
	 .help = "this port's in place of action of [pfcwd]; default: that"},
	{FIELD_OF(struct sw_port_params, pfcwd_detection_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = 60 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "sonic: this port's in place of detection_time_ns of [pfcwd]; 0: that"},
	{FIELD_OF(struct sw_port_params, pfcwd_restoration_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = UINT64_MAX, .def = "0", .live = true,
	 .help = "sonic: this port's in place of restoration_time_ns of [pfcwd]; 0: that"},
	{FIELD_OF(struct sw_port_params, shard), .type = FIELD_U16, .max = SW_MAX_SHARDS,
	 .def = "0",
	 .help = "of the switch's shards the one that has this port, from 1 on; 0: ports are "
		 "dealt out in turn"},
};

const unsigned int sw_port_fields_n = ARRAY_LEN(sw_port_fields);

static const char *const mark_at_words[] = {"dequeue", "enqueue", NULL};

const struct field sw_fields[] = {
	{FIELD_OF(struct sw_params, shards), .type = FIELD_U16, .max = SW_MAX_SHARDS, .def = "0",
	 .help = "parts of the switch, each with some of the ports and, in quench-switch, an "
		 "lcore of its own; 0: as many as lcores poll, at most one for a port; in "
		 "quench-lab one"},
	{FIELD_OF(struct sw_params, wred_queues), .type = FIELD_SET8, .def = "3", .live = true,
	 .help = "egress queues that the [wred] curve applies to; not that of CNPs"},
	{FIELD_OF(struct sw_params, pfc_generate), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "off: never send XOFF; the groups of pfc_enable are then lossy, without headroom"},
	{FIELD_OF(struct sw_params, mark_at), .type = FIELD_ENUM, .choices = mark_at_words,
	 .def = "dequeue", .live = true,
	 .help = "CE is set when a packet leaves its queue, by the length of the rest, or when it "
		 "enters, by the length before it"},
	{FIELD_OF(struct sw_params, shaper_burst_ns), .type = FIELD_U32, .unit = UNIT_NS, .min = 1,
	 .max = 1000000, .def = "4us", .live = true,
	 .help = "how much of a port's time a late poll may catch up; it is also what a pause "
		 "finds already on its way"},
	{FIELD_OF(struct sw_params, max_frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .min = MIN_FRAME_BYTES, .max = MAX_FRAME_BYTES, .def = MAX_FRAME_DEFAULT,
	 .help = "longest frame that is forwarded, with FCS"},
	{FIELD_OF(struct sw_params, mark_accuracy), .type = FIELD_BOOL, .def = "off",
	 .help = "count marks by queue length, to compare them with the curve in reports"},
	{FIELD_OF(struct sw_params, watermark_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_MS, .max = UINT64_MAX, .def = "never", .live = true,
	 .help = "watermarks of all kinds are cleared at this interval, except the persistent "
		 "ones; never: only when they are cleared"},
	{FIELD_OF(struct sw_params, fdb_entries), .type = FIELD_U32, .min = FDB_MIN_ENTRIES,
	 .max = FDB_MAX_ENTRIES, .def = "16384", .live = true,
	 .help = "addresses that can be learned; a full table floods"},
	{FIELD_OF(struct sw_params, fdb_ageing_s), .type = FIELD_U32,
	 .max = 1000000 /* 802.1Q table 8-6 */, .def = "600", .live = true,
	 .aliases = {{.name = "fdb_aging_time"}},
	 .help = "an address not heard of for this many seconds is forgotten; 0: never"},
	{FIELD_OF(struct sw_params, vlan_filtering), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "ports are in their access_vlan and tagged_vlans only; off: a tag is looked at "
		 "to tell addresses apart, and left alone"},
	{FIELD_OF(struct sw_params, seed), .type = FIELD_U64, .max = UINT64_MAX, .def = "1",
	 .help = "seed of the marking decisions"},
};

const unsigned int sw_fields_n = ARRAY_LEN(sw_fields);

const struct field sw_router_fields[] = {
	{FIELD_OF(struct sw_router_params, router_mac), .type = FIELD_MAC,
	 .def = "00:00:00:00:00:00", .live = true,
	 .help = "address of the router on all its interfaces; needed if there are any"},
	{FIELD_OF(struct sw_router_params, ecmp_hash_seed), .type = FIELD_U32, .max = UINT32_MAX,
	 .def = "0", .live = true,
	 .help = "another seed spreads flows otherwise: give each stage of a fabric its own "
		 "(SONiC: 0 ToR, 10 leaf, 25 spine)"},
	{FIELD_OF(struct sw_router_params, ecmp_hash_flow_label), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "IPv6: the flow label tells flows apart, instead of the ports (RFC 6438)"},
	{FIELD_OF(struct sw_router_params, neighbor_entries), .type = FIELD_U32, .min = 16,
	 .max = 65536, .def = "4096",
	 .help = "neighbours that can be known, those of routes and [neighbor] among them; an "
		 "interface has half of them at most"},
	{FIELD_OF(struct sw_router_params, neigh_retrans_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1000000, .max = 3600 * NS_PER_SEC, .def = "1s", .live = true,
	 .help = "between two ARP requests or solicitations of one neighbour"},
	{FIELD_OF(struct sw_router_params, neigh_reachable_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1000000, .max = UINT64_MAX, .def = "30s", .live = true,
	 .help = "a neighbour that is sent to is asked again after this time; never: not"},
};

const unsigned int sw_router_fields_n = ARRAY_LEN(sw_router_fields);
