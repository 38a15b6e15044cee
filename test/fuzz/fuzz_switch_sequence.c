/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life of one switch: a configuration from the tables of keys, then frames, links, live changes,
 * readings and time in any order. After each step the ledger closes and the buffer's sums agree; at
 * the end all mbufs are back.
 */
#include "ctl/switch_config/switch_config.h"
#include "fuzz/router.h"
#include "fuzz/sequence.h"
#include "switch/params/sw_counters.h"
#include "switch/control/snapshot.h"
#include "tm/buffer/mmu.h"

#define FRAMES 512u
#define STEPS 400
#define BURST 8

static struct sw_static_mac static_macs[] = {
	{.name = "printer", .mac = {2, 0, 0, 0, 0, 9}, .vlan = 10, .port = "1"}};

static struct rte_mempool *frames, *clones;
static struct sw_params base, params[2];
static struct config_rows rows[2];
/* What was read last. */
static struct sw_snapshot snapshot;

struct life {
	struct node *sw;
	uint64_t now_ns;
	unsigned int now_params; /* which of params[] is in force, or will be */
	bool reloading, asked;
	struct sequence in;
};

static void
set_tables(struct sw_tables *t, uint8_t which)
{
	*t = (struct sw_tables){.static_macs = static_macs,
				.interfaces = interfaces,
				.routes = routes,
				.neighbors = neighbors,
				.n_static_macs = which & 1,
				.n_interfaces = which & 2 ? 1 : 2};
	/* A route needs the interface of its next hops. */
	t->n_routes = t->n_interfaces < 2 ? 0 : (which >> 2) % 4;
	t->n_neighbors = t->n_interfaces < 2 ? 0 : (which >> 4) % 3;
}

static void
start(void)
{
	fuzz_start_eal();
	frames = create_pool("frames", FRAMES, 1024);
	clones = create_pool("clones", FRAMES, 0);
	set_router(&base);
	base.fdb_entries = 64;
	/* Rows of what is not in a table alone: those of the tables come and go. */
	for (unsigned int i = 0; i < 2; i++) {
		params[i] = base;
		switch_config_rows(&params[i], &rows[i]);
		FUZZ_CHECK(!rows[i].no_memory);
	}
}

/* Keys of memory: what they bound is tested elsewhere, and takes milliseconds to clear. */
static bool
is_cheap(const struct sw_params *p)
{
	return p->fdb_entries <= 4096 && p->router.neighbor_entries <= 4096;
}

static bool
create(struct life *l)
{
	struct sw_pools pools = {.frames = frames, .clones = clones};
	struct sw_params *p = &params[0];
	uint8_t first = take8(&l->in), keys = take8(&l->in) % 8;
	char why[256] = "";

	*p = base;
	p->shards = 1 + first % 3;
	if (first & 0x80)
		memset(p->router.router_mac, 0, 6);
	else
		set_tables(&p->tables, take8(&l->in));
	if (first & 0x40)
		pools.mbufs = FRAMES;
	while (keys-- > 0)
		take_key(&l->in, &rows[0], false);
	if (!is_cheap(p))
		return false;
	sw_params_resolve(p);
	if (sw_params_check(p, why, sizeof(why)) != 0) {
		check_refusal(why);
		return false;
	}
	l->sw = sw_create(p, &pools);
	FUZZ_CHECK(l->sw != NULL);
	return true;
}

