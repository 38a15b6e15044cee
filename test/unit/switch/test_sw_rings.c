/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings between shards that are full. A shard polls its ports while the others stand still, until
 * more frames wait for them than the rings have slots. Then all shards run, without new frames,
 * and only when next_ns() asks for it.
 */
#include "base/numbers/prng.h"
#include "switch/core/switch.h"
#include "switch/shard/crossing.h"
#include "unit/switch/sw_test.h"

#define PORTS 6
#define SHARDS 3
#define VLAN 10
/* Every shard sends more than a ring's slots to each of the others. */
#define FRAMES 3800u
#define BURST 32
#define STEP_NS 10000
/* Frames that a port may send in a step. */
#define MOST_OUT 320

struct rings {
	struct bench *b;
	struct prng r;
	uint64_t now_ns;
	uint32_t psn;
	bool lossless_alone;
	uint32_t last_psn[PORTS][PORTS][2]; /* [egress][source][lossless] */
	uint64_t given[PORTS], out[PORTS];  /* by egress port */
	size_t free_chunks[PORTS];          /* by shard */
};

static struct rings rings;

static size_t
free_chunks(const struct rings *u, uint16_t shard)
{
	const struct sw_chunks *c = &sw_shard_at(sw_of(u->b->sw), shard)->shard.chunks;
	size_t n = (size_t)(c->end - c->fresh);

	for (const struct sw_chunk *i = c->free; i != NULL; i = i->next)
		n++;
	return n;
}

static struct rings *
begin_with_ports(uint16_t n_ports, uint16_t shards)
{
	struct rings *u = &rings;

	*u = (struct rings){.b = &bench};
	prng_seed(&u->r, shards, 4);
	bench_defaults(&u->b->params, n_ports);
	u->b->params.shards = shards;
	u->b->params.shaper_burst_ns = STEP_NS;
	/* Nothing is dropped, and nobody is paused. */
	u->b->params.mmu.buffer_bytes = 400 * 1000 * 1000;
	return u;
}

static struct rings *
begin(uint16_t shards)
{
	return begin_with_ports(PORTS, shards);
}

/* @param mbufs  As in struct sw_pools. */
static void
start(struct rings *u, uint16_t vlan, uint32_t mbufs)
{
	struct sw_pools pools = {.frames = u->b->frames, .clones = u->b->clones, .mbufs = mbufs};

	sw_params_resolve(&u->b->params);
	u->b->sw = sw_create(&u->b->params, &pools);
	assert_non_null(u->b->sw);
	for (uint16_t port = 0; port < PORTS; port++) {
		uint8_t mac[6];

		host_mac(mac, (uint8_t)port);
		assert_int_equal(sw_learn(u->b->sw, vlan, mac, port, 0), 0);
	}
	for (uint16_t i = 0; i < u->b->params.shards; i++)
		u->free_chunks[i] = free_chunks(u, i);
}

/* Access ports, and of each shard one whose frames have tags: some frames that cross change their
 * form. */
static struct rings *
start_with_vlans(void)
{
	struct rings *u = begin(SHARDS);

	u->b->params.vlan_filtering = true;
	for (uint16_t port = 0; port < PORTS; port++) {
		if (port < SHARDS)
			u->b->params.ports[port].access_vlan = VLAN;
		else
			strcpy(u->b->params.ports[port].tagged_vlans, "10");
	}
	start(u, VLAN, 2 * BENCH_FRAMES);
	return u;
}

static struct node *
node_of(const struct rings *u, uint16_t port)
{
	return &sw_owner(sw_of(u->b->sw), port)->node;
}

static bool
is_of(const struct rings *u, uint16_t shard, uint16_t port)
{
	return sw_shard_ports(u->b->sw, shard) >> port & 1;
}

static void
count_given(struct rings *u, uint16_t from, uint8_t to)
{
	for (uint16_t port = 0; port < PORTS; port++)
		u->given[port] += port == to || (to == BROADCAST_HOST && port != from);
}

static struct rte_mbuf *
next_frame(struct rings *u, uint16_t from, uint8_t to)
{
	bool tagged = u->b->params.vlan_filtering && from >= SHARDS;
	struct frame_spec s = {.src = (uint8_t)from,
			       .dst = to,
			       .dscp = u->lossless_alone || prng_below(&u->r, 2) == 0 ? 26 : 0,
			       .ecn = ECN_ECT0,
			       .tagged = tagged,
			       .vlan_tci = tagged ? VLAN : 0,
			       .psn = u->psn++};

	count_given(u, from, to);
	return make_frame(u->b, &s);
}

