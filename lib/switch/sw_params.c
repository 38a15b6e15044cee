/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch may be told: keys, what follows from them, and the rules across them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "switch/sw.h"
#include "wire/pfc_frame.h"

/* 802.3 leaves the longest frame to the link; NX-OS's "mtu 9216" with header, one tag and FCS. */
#define MAX_FRAME_DEFAULT "9238"
#define MAX_FRAME_BYTES 16000u /* of an mbuf's data room, with headroom */
#define MAX_LINK_SPEED (1600 * GBPS)
#define MIN_LINK_SPEED (1 * MBPS)

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
		.help = "for tests: a pause frame is obeyed so many quanta after it came",
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
		.help = "CE is set when a packet leaves its queue, by the length behind it, or "
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
		.help = "watermarks of all kinds begin anew so often, but for the persistent ones; "
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

void
sw_params_resolve(struct sw_params *params)
{
	for (uint16_t i = 0; i < params->n_ports && i < SW_MAX_PORTS; i++) {
		if (params->ports[i].shaper_rate_bps == 0)
			params->ports[i].shaper_rate_bps = params->ports[i].link_speed_bps;
	}
	params->mmu.n_ports = params->n_ports;
	params->mmu.lossless_pgs = params->pfc_generate ? params->qos.pfc_enable : 0;
	params->mmu.lossless_queues =
		params->pfc_generate ? qos_map_lossless_queues(&params->qos) : 0;
	sw_class_resolve(params);
}

static const char *
port_fault(const struct sw_port_params *p)
{
	static const uint8_t zero[6];

	/* Facts of PFC testers: a zero source is obeyed, but never sent. */
	if (memcmp(p->mac, zero, sizeof(zero)) == 0 || p->mac[0] & 1)
		return "mac is zero or a group address";
	if (p->link_speed_bps < MIN_LINK_SPEED || p->link_speed_bps > MAX_LINK_SPEED)
		return "link_speed_bps is out of 1M to 1600G";
	if (p->flow_control < SW_FLOW_OFF || p->flow_control > SW_FLOW_AUTO)
		return "flow_control is none of off, pfc, pause, auto";
	if (p->pfc_asymmetric && p->flow_control != SW_FLOW_PFC && p->flow_control != SW_FLOW_AUTO)
		return "pfc_asymmetric is for flow_control = pfc or auto";
	if (p->shaper_rate_bps == 0 || p->shaper_rate_bps > p->link_speed_bps)
		return "shaper_rate_bps is above link_speed_bps";
	if (p->access_vlan > VLAN_MAX_ID)
		return "access_vlan is out of 0 to 4094";
	return NULL;
}

static const char *
vlan_fault(const struct sw_params *params, const struct sw_port_params *p)
{
	struct vlan_set set;

	if (vlan_set_parse(p->tagged_vlans, &set) < 0)
		return "tagged_vlans is neither none nor numbers from 1 to 4094 such as 10,20-29";
	if (!params->vlan_filtering)
		return p->access_vlan > 1 || !vlan_set_is_empty(&set)
			       ? "access_vlan or tagged_vlans without vlan_filtering = on"
			       : NULL;
	if (p->access_vlan != 0 && vlan_set_has(&set, p->access_vlan))
		return "tagged_vlans has the access_vlan among it";
	return NULL;
}

void
sw_shards_deal(const struct sw_params *params, uint8_t shard_of_port[])
{
	uint16_t n = params->shards > 0 ? params->shards : 1, turn = 0;

	for (uint16_t i = 0; i < params->n_ports; i++) {
		uint16_t given = params->ports[i].shard;

		shard_of_port[i] = (uint8_t)(given > 0 ? given - 1 : turn++ % n);
	}
}

const char *
sw_shards_fault(const struct sw_params *p)
{
	/* 0: the program does not know yet how many there will be. */
	if (p->shards > p->n_ports)
		return "shards is above the number of ports: each has one at least";
	for (uint16_t i = 0; i < p->n_ports; i++) {
		if (p->shards > 0 && p->ports[i].shard > p->shards)
			return "shard of a port is above shards";
	}
	return NULL;
}

