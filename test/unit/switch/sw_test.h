/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch on a bench: pools, default parameters, frames made by the wire library, and a driver
 * that asks ports as an event loop would. Host h has address 02:00:00:00:00:h and 10.0.0.h, and
 * sits on port h.
 */
#ifndef QUENCH_TEST_UNIT_SWITCH_SW_TEST_H
#define QUENCH_TEST_UNIT_SWITCH_SW_TEST_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "base/numbers/units.h"
#include "unit/cases.h"
#include "unit/eal.h"
#include "node/pkt_meta.h"
#include "node/pkt_pool.h"
#include "switch/sw.h"
#include "tm/buffer/mmu.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

#define BENCH_FRAMES 4096
#define BENCH_CLONES 4096
#define BROADCAST_HOST 0xFF
/* RoCE WRITE Middle with 1024 bytes: 1082 without FCS, 1086 in a buffer, 1106 on the wire. */
#define DATA_PAYLOAD 1024
#define DATA_BYTES 1086u
#define DATA_WIRE_BYTES 1106u

struct bench {
	struct rte_mempool *frames; /* the switch's */
	struct rte_mempool *clones;
	struct rte_mempool *arrivals; /* what comes in */
	struct sw_params params;
	struct node *sw;
};

/* The one that bench_open() fills. */
extern struct bench bench;

/** A pool of mbufs; it must be there. */
struct rte_mempool *bench_pool(const char *name, uint32_t n, uint16_t largest_frame);

/** Defaults of every table; ports at 40 Gb/s; one nanosecond of catch-up, as in virtual time. */
void bench_defaults(struct sw_params *p, uint16_t n_ports);

/** The bench, with default parameters for a switch of n_ports. */
struct bench *bench_with_ports(uint16_t n_ports);

/** Four ports; 0 and 1: access VLAN 10; 2: 10 and 20 tagged, no access VLAN; 3: access VLAN 20. */
struct bench *bench_with_vlans(void);

/**
 * A lossless group holds 10 frames, XOFF at the tenth, 5 in headroom, XON at 7. Queues are not
 * limited.
 */
void set_small_group(struct sw_params *p);

/** Create the switch from b->params, which must pass the check. */
void bench_start(struct bench *b);

/** Every mbuf must be back. */
void bench_sees_full_pools(const struct bench *b);

/** In charged bytes, and the buffer's own sums. */
void bench_sees_balance(const struct bench *b);

/** Free the switch; its sums must agree and every mbuf must be back. */
void bench_stop(struct bench *b);

/** Fixture: start EAL and make the pools once; switches are made for each case. */
int bench_open(void **state);

/** Fixture: free the pools. */
int bench_close(void **state);

struct frame_spec {
	uint8_t src, dst; /* hosts; dst may be BROADCAST_HOST */
	uint8_t dscp;
	uint8_t ecn;
	uint8_t ip_version; /* 0: 4 */
	bool tagged;
	uint16_t vlan_tci;
	uint16_t payload_bytes; /* 0: 64 */
	uint32_t psn;
};

/** The address of a host, or that of all. */
void host_mac(uint8_t mac[6], uint8_t host);

/** The frame that a specification describes: RoCE, WRITE Middle. */
struct rte_mbuf *make_frame(struct bench *b, const struct frame_spec *s);

/** RoCE data of the default lossless class from one host to another. */
struct rte_mbuf *make_data(struct bench *b, uint8_t src, uint8_t dst, uint32_t psn);

/** A frame arrives at a port. */
void give(struct bench *b, uint16_t port, struct rte_mbuf *m, uint64_t now_ns);

/** Bytes as they are: for frames that no builder would make. */
void give_bytes(struct bench *b, uint16_t port, const void *bytes, uint16_t n, uint64_t now_ns);

/** A PFC frame arrives: the enabled priorities pause for a time in quanta. */
void give_pfc(struct bench *b, uint16_t port, uint8_t enable, uint16_t quanta, uint64_t now_ns);

/** One frame, or NULL when the port has none now. */
struct rte_mbuf *take(struct bench *b, uint16_t port, uint64_t now_ns);

/** When does the port want to be asked next? */
uint64_t next_ns(const struct bench *b, uint16_t port);

/**
 * The port's next frame at the time the port itself names, at *now_ns or later; NULL when it names
 * none. A port must not be early, nor late.
 */
struct rte_mbuf *take_next(struct bench *b, uint16_t port, uint64_t *now_ns);

/** Hand a frame to the wire. */
void sent(struct rte_mbuf *m);

/** Empty a port without looking; returns how many came. */
unsigned int drain(struct bench *b, uint16_t port, uint64_t *now_ns);

/** Drops of a port for a reason. */
uint64_t drops(const struct bench *b, uint16_t port, enum sw_drop reason);

/** Drops of all ports and reasons. */
uint64_t all_drops(const struct bench *b);

/** Parse what came out; it has to be whole. */
struct frame_view view_of(const struct rte_mbuf *m);

/** The frame's RoCE view; its ICRC has to be right. */
struct roce_view roce_of(const struct rte_mbuf *m);

/** Is it a PFC frame? Its contents go to mc. */
bool is_pfc(const struct rte_mbuf *m, struct mac_control *mc);

/** Every host's address, as if it had spoken. */
void learn_hosts(struct bench *b);

/** bench_start() and learn_hosts(). */
void bench_start_learnt(struct bench *b);

/** Prepare b->params, as the test has changed them, for sw_reload(); they must be right. */
struct sw_forwarding *bench_prepare_reload(struct bench *b);

/** A mbuf among the arrivals with this packet; payload bytes are 0. */
struct rte_mbuf *make_packet_on(struct bench *b, const struct roce_path *path,
				const struct roce_fields *fields, uint16_t payload_bytes);

/** make_data() from src, who sits on the port of its number, n times: PSNs 1 to n. */
void give_data(struct bench *b, uint8_t src, uint8_t dst, unsigned int n, uint64_t now_ns);

/** Broadcasts from host 0 until a pool that copies come from is empty. */
void flood_until_empty(struct bench *b, const struct rte_mempool *pool);

/** The port's one frame leaves with this tag, or without (-1), and is whole behind it. */
void sees_tag(struct bench *b, uint16_t port, int32_t tci, uint64_t now_ns);

#endif
