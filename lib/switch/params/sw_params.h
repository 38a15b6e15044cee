/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration of a switch: the structs, their keys, defaults and rules. Nothing here depends on a
 * running switch.
 *
 * Invariant: params that sw_params_check() accepts can be put in force, unless memory is short.
 */
#ifndef QUENCH_SWITCH_PARAMS_SW_PARAMS_H
#define QUENCH_SWITCH_PARAMS_SW_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field_table.h"
#include "fwd/fdb_params.h"
#include "switch/tables/sw_classes.h"
#include "switch/tables/sw_tables.h"
#include "switch/tables/vlan_list.h"
#include "tm/buffer/mmu_params.h"
#include "tm/buffer/thresholds.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"
#include "tm/pfc/pfcwd.h"
#include "tm/classes/qos_map.h"
#include "tm/queue/sched.h"
#include "tm/queue/mark.h"
#include "tm/queue/wred.h"

/* Keys of LLDP and DCBX. */
struct lldp_params {
	bool lldp;
	uint64_t lldp_tx_interval_ns;
	uint8_t lldp_tx_hold;
	uint8_t lldp_tx_fast_init;
	bool dcbx_willing;
};

FIELD_TABLE(lldp_fields);

#define SW_MAX_SHARDS SW_DEVICE_PORTS
/* Bytes of a frame with FCS beyond its class's MTU: header, one tag, FCS. */
#define SW_MTU_OVERHEAD_BYTES 22u

enum sw_mark_at { SW_MARK_AT_DEQUEUE, SW_MARK_AT_ENQUEUE };

/* Kinds of flooded frames with a limit per ingress port. */
enum sw_storm { SW_STORM_BROADCAST, SW_STORM_MULTICAST, SW_STORM_UNKNOWN_UNICAST, SW_STORMS };

/* Pause frames that a port obeys and sends; the two kinds exclude each other. */
enum sw_flow_control {
	SW_FLOW_OFF,
	SW_FLOW_PFC,   /* IEEE 802.1Qbb, the priorities of pfc_enable */
	SW_FLOW_PAUSE, /* 802.3 annex 31B: the whole link */
	SW_FLOW_AUTO,  /* PFC for the priorities that DCBX has agreed */
};

/*
 * Maps and scheduler of one port, in place of those of [qos_map] and [scheduler]. Zeros: none of
 * its own. The bool after a member says whether the port has it.
 */
#define SW_OWN(member, size)                                                                       \
	uint8_t member[size];                                                                      \
	bool own_##member

struct sw_port_classes {
	int trust; /* 1 + enum qos_trust; 0: that of [qos_map] */
	SW_OWN(dscp_to_tc_map, TM_DSCPS);
	SW_OWN(dot1p_to_tc_map, TM_CLASSES);
	SW_OWN(tc_to_queue_map, TM_CLASSES);
	SW_OWN(tc_to_priority_group_map, TM_CLASSES);
	SW_OWN(pfc_priority_to_queue_map, TM_CLASSES);
	SW_OWN(pfc_enable, 1);
	SW_OWN(strict_queues, 1);
	SW_OWN(dwrr_weight, TM_CLASSES);
};

#define SW_DEVICE_CHARS 63
#define SW_SYSTEM_CHARS 63

struct sw_port_params {
	char device[SW_DEVICE_CHARS + 1];  /* for the program: EAL's name of it, or "any" */
	char name[SW_PORT_NAME_CHARS + 1]; /* for operators, or "none": see port_names.h */
	uint8_t mac[6];                    /* source of our PFC frames */
	/* sets the pause quanta and the default of shaper_rate_bps */
	uint64_t link_speed_bps;
	uint64_t shaper_rate_bps; /* wire bytes; 0: link_speed_bps */
	/* for headroom only, which --thresholds prints */
	uint32_t cable_length_m;
	uint64_t peer_response_ns; /* 0: what 802.3 allows at this speed */
	uint64_t cable_delay_ns;   /* one way, not a key; 0: that of cable_length_m */
	uint64_t peer_delay_ns;    /* before the peer obeys a pause, not a key: its pfc_delay */
	/* VLAN of untagged frames, whose frames leave untagged; 0: none */
	uint16_t access_vlan;
	char tagged_vlans[VLAN_LIST_CHARS + 1]; /* "10,20-29" or "none" */
	uint64_t storm_bps[SW_STORMS];          /* wire bytes; 0: no limit */
	uint32_t max_learned_addresses;         /* 0: no limit */
	int flow_control;                       /* enum sw_flow_control */
	bool pfc_asymmetric;       /* obey PFC on all priorities, send it on pfc_enable's */
	bool shutdown;             /* neither sends nor takes frames */
	bool tx_disabled;          /* debugging: hold all data */
	uint16_t pfc_delay_quanta; /* debugging: delay before obeying a pause frame */
	bool pfcwd;                /* watched by the PFC watchdog, if that is on */
	uint16_t pfcwd_interface_multiplier; /* NX-OS; 0: shutdown_multiplier */
	int pfcwd_action;                    /* 1 + enum pfcwd_action; 0: action of [pfcwd] */
	uint64_t pfcwd_detection_time_ns;    /* SONiC; 0: detection_time_ns of [pfcwd] */
	uint64_t pfcwd_restoration_time_ns;  /* the same */
	uint16_t shard;                      /* 1..shards; 0: assigned in turn */
	struct sw_port_classes classes;
};

