/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Same as new: after its link went down and up, or after a restart of the switch, a port equals in
 * memory that of a switch which has carried nothing, but for what is documented to stay: counters,
 * logs of pauses, and in the scheduler the turn and the debts of queues. The same for a neighbour
 * that was removed and comes again.
 *
 * Two VLANs of two hosts each, with a router between them, in one or two shards.
 */
#include "unit/switch/sw_test.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "unit/chance.h"
#include "switch/control/control_state.h"
#include "switch/core/switch.h"
#include "fwd/neigh.h"
#include "wire/link/lldp.h"

#define PORTS 4
#define LIVES 40
#define LIFE_NS (20 * NS_PER_MS)
#define STEP_NS (20 * NS_PER_US)
/* In which storms are restored, and averages of queues fall to 0. */
#define QUIET_NS (20 * NS_PER_MS)
#define REFILL_NS (10 * NS_PER_MS)

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};

static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.0.254/31"},
	{.name = "vlan 20", .ip = "10.0.20.1/24"},
};

/* All of a port that the switch keeps. */
struct kept {
	struct sw_port port;
	struct sw_forward_port forward;
	struct dcbx_port dcbx;
	enum pfcwd_state storm[TM_CLASSES];
};

static void
set_params(struct sw_params *p, uint16_t shards)
{
	bench_defaults(p, PORTS);
	set_small_group(p);
	p->shards = shards;
	p->vlan_filtering = true;
	for (uint16_t port = 0; port < PORTS; port++) {
		p->ports[port].access_vlan = port < 2 ? 10 : 20;
		p->ports[port].storm_bps[SW_STORM_BROADCAST] = 100 * MBPS;
		p->ports[port].shaper_rate_bps = 5 * GBPS;
	}
	p->ports[1].flow_control = SW_FLOW_AUTO;
	p->ports[2].pfc_asymmetric = true;
	p->ports[3].pfc_delay_quanta = 1000;
	p->queues[0][0].max_rate_bps = 1 * GBPS;
	p->queues[2][3].min_rate_bps = 1 * GBPS;
	p->wred_queues = 1u << 3 | 1u;
	p->queues[1][0].marking = MARK_PHANTOM;
	p->wred.green_min_threshold_bytes = 2000;
	p->wred.green_max_threshold_bytes = 20000;
	p->wred.wred_weight = 4;
	p->pfcwd.pfcwd = PFCWD_SONIC;
	p->pfcwd.poll_interval_ns = NS_PER_MS;
	p->pfcwd.detection_time_ns = 2 * NS_PER_MS;
	p->pfcwd.restoration_time_ns = 3 * NS_PER_MS;
	p->lldp.lldp = true;
	memcpy(p->router.router_mac, router_mac, 6);
	p->tables =
		(struct sw_tables){.interfaces = interfaces, .n_interfaces = ARRAY_LEN(interfaces)};
}

static struct sw_static_mac static_macs[] = {
	{.name = "one", .mac = {2, 0, 0, 0, 0, 1}, .vlan = 10, .port = "0"}};
static struct sw_static_route routes[] = {{.name = "10.99.0.0/16", .nexthop = "10.0.20.3"}};
static struct sw_neighbor neighbors[] = {{.name = "10.0.20.3", .mac = {2, 0, 0, 0, 0, 3}}};

/* Other values of keys that are live, and rules more. */
static void
change_params(struct sw_params *p, struct prng *r)
{
	uint16_t port = (uint16_t)any(r, 0, PORTS - 1);
	struct sw_port_params *pp = &p->ports[port];

	pp->shaper_rate_bps = any(r, 1, 40) * GBPS;
	pp->storm_bps[any(r, 0, SW_STORMS - 1)] = any(r, 0, 200) * MBPS;
	pp->flow_control = (int)any(r, SW_FLOW_OFF, SW_FLOW_AUTO);
	pp->pfc_asymmetric = pp->flow_control == SW_FLOW_PFC && chance(r, 50);
	pp->pfcwd = chance(r, 50);
	pp->pfc_delay_quanta = (uint16_t)any(r, 0, 2000);
	p->queues[port][any(r, 0, 7)].max_rate_bps = any(r, 1, 10) * GBPS;
	p->queues[port][any(r, 0, 7)].min_rate_bps = 500 * MBPS;
	p->sched.dwrr_weight[any(r, 0, 6)] = (uint8_t)any(r, 1, 100);
	p->sched.strict_queues = (uint8_t)any(r, 0, 255);
	p->wred.green_max_threshold_bytes = any(r, 3000, 50000);
	p->wred.wred_weight = (uint8_t)any(r, 0, 10);
	p->lldp.lldp = chance(r, 50) || p->ports[1].flow_control == SW_FLOW_AUTO ||
		       pp->flow_control == SW_FLOW_AUTO;
	p->pfcwd.pfcwd = chance(r, 50) ? PFCWD_SONIC : PFCWD_OFF;
	p->tables.static_macs = static_macs;
	p->tables.routes = routes;
	p->tables.neighbors = neighbors;
	p->tables.n_static_macs = p->tables.n_routes = p->tables.n_neighbors = 1;
}