static struct sequence_hosts
take_hosts(struct life *l)
{
	static const uint8_t own4[2][4] = {{10, 0, 10, 1}, {10, 0, 33, 1}};
	uint8_t who = take8(&l->in), what = take8(&l->in);
	struct sequence_hosts h = {
		.src_mac = {2, 0, 0, 0, 0, who & 15},
		.dst_mac = {2, 0, 0, 0, 0, who >> 4},
		.src_ip = {10, 0, 10, 2 + (who & 15)},
		.dst_ip = {10, 0, 33, 2 + (who >> 4)},
		.ip_version = what & 1 ? 6 : 4,
		.tagged = what & 2,
		.vlan_tci = (uint16_t)((what & 0xE0) << 8 | (what & 4 ? 10 : 20)),
		.dest_qp = who,
	};

	if (h.ip_version == 6) {
		memcpy(h.src_ip, ((const uint8_t[4]){0xFD, 0, 0, 0x10}), 4);
		memcpy(h.dst_ip, ((const uint8_t[4]){0xFD, 0, 0, 0x33}), 4);
		h.src_ip[15] = 2 + (who & 15);
		h.dst_ip[15] = who >> 4;
	}
	if (what & 8)
		memcpy(h.dst_mac, router_mac, 6);
	if (what & 16 && h.ip_version == 4)
		memcpy(h.dst_ip, own4[who >> 7], 4);
	if (who == 0xFF)
		memset(h.dst_mac, 0xFF, 6);
	return h;
}

static void
feed(struct life *l)
{
	uint8_t what = take8(&l->in), buf[SEQUENCE_FRAME];
	struct sequence_hosts h = take_hosts(l);
	size_t len = make_frame(&l->in, buf, &h);
	struct rte_mbuf *pkts[BURST];
	uint16_t n = make_burst(frames, buf, len, pkts, 1 + what / 4 % BURST);

	l->sw->ops->rx(l->sw, what % PORTS, pkts, n, l->now_ns);
}

/* Of one port, with any room. @return how many came. */
static uint16_t
poll(struct life *l, uint16_t port, uint16_t max_pkts)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = l->sw->ops->tx(l->sw, port, pkts, max_pkts, l->now_ns);

	FUZZ_CHECK(n <= max_pkts);
	for (uint16_t i = 0; i < n; i++) {
		(void)check_frame(pkts[i]);
		rte_pktmbuf_free(pkts[i]);
	}
	if (n == 0 && max_pkts > 0)
		FUZZ_CHECK(l->sw->ops->next_ns(l->sw, port) > l->now_ns);
	return n;
}

/* All that all ports give now. */
static void
drain(struct life *l)
{
	for (bool some = true; some;) {
		some = false;
		for (uint16_t port = 0; port < PORTS; port++)
			some |= poll(l, port, BURST) > 0;
	}
}

/* To the time that a port names, if it names one. */
static void
go_to_next(struct life *l)
{
	uint64_t next_ns = NEVER_NS;

	for (uint16_t port = 0; port < PORTS; port++) {
		uint64_t port_ns = l->sw->ops->next_ns(l->sw, port);

		next_ns = port_ns < next_ns ? port_ns : next_ns;
	}
	if (next_ns > l->now_ns && next_ns < SEQUENCE_END_NS)
		l->now_ns = next_ns;
}

static void
end_reload(struct life *l)
{
	if (!l->reloading)
		return;
	for (uint16_t port = 0; port < PORTS; port++)
		l->sw->ops->rx(l->sw, port, NULL, 0, l->now_ns);
	FUZZ_CHECK(sw_reload_is_done(l->sw));
	l->sw->ops->control(l->sw, l->now_ns);
	if (take8(&l->in) & 1)
		sw_reload_settle(l->sw);
	l->reloading = false;
}

static void
reload(struct life *l)
{
	struct sw_params *now = &params[l->now_params], *next = &params[1 - l->now_params];
	uint8_t what = take8(&l->in);
	struct sw_forwarding *forwarding;
	char why[256] = "";

	end_reload(l);
	*next = *now;
	sw_running_params(l->sw, next);
	for (unsigned int i = 0; i < 1u + what % 4; i++)
		take_key(&l->in, &rows[1 - l->now_params], true);
	if (what & 0x80 && now->router.router_mac[0] != 0)
		set_tables(&next->tables, take8(&l->in));
	sw_params_resolve(next);
	if (sw_params_check(next, why, sizeof(why)) != 0) {
		check_refusal(why);
		return;
	}
	if (sw_reload_fault(now, next) != NULL)
		return;
	if (sw_reload_prepare(l->sw, next, &forwarding, why, sizeof(why)) != 0) {
		check_refusal(why);
		return;
	}
	if (what & 0x40) {
		sw_reload_forget(forwarding);
		return;
	}
	sw_reload(l->sw, next, forwarding, l->now_ns);
	l->now_params = 1 - l->now_params;
	l->reloading = true;
}