/* Few floods: a copy of each for each port needs an mbuf of its own. */
static uint8_t
some_host(struct rings *u, uint16_t from)
{
	uint8_t to = (uint8_t)prng_below(&u->r, PORTS);

	if (prng_below(&u->r, 32) == 0)
		return BROADCAST_HOST;
	return to == from ? (uint8_t)((to + 1) % PORTS) : to;
}

static void
see(struct rings *u, uint16_t port, const struct rte_mbuf *m)
{
	struct frame_view v = view_of(m);
	struct roce_view r = roce_of(m);
	uint32_t *last = &u->last_psn[port][rte_pktmbuf_mtod(m, const uint8_t *)[11]][v.dscp == 26];

	assert_int_equal(v.tagged, u->b->params.vlan_filtering && port >= SHARDS);
	assert_true(r.psn + 1 > *last);
	*last = r.psn + 1;
	u->out[port]++;
}

static void
transmit(struct rings *u, uint16_t port)
{
	struct rte_mbuf *out[MOST_OUT];
	uint16_t n = node_of(u, port)->ops->tx(node_of(u, port), port, out, MOST_OUT, u->now_ns);

	for (uint16_t i = 0; i < n; i++)
		see(u, port, out[i]);
	rte_pktmbuf_free_bulk(out, n);
}

/* A shard polls its ports until it has received all frames; dst 0xFF: a flood, else to any. */
static void
poll_alone(struct rings *u, uint16_t shard, unsigned int frames, bool floods)
{
	while (frames > 0) {
		for (uint16_t port = 0; port < PORTS; port++) {
			struct node *node = node_of(u, port);
			struct rte_mbuf *m[BURST];
			uint16_t n = 0;

			if (!is_of(u, shard, port))
				continue;
			for (; n < BURST && frames > 0; frames--)
				m[n++] = next_frame(u, port,
						    floods ? BROADCAST_HOST : some_host(u, port));
			node->ops->rx(node, port, m, n, u->now_ns);
			transmit(u, port);
		}
		u->now_ns += STEP_NS;
	}
}

static const struct sw_ring *
ring(const struct rings *u, uint16_t from, uint16_t to)
{
	return sw_crossing_ring(sw_of(u->b->sw)->shard.shards, from, to);
}

static void
must_overflow(const struct rings *u, uint16_t from)
{
	struct sw_ledger l = sw_ledger(u->b->sw);

	for (uint16_t to = 0; to < u->b->params.shards; to++)
		if (to != from)
			assert_false(sw_fifo_is_empty(&ring(u, from, to)->overflow));
	/* The frames that wait to cross count as queued. */
	assert_true(l.in + l.copies == l.queued + l.sent);
}

/* Call the ports that ask for it. @return false: none will. */
static bool
run_step(struct rings *u)
{
	bool due = false, more = false;

	for (uint16_t port = 0; port < PORTS; port++) {
		uint64_t next = node_of(u, port)->ops->next_ns(node_of(u, port), port);

		more |= next != NEVER_NS;
		if (next > u->now_ns)
			continue;
		transmit(u, port);
		due = true;
	}
	u->now_ns += STEP_NS;
	return due || more;
}

static void
run_until_quiet(struct rings *u)
{
	for (unsigned int i = 0; run_step(u); i++)
		assert_true(i < 10000);
}

static void
must_be_empty(const struct rings *u)
{
	assert_int_equal(sw_ledger(u->b->sw).queued, 0);
	assert_int_equal(mmu_used_bytes(sw_mmu(u->b->sw)), 0);
	bench_sees_balance(u->b);
	bench_sees_full_pools(u->b);
	for (uint16_t i = 0; i < u->b->params.shards; i++)
		assert_int_equal(free_chunks(u, i), u->free_chunks[i]);
}

static void
must_all_be_out(const struct rings *u)
{
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(u->out[port], u->given[port]);
	assert_int_equal(all_drops(u->b), 0);
	must_be_empty(u);
}

TEST(frames_beyond_a_full_ring_leave_in_order_without_new_frames)
{
	struct rings *u = start_with_vlans();

	for (uint16_t shard = 0; shard < SHARDS; shard++) {
		poll_alone(u, shard, FRAMES, false);
		must_overflow(u, shard);
		run_until_quiet(u);
		must_all_be_out(u);
	}
	bench_stop(u->b);
}

