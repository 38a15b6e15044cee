/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/switch/sw_test.h"

struct bench bench;

struct rte_mempool *
bench_pool(const char *name, uint32_t n, uint16_t largest_frame)
{
	struct pkt_pool_params p = {.name = name,
				    .n_mbufs = n,
				    .largest_frame = largest_frame,
				    .socket = SOCKET_ID_ANY};
	struct rte_mempool *pool = pkt_pool_create(&p);

	assert_non_null(pool);
	return pool;
}

/* All tests of a switch run again over one of several shards, as one node. */
static uint16_t
bench_shards(uint16_t n_ports)
{
	const char *shards = getenv("QUENCH_TEST_SHARDS");
	uint16_t n = shards == NULL ? 1 : (uint16_t)atoi(shards);

	return n < n_ports ? n : n_ports;
}

void
bench_defaults(struct sw_params *p, uint16_t n_ports)
{
	sw_params_default(p, n_ports);
	p->shaper_burst_ns = 1;
	p->shards = bench_shards(n_ports);
	for (uint16_t i = 0; i < n_ports; i++)
		p->ports[i] = (struct sw_port_params){.mac = {0x02, 0, 0, 1, 0, (uint8_t)i},
						      .link_speed_bps = 40 * GBPS,
						      .flow_control = SW_FLOW_PFC,
						      .pfcwd = true};
}

struct bench *
bench_with_ports(uint16_t n_ports)
{
	bench_defaults(&bench.params, n_ports);
	return &bench;
}

struct bench *
bench_with_vlans(void)
{
	struct bench *b = bench_with_ports(4);
	struct sw_port_params *p = b->params.ports;

	b->params.vlan_filtering = true;
	p[0].access_vlan = p[1].access_vlan = 10;
	strcpy(p[2].tagged_vlans, "10, 20");
	p[3].access_vlan = 20;
	return b;
}

void
set_small_group(struct sw_params *p)
{
	p->mmu.lossless = (struct buffer_profile){
		.static_th_bytes = 10 * DATA_BYTES,
		.xoff_bytes = 5 * DATA_BYTES,
		.xon_offset_bytes = 3 * DATA_BYTES,
	};
}

void
bench_start(struct bench *b)
{
	struct sw_pools pools = {
		.frames = b->frames, .clones = b->clones, .mbufs = 2 * BENCH_FRAMES};
	char why[256] = "";

	sw_params_resolve(&b->params);
	if (sw_params_check(&b->params, why, sizeof(why)) != 0)
		fail_msg("parameters refused: %s", why);
	b->sw = sw_create(&b->params, &pools);
	assert_non_null(b->sw);
}

void
bench_sees_full_pools(const struct bench *b)
{
	assert_int_equal(rte_mempool_avail_count(b->frames), BENCH_FRAMES);
	assert_int_equal(rte_mempool_avail_count(b->clones), BENCH_CLONES);
	assert_int_equal(rte_mempool_avail_count(b->arrivals), BENCH_FRAMES);
}

void
bench_sees_balance(const struct bench *b)
{
	struct sw_ledger l = sw_ledger(b->sw);

	assert_true(l.in + l.copies + l.generated == l.queued + l.sent + l.dropped + l.consumed);
	assert_true(mmu_balanced(sw_mmu(b->sw)));
}

void
bench_stop(struct bench *b)
{
	bench_sees_balance(b);
	sw_destroy(b->sw);
	b->sw = NULL;
	bench_sees_full_pools(b);
}

int
bench_open(void **state)
{
	if (start_eal(state) != 0)
		return -1;
	bench.frames = bench_pool("frames", BENCH_FRAMES, 2048);
	bench.clones = bench_pool("clones", BENCH_CLONES, 0);
	bench.arrivals = bench_pool("arrivals", BENCH_FRAMES, 2048);
	return 0;
}

int
bench_close(void **state)
{
	(void)state;
	pkt_pool_destroy(bench.frames);
	pkt_pool_destroy(bench.clones);
	pkt_pool_destroy(bench.arrivals);
	return 0;
}

void
host_mac(uint8_t mac[6], uint8_t host)
{
	memset(mac, host == BROADCAST_HOST ? 0xFF : 0, 6);
	if (host != BROADCAST_HOST) {
		mac[0] = 0x02;
		mac[5] = host;
	}
}

struct rte_mbuf *
make_frame(struct bench *b, const struct frame_spec *s)
{
	struct roce_path path = {
		.ip_version = s->ip_version == 6 ? 6 : 4,
		.src_ip = {10, 0, 0, s->src},
		.dst_ip = {10, 0, 0, s->dst},
		.tagged = s->tagged,
		.vlan_tci = s->vlan_tci,
		.dscp = s->dscp,
		.ecn = s->ecn,
		.ttl = 64,
		.udp_sport = 50000,
		.dest_qp = 0x11,
		.pkey = PKEY_DEFAULT,
	};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = s->psn};

	host_mac(path.src_mac, s->src);
	host_mac(path.dst_mac, s->dst);
	return make_packet_on(b, &path, &fields, s->payload_bytes == 0 ? 64 : s->payload_bytes);
}

struct rte_mbuf *
make_data(struct bench *b, uint8_t src, uint8_t dst, uint32_t psn)
{
	struct frame_spec s = {.src = src,
			       .dst = dst,
			       .dscp = 26,
			       .ecn = ECN_ECT0,
			       .payload_bytes = DATA_PAYLOAD,
			       .psn = psn};

	return make_frame(b, &s);
}

