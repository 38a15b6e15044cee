/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "unit/eal.h"
#include "node/pkt_fifo.h"
#include "node/pkt_pool.h"

#define MBUFS 1000

static struct rte_mempool *
make_pool(const char *name, uint32_t n, uint16_t largest_frame)
{
	return pkt_pool_create(&(struct pkt_pool_params){.name = name,
							 .n_mbufs = n,
							 .largest_frame = largest_frame,
							 .socket = SOCKET_ID_ANY});
}

static void
count_made(struct rte_mempool *pool, void *arg, void *mbuf, unsigned int i)
{
	struct rte_mbuf *m = mbuf;

	(void)pool;
	(void)arg;
	memset(m->buf_addr, 0x5A, m->buf_len);
	pkt_meta(m)->copies = i;
}

/* Mbufs of a growing pool are made once each, with init() applied, and all can be had; those used
 * last are used next. */
TEST(a_growing_pool_makes_each_mbuf_once)
{
	static bool seen[5 * MBUFS];
	struct pkt_pool_params params = {.name = "grows",
					 .n_mbufs = ARRAY_LEN(seen),
					 .largest_frame = 700,
					 .socket = SOCKET_ID_ANY,
					 .grows = true,
					 .init = count_made};
	struct rte_mempool *pool = pkt_pool_create(&params);
	struct rte_mbuf *m, *last = NULL;
	struct pkt_fifo fifo = {0};

	assert_non_null(pool);
	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < ARRAY_LEN(seen); i++) {
		assert_int_equal(rte_mempool_avail_count(pool), ARRAY_LEN(seen) - i);
		m = rte_pktmbuf_alloc(pool);
		assert_non_null(m);
		assert_true(pkt_meta(m)->copies < ARRAY_LEN(seen));
		assert_false(seen[pkt_meta(m)->copies]);
		seen[pkt_meta(m)->copies] = true;
		assert_int_equal(*(uint8_t *)m->buf_addr, 0x5A);
		pkt_fifo_push(&fifo, m);
	}
	assert_null(rte_pktmbuf_alloc(pool));
	while ((m = pkt_fifo_pop(&fifo)) != NULL) {
		last = m;
		rte_pktmbuf_free(m);
	}
	m = rte_pktmbuf_alloc(pool);
	assert_ptr_equal(m, last);
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_avail_count(pool), ARRAY_LEN(seen));
	pkt_pool_destroy(pool);
}

TEST(every_mbuf_can_be_had_and_given_back)
{
	struct rte_mempool *pool = make_pool("all", MBUFS, 1518);
	struct pkt_fifo fifo = {0};
	struct rte_mbuf *m;

	assert_non_null(pool);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	while ((m = rte_pktmbuf_alloc(pool)) != NULL)
		pkt_fifo_push(&fifo, m);
	assert_int_equal(fifo.count, MBUFS);
	while ((m = pkt_fifo_pop(&fifo)) != NULL)
		rte_pktmbuf_free(m);
	assert_int_equal(fifo.count, 0);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	pkt_pool_destroy(pool);
}

TEST(memory_suffices_at_every_frame_size)
{
	/* Objects that divide a page badly, enough of them to use up any slack. */
	static const uint16_t sizes[] = {0, 64, 700, 1100, 1596, 2500, 4000, 9238};

	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct rte_mempool *pool = make_pool("sizes", 8000, sizes[i]);

		assert_non_null(pool);
		assert_int_equal(rte_mempool_avail_count(pool), 8000);
		pkt_pool_destroy(pool);
	}
}

TEST(a_frame_of_the_largest_size_fits_one_segment)
{
	struct rte_mempool *pool = make_pool("room", MBUFS, 9216);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *frame = rte_pktmbuf_append(m, 9216);

	assert_non_null(frame);
	memset(frame, 0xA5, 9216);
	assert_int_equal(m->nb_segs, 1);
	assert_null(rte_pktmbuf_append(m, 1));
	rte_pktmbuf_free(m);
	pkt_pool_destroy(pool);
}

TEST(metadata_of_a_clone_is_its_own)
{
	struct rte_mempool *frames = make_pool("frames", MBUFS, 256);
	struct rte_mempool *clones = make_pool("clones", MBUFS, 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(frames), *c;

	rte_pktmbuf_append(m, 60);
	pkt_meta(m)->out_port = 7;
	c = rte_pktmbuf_clone(m, clones);
	assert_non_null(c);
	pkt_meta(c)->out_port = 9;
	assert_int_equal(pkt_meta(m)->out_port, 7);
	assert_ptr_equal(rte_pktmbuf_mtod(c, void *), rte_pktmbuf_mtod(m, void *));
	rte_pktmbuf_free(c);
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_avail_count(clones), MBUFS);
	assert_int_equal(rte_mempool_avail_count(frames), MBUFS);
	pkt_pool_destroy(clones);
	pkt_pool_destroy(frames);
}

TEST(a_name_in_use_is_refused)
{
	struct rte_mempool *pool = make_pool("twice", MBUFS, 64);

	assert_null(make_pool("twice", MBUFS, 64));
	assert_int_equal(rte_errno, EEXIST);
	pkt_pool_destroy(pool);
}

TEST_MAIN(.begin = start_eal)
