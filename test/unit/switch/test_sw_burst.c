/* SPDX-License-Identifier: BSD-3-Clause */
/* The same frames one by one and in bursts, in and out, by one switch and by one of several shards:
 * the same leave, the same are dropped for the same reasons, and the same senders are held. */
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/switch/sw_test.h"

#define PORTS 5
#define ROUNDS 1500u
#define PRIO 3

/* What can be seen of a run from outside. */
struct outcome {
	struct sw_port_stats ports[PORTS];
	struct pfcwd_stats watchdog[PORTS];
	struct sw_ledger ledger;
	uint64_t out_frames, out_hash, pauses;
};

static void
set_up(struct sw_params *p)
{
	bench_defaults(p, PORTS);
	/* Several frames leave in one call, of several queues. */
	p->shaper_burst_ns = 1000;
	p->mmu.buffer_bytes = 300000;
	p->mmu.cell_bytes = 208;
	/* Not dynamic: that limit also rises with what others give back, and a burst asks once
	 * where its frames would ask again and again, so that an XON may come between them. */
	p->mmu.lossless = (struct buffer_profile){.size_bytes = 1500,
						  .static_th_bytes = 20000,
						  .xon_offset_bytes = 3000,
						  .xoff_bytes = 8000};
	p->mmu.lossy =
		(struct buffer_profile){.size_bytes = 1000, .dynamic = true, .dynamic_th = -2};
	p->mmu.egress_lossy =
		(struct buffer_profile){.size_bytes = 1518, .dynamic = true, .dynamic_th = -2};
	p->wred_queues = 1u << PRIO | 1;
	p->wred.green_min_threshold_bytes = 4000;
	p->wred.green_max_threshold_bytes = 40000;
	p->wred.green_drop_probability_ppm = 300000;
	p->fdb_entries = 8;
	p->ports[4].shaper_rate_bps = 5 * GBPS;
	p->ports[1].storm_bps[SW_STORM_BROADCAST] = 100 * MBPS;
	p->tcs[0].mtu_bytes = 900;
	p->queues[2][0].max_rate_bps = 2 * GBPS;
	p->queues[2][0].burst_bytes = 4000;
	p->pfcwd.pfcwd = PFCWD_SONIC;
	p->pfcwd.action = PFCWD_DROP;
	p->pfcwd.poll_interval_ns = NS_PER_MS;
	p->pfcwd.detection_time_ns = 2 * NS_PER_MS;
	p->pfcwd.restoration_time_ns = 3 * NS_PER_MS;
}

static struct rte_mbuf *
random_frame(struct bench *b, struct prng *r, uint16_t port, bool mixed, uint32_t psn)
{
	static const uint8_t dscps[] = {26, 0, 48, 10};
	struct frame_spec s = {
		.src = (uint8_t)port,
		.dst = (uint8_t)(prng_below(r, PORTS)),
		.ecn = (uint8_t)prng_below(r, 4),
		.dscp = 26,
		.payload_bytes = (uint16_t)(4 * (16 + prng_below(r, 300))),
		.psn = psn,
	};

	if (s.dst == port)
		s.dst = (uint8_t)((port + 1) % PORTS);
	if (!mixed)
		return make_frame(b, &s);
	s.dscp = dscps[prng_below(r, 4)];
	s.dst = (uint8_t)prng_below(r, PORTS + 2);
	s.tagged = prng_below(r, 8) == 0;
	s.vlan_tci = (uint16_t)(prng_below(r, 8) << 13);
	if (prng_below(r, 16) == 0)
		s.dst = BROADCAST_HOST;
	return make_frame(b, &s);
}

static void
give_round(struct bench *b, struct prng *r, uint16_t burst, uint64_t now_ns, uint32_t round)
{
	struct rte_mbuf *m[32];
	uint16_t port = (uint16_t)prng_below(r, PORTS), n = (uint16_t)(1 + prng_below(r, 32));
	bool mixed = prng_below(r, 3) == 0;

	for (uint16_t i = 0; i < n; i++)
		m[i] = random_frame(b, r, port, mixed, round * 32 + i);
	for (uint16_t i = 0; i < n; i = (uint16_t)(i + burst))
		b->sw->ops->rx(b->sw, port, &m[i], RTE_MIN(burst, (uint16_t)(n - i)), now_ns);
}

/* Up to 32 packets, asked for so many at a time. */
static uint16_t
take_in_bursts(struct bench *b, uint16_t port, struct rte_mbuf **out, uint16_t burst,
	       uint64_t now_ns)
{
	uint16_t n = 0, got = 1;

	while (n < 32 && got > 0) {
		got = b->sw->ops->tx(b->sw, port, out + n, RTE_MIN(burst, (uint16_t)(32 - n)),
				     now_ns);
		n = (uint16_t)(n + got);
	}
	return n;
}

static void
take_round(struct bench *b, struct outcome *o, uint16_t burst, uint64_t now_ns)
{
	struct rte_mbuf *out[32];
	struct mac_control mc;

	for (uint16_t port = 0; port < PORTS; port++) {
		uint16_t n = take_in_bursts(b, port, out, burst, now_ns);

		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *frame = rte_pktmbuf_mtod(out[i], const uint8_t *);

			o->out_frames++;
			o->pauses += is_pfc(out[i], &mc);
			for (uint16_t at = 0; at < out[i]->data_len; at++)
				o->out_hash = (o->out_hash ^ frame[at]) * 0x100000001B3ull;
			o->out_hash += port;
			rte_pktmbuf_free(out[i]);
		}
	}
}

