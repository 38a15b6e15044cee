/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that other implementations made: each parses, verifies, and is rebuilt byte for byte from
 * what was parsed. The expected values are those of the frames' makers, not of our parser.
 *
 * Usage: test_golden FOLDER. The capture of real hardware is not ours to distribute: it is read
 * from the folder in QUENCH_GOLDEN_DIR, and its test is skipped without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/numbers/array.h"
#include "golden/hex.h"
#include "golden/rebuild.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/ecn.h"

#define ROOM 2048u

struct golden {
	const char *name;
	size_t len;
	uint8_t opcode;
	uint32_t dest_qp, psn;
	uint16_t payload_bytes;
	uint8_t pad;
	uint8_t icrc[4]; /* in wire order */
};

static const struct golden goldens[] = {
	{"01_cnp_ipv4", 74, ROCE_CNP, 0x11, 0, 0, 0, {0x12, 0xfb, 0x58, 0x6d}},
	{"02_cnp_ipv6", 94, ROCE_CNP, 0x11, 0, 0, 0, {0x6f, 0xa3, 0x6d, 0x9e}},
	{"03_rc_write_only_pad3", 82, RC_WRITE_ONLY, 0x22, 0x100, 5, 3, {0x93, 0xab, 0xc5, 0x67}},
	{"04_rc_write_only_ce_hop", 82, RC_WRITE_ONLY, 0x22, 0x100, 5, 3, {0x93, 0xab, 0xc5, 0x67}},
	{"05_rc_write_first", 1098, RC_WRITE_FIRST, 0x22, 0x101, 1024, 0, {0x1f, 0x4a, 0xaa, 0x90}},
	{"06_rc_write_last_ackreq",
	 570,
	 RC_WRITE_LAST,
	 0x22,
	 0x103,
	 512,
	 0,
	 {0xda, 0x30, 0x71, 0xe3}},
	{"07_rc_ack", 62, RC_ACK, 0x11, 0x103, 0, 0, {0x3c, 0xf9, 0xd1, 0x9d}},
	{"08_rc_nak_psn_seq", 62, RC_ACK, 0x11, 0x102, 0, 0, {0x55, 0x3a, 0x6d, 0x44}},
	{"09_rc_send_only_vlan_pcp3",
	 126,
	 RC_SEND_ONLY,
	 0x22,
	 0xFFFFFE,
	 64,
	 0,
	 {0x50, 0xf4, 0xd4, 0x89}},
	{"10_ud_send_only", 98, UD_SEND_ONLY, 1, 7, 32, 0, {0xb0, 0x8e, 0xff, 0xbd}},
	{"12_rc_send_only_zero_len_ethpad",
	 60,
	 RC_SEND_ONLY,
	 0x22,
	 0x104,
	 0,
	 0,
	 {0x44, 0x84, 0xaf, 0xcf}},
};
static const struct golden capture = {"11_cnp_cx4lx_capture",  74, ROCE_CNP, 0x118, 0, 0, 0,
				      {0x82, 0xfd, 0x00, 0x2a}};

#define GOLDENS (ARRAY_LEN(goldens))

static const char *folder;

struct parsed {
	uint8_t buf[ROOM];
	size_t len;
	struct frame_view frame;
	struct roce_view roce;
};

static void
load(const char *dir, const struct golden *g, struct parsed *p)
{
	enum frame_verdict fv;
	enum roce_verdict rv;

	p->len = hex_read(dir, g->name, p->buf, ROOM);
	if (p->len != g->len)
		fail_msg("%s/%s.hex: %zu bytes, not %zu", dir, g->name, p->len, g->len);
	fv = frame_parse(p->buf, p->len, &p->frame);
	if (fv != FRAME_OK)
		fail_msg("%s: %s", g->name, frame_verdict_name(fv));
	rv = roce_parse(p->buf, p->len, &p->frame, true, &p->roce);
	if (rv != ROCE_OK)
		fail_msg("%s: verdict %d", g->name, rv);
}

