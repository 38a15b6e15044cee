/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the switch, of a port and of the router. */
#include <stddef.h>

#include "base/numbers/array.h"
#include "switch/tables/sw_limits.h"
#include "switch/params/port_names.h"
#include "base/numbers/units.h"

/*
 * NX-OS's "mtu 9216" plus header, one tag and FCS. 802.3 does not define a length of jumbo frames.
 */
#define MAX_FRAME_DEFAULT "9238"

/* SONiC's PORT_STORM_CONTROL, in bits per second. */
#define STORM_FIELD(kind, words)                                                                   \
	{                                                                                          \
		.name = "storm_control_" words "_bps",                                             \
		.offset = offsetof(struct sw_port_params, storm_bps[kind]), .type = FIELD_U64,     \
		.unit = UNIT_BPS, .max = MAX_LINK_SPEED, .def = "0", .live = true,                 \
		.help = "rate at which this port may flood " words                                 \
			" frames to other ports, in wire bytes; 0: no limit"                       \
	}

/* The words of [pfcwd] after "default". */
static const char *const port_action_words[] = {"default", "drop", "forward", "alert", NULL};

static const char *const flow_control_words[] = {"off", "pfc", "pause", "auto", NULL};

static const char *const port_trust_words[] = {"default", "dscp", "pcp", NULL};

/* A key of [qos_map] or [scheduler] for one port. */
#define OWN_FIELD(member) .name = #member, .offset = offsetof(struct sw_port_params, classes.member)
#define OWN_MAP(member, keys, least, most, text)                                                   \
	{                                                                                          \
		OWN_FIELD(member), .type = FIELD_MAP, .map_keys = keys, .min = least, .max = most, \
				   .def = FIELD_DEFAULT, .or_default = true, .live = true,         \
				   .help = text                                                    \
	}
#define OWN_SET(member, text)                                                                      \
	{                                                                                          \
		OWN_FIELD(member), .type = FIELD_SET8, .def = FIELD_DEFAULT, .or_default = true,   \
				   .live = true, .help = text                                      \
	}

/* The rows of sw_port_fields that describe a device. */
enum { DEVICE, NAME, MAC, LINK_SPEED, DEVICE_ROWS };
const unsigned int sw_port_device_fields_n = DEVICE_ROWS;

