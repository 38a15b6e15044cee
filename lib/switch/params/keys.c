/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the switch, of a port and of the router. */
#include <stddef.h>

#include "switch/params/limits.h"
#include "switch/params/params.h"

/* 802.3 leaves the longest frame to the link; NX-OS's "mtu 9216" with header, one tag and FCS. */
#define MAX_FRAME_DEFAULT "9238"

/* SONiC's PORT_STORM_CONTROL, in bits per second. */
#define STORM_FIELD(kind, words)                                                                   \
	{                                                                                          \
		.name = "storm_control_" words "_bps",                                             \
		.help = "what this port may flood others with in " words                           \
			" frames, wire bytes; 0: no limit",                                        \
		.type = FIELD_U64, .unit = UNIT_BPS,                                               \
		.offset = offsetof(struct sw_port_params, storm_bps[kind]), .max = MAX_LINK_SPEED, \
		.def = "0", .live = true,                                                          \
	}

/* As of [pfcwd], one further on. */
static const char *const port_action_words[] = {"default", "drop", "forward", "alert", NULL};

static const char *const flow_control_words[] = {"off", "pfc", "pause", "auto", NULL};

const struct field sw_port_fields[] = {
	{
		.name = "device",
		.help = "EAL's name of the device, such as 0000:3b:00.0 or net_pcap0; any: the "
			"next in EAL's order that no port names",
		.type = FIELD_STR,
		.offset = offsetof(struct sw_port_params, device),
		.min = 1,
		.max = SW_DEVICE_CHARS,
		.def = "any",
	},
	{
		.name = "mac",
		.help = "source address of PFC frames; all zero: the device's own",
		.type = FIELD_MAC,
		.offset = offsetof(struct sw_port_params, mac),
		.def = "00:00:00:00:00:00",
	},
	{
		.name = "link_speed_bps",
		.help = "real speed of the link: length of a pause quantum, and the shaper's "
			"default "
			"(virtual devices report made-up speeds)",
		.type = FIELD_U64,
		.unit = UNIT_BPS,
		.offset = offsetof(struct sw_port_params, link_speed_bps),
		.min = MIN_LINK_SPEED,
		.max = MAX_LINK_SPEED,
		.aliases = {{.name = "link_speed"}, {.name = "speed"}},
	},
	{
		.name = "shaper_rate_bps",
		.help = "egress shaper of data, in wire bytes; 0: the link speed. Pause frames are "
			"charged to it and do not wait for it",
		.type = FIELD_U64,
		.unit = UNIT_BPS,
		.offset = offsetof(struct sw_port_params, shaper_rate_bps),
		.max = MAX_LINK_SPEED,
		.def = "0",
		.aliases = {{.name = "shaper_rate"}},
		.live = true,
	},
	{
		.name = "cable_length_m",
		.help = "length of the cable, for the headroom that --thresholds prints",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_port_params, cable_length_m),
		.max = 100000,
		.def = "5",
		.aliases = {{.name = "cable_length"}},
		.live = true,
	},
	{
		.name = "peer_response_ns",
		.help = "how long the peer goes on sending after a pause has reached it, for "
			"--thresholds; 0: what 802.3 31B.3.7 allows at link_speed_bps; a peer in "
			"software needs its poll interval and its transmit ring",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_port_params, peer_response_ns),
		.max = NS_PER_SEC,
		.def = "0",
		.live = true,
	},
	{
		.name = "access_vlan",
		.help = "VLAN of untagged frames, which leave this port untagged; 0: they are "
			"dropped; with vlan_filtering",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_port_params, access_vlan),
		.max = VLAN_MAX_ID,
		.def = "1",
		.live = true,
	},
	{
		.name = "tagged_vlans",
		.help = "VLANs whose frames come and leave tagged, such as 10,20-29, or none; with "
			"vlan_filtering",
		.type = FIELD_STR,
		.offset = offsetof(struct sw_port_params, tagged_vlans),
		.max = VLAN_LIST_CHARS,
		.def = "none",
		.live = true,
	},
	STORM_FIELD(SW_STORM_BROADCAST, "broadcast"),
	STORM_FIELD(SW_STORM_MULTICAST, "multicast"),
	STORM_FIELD(SW_STORM_UNKNOWN_UNICAST, "unknown_unicast"),
	{
		.name = "max_learned_addresses",
		.help = "addresses that are learned on this port at a time; frames from others are "
			"forwarded and counted; 0: no limit",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_port_params, max_learned_addresses),
		.max = FDB_MAX_ENTRIES,
		.def = "0",
		.live = true,
	},
	{
		.name = "flow_control",
		.help = "pause frames that are obeyed and sent: none, 802.1Qbb, 802.3x, or "
			"802.1Qbb "
			"for what DCBX finds agreed; NX-OS's mode off, on, auto are off, pfc, auto",
		.type = FIELD_ENUM,
		.offset = offsetof(struct sw_port_params, flow_control),
		.max = SW_FLOW_AUTO,
		.def = "pfc",
		.choices = flow_control_words,
		.live = true,
	},
	{
		.name = "pfc_asymmetric",
		.help = "obey PFC on all eight priorities, and send it for those of pfc_enable",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_port_params, pfc_asymmetric),
		.max = 1,
		.def = "off",
		.live = true,
	},
	{
		.name = "tx_disabled",
		.help = "for tests: the port holds all data; pause frames still leave",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_port_params, tx_disabled),
		.max = 1,
		.def = "off",
		.live = true,
	},
	{
		.name = "pfc_delay_quanta",
		.help = "for tests: a pause frame is obeyed this many quanta after it arrived",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_port_params, pfc_delay_quanta),
		.max = UINT16_MAX,
		.def = "0",
		.aliases = {{.name = "pfc_delay"}},
		.live = true,
	},
	{
		.name = "pfcwd",
		.help = "the PFC watchdog looks at this port, if [pfcwd] is on",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_port_params, pfcwd),
		.max = 1,
		.def = "on",
		.live = true,
	},
	{
		.name = "pfcwd_interface_multiplier",
		.help = "nxos: this port's in place of shutdown_multiplier; 0: that",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_port_params, pfcwd_interface_multiplier),
		.max = 1000,
		.def = "0",
		.live = true,
	},
	{
		.name = "pfcwd_action",
		.help = "this port's in place of action of [pfcwd]; default: that",
		.type = FIELD_ENUM,
		.offset = offsetof(struct sw_port_params, pfcwd_action),
		.max = 1 + PFCWD_ALERT,
		.def = "default",
		.choices = port_action_words,
		.live = true,
	},
	{
		.name = "pfcwd_detection_time_ns",
		.help = "sonic: this port's in place of detection_time_ns of [pfcwd]; 0: that",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_port_params, pfcwd_detection_time_ns),
		.max = 60 * NS_PER_SEC,
		.def = "0",
		.live = true,
	},
	{
		.name = "pfcwd_restoration_time_ns",
		.help = "sonic: this port's in place of restoration_time_ns of [pfcwd]; 0: that",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_port_params, pfcwd_restoration_time_ns),
		.max = UINT64_MAX,
		.def = "0",
		.live = true,
	},
	{
		.name = "shard",
		.help = "of the switch's shards the one that has this port, from 1 on; 0: ports "
			"are dealt out in turn",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_port_params, shard),
		.max = SW_MAX_SHARDS,
		.def = "0",
	},
};

