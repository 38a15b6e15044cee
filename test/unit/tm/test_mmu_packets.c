/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet memory beside the bytes of the buffer: one packet for a frame, however short it is. */
#include <stdio.h>

#include "base/numbers/prng.h"
#include "unit/tm/mmu_test.h"
#include "tm/buffer/mmu_part.h"

#define PORTS 4
#define BACKING 512u
#define SHORT 64u

static struct mmu_params
with_packets(void)
{
	struct mmu_params p = defaults(PORTS);

	p.buffer_bytes = 1000000;
	p.packets = (uint32_t)mmu_params_packets(&p, BACKING);
	return p;
}

/* 22400 bytes of headroom are 350 of the shortest frames, and a burst, for each of four groups. */
TEST(packets_are_made_for_headroom_of_the_shortest_frames)
{
	struct mmu_params p = with_packets();
	struct mmu_budget b = mmu_params_budget(&p);

	assert_int_equal(b.headroom_packets, PORTS * (350 + 32));
	assert_int_equal(b.shared_packets, (1000000 - PORTS * 22400) / BACKING + 1);
	p.cell_bytes = 80;
	assert_int_equal(mmu_params_budget(&p).headroom_packets, PORTS * (280 + 32));
	p.lossless.size_bytes = 1000;
	assert_int_equal(mmu_params_budget(&p).reserved_packets, PORTS * 13);
	p.lossy_pool_bytes = 455200;
	b = mmu_params_budget(&p);
	assert_in_range(b.lossy_packets, b.shared_packets - 20, b.shared_packets + 20);
}

/* alpha 8: eight ninths of what is shared, as of bytes; what is left is for the others. */
TEST(short_lossy_frames_stop_at_their_part_of_the_packets)
{
	struct mmu_params p = with_packets();
	struct mmu *mmu = create(&p);
	uint64_t shared = mmu_params_budget(&p).shared_packets;
	uint32_t n = 0;

	while (mmu_ingress_admit(mmu, 0, LOSSY, SHORT) == MMU_ADMIT)
		n++;
	assert_int_equal(mmu_ingress_admit(mmu, 0, LOSSY, SHORT), MMU_DROP_PACKETS);
	assert_in_range(n, shared * 8 / 9 - 2, shared * 8 / 9 + 2);
	assert_int_equal(mmu_pg_state(mmu, 0, LOSSY).packets, n);
	assert_int_equal(mmu_pool_used_packets(mmu, MMU_INGRESS_LOSSLESS), n);
	assert_true(mmu_balanced(mmu));
	/* A group that stays within its reserved bytes would not be asked; this one has none. */
	assert_int_equal(mmu_ingress_admit(mmu, 1, LOSSY, SHORT), MMU_ADMIT);
	mmu_ingress_release(mmu, 1, LOSSY, SHORT, 1);
	mmu_ingress_release(mmu, 0, LOSSY, n * SHORT, n);
	assert_int_equal(mmu_pool_used_packets(mmu, MMU_INGRESS_LOSSLESS), 0);
	mmu_destroy(mmu);
}

/* With all lossy groups at their limits each lossless one pauses and then takes all that its
 * headroom can be. */
TEST(headroom_has_its_packets_whatever_others_take)
{
	struct mmu_params p = with_packets();
	struct mmu *mmu = create(&p);
	uint32_t total = 0;

	for (uint16_t port = 0; port < PORTS; port++) {
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			while (pg != PG && mmu_ingress_admit(mmu, port, pg, SHORT) == MMU_ADMIT)
				total++;
		}
	}
	for (uint16_t port = 0; port < PORTS; port++) {
		uint32_t in_flight = 0;

		while (!mmu_pg_wants_xoff(mmu, port, PG, false)) {
			assert_true(mmu_admitted(mmu_ingress_admit(mmu, port, PG, SHORT)));
			total++;
		}
		/* What the peer sends before it obeys, in bytes as the headroom is. */
		for (; in_flight < p.lossless.xoff_bytes / SHORT; in_flight++)
			assert_true(mmu_admitted(mmu_ingress_admit(mmu, port, PG, SHORT)));
		total += in_flight;
	}
	assert_true(total <= p.packets);
	/* Beyond that the peer does not obey. */
	for (uint16_t port = 0; port < PORTS; port++) {
		while (mmu_admitted(mmu_ingress_admit(mmu, port, PG, SHORT)))
			total++;
		assert_int_equal(mmu_ingress_admit(mmu, port, PG, SHORT), MMU_DROP_NO_HEADROOM);
	}
	assert_true(total <= p.packets);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

TEST(xon_comes_below_the_limit_by_its_offset)
{
	struct mmu_params p = with_packets();
	struct mmu *mmu;
	uint32_t n = 0, held;

	p.lossless.dynamic = false;
	p.lossless.static_th_bytes = 100000;
	p.lossless.xon_offset_bytes = 20000;
	mmu = create(&p);
	while (!mmu_pg_wants_xoff(mmu, 0, PG, false)) {
		assert_int_equal(mmu_ingress_admit(mmu, 0, PG, SHORT), MMU_ADMIT);
		n++;
	}
	/* As many packets as 100000 bytes are of the buffer. */
	assert_in_range(n, 100000ull * p.packets / p.buffer_bytes,
			100000ull * p.packets / p.buffer_bytes + 1);
	for (held = n; mmu_pg_wants_xoff(mmu, 0, PG, true); held--)
		mmu_ingress_release(mmu, 0, PG, SHORT, 1);
	assert_in_range(n - held, 20000ull * p.packets / p.buffer_bytes,
			20000ull * p.packets / p.buffer_bytes + 1);
	mmu_destroy(mmu);
}