static void
clean_pfc(struct sw_port *p)
{
	for (unsigned int prio = 0; prio < TM_CLASSES; prio++) {
		if (!(p->pfc_rx.paused >> prio & 1))
			p->pfc_rx.since_ns[prio] = 0;
		if (!(p->pfc_tx.sent >> prio & 1))
			p->pfc_tx.since_ns[prio] = 0;
	}
	if (p->pfc_rx.late_n == 0) {
		p->pfc_rx.late_first = 0;
		memset(p->pfc_rx.late, 0, sizeof(p->pfc_rx.late));
	}
	memset(&p->pfc_rx.stats, 0, sizeof(p->pfc_rx.stats));
	memset(&p->pfc_rx.log, 0, sizeof(p->pfc_rx.log));
	memset(&p->pfc_tx.stats, 0, sizeof(p->pfc_tx.stats));
	memset(&p->pfc_tx.log, 0, sizeof(p->pfc_tx.log));
	p->pfc_rx.seq = p->pfc_tx.seq = 0;
}

/*
 * Forget what is documented to stay, bring averages up to now, and fill token buckets: what they
 * lack is the frames of before, and comes back within REFILL_NS.
 */
static void
clean(struct kept *k, uint64_t now_ns)
{
	struct sw_port *p = &k->port;

	memset(&p->stats, 0, sizeof(p->stats));
	memset(p->storm_counts, 0, sizeof(p->storm_counts));
	clean_pfc(p);
	p->now.link_down_confirms = p->requested.link_down_confirms = 0;
	p->sched.turn = 0;
	for (unsigned int q = 0; q < TM_CLASSES; q++)
		if (p->sched.deficit_bytes[q] < 0) /* a debt, of less than a frame */
			p->sched.deficit_bytes[q] = 0;
	p->below_min = p->above_max = 0; /* as of the last tx() */
	token_bucket_update(&p->shaper, now_ns + REFILL_NS);
	token_bucket_update(&p->wire, now_ns + REFILL_NS);
	for (unsigned int q = 0; q < TM_CLASSES; q++) {
		assert_true(sw_queue_is_empty(&p->queue[q]));
		memset(&p->queue[q].fifo, 0, sizeof(p->queue[q].fifo));
		if (p->queue[q].wred.weight > 0)
			wred_age(&p->queue[q].wred, p->shaper.account.rate_bps, now_ns);
		p->queue[q].wred.idle_since_ns = 0;
		p->queue[q].marking = NULL;
		token_bucket_update(&p->queue_shaper[q].min, now_ns + REFILL_NS);
		token_bucket_update(&p->queue_shaper[q].max, now_ns + REFILL_NS);
	}
	for (unsigned int i = 0; i < SW_STORMS; i++)
		token_bucket_update(&k->forward.storm[i], now_ns + REFILL_NS);
	memset(&k->dcbx.stats, 0, sizeof(k->dcbx.stats));
	if (!k->dcbx.has_peer) {
		memset(&k->dcbx.peer, 0, sizeof(k->dcbx.peer));
		k->dcbx.peer_until_ns = 0;
	}
}

static struct kept kept[2][PORTS];

/* What ports without a link say to their peers, whatever their buffers still hold. */
static struct pfc_tx silent[2][PORTS];

static void
keep_silence(const struct bench *b, struct pfc_tx k[PORTS])
{
	for (uint16_t port = 0; port < PORTS; port++) {
		struct sw_port p = sw_of(b->sw)->ports[port];

		clean_pfc(&p);
		k[port] = p.pfc_tx;
	}
}