const unsigned int sw_port_fields_n = sizeof(sw_port_fields) / sizeof(sw_port_fields[0]);

static const char *const mark_at_words[] = {"dequeue", "enqueue", NULL};

const struct field sw_fields[] = {
	{
		.name = "shards",
		.help = "parts of the switch, each with some of the ports and, in quench-switch, "
			"an lcore of its own; 0: as many as lcores poll, at most one for a port; "
			"in quench-lab one",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_params, shards),
		.max = SW_MAX_SHARDS,
		.def = "0",
	},
	{
		.name = "wred_queues",
		.help = "egress queues that the [wred] curve applies to; not that of CNPs",
		.type = FIELD_SET8,
		.offset = offsetof(struct sw_params, wred_queues),
		.max = 255,
		.def = "3",
		.live = true,
	},
	{
		.name = "pfc_generate",
		.help = "off: never send XOFF; the groups of pfc_enable are then lossy, without "
			"headroom",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_params, pfc_generate),
		.max = 1,
		.def = "on",
		.live = true,
	},
	{
		.name = "mark_at",
		.help = "CE is set when a packet leaves its queue, by the length of the rest, or "
			"when "
			"it enters, by the length before it",
		.type = FIELD_ENUM,
		.offset = offsetof(struct sw_params, mark_at),
		.max = SW_MARK_AT_ENQUEUE,
		.def = "dequeue",
		.choices = mark_at_words,
		.live = true,
	},
	{
		.name = "shaper_burst_ns",
		.help = "how much of a port's time a late poll may catch up; it is also what a "
			"pause finds already on its way",
		.type = FIELD_U32,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_params, shaper_burst_ns),
		.min = 1,
		.max = 1000000,
		.def = "4us",
		.live = true,
	},
	{
		.name = "max_frame_bytes",
		.help = "longest frame that is forwarded, with FCS",
		.type = FIELD_U32,
		.unit = UNIT_BYTES,
		.offset = offsetof(struct sw_params, max_frame_bytes),
		.min = MIN_FRAME_BYTES,
		.max = MAX_FRAME_BYTES,
		.def = MAX_FRAME_DEFAULT,
	},
	{
		.name = "mark_accuracy",
		.help = "count marks by queue length, to compare them with the curve in reports",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_params, mark_accuracy),
		.max = 1,
		.def = "off",
	},
	{
		.name = "watermark_interval_ns",
		.help = "watermarks of all kinds are cleared at this interval, except the persistent ones; "
			"never: only when they are cleared",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_params, watermark_interval_ns),
		.min = NS_PER_MS,
		.max = UINT64_MAX,
		.def = "never",
		.live = true,
	},
	{
		.name = "fdb_entries",
		.help = "addresses that can be learned; a full table floods",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_params, fdb_entries),
		.min = FDB_MIN_ENTRIES,
		.max = FDB_MAX_ENTRIES,
		.def = "16384",
		.live = true,
	},
	{
		.name = "fdb_ageing_s",
		.help = "an address not heard of for this many seconds is forgotten; 0: never",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_params, fdb_ageing_s),
		.max = 1000000, /* 802.1Q table 8-6 */
		.def = "600",
		.aliases = {{.name = "fdb_aging_time"}},
		.live = true,
	},
	{
		.name = "vlan_filtering",
		.help = "ports are in their access_vlan and tagged_vlans only; off: a tag is "
			"looked "
			"at to tell addresses apart, and left alone",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_params, vlan_filtering),
		.max = 1,
		.def = "off",
		.live = true,
	},
	{
		.name = "seed",
		.help = "seed of the marking decisions",
		.type = FIELD_U64,
		.offset = offsetof(struct sw_params, seed),
		.max = UINT64_MAX,
		.def = "1",
	},
};

