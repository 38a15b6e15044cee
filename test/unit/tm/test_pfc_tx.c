/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "unit/cases.h"
#include "unit/chance.h"
#include "tm/pfc/pfc_tx.h"

#define SPEED (40 * GBPS)
#define FULL_NS 838848
#define HALF_NS (FULL_NS / 2)

static struct pfc_tx
fresh(void)
{
	struct pfc_params params;
	struct pfc_tx p;

	memset(&params, 0, sizeof(params));
	assert_int_equal(field_defaults(pfc_fields, pfc_fields_n, &params), 0);
	pfc_tx_init(&p, &params, SPEED);
	return p;
}

static void
assert_frame(struct pfc_tx *p, uint64_t now_ns, uint8_t enable, uint8_t xoff)
{
	struct pfc_vector v;

	assert_true(pfc_tx_next_ns(p) <= now_ns);
	assert_true(pfc_tx_take(p, &v, now_ns));
	assert_int_equal(v.enable, enable);
	for (int i = 0; i < TM_CLASSES; i++)
		assert_int_equal(v.quanta[i], xoff >> i & 1 ? 65535 : 0);
	assert_false(pfc_tx_take(p, &v, now_ns)); /* one frame says it all */
}

static void
assert_silent(struct pfc_tx *p, uint64_t now_ns)
{
	struct pfc_vector v = {.enable = 0x5a};

	assert_true(pfc_tx_next_ns(p) > now_ns);
	assert_false(pfc_tx_take(p, &v, now_ns));
	assert_int_equal(v.enable, 0x5a);
}

TEST(xoff_is_refreshed_at_half_of_the_pause_time)
{
	struct pfc_tx p = fresh();

	assert_int_equal(pfc_tx_next_ns(&p), NEVER_NS);
	assert_silent(&p, 0);
	pfc_tx_set(&p, 3, true, 100);
	assert_true(pfc_tx_is_xoff(&p, 3));
	assert_int_equal(pfc_tx_next_ns(&p), 0);
	assert_frame(&p, 100, 8, 8);
	assert_int_equal(pfc_tx_next_ns(&p), 100 + HALF_NS);
	pfc_tx_set(&p, 3, true, 200); /* asked again: nothing new to say */
	assert_silent(&p, 100 + HALF_NS - 1);
	assert_frame(&p, 100 + HALF_NS, 8, 8);
	/* A late poll counts from when the frame left. */
	assert_frame(&p, 100 + HALF_NS * 2 + 5000, 8, 8);
	assert_silent(&p, 100 + HALF_NS * 3 + 4999);
	assert_frame(&p, 100 + HALF_NS * 3 + 5000, 8, 8);
	assert_int_equal(p.stats.tx_pause[3], 4);
	assert_int_equal(p.stats.tx_pause_transition[3], 0);
}

TEST(xon_is_sent_once)
{
	struct pfc_tx p = fresh();

	pfc_tx_set(&p, 3, true, 100);
	assert_frame(&p, 120, 8, 8);
	pfc_tx_set(&p, 3, false, 5000);
	assert_false(pfc_tx_is_xoff(&p, 3));
	assert_frame(&p, 5020, 8, 0);
	assert_int_equal(pfc_tx_next_ns(&p), NEVER_NS);
	pfc_tx_set(&p, 3, false, 6000);
	assert_silent(&p, 100 * FULL_NS);
	assert_int_equal(p.stats.tx_pause[3], 2);
	assert_int_equal(p.stats.tx_pause_transition[3], 1);
	assert_int_equal(p.stats.tx_pause_duration_ns[3], 4900); /* of what the peer was told */
}

TEST(a_change_taken_back_before_the_frame_left_is_never_told)
{
	struct pfc_tx p = fresh();

	pfc_tx_set(&p, 3, true, 100);
	pfc_tx_set(&p, 3, false, 110);
	assert_int_equal(pfc_tx_next_ns(&p), NEVER_NS);
	assert_silent(&p, 120);
	assert_int_equal(pfc_tx_duration_ns(&p, 3, 1000), 0);

	pfc_tx_set(&p, 3, true, 1000);
	assert_frame(&p, 1000, 8, 8);
	pfc_tx_set(&p, 3, false, 2000);
	pfc_tx_set(&p, 3, true, 2010);
	assert_silent(&p, 2020);
	assert_int_equal(pfc_tx_next_ns(&p), 1000 + HALF_NS); /* the refresh goes on */
	assert_int_equal(p.stats.tx_pause_transition[3], 0);
}

