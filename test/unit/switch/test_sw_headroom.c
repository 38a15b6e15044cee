// SPDX-License-Identifier: BSD-3-Clause
/*
 * The proof of the formula for headroom: a closed loop of a switch and a peer that obeys PFC as
 * late as it may. The peer fills its link; the switch sends frames to it and drains slower than it
 * receives, so that one run pauses many times, each in another phase of both wires. Runs vary the
 * limit, the lengths of frames in both directions, cells, cable, speed and response. No frame may
 * be lost with the headroom of the formula, and over all runs nearly all of it must be used.
 *
 * QUENCH_HEADROOM_RUNS: number of random runs; 20000 take some minutes.
 */
#include <stdio.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "tm/buffer/thresholds.h"
#include "unit/switch/sw_test.h"

#define DEFAULT_RUNS 200u
#define PAUSED_PRIO 3
#define DSCP_LOSSLESS 26
#define LOSSY_QUEUE 0
#define PS_PER_NS 1000u
/* The event loop has whole nanoseconds: at the arrival of a frame, and at that of a pause. */
#define CLOCK_NS 2u

/* Mostly the longest or one length: the others shift the phase. */
enum mix { MIX_LONGEST, MIX_SHORTEST, MIX_ONE, MIX_ANY, MIXES };

struct loop {
	uint64_t speed_bps, cable_ns, response_ns, drain_bps;
	uint64_t limit_bytes, xon_offset_bytes;
	uint32_t largest_bytes, one_bytes; /* with FCS */
	enum mix mix, back_mix;
	uint16_t cell_bytes;
	bool dynamic;
};

/* What is on its way: lengths of frames, or quanta of pauses. */
#define IN_FLIGHT 16384u
struct flying {
	uint64_t at_ns[IN_FLIGHT];
	uint32_t what[IN_FLIGHT];
	uint32_t first, next;
};

struct peer {
	struct flying data, pauses;
	uint64_t free_ps, paused_until_ps; /* its wire, and the lossless priority */
	uint64_t frames, most_frames;
};

static struct peer peer;

static void
fly(struct flying *f, uint64_t at_ns, uint32_t what)
{
	assert_true(f->next - f->first < IN_FLIGHT);
	f->at_ns[f->next % IN_FLIGHT] = at_ns;
	f->what[f->next++ % IN_FLIGHT] = what;
}

static uint64_t
lands_ns(const struct flying *f)
{
	return f->first == f->next ? NEVER_NS : f->at_ns[f->first % IN_FLIGHT];
}

static uint32_t
land(struct flying *f)
{
	return f->what[f->first++ % IN_FLIGHT];
}

static uint64_t
wire_ps(const struct loop *l, uint64_t bytes)
{
	return bytes * 8 * PS_PER_NS * (NS_PER_SEC / MBPS) / (l->speed_bps / MBPS);
}

/* The first whole nanosecond at or after a time. */
static uint64_t
ns_from(uint64_t ps)
{
	return (ps + PS_PER_NS - 1) / PS_PER_NS;
}

/* An IPv4 frame of any length, with FCS, from the host on one of the two ports to the other. */
static void
give_length(struct bench *b, uint8_t src, uint8_t dscp, uint32_t bytes, uint64_t now_ns)
{
	static uint8_t frame[2048];
	uint32_t n = bytes - 4, ip = n - 14, sum = 0;
	uint8_t dst = !src;

	memset(frame, 0, 34);
	host_mac(frame, dst);
	host_mac(frame + 6, src);
	frame[12] = 0x08;
	frame[14] = 0x45;
	frame[15] = (uint8_t)(dscp << 2);
	frame[16] = (uint8_t)(ip >> 8);
	frame[17] = (uint8_t)ip;
	frame[22] = 64;
	frame[23] = 253;
	frame[26] = frame[30] = 10;
	frame[29] = src;
	frame[33] = dst;
	for (unsigned int i = 14; i < 34; i += 2)
		sum += (uint32_t)(frame[i] << 8 | frame[i + 1]);
	sum = ~((sum & 0xFFFF) + (sum >> 16));
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
	give_bytes(b, src, frame, (uint16_t)n, now_ns);
}

static uint32_t
length_of(const struct loop *l, enum mix mix, struct prng *r)
{
	if (mix == MIX_ANY || (mix != MIX_SHORTEST && prng_below(r, 8) == 0))
		return MIN_FRAME_BYTES +
		       (uint32_t)prng_below(r, l->largest_bytes - MIN_FRAME_BYTES + 1);
	if (mix == MIX_LONGEST)
		return l->largest_bytes;
	return mix == MIX_ONE ? l->one_bytes : MIN_FRAME_BYTES;
}

static uint64_t
peer_begins_ps(void)
{
	return max_u64(peer.free_ps, peer.paused_until_ps);
}

