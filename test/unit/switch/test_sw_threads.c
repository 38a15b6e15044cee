/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that may call a switch at once does: a thread for each shard, the main lcore's control(), one
 * that changes what is live, and one that reads. What each may call is said in switch/sw.h.
 * ThreadSanitizer judges the rest.
 */
#include <sched.h>

#include "unit/switch/sw_test.h"
#include "unit/threads.h"

#include "base/threads/counter.h"
#include "base/numbers/prng.h"
#include "switch/core/switch.h"
#include "switch/params/sw_counters.h"
#include "switch/control/snapshot.h"
#include "switch/shard/crossing.h"
#include "tm/queue/mark_accuracy.h"
#include "wire/neighbour/arp.h"

#define PORTS 6
#define SHARDS 3
#define CHANGES 40u
#define ROUND_NS 2000ull
#define FRAMES 8191
/* Rounds for which a shard stands still: until the rings to it are full. */
#define STILL_ROUNDS 512u
/* Readings of the ledger: a few in 100,000 were negative. */
#define READINGS 500000u
#define ALL_KINDS ((1u << MMU_WATERMARKS) - 1)

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};
static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.1/24", .ip6 = "none"},
	{.name = "port 5", .ip = "10.0.35.1/24", .ip6 = "none"},
};
static struct sw_static_route routes[] = {
	{.name = "10.99.0.0/16", .nexthop = "10.0.35.2"},
	{.name = "10.98.0.0/16", .nexthop = "10.0.35.3, 10.0.10.77"},
};
static struct sw_neighbor neighbors[] = {{.name = "10.0.35.2", .mac = {2, 0, 0, 0, 0, 35}}};

/* From the changing thread to the one that calls control(), as desk/desk_mailbox.h does. */
struct order {
	pthread_mutex_t lock;
	const struct sw_params *params;
	struct sw_forwarding *next;
};

struct crew {
	struct node *sw;
	struct rte_mempool *frames;
	struct threads_pace pace;
	struct order order;
	bool stand_still;
	uint64_t out, bad_frames, reads, wrong; /* after the join; the first two by shard 0's */
	uint64_t shard_out[SHARDS];
	uint64_t shard_wrong[SHARDS]; /* frames out of order */
	uint64_t shard_waits[SHARDS]; /* rounds after which frames waited for a full ring */
};

struct hand {
	struct crew *crew;
	uint16_t index;
	uint32_t seq;
	uint32_t last_psn[PORTS][PORTS][2]; /* [egress][source][lossless] */
	uint64_t due;                       /* answers of next_ns() that ask for a call */
	struct prng r;
};

static uint64_t
time_of(const struct crew *c)
{
	return threads_round(&c->pace) * ROUND_NS;
}

/* RoCE data of a lossless or a lossy class, to another host of the VLAN or by a route. */
static struct rte_mbuf *
some_frame(struct hand *h, uint16_t port)
{
	static const uint8_t payload[512];
	struct roce_path path = {.ip_version = 4,
				 .src_ip = {10, 0, 10, (uint8_t)(10 + port)},
				 .dst_ip = {10, 0, 10, (uint8_t)(10 + prng_below(&h->r, PORTS))},
				 .dscp = prng_below(&h->r, 4) != 0 ? 26 : 0,
				 .ecn = ECN_ECT0,
				 .ttl = 64,
				 .udp_sport = (uint16_t)prng_below(&h->r, 65536),
				 .dest_qp = 0x11,
				 .pkey = PKEY_DEFAULT};
	const struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = h->seq++ & 0xFFFFFF};
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->crew->frames);
	uint32_t kind = (uint32_t)prng_below(&h->r, 32);

	if (m == NULL)
		return NULL;
	/* Sources change, so that the table learns, moves and displaces. */
	host_mac(path.src_mac, (uint8_t)(10 + port + PORTS * prng_below(&h->r, 12)));
	host_mac(path.dst_mac, (uint8_t)(10 + prng_below(&h->r, 12 * PORTS)));
	if (kind == 0)
		host_mac(path.dst_mac, BROADCAST_HOST);
	if (kind > 24) {
		memcpy(path.dst_mac, router_mac, 6);
		path.dst_ip[1] = kind == 25 ? 98 : 99;
	}
	rte_pktmbuf_append(m, (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
						   rte_pktmbuf_tailroom(m), &path, &fields, payload,
						   (uint16_t)(64 + 4 * prng_below(&h->r, 100))));
	return m;
}