TEST(one_frame_carries_several_priorities)
{
	struct pfc_tx p = fresh();

	pfc_tx_set(&p, 3, true, 0);
	pfc_tx_set(&p, 4, true, 0);
	assert_frame(&p, 0, 0x18, 0x18);
	pfc_tx_set(&p, 3, false, 1000);
	pfc_tx_set(&p, 0, true, 1000);
	assert_frame(&p, 1000, 0x09, 0x01); /* XON, XOFF; 4 unchanged */
	/* The refresh of 4 is due, that of 0 is not. */
	assert_int_equal(pfc_tx_next_ns(&p), HALF_NS);
	assert_frame(&p, HALF_NS, 0x10, 0x10);
	assert_int_equal(pfc_tx_next_ns(&p), HALF_NS + 1000);
	/* A change goes together with a refresh that is due. */
	pfc_tx_set(&p, 7, true, HALF_NS + 1000);
	assert_frame(&p, HALF_NS + 1000, 0x81, 0x81);
}

TEST(duration_counts_the_running_pause)
{
	struct pfc_tx p = fresh();

	pfc_tx_set(&p, 3, true, 100);
	assert_frame(&p, 150, 8, 8);
	assert_int_equal(pfc_tx_duration_ns(&p, 3, 650), 500);
	assert_frame(&p, 150 + HALF_NS, 8, 8);
	assert_int_equal(pfc_tx_duration_ns(&p, 3, 150 + HALF_NS), HALF_NS);
	pfc_tx_set(&p, 3, false, 500000);
	assert_int_equal(pfc_tx_duration_ns(&p, 3, 500100), 499950);
	assert_frame(&p, 500150, 8, 0);
	assert_int_equal(pfc_tx_duration_ns(&p, 3, 900000), 500000);
	assert_int_equal(pfc_tx_duration_ns(&p, 2, 900000), 0);
}

TEST(the_latest_pauses_are_kept_with_their_start)
{
	struct pause_view v[PAUSE_LOG_MOST];
	struct pfc_tx p = fresh();

	assert_int_equal(pfc_tx_pauses(&p, v, 0), 0);
	for (uint64_t i = 0; i < 20; i++) {
		pfc_tx_set(&p, i % 2 ? 3 : 4, true, 1000 * i);
		assert_frame(&p, 1000 * i, i % 2 ? 8 : 16, i % 2 ? 8 : 16);
		pfc_tx_set(&p, i % 2 ? 3 : 4, false, 1000 * i + 10 * i);
		assert_frame(&p, 1000 * i + 10 * i, i % 2 ? 8 : 16, 0);
	}
	pfc_tx_set(&p, 5, true, 30000);
	assert_frame(&p, 30000, 32, 32);
	assert_int_equal(pfc_tx_pauses(&p, v, 30700), 17);
	for (uint64_t i = 0; i < 16; i++) {
		assert_int_equal(v[i].start_ns, 1000 * (i + 4));
		assert_int_equal(v[i].duration_ns, 10 * (i + 4));
		assert_int_equal(v[i].prio, i % 2 ? 3 : 4);
		assert_false(v[i].lasts);
	}
	assert_true(v[16].lasts && v[16].prio == 5);
	assert_int_equal(v[16].start_ns, 30000);
	assert_int_equal(v[16].duration_ns, 700);
}

TEST(pause_time_and_refresh_are_configured)
{
	struct pfc_params params = {.pfc_xoff_quanta = 1000, .pfc_refresh_pct = 80};
	struct pfc_vector v;
	struct pfc_tx p;

	pfc_tx_init(&p, &params, 100 * GBPS); /* 5.12 us */
	pfc_tx_set(&p, 0, true, 0);
	assert_true(pfc_tx_take(&p, &v, 0));
	assert_int_equal(v.quanta[0], 1000);
	assert_int_equal(pfc_tx_next_ns(&p), 4096);
}

/*
 * A peer that obeys the frames, over random requests, changes of parameters, and failures of the
 * link, which end its pauses. It holds the state that was wanted at the last take, each of its
 * pauses is repeated before it runs out, and no XON comes without a pause.
 */
struct peer {
	struct pfc_tx tx;
	struct prng rng;
	uint64_t now_ns;
	uint8_t wanted, paused;
	uint64_t since_ns[TM_CLASSES], until_ns[TM_CLASSES];
	struct pfc_tx_stats seen;
	uint64_t resets, refreshes;
	uint16_t quanta;
	uint64_t speed_bps;
};

static void
ends(struct peer *peer, unsigned int prio)
{
	assert_true(peer->paused >> prio & 1);
	peer->paused &= (uint8_t) ~(1u << prio);
	peer->seen.tx_pause_transition[prio]++;
	peer->seen.tx_pause_duration_ns[prio] += peer->now_ns - peer->since_ns[prio];
}

