/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Same as new: a flow that takes the place of a removed one begins as it would in a NIC that had
 * none before, in memory and on the wire. What a QP or a flow is made of is compared byte for byte,
 * but for pointers.
 */
#include <stdlib.h>

#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/np/echo.h"
#include "nic/np/nic_np.h"
#include "nic/answers/reads.h"
#include "nic/neighbour/nic_resolve.h"
#include "unit/chance.h"
#include "unit/nic/nic_test.h"
#include "unit/sanitized.h"

#define QPS 2u
#define REMOVE_NS (300 * NS_PER_US)
#define BEGIN_NS (2 * NS_PER_SEC)
#define MOST_BLOCKS 128u

/* Memory of one life, in the order in which it was kept. */
struct block {
	const char *name;
	size_t bytes;
	uint8_t *copy;
};
static struct block blocks[2][MOST_BLOCKS];
static unsigned int n_blocks[2];
static uint64_t digests[2];

static struct {
	struct prng r;
	bool bad; /* loses and marks */
	uint64_t *digest;
} cable;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	uint64_t number = prng_below(&cable.r, 100);

	(void)n;
	if (cable.bad)
		return number < 5 ? FATE_LOSE : number < 45 ? FATE_MARK : FATE_PASS;
	*cable.digest = (*cable.digest ^ (p->now_ns << 8 | v->opcode) ^ (uint64_t)v->psn << 40 ^
			 (uint64_t)v->payload_bytes << 24 ^ from) *
			0x100000001b3ull;
	return FATE_PASS;
}

static void
keep(unsigned int life, const char *name, const void *memory, size_t bytes)
{
	struct block *b = &blocks[life][n_blocks[life]++];

	assert_true(n_blocks[life] <= MOST_BLOCKS);
	*b = (struct block){name, bytes, malloc(bytes + 1)};
	assert_non_null(b->copy);
	memcpy(b->copy, memory, bytes);
}

/* An array of the node. It need not exist in both lives: then only one kind of flow needs it. */
#define KEEP(array)                                                                                \
	keep(life, #array, array == NULL ? "" : (const void *)&array[item],                        \
	     array == NULL ? 0 : sizeof(array[item]))

static void
keep_qp(unsigned int life, const struct nic *nic, uint32_t item)
{
	size_t more = nic->needs.more_bytes;

	keep(life, "qp", &nic->qps[item], sizeof(struct nic_qp));
	KEEP(nic->tallies);
	KEEP(nic->acked_bytes);
	KEEP(nic->arrivals);
	KEEP(nic->recv_full_ns);
	KEEP(nic->echoes);
	KEEP(nic->reads);
	KEEP(nic->due_ns);
	KEEP(nic->np->windows);
	KEEP(nic->measure->rtts);
	KEEP(nic->measure->times);
	KEEP(nic->measure->answers);
	KEEP(nic->measure->departures);
	keep(life, "cc_more",
	     nic->cc_more == NULL ? (const uint8_t *)"" : nic->cc_more + item * more, more);
}

static void
keep_flow(unsigned int life, const struct nic *nic)
{
	const struct nic_neighbours *n = nic->neighbours;
	struct qp_flow flow = nic->flows[0];
	struct neigh_key key = {.ip = flow.params.peer_ip};
	uint32_t neighbour = neigh_find(n->table, &key);

	if (flow.times != NULL)
		keep(life, "times", flow.times, sizeof(*flow.times));
	if (flow.pacing != NULL)
		keep(life, "pacing", flow.pacing, sizeof(*flow.pacing));
	flow.series = NULL;
	flow.middle.shift = flow.ack.shift = flow.cnp.shift = NULL;
	flow.full = flow.last = NULL;
	flow.pacing = flow.rx_pacing = NULL;
	flow.times = NULL;
	keep(life, "flow", &flow, sizeof(flow));
	if (neighbour == NEIGH_NONE)
		return;
	keep(life, "neighbour", neigh_get(n->table, neighbour), sizeof(struct neigh));
	if (neighbour < n->n_askers)
		keep(life, "asker", &n->askers[neighbour], sizeof(n->askers[neighbour]));
}