/* A pause of the lossless class, or who a host is, as a gratuitous ARP. */
static struct rte_mbuf *
some_control(struct hand *h, uint16_t port)
{
	static const uint8_t zero_mac[6];
	uint16_t quanta[8] = {[3] = (uint16_t)prng_below(&h->r, 200)};
	struct l2 l2 = {.dst_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
	struct arp arp = {.op = ARP_REQUEST};
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->crew->frames);
	uint8_t *frame;

	if (m == NULL)
		return NULL;
	if (prng_below(&h->r, 2) == 0) {
		frame = (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES);
		pfc_frame_build(frame, zero_mac, 1u << 3, quanta);
		return m;
	}
	frame = (uint8_t *)rte_pktmbuf_append(m, ARP_FRAME_BYTES);
	host_mac(l2.src_mac, (uint8_t)(10 + port));
	memcpy(arp.sender_mac, l2.src_mac, 6);
	memcpy(arp.sender_ip, (uint8_t[4]){10, 0, 10, (uint8_t)(10 + port)}, 4);
	memcpy(arp.target_ip, arp.sender_ip, 4);
	arp_build(frame, &l2, &arp);
	return m;
}

/*
 * RoCE frames from one port to another, of one class, keep their order. The data of a flooded frame
 * is not read: its last holder may write to it, which ThreadSanitizer cannot know.
 */
static void
see_order(struct hand *h, uint16_t port, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *bth;
	struct frame_view v;
	uint32_t psn, *last;
	uint16_t source;

	if (!RTE_MBUF_DIRECT(m) || frame_parse(frame, m->data_len, &v) != FRAME_OK ||
	    v.ip_version != 4 || v.ip_proto != IP_PROTO_UDP)
		return;
	source = (uint16_t)(frame[v.l3_off + 15] - 10);
	bth = frame + v.l4_off + UDP_HDR_BYTES;
	psn = (uint32_t)bth[9] << 16 | (uint32_t)bth[10] << 8 | bth[11];
	last = &h->last_psn[port][source % PORTS][v.dscp == 26];
	h->crew->shard_wrong[h->index] += source >= PORTS || psn + 1 <= *last;
	*last = psn + 1;
}

static void
serve_port(struct hand *h, struct node *node, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m[16];
	uint16_t n = 0, want = (uint16_t)prng_below(&h->r, 9);

	while (n < want && (m[n] = prng_below(&h->r, 24) == 0 ? some_control(h, port)
							      : some_frame(h, port)) != NULL)
		n++;
	node->ops->rx(node, port, m, n, now_ns);
	h->due += node->ops->next_ns(node, port) <= now_ns;
	n = node->ops->tx(node, port, m, 16, now_ns);
	h->crew->shard_out[h->index] += n;
	for (uint16_t i = 0; i < n; i++)
		see_order(h, port, m[i]);
	rte_pktmbuf_free_bulk(m, n);
}

static bool
stands_still(const struct hand *h, uint64_t now_ns)
{
	return h->crew->stand_still && now_ns / ROUND_NS / STILL_ROUNDS % (SHARDS + 1) == h->index;
}

/* By the shard that sends. */
static bool
waits_for_ring(const struct hand *h)
{
	const struct sw_shards *s = sw_of(h->crew->sw)->shard.shards;
	bool waits = false;

	for (uint16_t to = 0; to < SHARDS; to++)
		if (to != h->index)
			waits |= !sw_fifo_is_empty(&sw_crossing_ring(s, h->index, to)->overflow);
	return waits;
}