FIELD_TABLE(sw_port_fields);
/** Its first rows describe the device of a port, and not what the switch does there. */
extern const unsigned int sw_port_device_fields_n;

struct sw_router_params {
	uint8_t router_mac[6]; /* zero: no router */
	uint32_t ecmp_hash_seed;
	bool ecmp_hash_flow_label;
	uint32_t neighbor_entries;
	uint64_t neigh_retrans_time_ns;
	uint64_t neigh_reachable_time_ns; /* NEVER_NS: never asked again */
	uint32_t icmp_errors_per_s;       /* 0: none */
};

FIELD_TABLE(sw_router_fields);

struct sw_params {
	uint16_t n_ports;
	uint16_t shards; /* each with its own lcore, or all on one in turn; 0: one */
	struct qos_map_params qos;
	struct wred_params wred; /* for the queues in wred_queues */
	uint8_t wred_queues;     /* mask */
	struct mark_params marking;
	struct mmu_params mmu; /* n_ports, lossless_* are filled in by sw_params_resolve() */
	struct sched_params sched;
	struct pfc_params pfc;
	struct pfcwd_params pfcwd;
	struct lldp_params lldp;
	/* for LLDP, by the program; empty: not advertised */
	char system_name[SW_SYSTEM_CHARS + 1];
	char system_description[SW_SYSTEM_CHARS + 1];
	bool pfc_generate;              /* off: DCQCN without PFC */
	int mark_at;                    /* enum sw_mark_at */
	uint32_t shaper_burst_ns;       /* burst after a late poll; the lab uses 1 */
	uint32_t max_frame_bytes;       /* longest frame that is forwarded, with FCS */
	uint32_t longest_frame_bytes;   /* not a key: longest that there is; 0: max_frame_bytes */
	bool mark_accuracy;             /* count marks by queue length */
	bool int_telemetry;             /* add a hop to INT headers */
	uint64_t watermark_interval_ns; /* of clearing the watermarks; NEVER_NS: never */
	struct sw_wred_profile wred_profiles[SW_MAX_WRED_PROFILES];
	uint8_t n_wred_profiles;
	struct sw_tc_params tcs[TM_CLASSES];
	/* of all ports that have none of their own */
	struct sw_pg_params every_pg[TM_CLASSES];
	struct sw_queue_params every_queue[TM_CLASSES];
	uint32_t fdb_entries;
	uint32_t fdb_ageing_s;
	bool vlan_filtering;
	uint64_t seed;
	struct sw_router_params router;
	struct sw_tables tables; /* not owned */
	/*
	 * Key of the hashes of tables that received frames can fill, for the switch's life: a
	 * secret, not configured.
	 */
	struct half_sip_key table_key;
	/*
	 * Rows by port, of which n_rows are in use, at least n_ports: sw_params_use_rows(). The
	 * others are not read, so that a fabric of many switches does not touch their memory.
	 */
	uint16_t n_rows;
	struct sw_port_params ports[SW_MAX_PORTS];
	struct sw_pg_params pgs[SW_MAX_PORTS][TM_CLASSES];
	struct sw_queue_params queues[SW_MAX_PORTS][TM_CLASSES];
};

/* Members of sw_params itself; ports and sub-structs have their own tables. */
FIELD_TABLE(sw_device_fields);
FIELD_TABLE(sw_fields);

/*
 * The members of struct sw_params that all ports share, as sections of a configuration. The first
 * SW_DEVICE_SECTIONS describe one switch on its ports: a fabric chooses them for each of its
 * switches.
 */
#define SW_DEVICE_SECTIONS 1u
extern const struct field_section sw_sections[];
extern const unsigned int sw_sections_n;

/**
 * Set the defaults of all tables and of ports 0..n_ports - 1, whose addresses and link speeds stay
 * zero. No class has its own profiles or rates. Does not call sw_params_resolve().
 */