struct load {
	uint32_t bytes[PORTS][TM_CLASSES], packets[PORTS][TM_CLASSES];
};

/* Of one group: a frame in, or some of what it holds out. */
static void
step(struct mmu *mmu, struct load *load, struct prng *r, uint32_t least, uint32_t most)
{
	uint16_t port = prng_u32(r) % PORTS;
	uint8_t pg = prng_u32(r) % TM_CLASSES;
	uint32_t bytes = least + prng_u32(r) % (most - least + 1);
	uint32_t *held = &load->bytes[port][pg], *n = &load->packets[port][pg];

	if (prng_u32(r) % 16 == 0) {
		mmu_ingress_release(mmu, port, pg, *held, *n);
		*held = *n = 0;
	} else if (mmu_admitted(mmu_ingress_admit(mmu, port, pg, bytes))) {
		*held += bytes;
		*n += 1;
	}
}

TEST(packets_in_use_never_exceed_those_that_there_are)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct mmu_params p = with_packets();
		struct load load = {0};
		struct prng r;
		struct mmu *mmu;
		uint32_t packets = p.packets;

		prng_seed(&r, seed, 12);
		p.lossless.size_bytes = 2000;
		p.lossy_pool_bytes = seed % 2 ? 300000 : 0;
		p.packets = (uint32_t)mmu_params_packets(&p, BACKING);
		packets = p.packets;
		mmu = create(&p);
		for (unsigned int i = 0; i < 20000; i++) {
			uint64_t sum = 0;

			step(mmu, &load, &r, 64, seed % 3 ? 80 : 1500);
			if (i % 5000 == 4999) {
				/* Live: what is held is divided anew. */
				p.lossless.xoff_bytes = 64 + prng_u32(&r) % 22400;
				p.lossless.dynamic_th = (int8_t)(prng_u32(&r) % 5) - 3;
				mmu_part_set_params(mmu, 0, &p);
			}
			for (unsigned int k = 0; k < PORTS * TM_CLASSES; k++)
				sum += load.packets[k / TM_CLASSES][k % TM_CLASSES];
			assert_true(sum <= packets);
			assert_true(i % 64 != 0 || mmu_balanced(mmu));
		}
		for (uint16_t port = 0; port < PORTS; port++) {
			for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
				mmu_ingress_release(mmu, port, pg, load.bytes[port][pg],
						    load.packets[port][pg]);
		}
		assert_int_equal(mmu_pool_used_packets(mmu, MMU_INGRESS_LOSSLESS), 0);
		assert_int_equal(mmu_pool_used_packets(mmu, MMU_INGRESS_LOSSY), 0);
		assert_true(mmu_balanced(mmu));
		mmu_destroy(mmu);
	}
}

/* Of two buffers, one with packets, frames as long as memory was made for see no difference. */
TEST(frames_of_ordinary_size_are_decided_by_bytes_alone)
{
	struct mmu_params p = with_packets(), without = p;
	struct mmu *a = create(&p), *b;
	struct load load = {0};
	struct prng r;

	without.packets = 0;
	b = create(&without);
	prng_seed(&r, 7, 0);
	for (unsigned int i = 0; i < 200000; i++) {
		uint16_t port = prng_u32(&r) % PORTS;
		uint8_t pg = prng_u32(&r) % TM_CLASSES;
		uint32_t bytes = BACKING + prng_u32(&r) % 1024;
		uint32_t *held = &load.bytes[port][pg], *n = &load.packets[port][pg];

		if (prng_u32(&r) % 32 == 0) {
			mmu_ingress_release(a, port, pg, *held, *n);
			mmu_ingress_release(b, port, pg, *held, *n);
			*held = *n = 0;
		} else {
			enum mmu_verdict v = mmu_ingress_admit(a, port, pg, bytes);

			assert_int_equal(v, mmu_ingress_admit(b, port, pg, bytes));
			*held += mmu_admitted(v) ? bytes : 0;
			*n += mmu_admitted(v);
		}
		assert_int_equal(mmu_pg_wants_xoff(a, port, pg, false),
				 mmu_pg_wants_xoff(b, port, pg, false));
	}
	mmu_destroy(a);
	mmu_destroy(b);
}

TEST(too_many_packets_and_too_much_headroom_are_refused)
{
	struct mmu_params p = with_packets();
	char why[256] = "";

	p.lossless.xoff_bytes = 200000;
	assert_true(mmu_params_check(&p, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "packet buffers"));
	p = with_packets();
	p.packets = MMU_MAX_PACKETS;
	assert_true(mmu_params_check(&p, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "backing_frame_bytes"));
}

TEST_MAIN()