static void *
poll(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	struct node *node = sw_shard(c->sw, h->index);
	uint64_t ports = sw_shard_ports(c->sw, h->index), now_ns = 0;

	rte_thread_register();
	while (threads_next_round(&c->pace, h->index)) {
		now_ns += ROUND_NS;
		if (stands_still(h, now_ns))
			continue;
		for (uint16_t port = 0; port < PORTS; port++)
			if (ports >> port & 1)
				serve_port(h, node, port, now_ns);
		c->shard_waits[h->index] += waits_for_ring(h);
	}
	rte_thread_unregister();
	return NULL;
}

/* The main lcore. Links go down and up, and changes begin here. */
static void *
control(void *arg)
{
	struct crew *c = arg;
	uint64_t next_ns = 0;

	rte_thread_register();
	for (unsigned int i = 0; !threads_stopped(&c->pace); i++) {
		uint64_t now_ns = time_of(c);

		if (now_ns >= next_ns)
			next_ns = c->sw->ops->control(c->sw, now_ns);
		if (i % 64 == 0)
			sw_set_link(c->sw, 4, i % 512 != 0, now_ns);
		sw_routing_dead_hops(c->sw, i % 2);
		pthread_mutex_lock(&c->order.lock);
		if (c->order.params != NULL)
			sw_reload(c->sw, c->order.params, c->order.next, now_ns);
		c->order.params = NULL;
		pthread_mutex_unlock(&c->order.lock);
		sched_yield();
	}
	sw_set_link(c->sw, 4, true, time_of(c));
	rte_thread_unregister();
	return NULL;
}

static bool
order_is_taken(struct crew *c)
{
	bool taken;

	pthread_mutex_lock(&c->order.lock);
	taken = c->order.params == NULL;
	pthread_mutex_unlock(&c->order.lock);
	return taken;
}

static void
make_params(struct sw_params *p, uint64_t seed, unsigned int change, bool stand_still)
{
	static struct half_sip_key key;
	struct prng r;

	prng_seed(&r, seed, 9);
	bench_defaults(p, PORTS);
	p->shards = SHARDS;
	p->table_key = key;
	p->vlan_filtering = true;
	p->mark_accuracy = true;
	p->pfcwd.pfcwd = PFCWD_OFF;
	p->fdb_entries = 64;
	p->fdb_ageing_s = 10;
	p->shaper_burst_ns = 4000;
	/* As many frames as there are mbufs, or fewer than a ring has slots. */
	p->mmu.buffer_bytes = stand_still ? 8 * 1000 * 1000 : 400000;
	p->wred_queues = 1u << 3 | 1;
	memcpy(p->router.router_mac, router_mac, 6);
	for (uint16_t port = 0; port < PORTS - 1; port++)
		p->ports[port].access_vlan = 10;
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .routes = routes,
				       .neighbors = neighbors,
				       .n_interfaces = 2,
				       .n_routes = 2,
				       .n_neighbors = 1};
	/* What a change changes. */
	p->tables.n_routes = 1 + (change / 2) % 2;
	p->mmu.lossless.xoff_bytes = 10000 + prng_below(&r, 10000);
	p->mmu.lossy.dynamic_th = (int8_t)(prng_below(&r, 4)) - 1;
	p->wred.green_min_threshold_bytes = 2000 + prng_below(&r, 3000);
	p->wred.green_max_threshold_bytes = 9000 + prng_below(&r, 9000);
	p->ports[1].max_learned_addresses = (uint32_t)prng_below(&r, 20);
	p->ports[2].storm_bps[SW_STORM_BROADCAST] = prng_below(&r, 2) * 100 * MBPS;
	p->ports[3].shaper_rate_bps = (5 + prng_below(&r, 30)) * GBPS;
	p->fdb_entries = change % 3 == 0 ? 64 : 128;
	sw_params_resolve(p);
}