/* ---- lives ---- */

static void
any_params(struct nic_params *p)
{
	do {
		p->cc = (int)any(&cable.r, CC_NONE, CC_ALGORITHMS - 1);
	} while (cc_algorithms[p->cc]->hears_hops);
	p->ack_every = cc_algorithms[p->cc]->has_window ? 1 : (uint16_t)any(&cable.r, 1, 8);
	p->rate_window_bytes = !cc_algorithms[p->cc]->has_window && p->ack_every == 1 ? 20000 : 0;
	p->window_packets = 64;
	p->local_ack_timeout = 4;
	p->min_rnr_timer = 2;
	p->max_rd_atomic = (uint8_t)any(&cable.r, 1, 6);
	p->measure_times = NIC_MEASURE_ON;
	p->measure_pacing = true;
	p->np.np_ecn_echo = cc_algorithms[p->cc]->has_window;
	p->np.np_cnp_moderation = (int)any(&cable.r, NP_PER_QP, NP_PER_PORT);
	p->np.np_min_time_between_cnps_us = (uint32_t)any(&cable.r, 0, 4);
}

static struct nic_qp_params
any_qp(unsigned int host, bool requester)
{
	struct nic_qp_params qp = nic_test_qp(host);

	qp.requester = requester;
	qp.initial_psn = (uint32_t)any(&cable.r, 0, PSN_MASK);
	qp.message_bytes = any(&cable.r, 1, 6000);
	qp.message_size = chance(&cable.r, 50) ? WORKLOAD_UNIFORM : WORKLOAD_FIXED;
	qp.depth = 1;
	qp.messages = any(&cable.r, 1, 200);
	if (chance(&cable.r, 50)) {
		qp.arrival = WORKLOAD_POISSON;
		qp.load_bps = 5 * GBPS;
	}
	if (chance(&cable.r, 30)) {
		qp.max_recv_wr = 2;
		qp.post_recv_ns = 2000;
	}
	qp.rate_cap_bps = chance(&cable.r, 30) ? 2 * GBPS : 0;
	if (chance(&cable.r, 50))
		memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
	return qp;
}

/* Until a time. ARP is no RoCE. */
static void
run(uint64_t until_ns)
{
	uint64_t next_ns;

	while ((next_ns = pair_next_ns(&pair)) != NEVER_NS && next_ns <= until_ns) {
		pair.now_ns = next_ns > pair.now_ns ? next_ns : pair.now_ns;
		pair_deliver(&pair);
		for (unsigned int h = 0; h < 2; h++) {
			struct node *nic = pair.nic[h];
			struct rte_mbuf *m;

			while (nic->ops->next_ns(nic, 0) <= pair.now_ns &&
			       nic->ops->tx(nic, 0, &m, 1, pair.now_ns) == 1) {
				if (rte_pktmbuf_mtod(m, const uint8_t *)[13] == 6)
					cable_push(&pair.cable[h], m, pair.now_ns + PAIR_DELAY_NS);
				else
					pair_carry(&pair, h, m);
			}
		}
	}
	pair.now_ns = until_ns;
}

/* Both ends add or remove their flow; neither: a change of nothing. */
static void
change(bool adds, bool removes)
{
	static const uint32_t id = 0;
	static const struct nic_flow_update update;

	for (unsigned int h = 0; h < 2; h++) {
		struct nic_reload r = {.params = pair.params[h],
				       .flows = &update,
				       .n_flows = 1,
				       .added = &id,
				       .n_added = adds,
				       .removed = &id,
				       .n_removed = removes};

		nic_reload(pair.nic[h], &r);
		while (!nic_reload_is_done(pair.nic[h]))
			pair.nic[h]->ops->rx(pair.nic[h], 0, NULL, 0, pair.now_ns);
	}
}