/* One entry of a flooded frame waits for each of the other shards: more entries than mbufs. */
TEST(floods_beyond_full_rings_have_memory)
{
	struct rings *u = begin(PORTS);

	start(u, 0, BENCH_FRAMES);
	poll_alone(u, 0, BENCH_FRAMES, true);
	must_overflow(u, 0);
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
}

static uint16_t
first_port(const struct rings *u, uint16_t shard)
{
	return (uint16_t)__builtin_ctzll(sw_shard_ports(u->b->sw, shard));
}

/* Frames from the first port of a shard to that of another, until the ring between them is full. */
static void
fill_ring(struct rings *u, uint16_t from, uint16_t to)
{
	uint16_t in = first_port(u, from), out = first_port(u, to);

	assert_true(in < PORTS && out < PORTS);
	for (unsigned int i = 0; i < SW_RING_SLOTS / BURST; i++) {
		struct rte_mbuf *m[BURST];

		for (unsigned int k = 0; k < BURST; k++)
			m[k] = next_frame(u, in, (uint8_t)out);
		node_of(u, in)->ops->rx(node_of(u, in), in, m, BURST, u->now_ns);
	}
	assert_int_equal(sw_ring_waiting(ring(u, from, to)), SW_RING_SLOTS);
}

/* A ring is full when the second of two shards polls its first port. */
static uint32_t
taken_in_a_round(uint16_t n_ports)
{
	struct rings *u = begin_with_ports(n_ports, 2);
	uint32_t left;

	start(u, 0, 2 * BENCH_FRAMES);
	fill_ring(u, 0, 1);
	transmit(u, first_port(u, 1));
	left = sw_ring_waiting(ring(u, 0, 1));
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
	return SW_RING_SLOTS - left;
}

TEST(a_round_takes_a_burst_for_each_port_and_four_from_few_ports)
{
	assert_int_equal(taken_in_a_round(PORTS), 4 * BURST);
	assert_int_equal(taken_in_a_round(32), 16 * BURST);
}

/* A round takes no more than one ring may have, so the rings are served in turn. */
TEST(a_full_ring_does_not_starve_another)
{
	struct rings *u = begin(SHARDS);
	uint16_t to = SHARDS - 1;

	start(u, 0, 2 * BENCH_FRAMES);
	for (uint16_t from = 0; from < to; from++)
		fill_ring(u, from, to);
	for (unsigned int round = 0; round < SHARDS; round++) {
		transmit(u, first_port(u, to));
		u->now_ns += STEP_NS;
	}
	for (uint16_t from = 0; from < to; from++)
		assert_true(sw_ring_waiting(ring(u, from, to)) <= SW_RING_SLOTS - 4 * BURST);
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
}

/* The ring empties while its producer receives as many frames as leave. */
TEST(frames_that_arrive_while_a_full_ring_empties_stay_in_order)
{
	struct rings *u = start_with_vlans();
	unsigned int rounds = 0, over = 0;

	poll_alone(u, 0, FRAMES, false);
	must_overflow(u, 0);
	for (; rounds < 400; rounds++) {
		unsigned int room = rte_mempool_avail_count(u->b->arrivals);

		/* The producer fills the gap in the ring, and then more wait. */
		poll_alone(u, 0, RTE_MIN(room, 3 * BURST), false);
		over += !sw_fifo_is_empty(&ring(u, 0, 1)->overflow);
		for (uint16_t port = 0; port < PORTS; port++)
			if (!is_of(u, 0, port) && rounds % (is_of(u, 1, port) ? 8 : 2) == 0)
				transmit(u, port);
	}
	assert_true(over > rounds / 2);
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
}

/* A peer pauses all classes of a port. @return when the pause ends. */
static uint64_t
pause_port(struct rings *u, uint16_t port)
{
	static const uint8_t zero_mac[6];
	struct rte_mbuf *m = rte_pktmbuf_alloc(u->b->arrivals);
	uint16_t quanta[8];

	assert_non_null(m);
	memset(quanta, 0xFF, sizeof(quanta));
	pfc_frame_build((uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES), zero_mac, 0xFF, quanta);
	node_of(u, port)->ops->rx(node_of(u, port), port, &m, 1, u->now_ns);
	return u->now_ns + UINT16_MAX * 512ull * NS_PER_SEC / (40 * GBPS);
}