static void
read_port(const struct node *sw, uint16_t port, uint64_t *sum)
{
	const struct sw_port_stats *stats = sw_port_stats(sw, port);
	struct mmu_pg_state pg;

	*sum += stats->rx_packets + sw_fdb_port_entries(sw, port);
	*sum += (uint64_t)sw_tx_disabled(sw, port) + sw_pfc_delay(sw, port);
	FUZZ_CHECK(sw_pfc_rx(sw, port) != NULL && sw_pfc_tx(sw, port) != NULL);
	FUZZ_CHECK(sw_dcbx(sw, port) != NULL);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		pg = mmu_pg_state(sw_mmu(sw), port, i);
		*sum += pg.shared_bytes + mmu_pg_limit_bytes(sw_mmu(sw), port, i);
		*sum += mmu_pg_xon_mark_bytes(sw_mmu(sw), port, i);
		FUZZ_CHECK(sw_queue_bytes(sw, port, i) == mmu_queue_bytes(sw_mmu(sw), port, i));
		*sum += (uint64_t)sw_pfcwd_watches(sw, port, i) + (sw_pfcwd(sw, port, i) != NULL);
		*sum += (sw_mark_accuracy(sw, port, i) != NULL) +
			(uint64_t)(sw_mark_curve(sw, port, i) != NULL);
		for (int k = 0; k < MMU_WATERMARKS; k++) {
			uint8_t index = k == MMU_WATERMARK_POOL            ? i % MMU_POOLS
					: k == MMU_WATERMARK_HEADROOM_POOL ? 0
									   : i;

			FUZZ_CHECK(mmu_watermark_bytes(sw_mmu(sw), k, port, index) <=
				   mmu_persistent_watermark_bytes(sw_mmu(sw), k, port, index));
		}
	}
}

/* Every figure that telemetry reads. */
static void
read_all(const struct node *sw)
{
	static volatile uint64_t sink;
	uint64_t sum = sw_fdb_entries(sw) + sw_fdb_stats(sw).aged;

	for (uint16_t port = 0; port < PORTS; port++)
		read_port(sw, port, &sum);
	sum += sw_router_stats(sw).routed_packets + (uint64_t)sw_big_red_switch(sw);
	sum += sw_interface_stats(sw, 10).in_packets;
	sum += sw_interface_stats(sw, SW_PORT_DOMAIN + 3).in_packets;
	for (int pool = 0; pool < MMU_POOLS; pool++) {
		/* A pool that shrank below its use is over its size. */
		sum += mmu_pool_used_bytes(sw_mmu(sw), pool) +
		       mmu_pool_size_bytes(sw_mmu(sw), pool);
		sum += mmu_pool_used_packets(sw_mmu(sw), pool);
	}
	for (uint16_t i = 0; i < sw_shards(sw); i++)
		sum += sw_shard_ports(sw, i);
	sink = sum;
	(void)sink;
}

static void
take_back_snapshot(struct life *l)
{
	if (l->asked && !sw_snapshot_is_done(&snapshot))
		FUZZ_CHECK(sw_snapshot_withdraw(&snapshot));
	if (l->asked && sw_snapshot_is_done(&snapshot))
		FUZZ_CHECK(snapshot.n <= SW_SNAPSHOT_ROWS);
	l->asked = false;
}

