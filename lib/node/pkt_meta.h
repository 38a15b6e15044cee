/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet's metadata, from rx to tx, in the private area of its mbuf. Valid inside one node: a
 * node fills in what it reads, and metadata does not cross a wire.
 */
#ifndef QUENCH_NODE_PKT_META_H
#define QUENCH_NODE_PKT_META_H

#include <assert.h>
#include <stdint.h>
#include <rte_mbuf.h>

/* Private bytes of every mbuf in our pools. */
#define PKT_PRIV_BYTES 64

struct pkt_meta {
	union {
		struct rte_mbuf *next; /* link of pkt_fifo */
		/* switch, frame that leaves as CE: statistics of the queue that marked it, to
		 * compare with; others may hold an older value */
		const void *marked_by;
	};
	union {
		uint64_t due_ns; /* NIC that measures: departure, 0 none */
		/* switch, flooded frame that crosses to other shards: mask of its egress ports */
		uint64_t flood_ports;
	};
	uint32_t dirty_off; /* NIC: where a stamped frame overwrote the constant payload; 0 none */
	uint32_t copies;    /* switch, flooded frame: copies that have not left */
	struct rte_mbuf *origin; /* switch, copy: the flooded frame, which holds the charge */
	/* switch, frame that crosses to another shard with PKT_LABELLED */
	uint16_t out_port;
	uint16_t domain, tci_bits;
	uint64_t form_ports; /* mask of ports that it leaves with its VLAN tag added or removed */
};
static_assert(sizeof(struct pkt_meta) <= PKT_PRIV_BYTES,
	      "metadata fits the private area of an mbuf");

/* Flags of a frame in the switch, in its entry. */
#define PKT_CLONE 0x01u     /* switch: a copy of a flooded frame; origin is set */
#define PKT_GENERATED 0x02u /* made by this node: not charged on ingress */
#define PKT_WRED_DONE 0x04u /* switch: WRED has decided at enqueue */
#define PKT_ECT 0x08u       /* switch: received as ECT(0) or ECT(1), may be marked */
#define PKT_CE 0x10u        /* switch: received as CE */
#define PKT_LABELLED 0x20u  /* crosses to another shard: its metadata says more */

static inline struct pkt_meta *
pkt_meta(struct rte_mbuf *m)
{
	return rte_mbuf_to_priv(m);
}

#endif