static const struct golden *
golden(const char *number)
{
	for (size_t i = 0; i < GOLDENS; i++) {
		if (strncmp(goldens[i].name, number, 2) == 0)
			return &goldens[i];
	}
	fail_msg("no golden frame %s", number);
	return NULL;
}

static void
check_one(const char *dir, const struct golden *g)
{
	struct parsed p;

	load(dir, g, &p);
	assert_int_equal(p.roce.opcode, g->opcode);
	assert_int_equal(p.roce.dest_qp, g->dest_qp);
	assert_int_equal(p.roce.psn, g->psn);
	assert_int_equal(p.roce.payload_bytes, g->payload_bytes);
	assert_int_equal(p.roce.pad, g->pad);
	assert_int_equal(p.roce.pkey, PKEY_DEFAULT);
	assert_memory_equal(p.buf + p.roce.icrc_off, g->icrc, 4);
}

static void
rebuild_one(const char *dir, const struct golden *g)
{
	struct parsed p;
	uint8_t out[ROOM] = {0};
	size_t n;

	load(dir, g, &p);
	n = rebuild(p.buf, &p.frame, &p.roce, out, sizeof(out));
	/* Ethernet padding is not part of the IP packet. */
	assert_int_equal(n, p.frame.ip_end);
	assert_memory_equal(out, p.buf, p.len);
}

static void
each_frame_parses_and_verifies(void **state)
{
	(void)state;
	for (size_t i = 0; i < GOLDENS; i++)
		check_one(folder, &goldens[i]);
}

static void
each_frame_is_rebuilt_byte_for_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < GOLDENS; i++)
		rebuild_one(folder, &goldens[i]);
}

static void
one_flipped_bit_anywhere_behind_ethernet_is_noticed(void **state)
{
	struct parsed p;
	struct frame_view f;
	struct roce_view r;

	(void)state;
	load(folder, golden("03"), &p);
	for (size_t bit = 8 * p.frame.l3_off; bit < 8 * p.len; bit++) {
		bool exempt = bit / 8 == (size_t)p.roce.bth_off + 4;
		bool ok;

		p.buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ok = frame_parse(p.buf, p.len, &f) == FRAME_OK &&
		     roce_parse(p.buf, p.len, &f, true, &r) == ROCE_OK;
		p.buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		/* IP's checksum guards what the ICRC leaves out, but for the byte of FECN and BECN.
		 */
		if (ok != exempt)
			fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
	}
}

static void
extension_headers_hold_what_their_makers_wrote(void **state)
{
	struct parsed p;

	(void)state;
	load(folder, golden("05"), &p);
	assert_int_equal(p.roce.reth_va, 0x7f0012340000);
	assert_int_equal(p.roce.reth_rkey, 0x1234);
	assert_int_equal(p.roce.reth_dma_bytes, 2560);
	assert_true(p.roce.migreq);
	assert_false(p.roce.ack_req);
	assert_int_equal(p.buf[p.roce.payload_off + 255], 0xFF);
	load(folder, golden("06"), &p);
	assert_true(p.roce.ack_req);
	load(folder, golden("07"), &p);
	assert_int_equal(p.roce.aeth_syndrome, AETH_ACK);
	assert_int_equal(p.roce.aeth_msn, 2);
	load(folder, golden("08"), &p);
	assert_int_equal(p.roce.aeth_syndrome, AETH_NAK_PSN_SEQ);
	assert_int_equal(p.roce.aeth_msn, 1);
	load(folder, golden("09"), &p);
	assert_true(p.frame.tagged);
	assert_int_equal(p.frame.vlan_tci, 3 << 13 | 100);
	load(folder, golden("10"), &p);
	assert_int_equal(p.roce.deth_qkey, 0x80010000);
	assert_int_equal(p.roce.deth_src_qp, 1);
	load(folder, golden("02"), &p);
	assert_int_equal(p.roce.ip_version, 6);
	assert_int_equal(p.roce.dscp, 48);
	assert_int_equal(p.roce.ecn, ECN_ECT0);
	assert_true(p.roce.becn);
	assert_false(p.roce.migreq);
}

