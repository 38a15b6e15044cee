/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of frames from templates: their times, fields, checksums, pauses, starts and stops. */
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "nic/change/nic_reload.h"
#include "nic/core/core.h"
#include "nic/frames/signature.h"
#include "nic/measure/pacing.h"
#include "unit/nic/nic_test.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"

#define FRAME_BYTES 100u
/* 100 bytes and 20 of preamble and gap, at 1 Gb/s. */
#define GAP_NS 960u

#define KEY 0x123456789ABCDEFull

static struct rte_mempool *pool;
static struct nic_frames_update updates[3];
static bool any_length; /* of frames */
static uint32_t frame_len;
static uint32_t port_burst_ns;

static struct nic_frames_params
plain(void)
{
	struct nic_frames_params p = {
		.template = {.header_bytes = 14, .frame_bytes = FRAME_BYTES},
		.queue = -1,
		.rate_bps = GBPS,
	};

	for (uint8_t i = 0; i < 14; i++)
		p.template.header[i] = i;
	return p;
}

static void
begin(const struct nic_frames_params *streams, uint32_t n)
{
	memset(updates, 0, sizeof(updates));
	solo_init(&solo);
	solo.params.signatures = 16;
	solo.params.qp_burst_bytes = 0;
	solo.params.shaper_burst_ns = port_burst_ns;
	solo.params.signature_key = KEY;
	solo_create(&solo, 64);
	pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = "frames", .n_mbufs = 63, .largest_frame = 1514, .socket = SOCKET_ID_ANY});
	assert_non_null(pool);
	assert_int_equal(nic_frames_add(solo.nic, streams, n, pool), 0);
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
	frame_len = m->pkt_len;
	if (!any_length)
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
		assert_memory_equal(frame, p.template.header, 14);
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
	p.template.n_patterns = 1;
	p.template.patterns[0] =
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

	memset(p.template.header, 0xFF, sizeof(p.template.header));
	p.template.n_patterns = 3;
	/* Within a byte, over three bytes, and 64 bits. */
	p.template.patterns[0] = (struct nic_frames_pattern){
		.bit = 2, .width = 3, .values = NIC_FRAMES_LIST, .n = 3, .first = 1};
	memcpy(p.template.values, (uint64_t[]){9, 0, 5, 7}, 4 * sizeof(uint64_t));
	p.template.n_values = 4;
	p.template.patterns[1] = (struct nic_frames_pattern){
		.bit = 12, .width = 12, .first = 0x123, .step = 1, .n = 1000};
	p.template.patterns[2] = (struct nic_frames_pattern){
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
	uint8_t *v4 = p[0].template.header + 14, *v6 = p[1].template.header + 14;

	p[0].template.header_bytes = 14 + 20 + 8;
	p[1].template.header_bytes = 14 + 40 + 8;
	memcpy(v4, "\x45\0\0\x52\0\0\0\0\x40\x11\xAA\xAA\x0A\0\0\1\x0A\0\0\2", 20);
	memcpy(v6, "\x60\0\0\0\0\x2A\x11\x40", 8);
	be16_store(v6 + 40, 1000);
	be16_store(v6 + 44, 0x2A);
	for (int i = 0; i < 2; i++) {
		p[i].template.n_checksums = 1;
		p[i].template.checksums[0] =
			(struct nic_frames_checksum){.sum = i == 0 ? NIC_SUM_IPV4 : NIC_SUM_UDP,
						     .at = i == 0 ? 14 : 54,
						     .ip_at = 14};
		p[i].count = 3;
		p[i].template.n_patterns = 1;
		p[i].template.patterns[0] = (struct nic_frames_pattern){
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

TEST(what_a_late_call_does_not_catch_up_with_is_missed)
{
	struct nic_frames_params p = plain();

	p.rate_bps = GBPS / 2;
	port_burst_ns = 10 * 2 * GAP_NS;
	begin(&p, 1);
	set(0, true);
	assert_non_null(next_frame(NEVER_NS - 1));
	assert_int_equal(nic_frames_info(solo.nic, 0).missed_bytes, 0);
	/* As late as the burst: all frames that were due follow at once. */
	solo.now_ns += 10 * 2 * GAP_NS;
	for (int i = 0; i < 10; i++)
		assert_non_null(next_frame(solo.now_ns));
	assert_int_equal(nic_frames_info(solo.nic, 0).missed_bytes, 0);
	/* Later: the frames beyond the burst are missed, on the wire. */
	solo.now_ns += 110 * 2 * GAP_NS;
	assert_non_null(next_frame(solo.now_ns));
	assert_in_range(nic_frames_info(solo.nic, 0).missed_bytes, 99 * 120, 101 * 120);
	port_burst_ns = 0;
	finish();
}

TEST(a_stream_waits_while_its_queue_is_paused)
{
	struct nic_frames_params p[2] = {plain(), plain()};

	p[0].queue = 3;
	p[1].template.header[0] = 0xEE;
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
	assert_int_equal(nic_frames_info(solo.nic, 0).missed_bytes, 0);
	finish();
}

TEST(streams_take_turns_on_a_full_wire)
{
	struct nic_frames_params p[3] = {plain(), plain(), plain()};
	unsigned int seen[3] = {0};

	for (uint8_t i = 0; i < 3; i++) {
		p[i].template.header[0] = i;
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
	p.template.n_patterns = other.template.n_patterns = 1;
	p.template.patterns[0] =
		(struct nic_frames_pattern){.bit = 8, .width = 8, .step = 1, .n = 100};
	other.template.patterns[0] = p.template.patterns[0];
	other.template.header[0] = 0xEE;
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

TEST(a_delay_comes_before_the_first_frame_and_no_time_is_lost)
{
	struct nic_frames_params p = plain();

	p.delay_ns = 5000;
	p.duration_ns = 2 * GAP_NS + 1;
	begin(&p, 1);
	set(0, true);
	assert_null(next_frame(4999));
	for (int i = 0; i < 3; i++) {
		assert_non_null(next_frame(NEVER_NS - 1));
		assert_int_equal(solo.now_ns, 5000 + i * GAP_NS);
	}
	assert_null(next_frame(solo.now_ns + 100000));
	finish();
}

TEST(a_gap_follows_each_burst)
{
	struct nic_frames_params p = plain();

	p.burst_packets = 3;
	p.burst_gap_ns = 10000;
	p.count = 9;
	begin(&p, 1);
	set(0, true);
	for (uint64_t i = 0; i < 9; i++) {
		/* 120 bytes at 40 Gb/s take 24 ns. */
		uint64_t burst_ns = 2 * GAP_NS + 24 + 10000;

		assert_non_null(next_frame(NEVER_NS - 1));
		assert_int_equal(solo.now_ns, i / 3 * burst_ns + i % 3 * GAP_NS);
	}
	assert_null(next_frame(NEVER_NS - 1));
	finish();
}

TEST(a_paused_stream_goes_on_with_what_was_left)
{
	struct nic_frames_params p = plain();

	p.count = 5;
	p.duration_ns = 10 * GAP_NS;
	p.template.n_patterns = 1;
	p.template.patterns[0] =
		(struct nic_frames_pattern){.bit = 8, .width = 8, .step = 1, .n = 100};
	begin(&p, 1);
	set(0, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(next_frame(NEVER_NS - 1)[1], i);
	updates[0].paused = true;
	set(0, true);
	assert_true(nic_frames_info(solo.nic, 0).started && nic_frames_info(solo.nic, 0).paused);
	/* Longer than its duration. */
	assert_null(next_frame(solo.now_ns + 100 * GAP_NS));
	updates[0].paused = false;
	set(0, true);
	for (int i = 2; i < 5; i++)
		assert_int_equal(next_frame(solo.now_ns + GAP_NS)[1], i);
	assert_null(next_frame(NEVER_NS - 1));
	assert_int_equal(nic_frames_info(solo.nic, 0).tx_packets, 5);
	/* A stop ends a paused one. */
	set(0, false);
	set(0, true);
	updates[0].paused = true;
	set(0, true);
	set(0, false);
	updates[0].paused = false;
	set(0, false);
	assert_null(next_frame(solo.now_ns + 100 * GAP_NS));
	finish();
}

TEST(lengths_follow_their_rule_and_headers_tell_them)
{
	static const struct {
		struct nic_frames_lengths lengths;
		uint16_t least, most;
	} rows[] = {
		{{.sizes = NIC_SIZES_COUNTER, .n = 2, .bytes = {64, 70}, .step = 4}, 64, 68},
		{{.sizes = NIC_SIZES_RANDOM, .n = 2, .bytes = {64, 1518}}, 64, 1518},
		{{.sizes = NIC_SIZES_WEIGHTS,
		  .n = 3,
		  .bytes = {64, 570, 1518},
		  .weights = {7, 11, 12}},
		 64,
		 1518},
	};

	any_length = true;
	for (unsigned int row = 0; row < ARRAY_LEN(rows); row++) {
		struct nic_frames_params p = plain();
		unsigned int seen[1519] = {0};
		uint64_t begun_ns;

		p.template.frame_bytes = 1518;
		p.template.lengths = rows[row].lengths;
		p.template.n_patterns = 1;
		p.template.patterns[0] = (struct nic_frames_pattern){
			.bit = 96, .width = 16, .values = NIC_FRAMES_LENGTH, .first = 14};
		p.rate_bps = 0;
		p.rate_pps = 1000000;
		begin(&p, 1);
		set(0, true);
		begun_ns = solo.now_ns;
		for (uint64_t i = 0; i < 1200; i++) {
			const uint8_t *frame = next_frame(NEVER_NS - 1);

			assert_int_equal(be16_load(frame + 12), frame_len - 14);
			assert_in_range(frame_len + 4, rows[row].least, rows[row].most);
			/* A rate of frames is the same with all lengths. */
			assert_int_equal(solo.now_ns - begun_ns, i * 1000);
			seen[frame_len + 4]++;
		}
		if (row == 0)
			assert_true(seen[64] == 600 && seen[68] == 600);
		if (row == 1)
			assert_true(seen[64] < 10 && seen[1518] < 10);
		if (row == 2) {
			assert_in_range(seen[64], 650, 750);
			assert_in_range(seen[570], 350, 450);
			assert_in_range(seen[1518], 70, 130);
		}
		finish();
	}
	any_length = false;
}

TEST(random_values_repeat_after_their_number)
{
	struct nic_frames_params p = plain();
	uint8_t first[5];

	p.template.n_patterns = 1;
	p.template.patterns[0] = (struct nic_frames_pattern){.bit = 8,
							     .width = 8,
							     .values = NIC_FRAMES_RANDOM,
							     .first = 10,
							     .step = 20,
							     .n = 5,
							     .seed = 7};
	begin(&p, 1);
	set(0, true);
	for (int i = 0; i < 15; i++) {
		uint8_t value = next_frame(NEVER_NS - 1)[1];

		assert_in_range(value, 10, 30);
		if (i < 5)
			first[i] = value;
		assert_int_equal(value, first[i % 5]);
	}
	assert_true(memcmp(first, (uint8_t[5]){first[0], first[0], first[0], first[0], first[0]},
			   5) != 0);
	finish();
}

/* One's complement sum of a range, whatever is in it. */
static uint16_t
folded(const uint8_t *data, uint32_t from, uint32_t to, uint64_t more)
{
	return checksum_fold(more + checksum_bytes(data + from, to - from));
}

TEST(checksums_cover_a_signature_at_even_and_at_odd_places)
{
	static const struct {
		uint8_t sum, proto, bytes, tail;
	} rows[] = {{NIC_SUM_UDP, 17, 8, 0}, {NIC_SUM_TCP, 6, 20, 0}, {NIC_SUM_ICMP, 0, 8, 0},
		    {NIC_SUM_UDP, 17, 8, 4}, {NIC_SUM_TCP, 6, 20, 3}, {NIC_SUM_ICMP, 0, 8, 20}};

	any_length = true;
	for (unsigned int row = 0; row < ARRAY_LEN(rows); row++)
		for (int bad = 0; bad < 2; bad++) {
			struct nic_frames_params p = plain();
			uint8_t *ip = p.template.header + 14;

			p.template.header_bytes = (uint16_t)(34 + rows[row].bytes);
			memcpy(ip, "\x45\0\0\x52\0\0\0\0\x40\x11\0\0\x0A\0\0\1\x0A\0\0\2", 20);
			p.template.frame_bytes = 101;
			p.template.lengths = (struct nic_frames_lengths){
				.sizes = NIC_SIZES_COUNTER, .n = 2, .bytes = {100, 101}, .step = 1};
			p.template.n_checksums = 1;
			p.template.checksums[0] =
				(struct nic_frames_checksum){.sum = rows[row].sum,
							     .at = 34,
							     .ip_at = 14,
							     .tail = rows[row].tail,
							     .bad = bad};
			p.signature = 3;
			begin(&p, 1);
			set(0, true);
			for (int i = 0; i < 4; i++) {
				const uint8_t *frame = next_frame(NEVER_NS - 1);
				uint32_t end = frame_len - rows[row].tail;
				uint64_t pseudo =
					folded(frame, 26, 34, 0) + rows[row].proto + end - 34;

				assert_int_equal(
					folded(frame, 34, end, rows[row].proto == 0 ? 0 : pseudo) ==
						0xFFFF,
					!bad);
			}
			finish();
		}
	any_length = false;
}

/* Streams that sign, towards the NIC that sends them: frames by number, kept to be fed. */
static struct {
	uint8_t bytes[600][FRAME_BYTES];
} kept;

static struct nic_frames_params
signed_stream(void)
{
	struct nic_frames_params p = plain();

	p.signature = 5;
	p.cut_through = true;
	return p;
}

static void
keep(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		memcpy(kept.bytes[i], next_frame(NEVER_NS - 1), FRAME_BYTES - 4);
}

static void
feed(uint32_t i)
{
	solo_feed_bytes(&solo, kept.bytes[i], FRAME_BYTES - 4);
}

static struct nic_tracked_info
counted(void)
{
	return nic_tracked_info(solo.nic, 5);
}

static void
expect_counts(uint64_t rx, uint64_t lost, uint64_t reordered, uint64_t duplicates, uint64_t old)
{
	const struct nic_tracked_info t = counted();

	assert_int_equal(t.rx_packets, rx);
	assert_int_equal(t.rx_bytes, rx * FRAME_BYTES);
	assert_int_equal(t.lost, lost);
	assert_int_equal(t.reordered, reordered);
	assert_int_equal(t.duplicates, duplicates);
	assert_int_equal(t.old, old);
}

TEST(signed_frames_are_counted_with_latency_and_times)
{
	struct nic_frames_params p = signed_stream();
	const uint64_t epoch_ns = 3 * SIGNATURE_TIME_NS - 1500;
	uint64_t first_ns = 0;

	begin(&p, 1);
	nic_set_epoch(solo.nic, epoch_ns);
	set(0, true);
	for (uint64_t i = 0; i < 4; i++) {
		keep(1);
		solo.now_ns += 100 + 10 * i;
		first_ns = i == 0 ? solo.now_ns : first_ns;
		feed(0);
	}
	expect_counts(4, 0, 0, 0, 0);
	assert_int_equal(counted().id, 5);
	assert_int_equal(counted().timed, 4);
	assert_int_equal(counted().latency_min_ns, 100);
	assert_int_equal(counted().latency_max_ns, 130);
	assert_int_equal(counted().latency_sum_ns, 460);
	assert_int_equal(counted().first_ns, epoch_ns + first_ns);
	assert_int_equal(counted().last_ns, epoch_ns + solo.now_ns);
	/* From the last bit: 20 ns less for 100 bytes at 40 Gb/s, and not below 0. */
	p.cut_through = false;
	p.signature = 6;
	updates[0].params = &p;
	set(0, true);
	updates[0].params = NULL;
	for (uint64_t i = 0; i < 2; i++) {
		keep(1);
		solo.now_ns += 50 * i;
		feed(0);
	}
	assert_int_equal(nic_tracked_info(solo.nic, 6).latency_min_ns, 0);
	assert_int_equal(nic_tracked_info(solo.nic, 6).latency_max_ns, 30);
	/* The frame is also what it was before. */
	assert_int_equal(nic_stats(solo.nic)->rx_packets, 6);
	finish();
}

TEST(what_changes_on_the_way_does_not_matter)
{
	struct nic_frames_params p = signed_stream();

	begin(&p, 1);
	set(0, true);
	keep(3);
	memset(kept.bytes[0], 0xAB, FRAME_BYTES - 4 - SIGNATURE_BYTES);
	feed(0);
	/* Another tag before it. */
	memmove(kept.bytes[1] + 4, kept.bytes[1], FRAME_BYTES - 4);
	solo_feed_bytes(&solo, kept.bytes[1], FRAME_BYTES);
	assert_int_equal(counted().rx_packets, 2);
	assert_int_equal(counted().rx_bytes, 2 * FRAME_BYTES + 4);
	/* Of a shortest frame that lost its tag, and was padded: IP tells where it ends. */
	memmove(kept.bytes[2] + 40, kept.bytes[2] + FRAME_BYTES - 4 - 16, 16);
	memset(kept.bytes[2] + 56, 0, 4);
	be16_store(kept.bytes[2] + 12, 0x0800);
	be16_store(kept.bytes[2] + 16, 42);
	solo_feed_bytes(&solo, kept.bytes[2], 60);
	assert_int_equal(counted().rx_packets, 3);
	assert_int_equal(counted().lost, 0);
	finish();
}

TEST(losses_order_and_duplicates_have_their_own_counts)
{
	struct nic_frames_params p = signed_stream();

	begin(&p, 1);
	set(0, true);
	keep(600);
	feed(2);
	expect_counts(1, 2, 0, 0, 0);
	feed(0);
	expect_counts(2, 1, 1, 0, 0);
	feed(0);
	feed(2);
	expect_counts(4, 1, 1, 2, 0);
	feed(5);
	expect_counts(5, 3, 1, 2, 0);
	feed(1);
	feed(4);
	feed(3);
	expect_counts(8, 0, 4, 2, 0);
	/* Beyond the window: late, or again. */
	feed(599);
	expect_counts(9, 593, 4, 2, 0);
	feed(6);
	feed(0);
	expect_counts(11, 593, 4, 2, 2);
	feed(599 - NIC_TRACKED_WINDOW + 1);
	feed(599 - NIC_TRACKED_WINDOW + 1);
	expect_counts(13, 592, 5, 3, 2);
	/* 600 numbers = received - duplicates - old + lost. */
	assert_int_equal(13 - 3 - 2 + 592, 600);
	finish();
}

TEST(a_start_begins_new_numbers_and_counts_go_on)
{
	struct nic_frames_params p = signed_stream();

	begin(&p, 1);
	set(0, true);
	keep(20);
	for (uint32_t i = 0; i < 10; i++)
		feed(i);
	set(0, false);
	set(0, true);
	/* Frame 15 of the next start: those before it are lost, not the rest of the last one. */
	for (uint32_t i = 0; i < 15; i++)
		assert_non_null(next_frame(NEVER_NS - 1));
	memcpy(kept.bytes[30], next_frame(NEVER_NS - 1), FRAME_BYTES - 4);
	feed(30);
	expect_counts(11, 15, 0, 0, 0);
	/* A late one of the start before. */
	feed(10);
	expect_counts(12, 15, 0, 0, 1);
	finish();
}

TEST(another_id_of_the_slot_counts_from_zero)
{
	struct nic_frames_params p = signed_stream();

	begin(&p, 1);
	set(0, true);
	keep(4);
	feed(0);
	feed(1);
	p.signature = 5 + 16;
	updates[0].params = &p;
	set(0, false);
	set(0, true);
	assert_int_equal(counted().rx_packets, 2);
	memcpy(kept.bytes[10], next_frame(NEVER_NS - 1), FRAME_BYTES - 4);
	feed(10);
	expect_counts(1, 0, 0, 0, 0);
	assert_int_equal(counted().id, 21);
	/* Late, of the id before. */
	feed(2);
	expect_counts(1, 0, 0, 0, 0);
	finish();
}

TEST(foreign_forged_and_cut_frames_do_not_count)
{
	struct nic_frames_params p = signed_stream();
	uint8_t frame[FRAME_BYTES] = {0};

	begin(&p, 1);
	set(0, true);
	keep(2);
	/* Each bit of the signature, one after another. */
	for (uint32_t bit = 0; bit < 8 * SIGNATURE_BYTES; bit++) {
		memcpy(frame, kept.bytes[0], FRAME_BYTES - 4);
		frame[FRAME_BYTES - 4 - SIGNATURE_BYTES + bit / 8] ^= (uint8_t)(1u << bit % 8);
		solo_feed_bytes(&solo, frame, FRAME_BYTES - 4);
	}
	/* Cut, longer, shorter than a signature, and all the same. */
	solo_feed_bytes(&solo, kept.bytes[0], FRAME_BYTES - 5);
	solo_feed_bytes(&solo, kept.bytes[0], FRAME_BYTES - 3);
	for (uint16_t n = 1; n < 20; n++)
		solo_feed_bytes(&solo, kept.bytes[0] + FRAME_BYTES - 4 - 5, n < 5 ? n : 5);
	for (int octet = 0; octet < 256; octet++) {
		memset(frame, octet, sizeof(frame));
		solo_feed_bytes(&solo, frame, 60);
	}
	/* Of another run. */
	solo.params.signature_key ^= 1;
	nic_reload(solo.nic, &(struct nic_reload){.params = solo.params, .streams = updates});
	solo.nic->ops->rx(solo.nic, 0, NULL, 0, solo.now_ns);
	assert_true(nic_reload_is_done(solo.nic));
	feed(1);
	for (uint32_t slot = 0; slot < 16; slot++)
		assert_int_equal(nic_tracked_info(solo.nic, slot).rx_packets, 0);
	assert_int_equal(nic_tracked_info(solo.nic, 16).rx_packets, 0);
	finish();
}

TEST(a_frame_without_room_is_counted_without_number_and_time)
{
	struct nic_frames_params p = signed_stream();

	p.template.header_bytes = FRAME_BYTES - 4 - SIGNATURE_BYTES + 1;
	begin(&p, 1);
	set(0, true);
	keep(3);
	feed(0);
	feed(0);
	feed(2);
	expect_counts(3, 0, 0, 0, 0);
	assert_int_equal(counted().timed, 0);
	assert_int_equal(counted().numbered, 0);
	finish();
}

TEST_MAIN(.begin = start_eal)
