/* SPDX-License-Identifier: BSD-3-Clause */
/* What the targets share that drive a node: its mbufs, and frames that it sent. */
#ifndef QUENCH_TEST_FUZZ_NODE_H
#define QUENCH_TEST_FUZZ_NODE_H

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fuzz/fuzz.h"
#include "node/pkt_pool.h"
#include "unit/eal.h"

static inline void
fuzz_start_eal(void)
{
	if (test_eal_init(64) < 0)
		abort();
}

static inline struct rte_mempool *
create_pool(const char *name, uint32_t n_mbufs, uint32_t largest_frame)
{
	struct rte_mempool *pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = name, .n_mbufs = n_mbufs, .largest_frame = largest_frame, .socket = -1});

	FUZZ_CHECK(pool != NULL);
	return pool;
}

/* A frame that a node sent is whole, in one segment. */
static inline struct frame_view
check_frame(const struct rte_mbuf *m)
{
	struct frame_view v;

	FUZZ_CHECK(m->nb_segs == 1 && m->data_len == m->pkt_len);
	FUZZ_CHECK(frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v) == FRAME_OK);
	return v;
}

#endif