/* A storm at port 1 in the middle third; a link that goes down and up. */
static void
disturb(struct bench *b, uint32_t round, uint64_t now_ns, bool links)
{
	if (round > ROUNDS / 3 && round < 2 * ROUNDS / 3 && round % 16 == 0)
		give_pfc(b, 1, 1u << PRIO, 65535, now_ns);
	if (links && round % 200 == 50)
		sw_set_link(b->sw, 2, false, now_ns);
	if (links && round % 200 == 80)
		sw_set_link(b->sw, 2, true, now_ns);
	if (round % 300 == 100)
		sw_clear_watermarks(b->sw, UINT32_MAX);
}

/* How a run goes, beside its seed. */
struct way {
	uint16_t burst, shards;
	/*
	 * For shards. Marks are no matter of chance, as shards do not draw from one sequence. No
	 * lossless queue is closed, as a frame that is dropped behind the crossing has been in its
	 * group for a moment, and may have brought an XOFF. Queues have static limits, as copies of
	 * a flooded frame reach them shard by shard.
	 */
	bool certain;
};

static void
run(struct bench *b, uint64_t seed, struct way way, struct outcome *o)
{
	uint64_t now_ns = 0, control_ns = 0;
	struct prng r;

	memset(o, 0, sizeof(*o));
	prng_seed(&r, seed, 2);
	set_up(&b->params);
	b->params.shards = way.shards;
	if (way.certain) {
		b->params.wred.green_max_threshold_bytes = b->params.wred.green_min_threshold_bytes;
		b->params.wred.green_drop_probability_ppm = 1000000;
		b->params.pfcwd.pfcwd = PFCWD_OFF;
		b->params.mmu.egress_lossy =
			(struct buffer_profile){.size_bytes = 1518, .static_th_bytes = 3500};
		b->params.mmu.egress_lossy_pool_bytes = (uint64_t)PORTS * TM_CLASSES * 3500;
	}
	bench_start(b);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		now_ns += prng_below(&r, 24000);
		if (now_ns >= control_ns)
			control_ns = b->sw->ops->control(b->sw, now_ns);
		disturb(b, round, now_ns, !way.certain);
		give_round(b, &r, way.burst, now_ns, round);
		if (prng_below(&r, 4) != 0)
			take_round(b, o, way.burst, now_ns);
		bench_sees_balance(b);
	}
	for (uint16_t port = 0; port < PORTS; port++) {
		o->ports[port] = *sw_port_stats(b->sw, port);
		o->watchdog[port] = sw_pfcwd(b->sw, port, PRIO)->stats;
	}
	o->ledger = sw_ledger(b->sw);
	bench_stop(b);
}

static void
sees_same(const struct outcome *one, const struct outcome *many)
{
	for (uint16_t port = 0; port < PORTS; port++) {
		for (unsigned int d = 0; d < SW_DROPS; d++) {
			if (one->ports[port].drops[d] != many->ports[port].drops[d])
				fail_msg("port %u, %s: %llu by the one, %llu by the other", port,
					 sw_drop_name((enum sw_drop)d),
					 (unsigned long long)one->ports[port].drops[d],
					 (unsigned long long)many->ports[port].drops[d]);
		}
	}
	assert_memory_equal(one, many, sizeof(*one));
}

TEST(bursts_do_what_their_frames_do_alone)
{
	static const enum sw_drop expected[] = {
		SW_DROP_PG_LIMIT, SW_DROP_NO_HEADROOM,  SW_DROP_WRED,     SW_DROP_QUEUE_LIMIT,
		SW_DROP_MTU,      SW_DROP_PFC_WATCHDOG, SW_DROP_LINK_DOWN};
	static struct outcome one, many;
	uint64_t reasons[SW_DROPS] = {0};

	for (uint64_t seed = 1; seed <= 3; seed++) {
		run(&bench, seed, (struct way){.burst = 1, .shards = 1}, &one);
		for (uint16_t burst = 2; burst <= 32; burst = (uint16_t)(burst * 4)) {
			run(&bench, seed, (struct way){.burst = burst, .shards = 1}, &many);
			sees_same(&one, &many);
		}
		run(&bench, seed, (struct way){.burst = 32, .shards = 1}, &many);
		sees_same(&one, &many);
		for (unsigned int d = 0; d < SW_DROPS; d++) {
			for (uint16_t port = 0; port < PORTS; port++)
				reasons[d] += one.ports[port].drops[d];
		}
		assert_true(one.pauses > 10 && one.out_frames > 1000);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++) {
		if (reasons[expected[i]] == 0)
			fail_msg("no drop %s in all runs", sw_drop_name(expected[i]));
	}
}

TEST(shards_do_what_one_does_alone)
{
	static const uint16_t shards[] = {2, 3, PORTS};
	static struct outcome one, many;
	uint64_t out = 0, pauses = 0;

	for (uint64_t seed = 1; seed <= 2; seed++) {
		run(&bench, seed, (struct way){.burst = 1, .shards = 1, .certain = true}, &one);
		for (unsigned int i = 0; i < ARRAY_LEN(shards); i++) {
			struct way way = {.burst = 1, .shards = shards[i], .certain = true};

			run(&bench, seed, way, &many);
			sees_same(&one, &many);
		}
		out += one.out_frames;
		pauses += one.pauses;
	}
	assert_true(out > 10000 && pauses > 100);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