/* Telemetry's and SIGHUP's thread, one at a time: prepare, have it begun, wait, settle. */
static void *
change(void *arg)
{
	struct crew *c = arg;
	static struct sw_params params[2];
	char why[256] = "";

	for (unsigned int i = 1; i <= CHANGES; i++) {
		struct sw_params *p = &params[i % 2];
		struct sw_forwarding *next = NULL;
		unsigned int begun;

		make_params(p, i, i, c->stand_still);
		if (sw_params_check(p, why, sizeof(why)) != 0 ||
		    sw_reload_prepare(c->sw, p, &next, why, sizeof(why)) != 0) {
			print_error("change %u refused: %s\n", i, why);
			c->wrong++;
			break;
		}
		pthread_mutex_lock(&c->order.lock);
		c->order.next = next;
		c->order.params = p;
		pthread_mutex_unlock(&c->order.lock);
		while (!order_is_taken(c) || !sw_reload_settle(c->sw))
			sched_yield();
		sw_set_tx_disabled(c->sw, (uint16_t)(i % PORTS), true);
		sw_set_pfc_delay(c->sw, (uint16_t)(i % PORTS), (uint16_t)i);
		sw_clear_watermarks(c->sw, ALL_KINDS);
		sw_set_big_red_switch(c->sw, i % 2);
		begun = threads_round(&c->pace);
		while (threads_round(&c->pace) - begun < 40)
			sched_yield();
		sw_set_tx_disabled(c->sw, (uint16_t)(i % PORTS), false);
		sw_running_params(c->sw, &params[1 - i % 2]);
	}
	atomic_store_explicit(&c->pace.stop, true, memory_order_relaxed);
	return NULL;
}

/* As the front desk of quench-switch does (lib/switch/sw_walk.c). */
static uint64_t
read_port(const struct crew *c, uint16_t port)
{
	const struct pfc_rx *rx = sw_pfc_rx(c->sw, port);
	const struct pfc_tx *tx = sw_pfc_tx(c->sw, port);
	const struct mmu *mmu = sw_mmu(c->sw);
	struct sw_port_stats stats = {0};
	uint64_t sum = 0, now_ns = time_of(c);

	counters_add(sw_port_stats(c->sw, port), &stats, sizeof(stats));
	sum += stats.rx_packets + sw_tx_disabled(c->sw, port) + sw_pfc_delay(c->sw, port) +
	       sw_fdb_port_entries(c->sw, port);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct mark_accuracy *marks = sw_mark_accuracy(c->sw, port, i);
		struct mmu_pg_state pg = mmu_pg_state(mmu, port, i);

		sum += counter_read(&rx->stats.rx_pause[i]) + pfc_rx_duration_ns(rx, i, now_ns);
		sum += pfc_rx_read(rx, i, now_ns).pause_frames;
		sum += counter_read(&tx->stats.tx_pause[i]) + pfc_tx_duration_ns(tx, i, now_ns);
		sum += pg.shared_bytes + sw_queue_bytes(c->sw, port, i);
		sum += mmu_pg_limit_bytes(mmu, port, i) + mmu_pg_xon_mark_bytes(mmu, port, i);
		for (unsigned int k = 0; k < MMU_WATERMARKS; k++) {
			if (k == MMU_WATERMARK_POOL && (port > 0 || i >= MMU_POOLS))
				continue;
			if (k == MMU_WATERMARK_HEADROOM_POOL && port + i > 0)
				continue;
			sum += mmu_watermark_bytes(mmu, (enum mmu_watermark)k, port, i);
			sum += mmu_persistent_watermark_bytes(mmu, (enum mmu_watermark)k, port, i);
		}
		for (unsigned int bin = 0; marks != NULL && bin < MARK_BINS; bin++)
			sum += counter_read(&marks->bins[bin].packets) +
			       mark_bin_upper_bytes(sw_mark_curve(c->sw, port, i), bin);
	}
	return sum;
}