/* What the port has of its own, as keys of [pfcwd]. */
static const char *
pfcwd_fault(const struct sw_params *params, uint16_t port)
{
	const struct pfcwd_params merged = sw_port_pfcwd(params, port);
	const char *why;

	pfcwd_params_check(&merged, &why);
	return why;
}

static const char *
own_fault(const struct sw_params *p)
{
	if (p->n_ports == 0 || p->n_ports > SW_MAX_PORTS)
		return "a switch has 1 to 64 ports";
	if (sw_shards_fault(p) != NULL)
		return sw_shards_fault(p);
	if (p->mark_at != SW_MARK_AT_DEQUEUE && p->mark_at != SW_MARK_AT_ENQUEUE)
		return "mark_at is neither dequeue nor enqueue";
	if (p->shaper_burst_ns == 0 || p->shaper_burst_ns > 1000000)
		return "shaper_burst_ns is out of 1 ns to 1 ms";
	if (p->max_frame_bytes < MIN_FRAME_BYTES || p->max_frame_bytes > MAX_FRAME_BYTES)
		return "max_frame_bytes is out of 64 to 16000";
	if (p->fdb_entries < FDB_MIN_ENTRIES || p->fdb_entries > FDB_MAX_ENTRIES)
		return "fdb_entries is out of 8 to 1048576";
	if (p->watermark_interval_ns == 0)
		return "watermark_interval_ns is 0";
	if (p->pfc.pfc_xoff_quanta == 0)
		return "pfc_xoff_quanta is 0";
	if (p->pfc.pfc_refresh_pct == 0 || p->pfc.pfc_refresh_pct > 99)
		return "pfc_refresh_pct is out of 1 to 99";
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (p->sched.dwrr_weight[i] == 0)
			return "dwrr_weight of a queue is 0";
	}
	return NULL;
}

/*
 * A port that spends its time on refreshes sends no data; when all do, no buffer is ever freed, and
 * no XOFF ends. Half of the time at least is left for others.
 */
static bool
refresh_starves(const struct sw_params *params, const struct sw_port_params *port)
{
	uint64_t pause_ns = pfc_quanta_ns(params->pfc.pfc_xoff_quanta, port->link_speed_bps);
	uint64_t frame_ns = serialization_ns(wire_bytes(PFC_FRAME_BYTES), port->shaper_rate_bps);

	return pause_ns * params->pfc.pfc_refresh_pct / 100 < 2 * frame_ns;
}

int
sw_params_check(const struct sw_params *params, char *why, unsigned int why_size)
{
	const char *fault = own_fault(params);

	if (fault == NULL)
		qos_map_params_check(&params->qos, &fault);
	if (fault == NULL)
		wred_params_check(&params->wred, &fault);
	if (fault == NULL)
		pfcwd_params_check(&params->pfcwd, &fault);
	for (uint16_t i = 0; fault == NULL && i < params->n_ports; i++) {
		const char *port = port_fault(&params->ports[i]);

		if (port == NULL)
			port = vlan_fault(params, &params->ports[i]);
		if (port == NULL)
			port = pfcwd_fault(params, i);
		if (port != NULL) {
			snprintf(why, why_size, "port %u: %s", i, port);
			return -EINVAL;
		}
		if (params->ports[i].flow_control == SW_FLOW_AUTO && !params->lldp.lldp) {
			snprintf(why, why_size, "port %u: flow_control = auto without lldp = on",
				 i);
			return -EINVAL;
		}
		if (params->pfc_generate && refresh_starves(params, &params->ports[i]))
			fault = "pfc_xoff_quanta x pfc_refresh_pct is less than two pause frames "
				"take at shaper_rate_bps: a port would send nothing else";
	}
	if (fault != NULL) {
		snprintf(why, why_size, "%s", fault);
		return -EINVAL;
	}
	if (sw_tables_check(params, why, why_size) < 0 || sw_class_check(params, why, why_size) < 0)
		return -EINVAL;
	return mmu_params_check(&params->mmu, why, why_size);
}