/* A page of a table, from the start or from where the last one ended; read some steps later. */
static void
ask_snapshot(struct life *l)
{
	uint8_t what = take8(&l->in);
	bool goes_on = l->asked && sw_snapshot_is_done(&snapshot) &&
		       snapshot.table != SW_SNAPSHOT_WATERMARKS && snapshot.at != SW_SNAPSHOT_END;

	take_back_snapshot(l);
	if (!goes_on || what & 0x80) {
		snapshot.table = what % 3;
		snapshot.kind = what / 3 % MMU_WATERMARKS;
		snapshot.at = 0;
		if (snapshot.table == SW_SNAPSHOT_WATERMARKS)
			snapshot.at =
				(what >> 5) %
				(snapshot.kind < MMU_WATERMARK_POOL ? PORTS : sw_shards(l->sw));
	}
	sw_snapshot_ask(l->sw, &snapshot);
	l->asked = true;
}

static void
command(struct life *l)
{
	uint8_t what = take8(&l->in), arg = take8(&l->in);
	uint16_t port = arg % PORTS;
	const uint8_t mac[6] = {2, 0, 0, 0, arg >> 4, arg & 15};
	struct sw_tables tables;

	switch (what % 8) {
	case 0:
		sw_set_link(l->sw, port, arg & 0x80, l->now_ns);
		break;
	case 1:
		sw_set_tx_disabled(l->sw, port, arg & 0x80);
		break;
	case 2:
		sw_set_pfc_delay(l->sw, port, (uint16_t)(take16(&l->in)));
		break;
	case 3:
		sw_clear_watermarks(l->sw, arg);
		break;
	case 4:
		sw_set_big_red_switch(l->sw, arg & 1);
		break;
	case 5:
		(void)sw_learn(l->sw, arg & 0x40 ? 10 : 0, mac, port, l->now_ns);
		break;
	case 6:
		end_reload(l);
		if (params[l->now_params].router.router_mac[0] == 0)
			break;
		set_tables(&tables, arg);
		if (sw_set_routes(l->sw, &tables) == 0)
			params[l->now_params].tables = tables;
		break;
	case 7:
		end_reload(l);
		sw_restart(l->sw, l->now_ns);
		break;
	}
}

static void
check(const struct node *sw)
{
	struct sw_ledger l = sw_ledger(sw);

	FUZZ_CHECK(l.in + l.copies + l.generated == l.queued + l.sent + l.dropped + l.consumed);
	FUZZ_CHECK(mmu_balanced(sw_mmu(sw)));
}

static void
step(struct life *l)
{
	uint16_t port;

	switch (take8(&l->in) % 12) {
	case 0:
	case 1:
	case 2:
		feed(l);
		break;
	case 3:
		port = take8(&l->in) % PORTS;
		(void)poll(l, port, take8(&l->in) % (BURST + 1));
		break;
	case 4:
		drain(l);
		break;
	case 5:
		step_on(&l->in, &l->now_ns);
		break;
	case 6:
		go_to_next(l);
		break;
	case 7:
		(void)l->sw->ops->control(l->sw, l->now_ns);
		break;
	case 8:
		reload(l);
		break;
	case 9:
		command(l);
		break;
	case 10:
		read_all(l->sw);
		break;
	case 11:
		ask_snapshot(l);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct life l = {.in = {data, len}, .now_ns = 1};

	if (frames == NULL)
		start();
	if (!create(&l))
		return 0;
	for (unsigned int i = 0; i < STEPS && l.in.len > 0; i++) {
		step(&l);
		check(l.sw);
	}
	end_reload(&l);
	read_all(l.sw);
	take_back_snapshot(&l);
	sw_destroy(l.sw);
	FUZZ_CHECK(rte_mempool_avail_count(frames) == FRAMES);
	FUZZ_CHECK(rte_mempool_avail_count(clones) == FRAMES);
	return 0;
}