static void
ports_and_flow_label_follow_from_the_qp_pair(void **state)
{
	struct parsed p;
	uint32_t label = roce_flow_label(0x11, 0x22);

	(void)state;
	assert_int_equal(label, 0x00242);
	load(folder, golden("02"), &p);
	assert_int_equal(be32_load(p.buf + p.frame.l3_off) & 0xFFFFF, label);
	assert_int_equal(p.roce.udp_sport, roce_udp_sport(label));
}

static void
a_hop_that_marks_ce_leaves_the_icrc_alone(void **state)
{
	struct parsed before, after;
	uint8_t *ip;

	(void)state;
	load(folder, golden("03"), &before);
	load(folder, golden("04"), &after);
	ip = before.buf + before.frame.l3_off;
	assert_true(ecn_set_ce(ip, 4));
	assert_int_equal(ipv4_header_checksum(ip, IPV4_HDR_BYTES), 0);
	/* The routed hop also took one from the TTL and summed anew. */
	ip[8]--;
	be16_store(ip + 10, 0);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
	assert_memory_equal(before.buf, after.buf, after.len);
	assert_memory_equal(before.buf + before.roce.icrc_off, "\x93\xab\xc5\x67", 4);
}

/* The template path writes the same frame, except for the IP id, which it leaves 0. */
static void
data_frames_stamped_from_a_template_are_the_same(void **state)
{
	static const char *const data[] = {"03", "05", "06", "09", "12"};
	static struct roce_payload payload;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(data); i++) {
		struct roce_template t;
		struct roce_ends ends;
		struct roce_path path;
		struct roce_fields fields;
		struct parsed p;
		uint8_t want[ROOM], got[ROOM] = {0}, *at = got + ROCE_MAX_HDR_BYTES;
		unsigned int hdr;
		size_t n;

		load(folder, golden(data[i]), &p);
		rebuild_path(p.buf, &p.frame, &p.roce, &path);
		rebuild_fields(p.buf, &p.frame, &p.roce, &fields);
		fields.ip_id = 0;
		n = roce_build(want, sizeof(want), &path, &fields, p.buf + p.roce.payload_off,
			       p.roce.payload_bytes);
		memcpy(at, p.buf + p.roce.payload_off, p.roce.payload_bytes);
		roce_payload_init(&payload, at, p.roce.payload_bytes);
		roce_template_init(&t, &path);
		ends = roce_path_ends(&path);
		hdr = roce_template_stamp(&t, &ends, &payload, &fields, at);
		assert_int_equal(hdr, p.roce.payload_off);
		assert_memory_equal(at - hdr, want, n);
	}
}

static void
a_cnp_captured_from_hardware_parses_and_is_rebuilt(void **state)
{
	const char *dir = getenv("QUENCH_GOLDEN_DIR");

	(void)state;
	if (dir == NULL || dir[0] == '\0') {
		print_message("QUENCH_GOLDEN_DIR is not set: no %s\n", capture.name);
		skip();
	}
	check_one(dir, &capture);
	rebuild_one(dir, &capture);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_frame_parses_and_verifies),
		cmocka_unit_test(each_frame_is_rebuilt_byte_for_byte),
		cmocka_unit_test(one_flipped_bit_anywhere_behind_ethernet_is_noticed),
		cmocka_unit_test(extension_headers_hold_what_their_makers_wrote),
		cmocka_unit_test(ports_and_flow_label_follow_from_the_qp_pair),
		cmocka_unit_test(a_hop_that_marks_ce_leaves_the_icrc_alone),
		cmocka_unit_test(data_frames_stamped_from_a_template_are_the_same),
		cmocka_unit_test(a_cnp_captured_from_hardware_parses_and_is_rebuilt),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