static void
keep(const struct bench *b, struct kept *k, uint64_t now_ns)
{
	struct sw *sw = sw_of(b->sw);

	for (uint16_t port = 0; port < PORTS; port++, k++) {
		k->port = sw->ports[port];
		k->forward = sw->forward.ports[port];
		k->dcbx = sw->control->lldp.port[port];
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
			k->storm[prio] = sw_pfcwd(b->sw, port, prio)->state;
		clean(k, now_ns);
	}
}

/* Members by name, for a message. */
#define MEMBER(m)                                                                                  \
	{                                                                                          \
#m, offsetof(struct kept, m), sizeof(((struct kept *)0)->m)                        \
	}
static const struct {
	const char *name;
	size_t offset, size;
} members[] = {
	MEMBER(port.backlogged),
	MEMBER(port.paused_queues),
	MEMBER(port.xoff_pgs),
	MEMBER(port.closed_queues),
	MEMBER(port.storm_pgs),
	MEMBER(port.decides),
	MEMBER(port.shaper),
	MEMBER(port.wire),
	MEMBER(port.pfc_tx),
	MEMBER(port.pfc_retry_ns),
	MEMBER(port.sched),
	MEMBER(port.queue),
	MEMBER(port.queue_shaper),
	MEMBER(port.pfc_rx),
	MEMBER(port.flow_control),
	MEMBER(port.may_pause_pgs),
	MEMBER(port.pausable_prios),
	MEMBER(port.now),
	MEMBER(port.requested),
	MEMBER(port.heard),
	MEMBER(port),
	MEMBER(forward),
	MEMBER(dcbx.fast_left),
	MEMBER(dcbx.next_tx_ns),
	MEMBER(dcbx.other_until_ns),
	MEMBER(dcbx.pfc_state),
	MEMBER(dcbx),
	MEMBER(storm),
};

static void
check_equal(const struct kept *fresh, const struct kept *lived, uint16_t port, const char *what)
{
	for (unsigned int i = 0; i < ARRAY_LEN(members); i++)
		if (memcmp((const char *)fresh + members[i].offset,
			   (const char *)lived + members[i].offset, members[i].size) != 0)
			fail_msg("%s: port %u: %s is not as new", what, port, members[i].name);
}

/* What control() and the ports ask for by themselves until a time, in steps. */
static void
pass(struct bench *b, uint64_t from_ns, uint64_t until_ns, uint64_t step_ns)
{
	for (uint64_t now_ns = from_ns; now_ns <= until_ns; now_ns += step_ns) {
		b->sw->ops->control(b->sw, now_ns);
		for (uint16_t port = 0; port < PORTS; port++) {
			struct rte_mbuf *m = take(b, port, now_ns);

			if (m != NULL)
				sent(m);
		}
	}
}

static void
hear_lldp(struct bench *b, struct prng *r, uint16_t port, uint64_t now_ns)
{
	struct lldp_info peer = {
		.src_mac = {2, 0, 0, 0, 0, 9},
		.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 1, .id = {(uint8_t)any(r, 1, 2)}},
		.port = {.subtype = LLDP_PORT_IFNAME, .len = 4, .id = "eth0"},
		.ttl_s = (uint16_t)any(r, 0, 120),
		.dcbx = {.present = 1u << DCBX_PFC, .pfc = {.capability = 8, .enable = 8}},
	};
	uint8_t frame[LLDP_MAX_BYTES];

	give_bytes(b, port, frame, (uint16_t)lldp_build(frame, &peer), now_ns);
}

static void
give_something(struct bench *b, struct prng *r, uint64_t now_ns)
{
	uint16_t port = (uint16_t)any(r, 0, PORTS - 1);
	struct frame_spec f = {
		.src = (uint8_t)port,
		.dst = chance(r, 10) ? BROADCAST_HOST : (uint8_t)(port ^ 1),
		.dscp = chance(r, 60) ? 26 : 0,
		.ecn = 2,
		.payload_bytes = (uint16_t)any(r, 1, 1024),
	};

	if (chance(r, 15)) {
		give_pfc(b, port, (uint8_t)any(r, 0, 255), (uint16_t)any(r, 0, UINT16_MAX), now_ns);
	} else if (chance(r, 3)) {
		hear_lldp(b, r, port, now_ns);
	} else {
		struct rte_mbuf *m = make_frame(b, &f);

		if (chance(r, 20)) /* to the router, which asks for the other VLAN's hosts */
			memcpy(rte_pktmbuf_mtod(m, uint8_t *), router_mac, 6);
		give(b, port, m, now_ns);
	}
}