const unsigned int sw_fields_n = sizeof(sw_fields) / sizeof(sw_fields[0]);

const struct field sw_router_fields[] = {
	{
		.name = "router_mac",
		.help = "address of the router on all its interfaces; needed if there are any",
		.type = FIELD_MAC,
		.offset = offsetof(struct sw_router_params, router_mac),
		.def = "00:00:00:00:00:00",
		.live = true,
	},
	{
		.name = "ecmp_hash_seed",
		.help = "another seed spreads flows otherwise: give each stage of a fabric its own "
			"(SONiC: 0 ToR, 10 leaf, 25 spine)",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_router_params, ecmp_hash_seed),
		.max = UINT32_MAX,
		.def = "0",
		.live = true,
	},
	{
		.name = "ecmp_hash_flow_label",
		.help = "IPv6: the flow label tells flows apart, instead of the ports (RFC 6438)",
		.type = FIELD_BOOL,
		.offset = offsetof(struct sw_router_params, ecmp_hash_flow_label),
		.max = 1,
		.def = "off",
		.live = true,
	},
	{
		.name = "neighbor_entries",
		.help = "neighbours that can be known, those of routes and [neighbor] among them; an interface has half of them at most",
		.type = FIELD_U32,
		.offset = offsetof(struct sw_router_params, neighbor_entries),
		.min = 16,
		.max = 65536,
		.def = "4096",
	},
	{
		.name = "neigh_retrans_time_ns",
		.help = "between two ARP requests or solicitations of one neighbour",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_router_params, neigh_retrans_time_ns),
		.min = 1000000,
		.max = 3600 * NS_PER_SEC,
		.def = "1s",
		.live = true,
	},
	{
		.name = "neigh_reachable_time_ns",
		.help = "a neighbour that is sent to is asked again after this time; never: not",
		.type = FIELD_U64,
		.unit = UNIT_NS,
		.offset = offsetof(struct sw_router_params, neigh_reachable_time_ns),
		.min = 1000000,
		.max = UINT64_MAX,
		.def = "30s",
		.live = true,
	},
};

const unsigned int sw_router_fields_n = sizeof(sw_router_fields) / sizeof(sw_router_fields[0]);