static uint64_t
read_switch(const struct crew *c)
{
	const struct mmu *mmu = sw_mmu(c->sw);
	uint64_t sum = sw_fdb_entries(c->sw) + sw_fdb_stats(c->sw).learned;

	for (unsigned int i = 0; i < MMU_POOLS; i++)
		sum += mmu_pool_used_bytes(mmu, (enum mmu_pool_id)i) +
		       mmu_pool_size_bytes(mmu, (enum mmu_pool_id)i);
	sum += mmu_used_bytes(mmu) + mmu_headroom_used_bytes(mmu);
	sum += sw_router_stats(c->sw).routed_packets + sw_interface_stats(c->sw, 10).in_packets;
	return sum + sw_ledger(c->sw).in + sw_reload_is_done(c->sw) + sw_big_red_switch(c->sw);
}

static uint32_t
read_rows(const struct crew *c, struct sw_snapshot *s)
{
	uint32_t rows = 0;

	sw_snapshot_ask(c->sw, s);
	while (!sw_snapshot_is_done(s)) {
		if (threads_stopped(&c->pace) && sw_snapshot_withdraw(s))
			return 0;
		sched_yield();
	}
	for (uint32_t i = 0; i < s->n; i++)
		rows += s->table == SW_SNAPSHOT_FDB ? s->fdb[i].port < PORTS : 1;
	if (s->at == SW_SNAPSHOT_END)
		s->at = 0;
	return rows;
}

static void *
look(void *arg)
{
	struct crew *c = arg;
	struct sw_snapshot tables[] = {{.table = SW_SNAPSHOT_FDB}, {.table = SW_SNAPSHOT_NEIGH}};
	uint64_t sum = 0;

	for (unsigned int i = 0; !threads_stopped(&c->pace); i++) {
		sum += read_port(c, (uint16_t)(i % PORTS)) + read_switch(c);
		c->reads += read_rows(c, &tables[i % 2]);
		sched_yield();
	}
	c->wrong += sum == 0;
	return NULL;
}

static struct rte_mempool *
shared_pool(const char *name, uint16_t largest_frame)
{
	struct rte_mempool *pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = name,
		.n_mbufs = FRAMES,
		.largest_frame = largest_frame,
		.socket = SOCKET_ID_ANY,
		.threads = true,
	});

	assert_non_null(pool);
	threads_see_all(pool);
	return pool;
}

static void
drain_all(struct crew *c, uint64_t now_ns)
{
	for (unsigned int i = 0; sw_ledger(c->sw).queued > 0; i++) {
		assert_true(i < 100000);
		now_ns += ROUND_NS;
		for (uint16_t port = 0; port < PORTS; port++) {
			struct rte_mbuf *m[16];

			rte_pktmbuf_free_bulk(m, c->sw->ops->tx(c->sw, port, m, 16, now_ns));
		}
	}
	for (uint16_t port = 0; port < PORTS; port++)
		c->sw->ops->tx(c->sw, port, NULL, 0, now_ns + NS_PER_MS);
}

