/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NICs under test: two of them back to back on a cable in virtual time, or one with a scripted
 * peer.
 *
 * The cable checks what no NIC may get wrong: every frame parses and its ICRC verifies, no frame is
 * below the minimum, and after tx() had nothing more to give, next_ns() is later than now.
 */
#ifndef QUENCH_TEST_UNIT_NIC_NIC_TEST_H
#define QUENCH_TEST_UNIT_NIC_NIC_TEST_H

#include <string.h>
#include <rte_mbuf.h>

#include "host_path.h"
#include "unit/cases.h"
#include "unit/eal.h"
#include "nic/nic.h"
#include "node/pkt_pool.h"
#include "wire/frame/frame.h"
#include "wire/link/pfc_frame.h"

#define PAIR_DELAY_NS 1000
#define PAIR_IN_FLIGHT 4096
#define PAIR_QPN 17u

/* What happens to a frame on the cable. */
enum fate { FATE_PASS, FATE_LOSE, FATE_DUPLICATE, FATE_MARK, FATE_OVERTAKEN };

struct flying {
	struct rte_mbuf *m;
	uint64_t due_ns;
};

/* A direction, named after the NIC that sends. */
struct cable {
	struct flying ring[PAIR_IN_FLIGHT];
	uint32_t head, tail;
	struct rte_mbuf *overtaken;
	uint64_t frames;
};

struct pair {
	struct nic_params params[2];
	struct nic_pools pools;
	struct node *nic[2];
	struct cable cable[2];
	uint64_t now_ns;
	/* Asked for each frame, with the number of frames before it in that direction. */
	enum fate (*fate)(struct pair *, unsigned int from, uint64_t n, const struct roce_view *);
	void *arg;
	/* What happens to one frame of one direction, if fate() lets it pass. */
	struct {
		unsigned int from;
		uint64_t frame; /* UINT64_MAX: none */
		enum fate fate;
	} mishap;
};

/** Parameters of a host, 0 or 1, at 40 Gb/s with room for 16 QPs. */
void nic_test_params(struct nic_params *p, unsigned int host);

/** A WRITE requester towards the other host's first QP; 4 messages of 3 packets, the last short. */
struct nic_qp_params nic_test_qp(unsigned int host);

/** Make both pools; nic_test_pools_free() takes them back. */
void nic_test_pools(struct nic_pools *pools, uint32_t data_mbufs, uint32_t control_mbufs);

/** Free the pools; every mbuf must be back. */
void nic_test_pools_free(struct nic_pools *pools);

/** Default parameters for both NICs, and an empty cable without faults. */
void pair_init(struct pair *p);

/** pair_init() for a cable that fate() watches; what it keeps of a case before is cleared. */
void pair_watch(struct pair *p,
		enum fate (*fate)(struct pair *, unsigned int, uint64_t, const struct roce_view *),
		void *kept, size_t size);

/** Create the NICs from p->params, which the test has changed to its liking. */
void pair_create(struct pair *p, uint32_t data_mbufs);

/** Connect the next QP of host 0 (as described) to the next of host 1, which answers. */
void pair_connect(struct pair *p, const struct nic_qp_params *at_0);

/** Create the NICs with so many mbufs for data, connect a QP, and run until nothing happens. */
void pair_play(struct pair *p, uint32_t data_mbufs, const struct nic_qp_params *at_0);

/** Put a frame on a direction of the cable until it is due. */
void cable_push(struct cable *c, struct rte_mbuf *m, uint64_t due_ns);

/** Parse a frame that must be whole, with a right ICRC and no shorter than the minimum. */
void nic_test_view(const struct rte_mbuf *m, struct frame_view *eth, struct roce_view *roce);

/** Take a frame from the NIC that sends, to its fate. */
void pair_carry(struct pair *p, unsigned int from, struct rte_mbuf *m);

/** When does anything happen next? NEVER_NS: not any more. */
uint64_t pair_next_ns(const struct pair *p);

/** Give a NIC frames; if they make work earlier than it had, it says so to an event loop. */
void nic_test_rx(struct node *nic, struct rte_mbuf **m, uint64_t now_ns);

/** Write a PFC frame for a set of priorities, or for NIC_TEST_LINK_PAUSE a frame of 802.3x. */
#define NIC_TEST_LINK_PAUSE (-1)
void nic_test_pause(struct rte_mbuf *m, const uint8_t from_mac[6], uint16_t quanta, int prios);

/** Deliver what is due now. */
void pair_deliver(struct pair *p);
/** Run until nothing happens any more, or until a time. */
void pair_run(struct pair *p, uint64_t until_ns);

/** Free the NICs, what is on the cable, and the pools; every mbuf must be back. */
void pair_destroy(struct pair *p);

/** What a NIC says of its QP with this index. */
struct nic_qp_info pair_info(const struct pair *p, unsigned int host, uint32_t index);

/* One NIC (host 0) whose peer is the test. */
struct solo {
	struct nic_params params;
	struct nic_pools pools;
	struct node *nic;
	uint64_t now_ns;
};

/* The ones of most tests. */
extern struct pair pair;
extern struct solo solo;

/** Default parameters of host 0. */
void solo_init(struct solo *s);

/** Fixture: solo_init(&solo). */
int solo_setup(void **state);

/** Create the NIC from s->params, which the test has changed to its liking. */
void solo_create(struct solo *s, uint32_t control_mbufs);

/** solo_create() with 64 control mbufs, and a first QP. */
void solo_start(struct solo *s, const struct nic_qp_params *qp);

/** Free the NIC and its pools; every mbuf must be back. */
void solo_destroy(struct solo *s);

/**
 * Create the NIC with QPs that always have data for their peer, on a wire that does not wait for
 * ACKs.
 */
void solo_create_senders(struct solo *s, uint32_t n_qps);

/** The way from the peer (host 1) to our first QP. */
struct roce_path solo_path(const struct solo *s);

/** An mbuf with these bytes. */
struct rte_mbuf *solo_mbuf(struct solo *s, const void *bytes, uint16_t n);

/** The peer sends bytes. */
void solo_feed_bytes(struct solo *s, const void *bytes, uint16_t n);

/** The peer sends a packet with a payload of zeros on a path. */
void solo_feed_on(struct solo *s, const struct roce_path *path, const struct roce_fields *fields,
		  uint16_t payload_bytes);

/** The peer sends a packet with a payload of zeros to our first QP. */
void solo_feed(struct solo *s, struct roce_fields fields, uint16_t payload_bytes);

/** The peer pauses the enabled priorities for a time in quanta. */
void solo_feed_pause(struct solo *s, uint8_t enable, uint16_t quanta);

/** The next frame that the NIC sends at or before until_ns; the clock moves there. False: none. */
bool solo_take(struct solo *s, uint64_t until_ns, struct roce_view *v);

/** Send what may be sent until a time; the clock moves there. */
void solo_run(struct solo *s, uint64_t until_ns);

/** The NIC sends nothing at or before until_ns; the clock moves there. */
void expect_silence(struct solo *s, uint64_t until_ns);

/** The next frame answers with this syndrome, PSN and message count. */
void expect_answer(struct solo *s, uint8_t syndrome, uint32_t psn, uint32_t msn);

#endif