static uint64_t
peer_begins_ns(void)
{
	return peer.frames < peer.most_frames ? ns_from(peer_begins_ps()) : NEVER_NS;
}

static void
peer_begins(const struct loop *l, struct prng *r)
{
	uint32_t bytes = length_of(l, l->mix, r);

	peer.free_ps = peer_begins_ps() + wire_ps(l, bytes + GAP_BYTES);
	peer.frames++;
	fly(&peer.data, ns_from(peer.free_ps) + l->cable_ns, bytes);
}

/* A port of the switch sends while its wire is free. */
static void
port_sends(struct bench *b, const struct loop *l, uint16_t port, uint64_t *free_ps, uint64_t now_ns)
{
	struct mac_control mc;
	struct rte_mbuf *m;

	while (ns_from(*free_ps) <= now_ns && (m = take(b, port, now_ns)) != NULL) {
		*free_ps =
			max_u64(*free_ps, now_ns * PS_PER_NS) + wire_ps(l, wire_bytes(m->pkt_len));
		if (port == 0 && is_pfc(m, &mc))
			fly(&peer.pauses, ns_from(*free_ps) + l->cable_ns + l->response_ns,
			    mc.quanta[PAUSED_PRIO]);
		sent(m);
	}
}

static void
configure(struct bench *b, const struct loop *l)
{
	struct sw_params *p = &b->params;

	for (unsigned int i = 0; i < 2; i++) {
		p->ports[i].link_speed_bps = l->speed_bps;
		p->ports[i].cable_delay_ns = l->cable_ns;
		p->ports[i].peer_response_ns = l->response_ns + CLOCK_NS;
	}
	p->ports[1].shaper_rate_bps = l->drain_bps;
	p->max_frame_bytes = l->largest_bytes;
	p->wred_queues = 0;
	p->mmu.cell_bytes = l->cell_bytes;
	p->mmu.lossless = (struct buffer_profile){
		.static_th_bytes = l->dynamic ? 0 : l->limit_bytes,
		.dynamic = l->dynamic,
		.dynamic_th = -8,
		.xon_offset_bytes = l->xon_offset_bytes,
	};
	sw_params_resolve(p);
}

struct outcome {
	uint64_t lost, pauses;
	double used; /* of the formula's headroom */
};

static struct outcome
run(const struct loop *l, uint64_t seed, uint32_t short_by)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0, free_ps[2] = {0, 0}, needed;
	struct outcome out;
	struct prng r;

	prng_seed(&r, seed, 1);
	configure(b, l);
	needed = sw_port_headroom(&b->params, 0).total_bytes;
	b->params.mmu.lossless.xoff_bytes = needed - short_by;
	bench_start_learnt(b);
	memset(&peer, 0, sizeof(peer));
	/* Some cycles of what fits below the limit and into headroom. */
	peer.most_frames = 100 + 5 * (l->limit_bytes + needed) / MIN_FRAME_BYTES;
	peer.most_frames = min_u64(peer.most_frames, 4000);
	while (peer.frames < peer.most_frames || lands_ns(&peer.data) != NEVER_NS) {
		uint64_t next = NEVER_NS;

		while (lands_ns(&peer.data) <= now_ns)
			give_length(b, 0, DSCP_LOSSLESS, land(&peer.data), now_ns);
		/* At the moment at which a pause takes effect, a frame may still begin. */
		while (peer_begins_ns() <= now_ns)
			peer_begins(l, &r);
		while (lands_ns(&peer.pauses) <= now_ns)
			peer.paused_until_ps =
				now_ns * PS_PER_NS + wire_ps(l, 64ull * land(&peer.pauses));
		while (sw_queue_bytes(b->sw, 0, LOSSY_QUEUE) < 2 * l->largest_bytes)
			give_length(b, 1, 0, length_of(l, l->back_mix, &r), now_ns);
		/* What leaves by port 1 may release the pause of port 0. */
		for (int port = 1; port >= 0; port--)
			port_sends(b, l, (uint16_t)port, &free_ps[port], now_ns);
		for (uint16_t port = 0; port < 2; port++)
			next = min_u64(next, max_u64(next_ns(b, port), ns_from(free_ps[port])));
		next = min_u64(next, min_u64(lands_ns(&peer.data), lands_ns(&peer.pauses)));
		next = min_u64(next, peer_begins_ns());
		assert_true(next >= now_ns); /* XON has effect at once */
		now_ns = next;
	}
	out.lost = drops(b, 0, SW_DROP_NO_HEADROOM);
	out.pauses = sw_pfc_tx(b->sw, 0)->stats.tx_pause[PAUSED_PRIO];
	out.used = (double)mmu_persistent_watermark_bytes(sw_mmu(b->sw), MMU_WATERMARK_PG_HEADROOM,
							  0, PAUSED_PRIO) /
		   (double)needed;
	drain(b, 1, &now_ns); /* first: while it holds frames, port 0 repeats its pauses */
	drain(b, 0, &now_ns);
	bench_stop(b);
	return out;
}

