/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

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
every_mbuf_can_be_had_and_given_back(void **state)
{
	struct rte_mempool *pool = make_pool("all", MBUFS, 1518);
	struct pkt_fifo fifo = {0};
	struct rte_mbuf *m;

	(void)state;
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

static void
memory_suffices_at_every_frame_size(void **state)
{
	/* Objects that divide a page badly, enough of them to use up any slack. */
	static const uint16_t sizes[] = {0, 64, 700, 1100, 1596, 2500, 4000, 9238};

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rte_mempool *pool = make_pool("sizes", 8000, sizes[i]);

		assert_non_null(pool);
		assert_int_equal(rte_mempool_avail_count(pool), 8000);
		pkt_pool_destroy(pool);
	}
}

static void
a_frame_of_the_largest_size_fits_one_segment(void **state)
{
	struct rte_mempool *pool = make_pool("room", MBUFS, 9216);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *frame = rte_pktmbuf_append(m, 9216);

	(void)state;
	assert_non_null(frame);
	memset(frame, 0xA5, 9216);
	assert_int_equal(m->nb_segs, 1);
	assert_null(rte_pktmbuf_append(m, 1));
	rte_pktmbuf_free(m);
	pkt_pool_destroy(pool);
}

static void
metadata_of_a_clone_is_its_own(void **state)
{
	struct rte_mempool *frames = make_pool("frames", MBUFS, 256);
	struct rte_mempool *clones = make_pool("clones", MBUFS, 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(frames), *c;

	(void)state;
	rte_pktmbuf_append(m, 60);
	pkt_meta(m)->in_port = 7;
	c = rte_pktmbuf_clone(m, clones);
	assert_non_null(c);
	pkt_meta(c)->in_port = 9;
	assert_int_equal(pkt_meta(m)->in_port, 7);
	assert_ptr_equal(rte_pktmbuf_mtod(c, void *), rte_pktmbuf_mtod(m, void *));
	rte_pktmbuf_free(c);
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_avail_count(clones), MBUFS);
	assert_int_equal(rte_mempool_avail_count(frames), MBUFS);
	pkt_pool_destroy(clones);
	pkt_pool_destroy(frames);
}

static void
a_name_in_use_is_refused(void **state)
{
	struct rte_mempool *pool = make_pool("twice", MBUFS, 64);

	(void)state;
	assert_null(make_pool("twice", MBUFS, 64));
	assert_int_equal(rte_errno, EEXIST);
	pkt_pool_destroy(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mbuf_can_be_had_and_given_back),
		cmocka_unit_test(memory_suffices_at_every_frame_size),
		cmocka_unit_test(a_frame_of_the_largest_size_fits_one_segment),
		cmocka_unit_test(metadata_of_a_clone_is_its_own),
		cmocka_unit_test(a_name_in_use_is_refused),
	};

	if (test_eal_init(64) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
