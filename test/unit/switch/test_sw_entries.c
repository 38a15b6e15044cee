/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries: what one holds, the FIFO of chunks, and the ring between two shards. */
#include <stdlib.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "switch/shard/ring.h"
#include "unit/cases.h"

#define FIFOS 5
#define ENTRIES 2000
#define STEPS 400000

static struct sw_entry
numbered(uint64_t n)
{
	return (struct sw_entry){.frame = n, .rest = ~n};
}

static void
must_be(const struct sw_entry *e, uint64_t n)
{
	assert_int_equal(e->frame, n);
	assert_int_equal(e->rest, ~n);
}

static size_t
free_chunks(const struct sw_chunks *c)
{
	size_t n = (size_t)(c->end - c->fresh);

	for (const struct sw_chunk *i = c->free; i != NULL; i = i->next)
		n++;
	return n;
}

TEST(an_entry_holds_the_largest_values)
{
	struct rte_mbuf *m = (struct rte_mbuf *)aligned_alloc(64, sizeof(struct rte_mbuf));
	struct arrival a = {
		.charged_bytes = MAX_FRAME_BYTES + UINT16_MAX,
		.in_port = SW_MAX_PORTS - 1,
		.out_port = SW_MAX_PORTS - 2,
		.flags = 0x3F,
		.class = {.pg = TM_CLASSES - 1, .queue = TM_CLASSES - 1},
		.view = {.ip_version = 6, .tagged = true},
	};
	struct sw_entry e;

	assert_non_null(m);
	m->pkt_len = MAX_FRAME_BYTES - 4;
	a.m = m;
	e = sw_entry_of(&a);
	assert_ptr_equal(sw_entry_mbuf(&e), m);
	assert_int_equal(sw_entry_frame_bytes(&e), MAX_FRAME_BYTES);
	assert_int_equal(sw_entry_charged_bytes(&e), MAX_FRAME_BYTES + UINT16_MAX);
	assert_int_equal(sw_entry_group(&e), SW_MAX_PORTS * TM_CLASSES - 1);
	assert_int_equal(sw_entry_queue(&e), (SW_MAX_PORTS - 1) * TM_CLASSES - 1);
	assert_int_equal(sw_entry_flags(&e), 0x3F);
	assert_int_equal(sw_entry_l3_off(&e), ETH_HDR_BYTES + VLAN_TAG_BYTES);
	assert_int_equal(sw_entry_ip_version(&e), 6);
	free(m);
}

/* Several FIFOs share chunks; each returns its entries in order, and no chunk is lost. The number
 * of chunks is just what SW_CHUNKS_FOR() promises to be enough. */
TEST(fifos_keep_their_order_and_return_their_chunks)
{
	struct sw_fifo fifo[FIFOS];
	uint64_t pushed[FIFOS] = {0}, popped[FIFOS] = {0};
	uint32_t waiting = 0;
	struct sw_chunks c;
	struct prng r;

	prng_seed(&r, 7, 0);
	assert_int_equal(sw_chunks_init(&c, SW_CHUNKS_FOR(ENTRIES, FIFOS)), 0);
	for (unsigned int i = 0; i < FIFOS; i++)
		sw_fifo_init(&fifo[i], &c);
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int i = prng_u32(&r) % FIFOS;
		/* Phases that fill and phases that drain. */
		bool push = prng_u32(&r) % 8 < (step / 5000 % 2 == 0 ? 6 : 2);

		assert_int_equal(sw_fifo_is_empty(&fifo[i]), pushed[i] == popped[i]);
		if (push && waiting < ENTRIES) {
			sw_fifo_push(&fifo[i], &c, numbered(pushed[i]++ * FIFOS + i));
			waiting++;
		} else if (!push && pushed[i] != popped[i]) {
			must_be(sw_fifo_pop(&fifo[i], &c), popped[i]++ * FIFOS + i);
			waiting--;
			if (pushed[i] == popped[i] && prng_u32(&r) % 2 == 0)
				sw_fifo_rewind(&fifo[i]);
		}
	}
	for (unsigned int i = 0; i < FIFOS; i++) {
		while (!sw_fifo_is_empty(&fifo[i]))
			must_be(sw_fifo_pop(&fifo[i], &c), popped[i]++ * FIFOS + i);
		assert_int_equal(pushed[i], popped[i]);
	}
	assert_int_equal(free_chunks(&c), SW_CHUNKS_FOR(ENTRIES, FIFOS) - FIFOS);
	sw_chunks_fini(&c);
}

/* The consumer stays away for longer than the ring has slots. */
TEST(a_full_ring_loses_nothing_and_keeps_the_order)
{
	static struct sw_ring ring;
	uint64_t put = 0, taken = 0;
	struct sw_chunks c;
	struct prng r;

	prng_seed(&r, 11, 0);
	assert_int_equal(sw_chunks_init(&c, SW_CHUNKS_FOR(4 * SW_RING_SLOTS, 1)), 0);
	sw_fifo_init(&ring.overflow, &c);
	for (unsigned int step = 0; step < 4000; step++) {
		bool away = step / 64 % 2 == 0, all;
		uint32_t n;

		for (n = prng_u32(&r) % 64; n > 0 && put - taken < 4 * SW_RING_SLOTS; n--)
			sw_ring_put(&ring, &c, numbered(put++));
		all = sw_ring_publish(&ring, &c);
		assert_int_equal(all, put - taken <= SW_RING_SLOTS);
		if (away)
			continue;
		n = sw_ring_waiting(&ring);
		for (uint32_t i = 0; i < n; i++)
			must_be(sw_ring_at(&ring, i), taken + i);
		sw_ring_advance(&ring, n);
		taken += n;
	}
	while (!sw_ring_publish(&ring, &c) || sw_ring_waiting(&ring) > 0) {
		must_be(sw_ring_at(&ring, 0), taken++);
		sw_ring_advance(&ring, 1);
	}
	assert_int_equal(taken, put);
	assert_true(put > 20 * SW_RING_SLOTS);
	assert_int_equal(free_chunks(&c), SW_CHUNKS_FOR(4 * SW_RING_SLOTS, 1) - 1);
	sw_chunks_fini(&c);
}

TEST_MAIN()