/* Nothing leaves and no charge is returned, so only the shards themselves know what is left. */
TEST(a_full_ring_empties_into_the_queues_of_paused_ports)
{
	struct rings *u = start_with_vlans();
	uint64_t end_ns = NEVER_NS;

	u->lossless_alone = true;
	poll_alone(u, 0, FRAMES, false);
	must_overflow(u, 0);
	for (uint16_t port = 0; port < PORTS; port++)
		if (!is_of(u, 0, port))
			end_ns = RTE_MIN(end_ns, pause_port(u, port));
	while (u->now_ns < end_ns - STEP_NS)
		run_step(u);
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(u->out[port], is_of(u, 0, port) ? u->given[port] : 0);
	/* All that waited is in the queues. */
	for (uint16_t to = 1; to < SHARDS; to++) {
		assert_true(sw_fifo_is_empty(&ring(u, 0, to)->overflow));
		assert_int_equal(sw_ring_waiting(ring(u, 0, to)), 0);
	}
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
}

static uint64_t
sum(const uint64_t n[PORTS])
{
	uint64_t all = 0;

	for (uint16_t port = 0; port < PORTS; port++)
		all += n[port];
	return all;
}

static uint64_t
sum_of_drops(const struct rings *u, enum sw_drop reason)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < PORTS; port++)
		n += drops(u->b, port, reason);
	return n;
}

TEST(a_restart_frees_what_waits_for_full_rings)
{
	struct rings *u = start_with_vlans();

	poll_alone(u, 1, FRAMES, false);
	must_overflow(u, 1);
	sw_restart(u->b->sw, u->now_ns);
	must_be_empty(u);
	assert_int_equal(sum_of_drops(u, SW_DROP_RESTART), sum(u->given) - sum(u->out));
	assert_int_equal(all_drops(u->b), sum_of_drops(u, SW_DROP_RESTART));
	run_until_quiet(u);
	/* The rings work as before. */
	memcpy(u->out, u->given, sizeof(u->out));
	poll_alone(u, 1, FRAMES / 4, true);
	run_until_quiet(u);
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(u->out[port], u->given[port]);
	bench_stop(u->b);
}

TEST(a_switch_with_full_rings_is_freed_with_its_frames)
{
	struct rings *u = start_with_vlans();

	poll_alone(u, 2, FRAMES, false);
	must_overflow(u, 2);
	sw_destroy(u->b->sw);
	bench_sees_full_pools(u->b);
}

/* Frames that cross to a port without a link are dropped there, and no others. */
TEST(a_link_goes_down_before_a_full_ring)
{
	struct rings *u = start_with_vlans();

	poll_alone(u, 0, FRAMES, false);
	must_overflow(u, 0);
	sw_set_link(u->b->sw, 4, false, u->now_ns);
	run_until_quiet(u);
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(u->out[port] + drops(u->b, port, SW_DROP_LINK_DOWN),
				 u->given[port]);
	assert_int_equal(u->out[4], 0);
	assert_int_equal(all_drops(u->b), drops(u->b, 4, SW_DROP_LINK_DOWN));
	must_be_empty(u);
	sw_set_link(u->b->sw, 4, true, u->now_ns);
	run_until_quiet(u);
	memcpy(u->out, u->given, sizeof(u->out));
	u->out[4] -= drops(u->b, 4, SW_DROP_LINK_DOWN);
	u->given[4] -= drops(u->b, 4, SW_DROP_LINK_DOWN);
	poll_alone(u, 0, FRAMES, false);
	run_until_quiet(u);
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(u->out[port], u->given[port]);
	must_be_empty(u);
	bench_stop(u->b);
}

/* What crosses was decided by the tables of its ingress, even if both shards have new ones. */
TEST(a_vlan_that_is_deleted_keeps_the_frames_that_wait_for_full_rings)
{
	struct rings *u = start_with_vlans();

	poll_alone(u, 0, FRAMES, false);
	must_overflow(u, 0);
	for (uint16_t port = 0; port < PORTS; port++) {
		u->b->params.ports[port].access_vlan = VLAN + 1;
		strcpy(u->b->params.ports[port].tagged_vlans, "");
	}
	sw_reload(u->b->sw, &u->b->params, bench_prepare_reload(u->b), u->now_ns);
	assert_false(sw_reload_settle(u->b->sw));
	/* A shard adopts the tables before it publishes or takes the next frames. */
	for (uint16_t shard = 0; shard < SHARDS; shard++)
		node_of(u, shard)->ops->rx(node_of(u, shard), shard, NULL, 0, u->now_ns);
	assert_true(sw_reload_settle(u->b->sw));
	must_overflow(u, 0);
	run_until_quiet(u);
	must_all_be_out(u);
	bench_stop(u->b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
