/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of frames from templates: their times, fields, checksums, pauses, starts and stops. */
#include <string.h>

#include "base/numbers/units.h"
#include "nic/change/nic_reload.h"
#include "nic/core/core.h"
#include "unit/nic/nic_test.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"

#define FRAME_BYTES 100u
/* 100 bytes and 20 of preamble and gap, at 1 Gb/s. */
#define GAP_NS 960u

static struct rte_mempool *pool;
static struct nic_frames_update updates[3];

static struct nic_frames_params
plain(void)
{
	struct nic_frames_params p = {
		.header_bytes = 14, .frame_bytes = FRAME_BYTES, .queue = -1, .rate_bps = GBPS};

	for (uint8_t i = 0; i < 14; i++)
		p.header[i] = i;
	return p;
}

static void
begin(const struct nic_frames_params *streams, uint32_t n)
{
	memset(updates, 0, sizeof(updates));
	solo_init(&solo);
	solo_create(&solo, 64);
	pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = "frames", .n_mbufs = 63, .largest_frame = 1514, .socket = SOCKET_ID_ANY});
	assert_non_null(pool);
	assert_int_equal(nic_frames_add(solo.nic, streams, n, 0, pool), 0);
}

static void
finish(void)
{
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	solo_destroy(&solo);
	pkt_pool_destroy(pool);
}

static void
set(uint32_t stream, bool started)
{
	updates[stream].started = started;
	nic_frames_update(nic_of(solo.nic), updates, solo.now_ns);
}

/* The next frame at or before a time, where the clock then is; its bytes. NULL: none. */
static const uint8_t *
next_frame(uint64_t until_ns)
{
	static uint8_t bytes[2048];
	struct rte_mbuf *m;

	while (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 0) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);

		assert_true(next_ns > solo.now_ns);
		solo.now_ns = next_ns < until_ns ? next_ns : until_ns;
		if (next_ns > until_ns)
			return NULL;
	}
	assert_int_equal(m->pkt_len, FRAME_BYTES - 4);
	memcpy(bytes, rte_pktmbuf_mtod(m, void *), m->pkt_len);
	rte_pktmbuf_free(m);
	return bytes;
}

TEST(frames_leave_at_their_rate_until_their_count)
{
	static const uint8_t zeros[FRAME_BYTES];
	struct nic_frames_params p = plain();

	p.count = 3;
	begin(&p, 1);
	assert_null(next_frame(10000));
	set(0, true);
	assert_true(nic_frames_info(solo.nic, 0).started);
	for (uint64_t i = 0; i < 3; i++) {
		const uint8_t *frame = next_frame(NEVER_NS - 1);

		assert_non_null(frame);
		assert_int_equal(solo.now_ns, 10000 + i * GAP_NS);
		assert_memory_equal(frame, p.header, 14);
		assert_memory_equal(frame + 14, zeros, FRAME_BYTES - 4 - 14);
	}
	assert_null(next_frame(NEVER_NS - 1));
	assert_int_equal(nic_frames_info(solo.nic, 0).tx_packets, 3);
	assert_int_equal(nic_frames_info(solo.nic, 0).tx_bytes, 3 * FRAME_BYTES);
	assert_false(nic_frames_info(solo.nic, 0).started);
	assert_int_equal(nic_stats(solo.nic)->tx_packets, 3);
	finish();
}

TEST(a_start_begins_with_the_first_frame_and_has_a_duration)
{
	struct nic_frames_params p = plain();

	p.duration_ns = 2 * GAP_NS + 1;
	p.n_patterns = 1;
	p.patterns[0] =
		(struct nic_frames_pattern){.bit = 8, .width = 8, .first = 7, .step = 10, .n = 2};
	begin(&p, 1);
	for (int starts = 0; starts < 2; starts++) {
		static const uint8_t values[] = {7, 17, 7};

		set(0, true);
		assert_true(nic_frames_info(solo.nic, 0).started);
		for (int i = 0; i < 3; i++)
			assert_int_equal(next_frame(solo.now_ns + GAP_NS)[1], values[i]);
		assert_null(next_frame(solo.now_ns + 100000));
		assert_false(nic_frames_info(solo.nic, 0).started);
		set(0, false);
	}
	/* A stop ends it before. */
	set(0, true);
	assert_non_null(next_frame(solo.now_ns));
	set(0, false);
	assert_false(nic_frames_info(solo.nic, 0).started);
	assert_null(next_frame(solo.now_ns + 100000));
	/* A stop and a start between two turns of the node are a start. */
	set(0, true);
	assert_int_equal(next_frame(solo.now_ns)[1], 7);
	set(0, false);
	set(0, true);
	assert_true(nic_frames_info(solo.nic, 0).started);
	assert_int_equal(next_frame(solo.now_ns + GAP_NS)[1], 7);
	assert_true(nic_frames_info(solo.nic, 0).started);
	finish();
}