static void
change(struct peer *peer)
{
	struct prng *r = &peer->rng;
	struct pfc_params params = {.pfc_xoff_quanta = (uint16_t)any(r, 1000, UINT16_MAX),
				    .pfc_refresh_pct = (uint8_t)any(r, 1, 80)};

	if (chance(r, 90)) {
		uint8_t prio = (uint8_t)prng_below(r, TM_CLASSES);

		peer->wanted ^= (uint8_t)(1 << prio);
		pfc_tx_set(&peer->tx, prio, peer->wanted >> prio & 1, peer->now_ns);
	} else if (chance(r, 40)) {
		peer->wanted = (uint8_t)prng_below(r, 256);
		pfc_tx_set_all(&peer->tx, peer->wanted);
	} else if (chance(r, 50)) {
		peer->quanta = params.pfc_xoff_quanta;
		peer->speed_bps = chance(r, 50) ? SPEED : 10 * GBPS;
		pfc_tx_set_params(&peer->tx, &params, peer->speed_bps);
	} else {
		peer->resets++;
		for (uint8_t m = peer->paused; m != 0; m &= (uint8_t)(m - 1))
			ends(peer, (unsigned int)__builtin_ctz(m));
		pfc_tx_reset(&peer->tx, peer->now_ns);
	}
}

static void
hear(struct peer *peer, const struct pfc_vector *v)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (!(v->enable >> i & 1))
			continue;
		peer->seen.tx_pause[i]++;
		if (v->quanta[i] == 0) {
			ends(peer, i);
			continue;
		}
		assert_int_equal(v->quanta[i], peer->quanta);
		if (peer->paused >> i & 1)
			peer->refreshes++;
		else
			peer->since_ns[i] = peer->now_ns;
		peer->paused |= (uint8_t)(1 << i);
		peer->until_ns[i] = peer->now_ns + pfc_quanta_ns(v->quanta[i], peer->speed_bps);
	}
}

TEST(the_peer_is_always_told_the_truth)
{
	struct peer peer = {.tx = fresh(), .quanta = 65535, .speed_bps = SPEED};

	prng_seed(&peer.rng, 11, 0);
	for (int step = 0; step < 200000; step++) {
		struct pfc_vector v;
		bool due;

		peer.now_ns += prng_below(&peer.rng, 2000);
		if (chance(&peer.rng, 25))
			change(&peer);
		if (chance(&peer.rng, 33))
			continue;
		due = pfc_tx_next_ns(&peer.tx) <= peer.now_ns;
		assert_true(due || peer.wanted == peer.paused);
		assert_int_equal(pfc_tx_take(&peer.tx, &v, peer.now_ns), due);
		if (due)
			hear(&peer, &v);
		assert_int_equal(peer.paused, peer.wanted);
		for (unsigned int i = 0; i < TM_CLASSES; i++)
			assert_true(!(peer.paused >> i & 1) ||
				    pfc_tx_next_ns(&peer.tx) < peer.until_ns[i]);
	}
	assert_memory_equal(&peer.tx.stats, &peer.seen, sizeof(peer.seen));
	assert_true(peer.resets > 1000 && peer.refreshes > 1000);
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		assert_true(peer.seen.tx_pause_transition[i] > 1000);
}

#define PAUSES 4000000ull

struct watched {
	struct pfc_tx tx;
	uint64_t now_ns; /* of the writer; a reader's clock is never ahead of it */
	bool ended;
};

/* XOFF for 10 ns, XON for 1 ns, again and again. */
static void *
pause_and_resume(void *arg)
{
	struct watched *w = arg;
	struct pfc_vector v;

	for (uint64_t now = 1; now < 11 * PAUSES;) {
		for (unsigned int xoff = 0; xoff < 2; xoff++) {
			now += xoff ? 1 : 10;
			__atomic_store_n(&w->now_ns, now, __ATOMIC_RELEASE);
			pfc_tx_set(&w->tx, 3, xoff, now);
			pfc_tx_take(&w->tx, &v, now);
		}
	}
	__atomic_store_n(&w->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

TEST(duration_read_by_another_thread_never_falls_and_never_leaps)
{
	struct watched w = {.now_ns = 1};
	uint64_t last_ns = 0, last_now_ns = 0, falls = 0, leaps = 0;
	pthread_t writer;

	w.tx = fresh();
	assert_int_equal(pthread_create(&writer, NULL, pause_and_resume, &w), 0);
	while (!__atomic_load_n(&w.ended, __ATOMIC_ACQUIRE)) {
		uint64_t now_ns = __atomic_load_n(&w.now_ns, __ATOMIC_ACQUIRE);
		uint64_t duration_ns = pfc_tx_duration_ns(&w.tx, 3, now_ns);
		uint64_t after_ns = __atomic_load_n(&w.now_ns, __ATOMIC_ACQUIRE);

		falls += duration_ns < last_ns;
		leaps += duration_ns > last_ns + (after_ns - last_now_ns);
		last_ns = duration_ns;
		last_now_ns = now_ns;
	}
	pthread_join(writer, NULL);
	assert_int_equal(falls, 0);
	assert_int_equal(leaps, 0);
}

TEST_MAIN()