/* The seed determines what else the flow is. */
static void
add(uint64_t seed, unsigned int from, int verb)
{
	const struct nic_flow_place place = {.first_item = 0, .n_qps = QPS};

	for (unsigned int h = 0; h < 2; h++) {
		struct nic_qp_params qp;

		prng_seed(&cable.r, seed, 2);
		qp = any_qp(h, h == from);
		qp.verb = verb;
		qp.start_ns = pair.now_ns;
		assert_int_equal(nic_prepare_flow(pair.nic[h], &qp, &place), 0);
	}
	change(true, false);
}

static void
live(unsigned int life, uint64_t seed)
{
	pair_watch(&pair, watch, &cable, sizeof(cable));
	digests[life] = 0xcbf29ce484222325ull;
	cable.digest = &digests[life];
	prng_seed(&cable.r, seed, 0);
	any_params(&pair.params[0]);
	prng_seed(&cable.r, seed, 0);
	any_params(&pair.params[1]);
	pair_create(&pair, 512);
	for (unsigned int h = 0; h < 2; h++)
		assert_int_equal(nic_reserve_flows(pair.nic[h], 1), 0);
	cable.bad = true;
	if (life == 1)
		/* Mostly of the same verb, so that it needs the same memory. */
		add(seed + 1000000, seed / 4 % 2, seed % 5 == 0 ? NIC_SEND : (int)(seed % 4));
	else
		change(false, false);
	run(REMOVE_NS);
	change(false, life == 1);
	run(BEGIN_NS);
	for (unsigned int h = 0; life == 1 && h < 2; h++) {
		assert_true(nic_flow_is_free(pair.nic[h], 0));
		nic_forget_flow(pair.nic[h], 0);
	}
	cable.bad = false;
	add(seed, seed % 2, (int)(seed % 4));
	for (unsigned int h = 0; h < 2; h++) {
		for (uint32_t i = 0; i < QPS; i++)
			keep_qp(life, nic_of(pair.nic[h]), i);
		keep_flow(life, nic_of(pair.nic[h]));
	}
	run(BEGIN_NS + 100 * NS_PER_MS);
	pair_destroy(&pair);
}

static unsigned int
differences(uint64_t seed)
{
	unsigned int bad = 0;

	assert_int_equal(n_blocks[0], n_blocks[1]);
	for (unsigned int i = 0; i < n_blocks[0]; i++) {
		const struct block *a = &blocks[0][i], *b = &blocks[1][i];

		assert_string_equal(a->name, b->name);
		for (size_t at = 0; at < a->bytes && at < b->bytes; at++)
			if (a->copy[at] != b->copy[at]) {
				print_message("seed %ju: %s (%u) differs from byte %zu on: %02x, "
					      "new %02x\n",
					      (uintmax_t)seed, a->name, i, at, b->copy[at],
					      a->copy[at]);
				bad++;
				break;
			}
		free(a->copy);
		free(b->copy);
	}
	n_blocks[0] = n_blocks[1] = 0;
	if (digests[0] != digests[1]) {
		print_message("seed %ju: the frames differ\n", (uintmax_t)seed);
		bad++;
	}
	return bad;
}

/* QUENCH_NIC_SEEDS: so many, from QUENCH_NIC_SEED on. */
TEST(flow_in_the_place_of_another_is_as_new)
{
	const char *n = getenv("QUENCH_NIC_SEEDS"), *first = getenv("QUENCH_NIC_SEED");
	uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1;
	unsigned int bad = 0;

	for (uint64_t end = seed + (n != NULL   ? strtoull(n, NULL, 10)
				    : SANITIZED ? 5
						: 30);
	     seed < end; seed++) {
		live(0, seed);
		live(1, seed);
		bad += differences(seed);
	}
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = start_eal)
