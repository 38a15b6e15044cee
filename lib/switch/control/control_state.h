/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the control side, one for the whole switch.
 *
 * Invariant: only the thread that calls control() writes it, except for members that say otherwise.
 */
#ifndef QUENCH_SWITCH_CONTROL_CONTROL_STATE_H
#define QUENCH_SWITCH_CONTROL_CONTROL_STATE_H

#include <rte_spinlock.h>
#include "base/numbers/half_sip.h"
#include "switch/control/dcbx_port.h"
#include "switch/control/event.h"
#include "switch/core/switch.h"
#include "switch/forward/routing_table.h"
#include "switch/forward/vlans.h"

/* The watchdog of all queues. Any thread may write big_red_requested. */
struct sw_watchdog {
	struct pfcwd_params params;
	uint64_t next_ns;
	bool big_red, big_red_requested;
	struct pfcwd_params *of_port;
	struct qos_map_params *qos;        /* by port */
	uint8_t *watched_prios;            /* by port: mask */
	struct pfcwd (*queue)[TM_CLASSES]; /* by port */
};

struct sw_event_log {
	uint32_t written, read;
	uint32_t lost; /* since sw_events_take_lost() */
	struct sw_event event[SW_EVENTS];
};

struct sw_lldp {
	struct lldp_params params;
	struct port_set auto_ports;
	bool left;               /* the switch is about to end */
	struct port_set leaving; /* ports on which a shutdown frame is still to be offered */
	struct dcbx_port *port;  /* by port */
	enum dcbx_pfc_state reported[SW_MAX_PORTS];
	uint8_t reported_prios[SW_MAX_PORTS];
};

/* A version of the forwarding tables. In a next version, NULL means that the table stays. */
struct sw_forwarding {
	struct sw_vlans *vlans;
	struct fdb *fdb;
	uint64_t fdb_digest; /* hash of the static configuration */
	struct sw_routing_table *routes;
};

/*
 * Versions of the forwarding tables. While the switch runs, sw_reload_prepare(), sw_reload(),
 * sw_reload_settle() and sw_set_routes() alone write them, one call at a time.
 */
struct sw_forwardings {
	struct sw_forwarding in_force;
	struct sw_forwarding *next; /* the version that shards are switching to, or NULL */
	rte_spinlock_t routes_lock; /* protects in_force.routes from being freed while read */
	struct fdb *fdbs[2];        /* the one in force, and a spare one or NULL */
	struct half_sip_key key;    /* of hashes over fields of frames */
};

struct sw_control {
	uint64_t sweep_ns;                             /* next step of ageing */
	uint64_t next_hops_ns;                         /* next check of the next hops */
	uint64_t watermark_interval_ns, next_clear_ns; /* of the watermarks */
	struct sw_watchdog watchdog;
	struct sw_event_log events;
	struct sw_lldp lldp;
	struct sw_forwardings forwarding;
};

#endif
