/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch node: a shared-memory ToR with per-priority queues, WRED/ECN and PFC.
 *
 * rx: MAC control consumed -> parse -> classify -> learn, forward -> ingress and egress admission -> enqueue -> XOFF?
 * tx: PFC frames, then strict and DWRR among queues that hold packets and are not paused -> mark -> release -> XON?
 *
 * Invariant (tested, readable from a running switch): in charged bytes,
 * in + copies + generated = queued + sent + dropped by reason + consumed.
 */
#ifndef QUENCH_SWITCH_SW_H
#define QUENCH_SWITCH_SW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "node/node.h"
#include "tm/mmu.h"
#include "tm/pfc_rx.h"
#include "tm/pfc_tx.h"
#include "tm/qos_map.h"
#include "tm/sched.h"
#include "tm/wred.h"

struct rte_mempool;

#define SW_MAX_PORTS 64

enum sw_mark_at { SW_MARK_AT_DEQUEUE, SW_MARK_AT_ENQUEUE };

struct sw_port_params {
	uint8_t mac[6];          /* source of our PFC frames */
	uint64_t link_speed_bps; /* pause quanta and the default shaper */
	uint64_t shaper_rate_bps; /* wire bytes; 0: link_speed_bps */
};

extern const struct field sw_port_fields[];
extern const unsigned int sw_port_fields_n;

struct sw_params {
	uint16_t n_ports;
	struct sw_port_params ports[SW_MAX_PORTS];
	struct qos_map_params qos;
	struct wred_params wred;   /* for the queues in wred_queues */
	uint8_t wred_queues;       /* mask */
	struct mmu_params mmu;     /* n_ports, lossless_* are filled in by sw_params_resolve() */
	struct sched_params sched;
	struct pfc_params pfc;
	bool pfc_generate;         /* off: DCQCN without PFC */
	int mark_at;               /* enum sw_mark_at */
	uint32_t shaper_burst_ns;  /* how far a late poll may catch up, at port speed; the lab uses 1 */
	uint32_t fdb_entries;
	uint32_t fdb_ageing_s;
	uint64_t seed;
};

/* Members of sw_params itself (the sub-structs have tables of their own). */
extern const struct field sw_fields[];
extern const unsigned int sw_fields_n;

/** Derive what follows from other members (lossless PGs and queues from pfc_enable and the maps; profiles). */
void sw_params_resolve(struct sw_params *params);

/** @return 0, or -EINVAL with a clause in why naming key and rule. */
int sw_params_check(const struct sw_params *params, char *why, unsigned int why_size);

/* Every way in which a frame ends here other than being sent. */
enum sw_drop {
	SW_DROP_MALFORMED,          /* see frame_verdict_name for which way: counted per verdict too */
	SW_DROP_MAC_CONTROL_MALFORMED,
	SW_DROP_MAC_CONTROL_UNKNOWN,
	SW_DROP_RESERVED_ADDRESS,   /* 01:80:C2:00:00:0X is never forwarded */
	SW_DROP_BAD_SOURCE,         /* group bit in the source address */
	SW_DROP_SAME_PORT,          /* destination is where it came from */
	SW_DROP_OVERSIZE,
	SW_DROP_PG_LIMIT,
	SW_DROP_NO_HEADROOM,
	SW_DROP_POOL,
	SW_DROP_QUEUE_LIMIT,
	SW_DROP_WRED,
	SW_DROP_NO_MBUF,            /* clone, private header or PFC frame could not be had */
	SW_DROPS
};

/** Counter name, e.g. "no_headroom". */
const char *sw_drop_name(enum sw_drop d);

struct sw_queue_stats {
	uint64_t tx_packets, tx_bytes; /* frame bytes with FCS */
	uint64_t ecn_marked_packets;   /* ECT that we turned into CE */
	uint64_t drop_packets;
};

struct sw_port_stats {
	uint64_t rx_packets, rx_bytes; /* MAC control not included */
	uint64_t tx_packets, tx_bytes;
	uint64_t drops[SW_DROPS];      /* by ingress port; queue limit, WRED: egress port */
	uint64_t rx_pause_frames, tx_pause_frames;
	struct sw_queue_stats queue[TM_CLASSES];
};

/* Charged bytes of the whole switch since creation. */
struct sw_ledger {
	uint64_t in, copies, generated, queued, sent, dropped, consumed;
};

struct sw_pools {
	struct rte_mempool *frames; /* whole frames: PFC, private headers */
	struct rte_mempool *clones; /* no data room */
};

/** Build a switch. params are copied. @return the node, owned by the caller, or NULL with errno set. */
struct node *sw_create(const struct sw_params *params, const struct sw_pools *pools);
/** Free the switch and every packet that it holds. */
void sw_destroy(struct node *node);

/**
 * Enter an address as if a frame from it had come in on port: a fabric whose hosts have already spoken.
 * @return 0, -EINVAL (no such port, group address) or -ENOSPC (table full).
 */
int sw_learn(struct node *node, uint16_t vid, const uint8_t mac[6], uint16_t port, uint64_t now_ns);

/* Readers: from the owner, or counters from any thread. */
const struct sw_port_stats *sw_port_stats(const struct node *node, uint16_t port);
const struct pfc_rx *sw_pfc_rx(const struct node *node, uint16_t port);
const struct pfc_tx *sw_pfc_tx(const struct node *node, uint16_t port);
const struct mmu *sw_mmu(const struct node *node);
uint64_t sw_queue_bytes(const struct node *node, uint16_t port, uint8_t queue);
uint32_t sw_fdb_entries(const struct node *node);
struct sw_ledger sw_ledger(const struct node *node);

#endif