static void
reload(struct bench *b, uint64_t now_ns)
{
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), now_ns);
	for (uint16_t port = 0; port < PORTS; port++)
		b->sw->ops->rx(b->sw, port, NULL, 0, now_ns);
	b->sw->ops->control(b->sw, now_ns);
	assert_true(sw_reload_settle(b->sw));
}

/* How a port becomes new. */
enum renewal { LINK, RESTART, RELOAD };

static uint64_t
live(struct bench *b, struct prng *r, enum renewal renewal)
{
	uint64_t now_ns = 0;

	for (; now_ns < LIFE_NS; now_ns += STEP_NS) {
		uint64_t n = any(r, 0, 6);

		while (n-- > 0)
			give_something(b, r, now_ns);
		pass(b, now_ns, now_ns, STEP_NS);
		if (chance(r, 1))
			sw_set_link(b->sw, (uint16_t)any(r, 0, PORTS - 1), chance(r, 50), now_ns);
		if (renewal == RELOAD && chance(r, 1)) {
			set_params(&b->params, b->params.shards);
			change_params(&b->params, r);
			reload(b, now_ns);
		}
	}
	if (renewal == RELOAD) {
		set_params(&b->params, b->params.shards);
		reload(b, now_ns);
	}
	return now_ns;
}

static void
links_down_and_up(struct bench *b, struct pfc_tx k[PORTS], uint64_t now_ns)
{
	for (uint16_t port = 0; port < PORTS; port++)
		sw_set_link(b->sw, port, false, now_ns);
	pass(b, now_ns, now_ns, STEP_NS);
	keep_silence(b, k);
	for (uint16_t port = 0; port < PORTS; port++)
		sw_set_link(b->sw, port, true, now_ns);
	pass(b, now_ns, now_ns, STEP_NS);
}

/* A marking scheme's memory ends with a restart. */
static void
check_marking(const struct bench *b)
{
	const struct sw_marking *marking = sw_of(b->sw)->ports[1].queue[0].marking;
	static const union mark_state none;

	assert_memory_equal(&marking->scheme.state, &none, sizeof(none));
}

/* A lived switch beside a fresh one, which sees the same times. */
static void
compare(uint64_t seed, uint16_t shards, enum renewal renewal)
{
	struct bench *b = &bench;
	char what[64];
	struct prng r;

	snprintf(what, sizeof(what), "seed %u, %u shards, %s", (unsigned int)seed, shards,
		 (const char *[]){"link", "restart", "reload"}[renewal]);
	for (unsigned int lived = 0; lived < 2; lived++) {
		uint64_t now_ns = LIFE_NS, until_ns;

		prng_seed(&r, seed, 0);
		set_params(&b->params, shards);
		bench_start(b);
		if (lived)
			now_ns = live(b, &r, renewal);
		links_down_and_up(b, silent[lived], now_ns);
		if (renewal == RESTART)
			sw_restart(b->sw, now_ns);
		if (renewal == RESTART)
			check_marking(b);
		/* A restart is done at once. */
		until_ns = renewal == RESTART ? now_ns : now_ns + QUIET_NS;
		pass(b, now_ns, until_ns, 100 * NS_PER_US);
		keep(b, kept[lived], until_ns);
		bench_stop(b);
	}
	for (uint16_t port = 0; port < PORTS; port++) {
		if (memcmp(&silent[0][port], &silent[1][port], sizeof(struct pfc_tx)) != 0)
			fail_msg("%s: port %u: without a link, its pauses are not as new", what,
				 port);
		check_equal(&kept[0][port], &kept[1][port], port, what);
	}
}

TEST(a_port_is_as_new_after_its_link_was_down)
{
	for (uint64_t seed = 1; seed <= LIVES; seed++)
		compare(seed, seed % 2 == 0 ? 2 : 1, LINK);
}

