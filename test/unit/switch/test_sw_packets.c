/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short lossy frames at line rate of one port, and beside them lossless flows of others: what
 * devices receive into is as large as quench-switch makes it, and must never end.
 */
#include "unit/switch/sw_test.h"

#define PORTS 4
#define PRIO 3
#define BACKING 512u
/* What each device has in its ring, and a burst on its way. */
#define PORT_FRAMES 96u
#define RUN_NS (3 * NS_PER_MS)
#define ATTACKER 0
#define SENDER 1
#define RECEIVER 2
#define SINK 3

struct tally {
	uint64_t attacked, given, received, given_back, received_back, xoffs, xons, short_given;
};

static struct rte_mempool *device_pool;

/* A device has to have an mbuf for each frame that comes. */
static struct rte_mbuf *
receive(const void *bytes, uint16_t n)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(device_pool);

	if (m == NULL)
		fail_msg("a frame came and there was no mbuf for it");
	memcpy(rte_pktmbuf_append(m, n), bytes, n);
	return m;
}

/* The same frame again and again, made once. */
struct stream {
	uint8_t bytes[2048];
	uint16_t n;
	uint16_t port;
	uint64_t gap_ns, next_ns;
};

static struct stream
stream_of(struct bench *b, const struct frame_spec *s, uint64_t rate_bps)
{
	struct stream stream = {.port = s->src};
	struct rte_mbuf *m = make_frame(b, s);

	stream.n = m->data_len;
	memcpy(stream.bytes, rte_pktmbuf_mtod(m, const void *), m->data_len);
	stream.gap_ns = serialization_ns(wire_bytes(m->data_len), rate_bps);
	rte_pktmbuf_free(m);
	return stream;
}

/* @return frames that came up to now. */
static uint64_t
play(struct bench *b, struct stream *s, uint64_t now_ns)
{
	struct rte_mbuf *burst[32];
	uint64_t n = 0;

	while (s->next_ns <= now_ns) {
		uint16_t k = 0;

		for (; k < 32 && s->next_ns <= now_ns; k++, s->next_ns += s->gap_ns)
			burst[k] = receive(s->bytes, s->n);
		b->sw->ops->rx(b->sw, s->port, burst, k, now_ns);
		n += k;
	}
	return n;
}

static uint64_t
poll_port(struct bench *b, uint16_t port, struct tally *t, bool *paused, uint64_t now_ns)
{
	struct rte_mbuf *out[32];
	uint16_t n = b->sw->ops->tx(b->sw, port, out, 32, now_ns);
	uint64_t data = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct mac_control mc;

		if (is_pfc(out[i], &mc)) {
			*paused = mc.quanta[PRIO] > 0;
			t->xoffs += *paused;
			t->xons += !*paused;
		} else {
			data++;
		}
		rte_pktmbuf_free(out[i]);
	}
	return data;
}

static void
start(struct bench *b, uint32_t *device_frames)
{
	struct sw_pools pools = {.clones = b->clones, .own = b->frames, .pause = b->frames};
	struct pkt_pool_params pool = {
		.name = "device", .largest_frame = 2048, .socket = SOCKET_ID_ANY};
	char why[256] = "";

	b->params.mmu.buffer_bytes = 1000000;
	b->params.mmu.lossless = (struct buffer_profile){
		.dynamic = true, .xoff_bytes = 12000, .xon_offset_bytes = 2496};
	b->params.ports[SINK].shaper_rate_bps = 10 * MBPS;
	sw_params_resolve(&b->params);
	b->params.mmu.packets = (uint32_t)mmu_params_packets(&b->params.mmu, BACKING);
	*device_frames =
		b->params.mmu.packets + PORTS * PORT_FRAMES + b->params.shards * (32 + 4096 / 64);
	pool.n_mbufs = *device_frames;
	device_pool = pkt_pool_create(&pool);
	assert_non_null(device_pool);
	pools.frames = device_pool;
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), 0);
	b->sw = sw_create(&b->params, &pools);
	assert_non_null(b->sw);
	learn_hosts(b);
}

/*
 * SENDER to RECEIVER: half of the wire, lossless. RECEIVER to SENDER: the shortest lossless frames
 * at line rate for a host that is paused, until they are paused themselves, 300 ns later.
 */