TEST(patterns_write_bits_and_leave_their_neighbours)
{
	struct nic_frames_params p = plain();

	memset(p.header, 0xFF, sizeof(p.header));
	p.n_patterns = 3;
	/* Within a byte, over three bytes, and 64 bits. */
	p.patterns[0] = (struct nic_frames_pattern){
		.bit = 2, .width = 3, .listed = true, .n = 3, .list = {0, 5, 7}};
	p.patterns[1] = (struct nic_frames_pattern){
		.bit = 12, .width = 12, .first = 0x123, .step = 1, .n = 1000};
	p.patterns[2] = (struct nic_frames_pattern){
		.bit = 40, .width = 64, .first = 0x0102030405060708, .n = 1};
	begin(&p, 1);
	set(0, true);
	for (int i = 0; i < 4; i++) {
		static const uint8_t first[] = {0xC7, 0xEF, 0xFF, 0xC7};
		const uint8_t *frame = next_frame(NEVER_NS - 1);

		assert_int_equal(frame[0], first[i]);
		assert_int_equal(frame[1], 0xF1);
		assert_int_equal(frame[2], 0x23 + i);
		assert_int_equal(frame[3], 0xFF);
		assert_memory_equal(frame + 5, "\1\2\3\4\5\6\7\10\377", 9);
	}
	finish();
}

TEST(checksums_are_those_of_each_frame)
{
	struct nic_frames_params p[2] = {plain(), plain()};
	uint8_t *v4 = p[0].header + 14, *v6 = p[1].header + 14;

	p[0].header_bytes = 14 + 20 + 8;
	p[1].header_bytes = 14 + 40 + 8;
	memcpy(v4, "\x45\0\0\x52\0\0\0\0\x40\x11\xAA\xAA\x0A\0\0\1\x0A\0\0\2", 20);
	memcpy(v6, "\x60\0\0\0\0\x2A\x11\x40", 8);
	be16_store(v6 + 40, 1000);
	be16_store(v6 + 44, 0x2A);
	for (int i = 0; i < 2; i++) {
		p[i].ip_at = 14;
		p[i].count = 3;
		p[i].n_patterns = 1;
		p[i].patterns[0] = (struct nic_frames_pattern){
			.bit = 8 * (14 + 12), .width = 32, .first = 1, .step = 1000, .n = 3};
	}
	begin(p, 2);
	set(0, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ipv4_header_checksum(next_frame(NEVER_NS - 1) + 14, 20), 0);
	set(1, true);
	for (int i = 0; i < 3; i++) {
		uint8_t frame[FRAME_BYTES];
		uint16_t got;

		memcpy(frame, next_frame(NEVER_NS - 1), FRAME_BYTES - 4);
		got = be16_load(frame + 14 + 46);
		be16_store(frame + 14 + 46, 0);
		assert_int_equal(got, udp_checksum(frame + 14, 6, frame + 54, FRAME_BYTES - 58));
	}
	finish();
}

TEST(a_stream_waits_while_its_queue_is_paused)
{
	struct nic_frames_params p[2] = {plain(), plain()};

	p[0].queue = 3;
	p[1].header[0] = 0xEE;
	begin(p, 2);
	set(0, true);
	solo_feed_pause(&solo, 1 << 3, 100);
	assert_null(next_frame(1279));
	assert_non_null(next_frame(1280));
	/* It does not catch up. */
	assert_null(next_frame(1280 + GAP_NS - 1));
	/* The other one obeys no pause. */
	solo_feed_pause(&solo, 1 << 3, 0xFFFF);
	set(1, true);
	for (int i = 0; i < 5; i++)
		assert_int_equal(next_frame(solo.now_ns + GAP_NS)[0], 0xEE);
	finish();
}