const struct field sw_port_fields[] = {
	[DEVICE] =
		{FIELD_OF(struct sw_port_params, device), .type = FIELD_STR, .min = 1,
		 .max = SW_DEVICE_CHARS, .def = "any",
		 .help = "EAL's name of the device, such as 0000:3b:00.0 or net_pcap0; any: the next "
			 "device in EAL's order that no other port names"},
	[NAME] =
		{FIELD_OF(struct sw_port_params, name), .type = FIELD_STR, .min = 1,
		 .max = SW_PORT_NAME_CHARS, .def = SW_PORT_UNNAMED,
		 .help = "name such as Ethernet1/1, which tables show and commands take in place of the "
			 "number: a letter, then letters, digits and /-_.:; none: the port has its number "
			 "only"},
	[MAC] = {FIELD_OF(struct sw_port_params, mac), .type = FIELD_MAC,
		 .def = "00:00:00:00:00:00",
		 .help = "source address of PFC frames; all zero: the device's own"},
	[LINK_SPEED] =
		{FIELD_OF(struct sw_port_params, link_speed_bps), .type = FIELD_U64,
		 .unit = UNIT_BPS, .min = MIN_LINK_SPEED, .max = MAX_LINK_SPEED,
		 .aliases = {{.name = "link_speed"}, {.name = "speed"}},
		 .help = "speed of the link; sets the length of a pause quantum and the default of "
			 "shaper_rate_bps; virtual devices need it, as they report made-up speeds"},
	[DEVICE_ROWS] =
		{FIELD_OF(struct sw_port_params, shaper_rate_bps), .type = FIELD_U64,
		 .unit = UNIT_BPS, .max = MAX_LINK_SPEED, .def = "0", .live = true,
		 .aliases = {{.name = "shaper_rate"}},
		 .help = "egress shaper of data, in wire bytes; 0: link_speed_bps. Pause frames use its "
			 "tokens, but do not wait for tokens"},
	{FIELD_OF(struct sw_port_params, cable_length_m), .type = FIELD_U32, .max = 100000,
	 .def = "5", .live = true, .aliases = {{.name = "cable_length"}},
	 .help = "length of the cable, for the headroom that --thresholds prints"},
	{FIELD_OF(struct sw_port_params, peer_response_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0", .live = true,
	 .help = "time from the arrival of a pause at the peer until the peer stops sending, for "
		 "--thresholds; 0: limit of 802.3 31B.3.7 at link_speed_bps; for a software "
		 "peer: its poll interval plus its transmit ring"},
	{FIELD_OF(struct sw_port_params, access_vlan), .type = FIELD_U16, .max = VLAN_MAX_ID,
	 .def = "1", .live = true,
	 .help = "with vlan_filtering: VLAN of untagged frames, in both directions; 0: untagged "
		 "frames are dropped"},
	{FIELD_OF(struct sw_port_params, tagged_vlans), .type = FIELD_STR, .max = VLAN_LIST_CHARS,
	 .def = "none", .live = true,
	 .help = "with vlan_filtering: VLANs whose frames arrive and leave tagged, such as "
		 "10,20-29, or none"},
	STORM_FIELD(SW_STORM_BROADCAST, "broadcast"),
	STORM_FIELD(SW_STORM_MULTICAST, "multicast"),
	STORM_FIELD(SW_STORM_UNKNOWN_UNICAST, "unknown_unicast"),
	{FIELD_OF(struct sw_port_params, max_learned_addresses), .type = FIELD_U32,
	 .max = FDB_MAX_ENTRIES, .def = "0", .live = true,
	 .help = "largest number of learned addresses on this port; frames from further "
		 "addresses are forwarded and counted; 0: no limit"},
	{FIELD_OF(struct sw_port_params, flow_control), .type = FIELD_ENUM,
	 .choices = flow_control_words, .def = "pfc", .live = true,
	 .help = "pause frames that the port obeys and sends: off: none; pfc: 802.1Qbb; pause: "
		 "802.3x; auto: 802.1Qbb for the priorities that DCBX has agreed; NX-OS's modes "
		 "off, on and auto are off, pfc and auto"},
	{FIELD_OF(struct sw_port_params, pfc_asymmetric), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "obey PFC for all eight priorities, and send PFC for those of pfc_enable"},
	{FIELD_OF(struct sw_port_params, shutdown), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "the port neither sends nor takes frames, as without a link; its device stays up, "
		 "so that its peer has a link"},
	{FIELD_OF(struct sw_port_params, tx_disabled), .type = FIELD_BOOL, .def = "off",
	 .live = true, .help = "for tests: the port sends no data, only pause frames"},
	{FIELD_OF(struct sw_port_params, pfc_delay_quanta), .type = FIELD_U16, .max = UINT16_MAX,
	 .def = "0", .live = true, .aliases = {{.name = "pfc_delay"}},
	 .help = "for tests: delay, in quanta, from the arrival of a pause frame until the port "
		 "obeys"},
	{FIELD_OF(struct sw_port_params, pfcwd), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "whether the PFC watchdog watches this port; needs pfcwd of [pfcwd]"},
	{FIELD_OF(struct sw_port_params, pfcwd_interface_multiplier), .type = FIELD_U16,
	 .max = 1000, .def = "0", .live = true,
	 .help = "nxos: shutdown_multiplier of this port; 0: that of [pfcwd]"},
	{FIELD_OF(struct sw_port_params, pfcwd_action), .type = FIELD_ENUM,
	 .choices = port_action_words, .def = "default", .live = true,
	 .help = "action of this port; default: that of [pfcwd]"},
	{FIELD_OF(struct sw_port_params, pfcwd_detection_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = 60 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "sonic: detection_time_ns of this port; 0: that of [pfcwd]"},
	{FIELD_OF(struct sw_port_params, pfcwd_restoration_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = UINT64_MAX, .def = "0", .live = true,
	 .help = "sonic: restoration_time_ns of this port; 0: that of [pfcwd]"},
	{FIELD_OF(struct sw_port_params, shard), .type = FIELD_U16, .max = SW_MAX_SHARDS,
	 .def = "0",
	 .help = "number of the shard that owns this port, from 1; 0: assigned in turn"},
	{OWN_FIELD(trust), .type = FIELD_ENUM, .choices = port_trust_words, .def = FIELD_DEFAULT,
	 .live = true,
	 .help = "trust of [qos_map] for frames that this port receives; default: that of "
		 "[qos_map], as for the next keys"},
	OWN_MAP(dscp_to_tc_map, TM_DSCPS, 0, TM_CLASSES - 1, "for frames that this port receives"),
	OWN_MAP(dot1p_to_tc_map, TM_CLASSES, 0, TM_CLASSES - 1,
		"for frames that this port receives"),
	OWN_MAP(tc_to_queue_map, TM_CLASSES, 0, TM_CLASSES - 1, "for frames that this port sends"),
	OWN_MAP(tc_to_priority_group_map, TM_CLASSES, 0, TM_CLASSES - 1,
		"for frames that this port receives"),
	OWN_MAP(pfc_priority_to_queue_map, TM_CLASSES, 0, TM_CLASSES - 1,
		"for pauses that this port receives"),
	OWN_SET(pfc_enable, "lossless priorities of this port"),
	OWN_SET(strict_queues, "strict queues of this port; default: those of [scheduler]"),
	OWN_MAP(dwrr_weight, TM_CLASSES, SCHED_MIN_WEIGHT, SCHED_MAX_WEIGHT,
		"weights of this port's queues; default: those of [scheduler]"),
};

const unsigned int sw_port_fields_n = ARRAY_LEN(sw_port_fields);

static const char *const mark_at_words[] = {"dequeue", "enqueue", NULL};

/* Of a switch on ports: a fabric chooses these values for each of its switches. */
const struct field sw_device_fields[] = {
	{FIELD_OF(struct sw_params, shaper_burst_ns), .type = FIELD_U32, .unit = UNIT_NS,
	 .max = 10000000, .def = "0", .live = true,
	 .help = "largest burst of a port after a late poll, as time at the shaper's rate; a "
		 "pause does not stop a burst that the device already has; 0: 4 us, and if all "
		 "devices are virtual, 4 x (--idle-sleep + 50 us)"},
	{FIELD_OF(struct sw_params, seed), .type = FIELD_U64, .max = UINT64_MAX, .def = "1",
	 .help = "seed of the marking decisions"},
};

const unsigned int sw_device_fields_n = ARRAY_LEN(sw_device_fields);

const struct field sw_fields[] = {
	{FIELD_OF(struct sw_params, shards), .type = FIELD_U16, .max = SW_MAX_SHARDS, .def = "0",
	 .help = "number of shards; a shard is the part of the switch that runs on one lcore, "
		 "and owns some of the ports; 0: one per polling lcore, but not more than "
		 "ports; in quench-lab 0 is the highest shard of a port, or 1"},
	{FIELD_OF(struct sw_params, wred_queues), .type = FIELD_SET8, .def = "3", .live = true,
	 .help = "egress queues to which the curve of [wred] applies; leave out the queue of CNPs"},
	{FIELD_OF(struct sw_params, pfc_generate), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "whether the switch sends XOFF; off: the groups of pfc_enable are lossy and "
		 "have no headroom"},
	{FIELD_OF(struct sw_params, mark_at), .type = FIELD_ENUM, .choices = mark_at_words,
	 .def = "dequeue", .live = true,
	 .help = "when a packet is marked: dequeue: when it leaves the queue, by the length of "
		 "the rest of the queue; enqueue: when it enters the queue, by the length of the "
		 "queue before it"},
	{FIELD_OF(struct sw_params, max_frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .min = MIN_FRAME_BYTES, .max = MAX_FRAME_BYTES, .def = MAX_FRAME_DEFAULT,
	 .help = "longest frame that is forwarded, with FCS"},
	{FIELD_OF(struct sw_params, mark_accuracy), .type = FIELD_BOOL, .def = "off",
	 .help = "count marks by queue length; reports compare them with the curve"},
	{FIELD_OF(struct sw_params, int_telemetry), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "add queue, bytes sent, time and rate of the egress port to frames with a header "
		 "for in-band telemetry (doc/int.md). Default of quench-lab with cc = hpcc: on"},
	{FIELD_OF(struct sw_params, watermark_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_MS, .max = UINT64_MAX, .def = "never", .live = true,
	 .help = "interval at which all watermarks except the persistent ones are cleared; "
		 "never: only by command"},
	{FIELD_OF(struct sw_params, fdb_entries), .type = FIELD_U32, .min = FDB_MIN_ENTRIES,
	 .max = FDB_MAX_ENTRIES, .def = "16384", .live = true,
	 .help = "largest number of addresses in the forwarding table; frames to addresses that "
		 "do not fit are flooded"},
	{FIELD_OF(struct sw_params, fdb_ageing_s), .type = FIELD_U32,
	 .max = 1000000 /* 802.1Q table 8-6 */, .def = "600", .live = true,
	 .aliases = {{.name = "fdb_aging_time"}},
	 .help = "seconds without a frame from an address after which the switch forgets it; 0: "
		 "never"},
	{FIELD_OF(struct sw_params, vlan_filtering), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: each port is a member of its access_vlan and tagged_vlans only; off: a "
		 "port is a member of every VLAN, learning is per VLAN, and tags stay as they are"},
};

const unsigned int sw_fields_n = ARRAY_LEN(sw_fields);

const struct field sw_router_fields[] = {
	{FIELD_OF(struct sw_router_params, router_mac), .type = FIELD_MAC,
	 .def = "00:00:00:00:00:00", .live = true,
	 .help = "MAC address of the router on all its interfaces; required with an [interface]"},
	{FIELD_OF(struct sw_router_params, ecmp_hash_seed), .type = FIELD_U32, .max = UINT32_MAX,
	 .def = "0", .live = true,
	 .help = "seed of the hash that spreads flows over next hops; use a different seed at "
		 "each stage of a fabric (SONiC: 0 ToR, 10 leaf, 25 spine)"},
	{FIELD_OF(struct sw_router_params, ecmp_hash_flow_label), .type = FIELD_BOOL, .def = "off",
	 .live = true, .help = "IPv6: hash the flow label instead of the ports (RFC 6438)"},
	{FIELD_OF(struct sw_router_params, neighbor_entries), .type = FIELD_U32, .min = 16,
	 .max = 65536, .def = "4096",
	 .help = "largest number of neighbours, including next hops of routes and [neighbor] "
		 "sections; one interface may use half of them"},
	{FIELD_OF(struct sw_router_params, neigh_retrans_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1000000, .max = 3600 * NS_PER_SEC, .def = "1s", .live = true,
	 .help = "time between two ARP requests or neighbour solicitations for one neighbour"},
	{FIELD_OF(struct sw_router_params, neigh_reachable_time_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1000000, .max = UINT64_MAX, .def = "30s", .live = true,
	 .help = "time after which the switch asks again for the MAC address of a neighbour in "
		 "use; never: does not ask again"},
	{FIELD_OF(struct sw_router_params, icmp_errors_per_s), .type = FIELD_U32, .max = 1000000,
	 .def = "100", .live = true,
	 .help = "largest mean rate of ICMP and ICMPv6 errors (time exceeded, packet too big) per "
		 "second, and largest burst, of each shard; 0: none"},
};

const unsigned int sw_router_fields_n = ARRAY_LEN(sw_router_fields);

const struct field lldp_fields[] = {
	{FIELD_OF(struct lldp_params, lldp), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "send and receive LLDP with DCBX on every port; required by flow_control = auto"},
	{FIELD_OF(struct lldp_params, lldp_tx_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_SEC, .max = 3600 * NS_PER_SEC, .def = "30s", .live = true,
	 .help = "time between two LLDP frames"},
	{FIELD_OF(struct lldp_params, lldp_tx_hold), .type = FIELD_U8, .min = 2, .max = 10,
	 .def = "4", .live = true,
	 .help = "time to live of LLDP information, in units of "
		 "lldp_tx_interval_ns; 802.1AB adds a second"},
	{FIELD_OF(struct lldp_params, lldp_tx_fast_init), .type = FIELD_U8, .min = 1, .max = 8,
	 .def = "4", .live = true,
	 .help = "number of LLDP frames, one second apart, sent for a "
		 "new neighbour"},
	{FIELD_OF(struct lldp_params, dcbx_willing), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "adopt the PFC priorities of the peer that are also in pfc_enable"},
};

const unsigned int lldp_fields_n = ARRAY_LEN(lldp_fields);