static uint64_t
any(struct prng *r, unsigned int n, const uint64_t values[])
{
	return values[prng_below(r, n)];
}
#define ANY(r, ...) any(r, ARRAY_LEN(((uint64_t[]){__VA_ARGS__})), (const uint64_t[]){__VA_ARGS__})

static struct loop
random_loop(struct prng *r)
{
	struct loop l = {
		.speed_bps = ANY(r, 10, 25, 40, 100, 400) * GBPS,
		.response_ns = ANY(r, 0, 1, 80, 500),
		.limit_bytes = 1 + prng_below(r, 30000),
		.xon_offset_bytes = ANY(r, 1, 1, 2496, 20000),
		.largest_bytes = (uint32_t)ANY(r, 256, 512, 1086, 1518, 1518, 2000),
		.mix = (enum mix)prng_below(r, MIXES),
		.back_mix = prng_below(r, 2) ? MIX_LONGEST : MIX_ANY,
		.cell_bytes = (uint16_t)ANY(r, 0, 0, 64, 80, 127, 208, 256, 1000),
		.dynamic = prng_below(r, 4) == 0,
	};

	/* At most 40 KB of cable, so that all fits into the mbufs of the bench. */
	do
		l.cable_ns = ANY(r, 0, 1, 25, 200, 1000, 4000);
	while (l.cable_ns * l.speed_bps / (4 * NS_PER_SEC) > 40000);
	l.drain_bps = l.speed_bps / ANY(r, 2, 3, 10, 50);
	l.one_bytes = MIN_FRAME_BYTES + (uint32_t)prng_below(r, l.largest_bytes - 63);
	/* The length that wastes most of its cells. */
	if (l.cell_bytes > 0 && prng_below(r, 2) && l.cell_bytes >= MIN_FRAME_BYTES &&
	    l.cell_bytes < l.largest_bytes)
		l.one_bytes = l.cell_bytes + 1u;
	return l;
}

static void
describe(const struct loop *l, uint64_t seed, const struct outcome *out)
{
	print_message("seed %" PRIu64 ": %" PRIu64
		      " frames lost, headroom used %.3f; speed %" PRIu64 " cable_ns %" PRIu64
		      " response_ns %" PRIu64 " drain %" PRIu64 " limit %" PRIu64
		      " largest %u one %u mix %d back %d cell %u dynamic %d\n",
		      seed, out->lost, out->used, l->speed_bps, l->cable_ns, l->response_ns,
		      l->drain_bps, l->limit_bytes, l->largest_bytes, l->one_bytes, l->mix,
		      l->back_mix, l->cell_bytes, l->dynamic);
}

TEST(no_frame_is_lost_with_the_headroom_of_the_formula)
{
	const char *runs = getenv("QUENCH_HEADROOM_RUNS");
	uint64_t n = runs == NULL ? DEFAULT_RUNS : strtoull(runs, NULL, 10), lost = 0, pauses = 0;
	double used[2] = {0, 0}; /* without cells, with cells */

	for (uint64_t seed = 1; seed <= n; seed++) {
		struct prng r;
		struct loop l;
		struct outcome out;

		prng_seed(&r, seed, 0);
		l = random_loop(&r);
		out = run(&l, seed, 0);
		lost += out.lost > 0;
		pauses += out.pauses;
		if (out.used > used[l.cell_bytes > 0])
			used[l.cell_bytes > 0] = out.used;
		if (out.lost > 0)
			describe(&l, seed, &out);
	}
	print_message("%" PRIu64 " runs, %" PRIu64
		      " pauses: %.3f of headroom used, %.3f with cells\n",
		      n, pauses, used[0], used[1]);
	assert_int_equal(lost, 0);
	assert_true(pauses > 20 * n);
	/* A formula that asks for much more than is ever used would pass, too. */
	assert_true(used[0] > 0.95 && used[1] > 0.85);
}

/*
 * Every phase of the wires, where the limit is no multiple of the frame: one frame less than the
 * formula says loses frames.
 */
TEST(one_frame_less_than_the_formula_loses_frames)
{
	struct loop l = {
		.speed_bps = 10 * GBPS,
		.cable_ns = 1000,
		.drain_bps = 3 * GBPS,
		.xon_offset_bytes = 1,
		.largest_bytes = 1518,
		.mix = MIX_LONGEST,
		.back_mix = MIX_LONGEST,
	};
	uint64_t lost = 0;

	for (l.limit_bytes = 20 * 1518; l.limit_bytes < 21 * 1518; l.limit_bytes += 253) {
		assert_int_equal(run(&l, 1, 0).lost, 0);
		lost += run(&l, 1, 1518).lost > 0;
	}
	assert_true(lost > 0);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