TEST(a_port_is_as_new_after_a_restart)
{
	for (uint64_t seed = 1; seed <= LIVES; seed++)
		compare(seed, seed % 2 == 0 ? 2 : 1, RESTART);
}

/* Rules and keys that were changed are back: then the same as with a link that was down. */
TEST(a_port_is_as_new_after_its_keys_were_changed_and_taken_back)
{
	for (uint64_t seed = 1; seed <= LIVES; seed++)
		compare(seed, seed % 2 == 0 ? 2 : 1, RELOAD);
}

/* Without its place among the others, which are gone. */
static struct neigh
bare(const struct neigh_table *t, uint32_t index)
{
	struct neigh e = *neigh_get(t, index);

	e.ask_link = e.prev = e.next = 0;
	return e;
}

static struct neigh_key
neigh_key(uint64_t host)
{
	return (struct neigh_key){.ip = {.version = 4, .addr = {10, 0, 0, (uint8_t)host}},
				  .vlan_id = host % 2};
}

static struct neigh_table *
limited_table(void)
{
	static const struct neigh_params params = {.retrans_ns = NS_PER_SEC,
						   .reachable_ns = 5 * NS_PER_SEC};
	struct neigh_table *t = neigh_table_create(&params);

	assert_non_null(t);
	assert_int_equal(neigh_limit(t, 32, 2, PORTS), 0);
	return t;
}

static void
something_happens(struct neigh_table *t, struct prng *r, uint64_t now_ns)
{
	struct neigh_key key = neigh_key(any(r, 1, 40));
	uint32_t index = neigh_find(t, &key);
	const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)any(r, 1, 3)};
	struct neigh_claim claim = {.heard = chance(r, 30), .port = (uint16_t)any(r, 0, PORTS - 1)};
	struct neigh_claim_stats claims = {0};
	struct neigh_stats stats = {0};

	if (index == NEIGH_NONE) {
		index = neigh_claim(t, &claims, &key, claim, now_ns);
		if (index != NEIGH_NONE && claim.heard)
			neigh_on_heard(t, &stats, index, mac, now_ns);
		return;
	}
	switch (any(r, 0, 4)) {
	case 0:
		neigh_on_learnt(t, &stats, index, mac, now_ns);
		break;
	case 1:
		neigh_on_heard(t, &stats, index, mac, now_ns);
		break;
	case 2:
		neigh_touch(t, &stats, index, now_ns);
		break;
	case 3:
		neigh_run(t, &stats, now_ns);
		while (chance(r, 80) && neigh_pop_ask(t) != NEIGH_NONE)
			;
		break;
	default:
		neigh_remove(t, index);
	}
}

/* In the two interfaces of a router; whatever was there before. */
TEST(a_neighbour_is_as_new_after_it_was_removed)
{
	const struct neigh_claim claim = {.port = 2};
	struct neigh_claim_stats claims = {0};
	const uint64_t end_ns = 1000 * NS_PER_SEC;
	struct prng r;

	prng_seed(&r, 7, 0);
	for (unsigned int life = 0; life < 100; life++) {
		struct neigh_table *lived = limited_table(), *fresh = limited_table();

		for (uint64_t now_ns = 0; now_ns < end_ns; now_ns += NS_PER_SEC)
			something_happens(lived, &r, now_ns);
		for (uint64_t host = 1; host <= 40; host++) {
			struct neigh_key key = neigh_key(host);
			uint32_t index = neigh_find(lived, &key);

			if (index != NEIGH_NONE)
				neigh_remove(lived, index);
		}
		assert_int_equal(neigh_unresolved(lived), 0);
		assert_false(neigh_has_ask(lived));
		for (uint64_t host = 1; host <= 40; host++) {
			struct neigh_key key = neigh_key(host);
			uint32_t a = neigh_claim(fresh, &claims, &key, claim, end_ns);
			uint32_t b = neigh_claim(lived, &claims, &key, claim, end_ns);
			struct neigh x, y;

			assert_int_equal(a == NEIGH_NONE, b == NEIGH_NONE);
			if (a == NEIGH_NONE)
				continue;
			x = bare(fresh, a);
			y = bare(lived, b);
			assert_memory_equal(&x, &y, sizeof(x));
		}
		neigh_table_destroy(lived);
		neigh_table_destroy(fresh);
	}
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