static struct tally
run(bool attack)
{
	struct bench *b = bench_with_ports(PORTS);
	struct frame_spec small = {.src = ATTACKER, .dst = SINK, .payload_bytes = 1};
	struct frame_spec data = {.src = SENDER,
				  .dst = RECEIVER,
				  .dscp = 26,
				  .ecn = ECN_ECT0,
				  .payload_bytes = DATA_PAYLOAD};
	struct frame_spec back = {.src = RECEIVER, .dst = SENDER, .dscp = 26, .payload_bytes = 1};
	struct stream flood, flow, answers;
	bool paused[PORTS] = {false};
	uint64_t obey_ns = 0, now_ns;
	struct tally t = {0};
	uint32_t frames;

	start(b, &frames);
	flood = stream_of(b, &small, 40 * GBPS);
	flow = stream_of(b, &data, 20 * GBPS);
	answers = stream_of(b, &back, 40 * GBPS);
	for (now_ns = 0; now_ns < RUN_NS; now_ns += 100) {
		bool was_paused = paused[RECEIVER];

		if (now_ns % (500 * NS_PER_US) == 0)
			give_pfc(b, SENDER, 1u << PRIO, 65535, now_ns);
		if (attack)
			t.attacked += play(b, &flood, now_ns);
		assert_false(paused[SENDER]);
		t.given += play(b, &flow, now_ns);
		if (!paused[RECEIVER] || now_ns < obey_ns)
			t.given_back += play(b, &answers, now_ns);
		else
			answers.next_ns = now_ns + 100;
		for (uint16_t port = 0; port < PORTS; port++) {
			uint64_t n = poll_port(b, port, &t, &paused[port], now_ns);

			t.received += port == RECEIVER ? n : 0;
			t.received_back += port == SENDER ? n : 0;
		}
		if (paused[RECEIVER] && !was_paused)
			obey_ns = now_ns + 300;
	}
	/* The host goes on, and all that is lossless leaves. */
	give_pfc(b, SENDER, 1u << PRIO, 0, now_ns);
	for (uint64_t end_ns = now_ns + NS_PER_MS; now_ns < end_ns; now_ns += 100) {
		for (uint16_t port = 0; port < PORTS; port++) {
			uint64_t n = poll_port(b, port, &t, &paused[port], now_ns);

			t.received += port == RECEIVER ? n : 0;
			t.received_back += port == SENDER ? n : 0;
		}
	}
	/* Nothing is lost that no counter has: of the attack, what waits, what left, what was
	 * dropped by name; of the others nothing is. */
	for (uint16_t port = SENDER; port < PORTS; port++) {
		for (unsigned int d = 0; d < SW_DROPS; d++)
			assert_int_equal(drops(b, port, (enum sw_drop)d), 0);
		assert_int_equal(sw_port_stats(b->sw, port)->pause_no_mbuf, 0);
	}
	assert_int_equal(sw_port_stats(b->sw, ATTACKER)->rx_packets, t.attacked);
	bench_sees_balance(b);
	if (attack) {
		uint64_t dropped = drops(b, ATTACKER, SW_DROP_PACKET_MEMORY);

		assert_true(dropped > t.attacked / 2);
		assert_int_equal(t.attacked,
				 dropped + mmu_pg_state(sw_mmu(b->sw), ATTACKER, 0).packets +
					 sw_port_stats(b->sw, SINK)->tx_packets);
	}
	sw_destroy(b->sw);
	b->sw = NULL;
	assert_int_equal(rte_mempool_avail_count(device_pool), frames);
	pkt_pool_destroy(device_pool);
	return t;
}

TEST(a_flood_of_short_frames_costs_lossless_flows_nothing)
{
	struct tally quiet = run(false), attacked = run(true);

	assert_int_equal(quiet.received, quiet.given);
	assert_int_equal(attacked.received, attacked.given);
	assert_int_equal(attacked.given, quiet.given);
	assert_int_equal(quiet.received_back, quiet.given_back);
	assert_int_equal(attacked.received_back, attacked.given_back);
	assert_true(quiet.xoffs > 0 && attacked.xoffs > 0);
	assert_true(attacked.attacked > 100000);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