void sw_params_default(struct sw_params *params, uint16_t n_ports);
/** The same for params that are all zero, without touching rows that are not in use. */
void sw_params_default_zeroed(struct sw_params *params, uint16_t n_ports);

/**
 * Have at least n <= SW_MAX_PORTS rows in use. Classes of new rows are those of every port, and
 * the ports' own keys are zero.
 */
void sw_params_use_rows(struct sw_params *params, uint16_t n);

/** Copy what is in use. The tables are not owned by the copy. */
void sw_params_copy(const struct sw_params *from, struct sw_params *to);

/**
 * Fill in members that follow from others: shaper rates that are 0, numbers of named profiles, and
 * mmu.n_ports, lossless_pgs and lossless_queues from pfc_enable and the maps; the masks are empty
 * with pfc_generate off.
 */
void sw_params_resolve(struct sw_params *params);

/** Assign each port to a shard, numbered from 0. */
void sw_shards_deal(const struct sw_params *params, uint8_t shard_of_port[]);

/**
 * Check the key shards, and the key shard of the ports.
 * @return the fault, a clause for sw_params_check(), or NULL.
 */
const char *sw_shards_fault(const struct sw_params *params);

/**
 * Check ranges and rules of this struct and of those inside, after sw_params_resolve().
 * @return 0, or as params_refuse().
 */
int sw_params_check(const struct sw_params *params, char *why, unsigned int why_size);

/**
 * Number of neighbours that [neighbor] and the next hops of routes name, each address once.
 * @return it, or NEIGH_NONE (UINT32_MAX): out of memory.
 */
uint32_t sw_tables_neighbors(const struct sw_tables *tables);

/**
 * Check the tables against the rest of params.
 *
 * @param why  On failure "SECTION: KEY: expected ...".
 * @return     0 or -EINVAL.
 */
int sw_tables_check(const struct sw_params *params, char *why, unsigned int why_size);

/** The curve of one queue, or NULL: it has none. Names must have passed sw_class_check(). */
const struct wred_params *sw_queue_wred(const struct sw_params *params, uint16_t port,
					uint8_t queue);

/** Does this queue mark packets, by WRED or another scheme? */
bool sw_queue_marks(const struct sw_params *params, uint16_t port, uint8_t queue);

/** Set the MMU's profile numbers from the names; sw_class_check() refuses unknown names. */
void sw_class_resolve(struct sw_params *params);

/** Rules of this header's structs. @return 0, or -EINVAL with a clause in why. */
int sw_class_check(const struct sw_params *params, char *why, unsigned int why_size);

/** Headroom that one lossless priority of the port needs, so that no frame is lost at a pause. */
struct pfc_headroom sw_port_headroom(const struct sw_params *params, uint16_t port);

/** Set the headroom of the ports whose groups have xoff_bytes = auto, after sw_class_resolve(). */
void sw_headroom_resolve(struct sw_params *params);

/* Lossless groups with less headroom than their port needs. */
struct sw_short_headroom {
	unsigned int groups; /* 0: none */
	uint16_t port;       /* of the first one */
	uint8_t pg;
	uint64_t has_bytes, needs_bytes;
};

struct sw_short_headroom sw_short_headroom(const struct sw_params *params);

/* The least and the most headroom of the ports whose lossless groups have xoff_bytes = auto. */
struct sw_auto_headroom {
	uint64_t least_bytes, most_bytes; /* 0: there is no such port */
	uint16_t least_port, most_port;   /* the first ones */
};

struct sw_auto_headroom sw_auto_headroom(const struct sw_params *params);

/** Maps of a port: [qos_map], overridden by the keys of the port. */
struct qos_map_params sw_port_qos(const struct sw_params *params, uint16_t port);
/**
 * Give the maps that a port does not have of its own the values in force, so that a change of some
 * of their keys keeps the others; and the reverse, for those that are still not its own.
 */
void sw_port_maps_fill(struct sw_params *params, uint16_t port);
void sw_port_maps_clear(struct sw_params *params, uint16_t port);
/**
 * PFC priorities that a port lets its peer pause: those of pfc_enable, or all with pfc_asymmetric;
 * 0 without PFC. With flow_control = auto, those of pfc_enable only once DCBX has agreed on them.
 */
uint8_t sw_port_obeyed_prios(const struct sw_params *params, uint16_t port);
/** Scheduler of a port: [scheduler], overridden by the keys of the port. */
struct sched_params sw_port_sched(const struct sw_params *params, uint16_t port);

/** Parameters of the watchdog on a port: [pfcwd], overridden by the keys of the port. */
struct pfcwd_params sw_port_pfcwd(const struct sw_params *params, uint16_t port);

#endif
