/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring from a polling lcore to the writer, the filter, and the words of a request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "unit/eal.h"
#include "runtime/capture/capture_params.h"
#include "runtime/capture/capture_ring.h"
#include "wire/bytes/be.h"
#include "wire/icrc/icrc.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

#define RING_BYTES 65536u
#define MOST_FRAME_BYTES 3000u
#define FRAME_BYTES 256u /* room for a RoCEv2 frame */

static struct rte_mempool *pool;

static int
begin(void **state)
{
	if (start_eal(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("frames", 63, 0, 0, 4096, SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

/* A frame whose bytes follow from its number. */
static struct rte_mbuf *
frame(uint32_t number)
{
	uint16_t n = (uint16_t)(60 + number * 977u % (MOST_FRAME_BYTES - 60));
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, n), (int)number, n);
	return m;
}

static void
put(struct capture_ring *ring, uint32_t number)
{
	struct rte_mbuf *m = frame(number);

	capture_ring_put(ring, m, UINT32_MAX, number % 2 == 0 ? PCAPNG_SENT : PCAPNG_RECEIVED,
			 number);
	rte_pktmbuf_free(m);
}

static void
publish_all(struct capture_ring *ring)
{
	struct capture_mark mark = capture_ring_mark(ring);

	capture_ring_publish(ring, &mark);
}

/* at_ns is the frame's number. */
static void
check_record(const struct capture_record *r)
{
	struct rte_mbuf *m = frame((uint32_t)r->at_ns);

	assert_int_equal(r->n_bytes, m->pkt_len);
	assert_int_equal(r->frame_bytes, m->pkt_len);
	assert_int_equal(r->way, r->at_ns % 2 == 0 ? PCAPNG_SENT : PCAPNG_RECEIVED);
	assert_memory_equal(r + 1, rte_pktmbuf_mtod(m, void *), r->n_bytes);
	rte_pktmbuf_free(m);
}

TEST(each_frame_is_taken_in_order_or_counted_as_lost)
{
	struct capture_ring ring;
	uint32_t number = 0, taken = 0, most_waiting = 0;
	const struct capture_record *r;
	uint64_t lost = 0;

	assert_int_equal(capture_ring_init(&ring, RING_BYTES), 0);
	srand(1);
	for (unsigned int round = 0; round < 2000; round++) {
		for (int n = rand() % 32; n > 0; n--)
			put(&ring, number++);
		publish_all(&ring);
		for (int n = rand() % 32; n > 0 && (r = capture_ring_peek(&ring)) != NULL; n--) {
			/* Those lost before it are those missing before it. */
			assert_int_equal(r->at_ns, taken + r->lost);
			lost = r->lost;
			check_record(r);
			capture_ring_take(&ring);
			taken++;
		}
		most_waiting = number - taken - lost > most_waiting
				       ? (uint32_t)(number - taken - lost)
				       : most_waiting;
	}
	for (; (r = capture_ring_peek(&ring)) != NULL; taken++)
		capture_ring_take(&ring);
	assert_int_equal(taken + ring.lost, number);
	assert_in_range(ring.lost, 1, number - 1);
	assert_true(most_waiting > 10);
	capture_ring_free(&ring);
}

TEST(only_published_frames_are_taken)
{
	struct capture_ring ring;
	struct capture_mark two;

	assert_int_equal(capture_ring_init(&ring, RING_BYTES), 0);
	/* The device takes two of a burst, and the other two in the next one. */
	for (uint32_t i = 0; i < 4; i++) {
		put(&ring, i);
		if (i == 1)
			two = capture_ring_mark(&ring);
	}
	assert_null(capture_ring_peek(&ring));
	capture_ring_publish(&ring, &two);
	put(&ring, 2);
	put(&ring, 3);
	publish_all(&ring);
	for (uint32_t i = 0; i < 4; i++) {
		const struct capture_record *r = capture_ring_peek(&ring);

		assert_non_null(r);
		assert_int_equal(r->at_ns, i);
		check_record(r);
		capture_ring_take(&ring);
	}
	assert_null(capture_ring_peek(&ring));
	assert_int_equal(ring.lost, 0);
	capture_ring_free(&ring);
}

TEST(a_loss_of_frames_that_the_device_did_not_take_is_none)
{
	struct capture_ring ring;
	struct capture_mark before;

	assert_int_equal(capture_ring_init(&ring, RING_BYTES), 0);
	while (ring.put.lost == 0) {
		before = capture_ring_mark(&ring);
		put(&ring, 2);
	}
	capture_ring_publish(&ring, &before);
	assert_int_equal(ring.lost, 0);
	assert_int_equal(capture_ring_mark(&ring).lost, 0);
	capture_ring_free(&ring);
}

TEST(a_frame_of_several_segments_is_cut_at_snap_bytes)
{
	struct rte_mbuf *m = frame(1), *more = frame(2);
	uint16_t first_bytes = m->data_len;
	const struct capture_record *r;
	struct capture_ring ring;

	assert_int_equal(capture_ring_init(&ring, RING_BYTES), 0);
	assert_int_equal(rte_pktmbuf_chain(m, more), 0);
	capture_ring_put(&ring, m, first_bytes + 8u, PCAPNG_SENT, 7);
	publish_all(&ring);
	r = capture_ring_peek(&ring);
	assert_int_equal(r->n_bytes, first_bytes + 8);
	assert_int_equal(r->frame_bytes, m->pkt_len);
	assert_int_equal(((const uint8_t *)(r + 1))[first_bytes - 1], 1);
	assert_int_equal(((const uint8_t *)(r + 1))[first_bytes], 2);
	rte_pktmbuf_free(m);
	capture_ring_free(&ring);
}

static size_t
roce(uint8_t buf[FRAME_BYTES], const struct roce_path *path, uint8_t opcode, uint8_t syndrome)
{
	const struct roce_fields fields = {.opcode = opcode, .aeth_syndrome = syndrome};
	static const uint8_t payload[64];
	bool has_payload = opcode == RC_WRITE_MIDDLE;

	return roce_build(buf, FRAME_BYTES, path, &fields, payload,
			  has_payload ? sizeof(payload) : 0);
}

/* The only kind whose filter keeps the frame. */
static uint32_t
kind_of(const uint8_t *bytes, size_t n)
{
	uint32_t kinds = 0;

	for (uint32_t kind = 1; kind < 1u << CAPTURE_KINDS; kind <<= 1) {
		const struct capture_filter filter = {.kinds = kind, .dest_qp = CAPTURE_ANY_QP};

		kinds |= capture_filter_keeps(&filter, bytes, n) ? kind : 0;
	}
	return kinds;
}

TEST(each_frame_is_of_one_kind)
{
	static const uint8_t mac[6] = {2};
	static const uint16_t quanta[8];
	static const struct {
		uint8_t opcode, syndrome;
		const char *kind;
	} rows[] = {
		{RC_WRITE_MIDDLE, 0, "data"},      {RC_READ_REQUEST, 0, "data"},
		{RC_ACK, AETH_ACK, "ack"},         {RC_ACK, AETH_RNR_NAK, "nak"},
		{RC_ACK, AETH_NAK_PSN_SEQ, "nak"}, {ROCE_CNP, 0, "cnp"},
	};
	struct roce_path path = {.ip_version = 4, .ttl = 64, .dest_qp = 0x123456};
	uint8_t buf[FRAME_BYTES] = {0};

	for (unsigned int i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const unsigned int row = i / 2;
		size_t n;

		path.ip_version = i % 2 == 0 ? 4 : 6;
		path.tagged = i % 2 != 0;
		n = roce(buf, &path, rows[row].opcode, rows[row].syndrome);
		assert_int_equal(kind_of(buf, n), capture_kinds(rows[row].kind));
		/* However few bytes there are, it is of some kind. */
		for (; n > 0; n--)
			assert_int_equal(__builtin_popcount(kind_of(buf, n - 1)), 1);
	}
	pfc_frame_build(buf, mac, 8, quanta);
	assert_int_equal(kind_of(buf, PFC_FRAME_BYTES), capture_kinds("pause"));
	pause_frame_build(buf, mac, 9);
	assert_int_equal(kind_of(buf, PFC_FRAME_BYTES), capture_kinds("pause"));
	be16_store(buf + 12, ETHERTYPE_ARP);
	assert_int_equal(kind_of(buf, 60), capture_kinds("arp"));
	be16_store(buf + 12, ETHERTYPE_LLDP);
	assert_int_equal(kind_of(buf, 60), capture_kinds("other"));
	assert_int_equal(kind_of(buf, 0), capture_kinds("other"));
}

TEST(a_filter_knows_the_destination_qp)
{
	const struct roce_path path = {.ip_version = 4, .ttl = 64, .dest_qp = 0x123456};
	struct capture_filter filter = {.kinds = capture_kinds("all"), .dest_qp = 0x123456};
	uint8_t buf[FRAME_BYTES] = {0};
	size_t n = roce(buf, &path, ROCE_CNP, 0);

	assert_true(capture_filter_keeps(&filter, buf, n));
	filter.dest_qp = 0x23456;
	assert_false(capture_filter_keeps(&filter, buf, n));
	be16_store(buf + 12, ETHERTYPE_ARP);
	filter.dest_qp = 0;
	assert_false(capture_filter_keeps(&filter, buf, n));
}

/* Does a filter with these matches keep the frame? */
static bool
keeps(const char *matches, const uint8_t *bytes, size_t n)
{
	struct capture_filter filter = {.kinds = capture_kinds("all"), .dest_qp = CAPTURE_ANY_QP};

	assert_int_equal(capture_matches_read(&matches, filter.matches, &filter.n_matches), 0);
	return capture_filter_keeps(&filter, bytes, n);
}

TEST(a_filter_compares_bits_of_headers)
{
	static const struct {
		const char *matches;
		bool plain, tagged6; /* kept of IPv4 without a tag, and of IPv6 with one */
	} rows[] = {
		{"", true, true},
		{"eth@96/16:0800", true, false},
		{"!eth@96/16:0800", false, true},
		{"eth@96/16:ff00/0700", false, false},
		{"eth@96/16:0f00/0800", true, false},
		{"eth@0/8:ff/00", true, true},
		{"!eth@0/8:ff/00", false, false},
		/* TCI: PCP 5, VLAN 0x123. */
		{"vlan@0/3:5", false, true},
		{"vlan@0/3:4", false, false},
		{"!vlan@0/3:4", false, true},
		{"vlan@4/12:123,vlan@16/16:86dd", false, true},
		{"ipv4@64/8:40,ipv4@72/8:11", true, false},
		{"ipv4@96/32:0a000001", true, false},
		{"!ipv4@96/32:0a000002", true, false},
		{"ipv6@56/8:40", false, true},
		{"ipv6@64/128:fd000000000000000000000000000001", false, true},
		{"ipv6@64/128:fd000000000000000000000000000002/ffffffffffffffffffffffffffffff00",
		 false, true},
		/* Bits across bytes: the last three of version and length, and the first of TOS. */
		{"ipv4@5/4:a/e", true, false},
		{"l4@16/16:12b7", true, true},
		{"l4@16/16:12b7,l4@64/8:81", true, true},
		{"l4@64/8:11", false, false},
		{"l4@73000/8:0/0", false, false},
	};
	struct roce_path path = {.ip_version = 4, .ttl = 64, .src_ip = {10, 0, 0, 1}};
	struct roce_path path6 = {.ip_version = 6,
				  .ttl = 64,
				  .tagged = true,
				  .vlan_tci = 5 << 13 | 0x123,
				  .src_ip = {0xfd, [15] = 1}};
	uint8_t plain[FRAME_BYTES] = {0}, tagged6[FRAME_BYTES] = {0};
	size_t n = roce(plain, &path, ROCE_CNP, 0), n6 = roce(tagged6, &path6, ROCE_CNP, 0);

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		if (keeps(rows[i].matches, plain, n) != rows[i].plain ||
		    keeps(rows[i].matches, tagged6, n6) != rows[i].tagged6)
			fail_msg("%s", rows[i].matches);
	}
	/* No more bytes are read than there are. */
	for (; n6 > 0; n6--)
		keeps("l4@16/16:12b7,ipv6@64/128:0/0,vlan@4/12:0/0", tagged6, n6 - 1);
}

static int
read_words(const char *words, struct capture_params *p, char *error)
{
	char text[128];

	snprintf(text, sizeof(text), "%s", words);
	return capture_params_read(p, text, error, 512);
}

TEST(a_request_is_read_or_refused_with_its_key_and_value)
{
	static const char *const wrong[][2] = {
		{"count=0", "count = 0: expected a whole number from 1"},
		{"count=x", "count = x: expected"},
		{"size=999", "size = 999: expected a size"},
		{"duration=20", "duration = 20: expected a time"},
		{"kind=data,", "kind = data,: expected all, or some of data, ack"},
		{"kind=date", "kind = date: expected"},
		{"qp=16777216", "qp = 16777216: expected"},
		{"match=ipv5@0/8:1", "match = ipv5@0/8:1: expected at most 16 of HEADER@BIT"},
		{"match=eth@0/8:1,", "match = : expected"},
		{"match=eth@0/8:1,,eth@0/8:1", "match = ,: expected"},
		{"match=eth@0/8:100", "match = eth@0/8:100: expected"},
		{"match=eth@0/8:1/100", "match = eth@0/8:1/100: expected"},
		{"match=eth@0/0:0", "match = eth@0/0:0: expected"},
		{"match=eth@0/129:0", "match = eth@0/129:0: expected"},
		{"match=eth@73728/1:0", "match = eth@73728/1:0: expected"},
		{"match=eth@-1/1:0", "match = eth@-1/1:0: expected"},
		{"match=eth@0/8:1x", "match = eth@0/8:1x: expected"},
		{"match=eth@0/8:1/", "match = eth@0/8:1/: expected"},
		{"match=!", "match = !: expected"},
		{"snaplen=13", "snaplen = 13: expected"},
		{"buffer=1KB", "buffer = 1KB: expected"},
		{"count", "count: expected KEY=VALUE"},
		{"speed=1", "speed: expected KEY=VALUE"},
	};
	struct capture_params p;
	char error[512];

	assert_int_equal(read_words("", &p, error), 0);
	assert_int_equal(p.filter.kinds, capture_kinds("all"));
	assert_int_equal(p.filter.dest_qp, CAPTURE_ANY_QP);
	assert_int_equal(p.most_frames + p.most_bytes + p.duration_ns, 0);
	assert_int_equal(capture_params_read(&p, NULL, error, sizeof(error)), 0);
	assert_int_equal(read_words("count=5 size=10KB duration=20s kind=cnp,data qp=7 snaplen=64",
				    &p, error),
			 0);
	assert_int_equal(p.most_frames, 5);
	assert_int_equal(p.most_bytes, 10000);
	assert_int_equal(p.duration_ns, 20000000000);
	assert_int_equal(p.filter.kinds, capture_kinds("data") | capture_kinds("cnp"));
	assert_int_equal(p.filter.dest_qp, 7);
	assert_int_equal(p.snap_bytes, 64);
	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(read_words(wrong[i][0], &p, error), -EINVAL);
		if (strncmp(error, wrong[i][1], strlen(wrong[i][1])) != 0)
			fail_msg("%s: %s", wrong[i][0], error);
	}
}

TEST_MAIN(.begin = begin)