void
give(struct bench *b, uint16_t port, struct rte_mbuf *m, uint64_t now_ns)
{
	b->sw->ops->rx(b->sw, port, &m, 1, now_ns);
}

void
give_bytes(struct bench *b, uint16_t port, const void *bytes, uint16_t n, uint64_t now_ns)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->arrivals);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, n), bytes, n);
	give(b, port, m, now_ns);
}

void
give_pfc(struct bench *b, uint16_t port, uint8_t enable, uint16_t quanta, uint64_t now_ns)
{
	static const uint8_t zero_mac[6];
	uint8_t frame[PFC_FRAME_BYTES];
	uint16_t times[8];

	for (unsigned int i = 0; i < 8; i++)
		times[i] = quanta;
	pfc_frame_build(frame, zero_mac, enable, times);
	give_bytes(b, port, frame, sizeof(frame), now_ns);
}

struct rte_mbuf *
take(struct bench *b, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m;

	return b->sw->ops->tx(b->sw, port, &m, 1, now_ns) == 1 ? m : NULL;
}

uint64_t
next_ns(const struct bench *b, uint16_t port)
{
	return b->sw->ops->next_ns(b->sw, port);
}

struct rte_mbuf *
take_next(struct bench *b, uint16_t port, uint64_t *now_ns)
{
	uint64_t due_ns = next_ns(b, port);
	struct rte_mbuf *m;

	if (due_ns == NEVER_NS) {
		assert_null(take(b, port, *now_ns));
		return NULL;
	}
	if (due_ns > *now_ns) {
		assert_null(take(b, port, due_ns - 1));
		*now_ns = due_ns;
	}
	m = take(b, port, *now_ns);
	assert_non_null(m);
	return m;
}

void
sent(struct rte_mbuf *m)
{
	assert_non_null(m);
	rte_pktmbuf_free(m);
}

unsigned int
drain(struct bench *b, uint16_t port, uint64_t *now_ns)
{
	struct rte_mbuf *m;
	unsigned int n = 0;

	while ((m = take_next(b, port, now_ns)) != NULL) {
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

uint64_t
drops(const struct bench *b, uint16_t port, enum sw_drop reason)
{
	return sw_port_stats(b->sw, port)->drops[reason];
}

uint64_t
all_drops(const struct bench *b)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < b->params.n_ports; port++) {
		for (unsigned int d = 0; d < SW_DROPS; d++)
			n += drops(b, port, (enum sw_drop)d);
	}
	return n;
}

struct frame_view
view_of(const struct rte_mbuf *m)
{
	struct frame_view v;

	assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v),
			 FRAME_OK);
	return v;
}

struct roce_view
roce_of(const struct rte_mbuf *m)
{
	struct frame_view v = view_of(m);
	struct roce_view r;

	assert_int_equal(
		roce_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v, true, &r),
		ROCE_OK);
	return r;
}

bool
is_pfc(const struct rte_mbuf *m, struct mac_control *mc)
{
	return m->data_len == PFC_FRAME_BYTES &&
	       mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, mc) ==
		       MAC_CONTROL_PFC;
}

void
learn_hosts(struct bench *b)
{
	for (uint16_t port = 0; port < b->params.n_ports; port++) {
		uint8_t mac[6];

		host_mac(mac, (uint8_t)port);
		assert_int_equal(sw_learn(b->sw, 0, mac, port, 0), 0);
	}
}

void
bench_start_learnt(struct bench *b)
{
	bench_start(b);
	learn_hosts(b);
}

struct sw_forwarding *
bench_prepare_reload(struct bench *b)
{
	struct sw_forwarding *next = NULL;
	char why[256] = "";

	sw_params_resolve(&b->params);
	if (sw_params_check(&b->params, why, sizeof(why)) != 0 ||
	    sw_reload_prepare(b->sw, &b->params, &next, why, sizeof(why)) != 0)
		fail_msg("parameters refused: %s", why);
	return next;
}

struct rte_mbuf *
make_packet_on(struct bench *b, const struct roce_path *path, const struct roce_fields *fields,
	       uint16_t payload_bytes)
{
	static const uint8_t payload[2048];
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->arrivals);
	size_t len;

	assert_non_null(m);
	len = roce_build(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_tailroom(m), path, fields,
			 payload, payload_bytes);
	assert_true(len > 0);
	rte_pktmbuf_append(m, (uint16_t)len);
	return m;
}

void
give_data(struct bench *b, uint8_t src, uint8_t dst, unsigned int n, uint64_t now_ns)
{
	for (unsigned int psn = 1; psn <= n; psn++)
		give(b, src, make_data(b, src, dst, psn), now_ns);
}

void
flood_until_empty(struct bench *b, const struct rte_mempool *pool)
{
	for (unsigned int i = 0; i < 20; i++)
		give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = BROADCAST_HOST}), 0);
	assert_int_equal(rte_mempool_avail_count(pool), 0);
}

void
sees_tag(struct bench *b, uint16_t port, int32_t tci, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	struct frame_view v;

	assert_non_null(m);
	v = view_of(m);
	assert_int_equal(v.tagged, tci >= 0);
	if (tci >= 0)
		assert_int_equal(v.vlan_tci, tci);
	roce_of(m);
	sent(m);
	assert_null(take(b, port, now_ns + 1000));
}