TEST(streams_take_turns_on_a_full_wire)
{
	struct nic_frames_params p[3] = {plain(), plain(), plain()};
	unsigned int seen[3] = {0};

	for (uint8_t i = 0; i < 3; i++) {
		p[i].header[0] = i;
		p[i].rate_bps = 100 * GBPS;
	}
	begin(p, 3);
	for (uint32_t i = 0; i < 3; i++)
		set(i, true);
	for (int i = 0; i < 300; i++)
		seen[next_frame(NEVER_NS - 1)[0]]++;
	for (int i = 0; i < 3; i++)
		assert_in_range(seen[i], 99, 101);
	/* 40 Gb/s: 24 ns for 120 bytes, after the burst of the port. */
	assert_in_range(solo.now_ns, 200 * 24, 300 * 24);
	finish();
}

TEST(a_reload_changes_a_stream_that_goes_on)
{
	struct nic_frames_params p = plain(), other = plain();
	struct nic_reload reload = {.streams = updates};

	p.count = 6;
	p.n_patterns = other.n_patterns = 1;
	p.patterns[0] = (struct nic_frames_pattern){.bit = 8, .width = 8, .step = 1, .n = 100};
	other.patterns[0] = p.patterns[0];
	other.header[0] = 0xEE;
	other.rate_bps = GBPS / 2;
	begin(&p, 1);
	set(0, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(next_frame(NEVER_NS - 1)[1], i);
	reload.params = solo.params;
	for (int i = 3; i < 6; i++) {
		uint64_t before_ns = solo.now_ns;

		/* The first one without other parameters. */
		updates[0].params = i > 3 ? &other : NULL;
		nic_reload(solo.nic, &reload);
		assert_int_equal(next_frame(NEVER_NS - 1)[0], i > 3 ? 0xEE : 0);
		assert_true(nic_reload_is_done(solo.nic));
		/* The rest of the debt is paid off at the new rate, once the wire is free. */
		assert_in_range(solo.now_ns - before_ns, i > 3 ? 2 * GAP_NS - 24 : GAP_NS,
				i > 3 ? 2 * GAP_NS : GAP_NS);
	}
	assert_null(next_frame(NEVER_NS - 1));
	assert_int_equal(nic_frames_info(solo.nic, 0).tx_packets, 6);
	finish();
}

TEST(streams_that_start_together_spread_over_a_period)
{
	enum { N = 64 };
	static struct nic_frames_params streams[N];
	static struct nic_frames_update all[N];

	for (unsigned int i = 0; i < N; i++) {
		streams[i] = plain();
		streams[i].rate_bps = MBPS;
		all[i].started = true;
	}
	for (unsigned int spread = 0; spread < 2; spread++) {
		/* At 1 Mb/s a frame takes 1,000 times as long as at 1 Gb/s. */
		uint64_t begin_ns, last_ns, longest_ns = 0;

		begin(streams, N);
		nic_of(solo.nic)->params.spread_starts = spread;
		nic_frames_update(nic_of(solo.nic), all, solo.now_ns);
		begin_ns = last_ns = solo.now_ns;
		for (unsigned int i = 0; i < 3 * N; i++) {
			assert_non_null(next_frame(NEVER_NS - 1));
			if (solo.now_ns - last_ns > longest_ns)
				longest_ns = solo.now_ns - last_ns;
			last_ns = solo.now_ns;
		}
		/* Gaps of the golden ratio's multiples: at most 3 times the mean. */
		if (spread)
			assert_true(longest_ns < 3 * 1000 * GAP_NS / N);
		else
			assert_true(longest_ns > 900 * GAP_NS);
		assert_in_range(last_ns - begin_ns, 2 * 1000 * GAP_NS, 3 * 1000 * GAP_NS);
		finish();
	}
}

TEST_MAIN(.begin = start_eal)