static void
run_crew(bool stand_still)
{
	static struct crew c;
	static struct hand hands[SHARDS];
	static struct bench b;
	struct sw_pools pools = {.frames = shared_pool("shared", 2048),
				 .clones = shared_pool("shared_clones", 0)};
	void *(*const others[])(void *) = {control, change, look};
	pthread_t pollers[SHARDS], threads[3];
	uint64_t waits = 0;
	char why[256] = "";

	make_params(&b.params, 0, 0, stand_still);
	if (sw_params_check(&b.params, why, sizeof(why)) != 0)
		fail_msg("parameters refused: %s", why);
	c = (struct crew){.frames = pools.frames, .pace.n = SHARDS, .stand_still = stand_still};
	pthread_mutex_init(&c.order.lock, NULL);
	c.sw = b.sw = sw_create(&b.params, &pools);
	assert_non_null(c.sw);
	for (uint16_t i = 0; i < SHARDS; i++) {
		hands[i] = (struct hand){.crew = &c, .index = i};
		prng_seed(&hands[i].r, 1, i);
		assert_int_equal(pthread_create(&pollers[i], NULL, poll, &hands[i]), 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, others[i], &c), 0);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < SHARDS; i++)
		pthread_join(pollers[i], NULL);
	assert_int_equal(c.wrong, 0);
	assert_true(c.reads > 0);
	for (unsigned int i = 0; i < SHARDS; i++) {
		assert_true(c.shard_out[i] > 1000);
		assert_true(hands[i].due > 1000);
		assert_int_equal(c.shard_wrong[i], 0);
		waits += c.shard_waits[i];
	}
	assert_true(!stand_still || waits > 1000);
	/* What waits for full rings is freed by a restart. */
	if (stand_still)
		sw_restart(c.sw, time_of(&c) + NS_PER_MS);
	else
		drain_all(&c, time_of(&c) + NS_PER_MS);
	bench_sees_balance(&b);
	assert_int_equal(mmu_used_bytes(sw_mmu(c.sw)), 0);
	sw_destroy(c.sw);
	assert_int_equal(rte_mempool_avail_count(pools.frames), FRAMES);
	assert_int_equal(rte_mempool_avail_count(pools.clones), FRAMES);
	pkt_pool_destroy(pools.frames);
	pkt_pool_destroy(pools.clones);
	pthread_mutex_destroy(&c.order.lock);
}

TEST(shards_control_changes_and_readers_run_beside_each_other)
{
	run_crew(false);
}

TEST(shards_that_stand_still_in_turn_find_full_rings)
{
	run_crew(true);
}

/* Frames cross from shard 0 to shard 1 and leave, one by one. */
static void *
let_cross(void *arg)
{
	struct crew *c = arg;
	uint8_t frame[64] = {0};

	rte_thread_register();
	host_mac(frame, 1);
	host_mac(frame + 6, 0);
	for (uint64_t now_ns = 0; !threads_stopped(&c->pace); now_ns += ROUND_NS) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(c->frames);

		memcpy(rte_pktmbuf_append(m, sizeof(frame)), frame, sizeof(frame));
		sw_shard(c->sw, 0)->ops->rx(sw_shard(c->sw, 0), 0, &m, 1, now_ns);
		sw_shard(c->sw, 0)->ops->tx(sw_shard(c->sw, 0), 0, &m, 1, now_ns);
		if (sw_shard(c->sw, 1)->ops->tx(sw_shard(c->sw, 1), 1, &m, 1, now_ns) == 1)
			rte_pktmbuf_free(m);
	}
	rte_thread_unregister();
	return NULL;
}

/* Sums that are read one after another: what crosses meanwhile must not make them negative. */
TEST(a_reader_sees_no_negative_sum_of_queued_bytes)
{
	static struct crew c;
	struct bench *b = bench_with_ports(2);
	struct sw_pools pools = {.frames = shared_pool("shared", 2048),
				 .clones = shared_pool("shared_clones", 0)};
	unsigned int negative = 0, sights = 0;
	pthread_t thread;

	b->params.shards = 2;
	sw_params_resolve(&b->params);
	c = (struct crew){.frames = pools.frames, .sw = sw_create(&b->params, &pools)};
	assert_non_null(c.sw);
	b->sw = c.sw;
	learn_hosts(b);
	assert_int_equal(pthread_create(&thread, NULL, let_cross, &c), 0);
	/* On a busy machine all readings may be over before the other thread has begun. */
	for (unsigned int i = 0; i < READINGS || (sights == 0 && i < 1000 * READINGS); i++) {
		uint64_t queued = sw_ledger(c.sw).queued;

		negative += queued > INT64_MAX;
		sights += queued > 0;
		if (sights == 0)
			sched_yield();
	}
	atomic_store_explicit(&c.pace.stop, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	assert_int_equal(negative, 0);
	assert_true(sights > 0);
	sw_destroy(c.sw);
	pkt_pool_destroy(pools.frames);
	pkt_pool_destroy(pools.clones);
}

TEST_MAIN(.begin = start_threads)
