/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "host_path.h"
#include "unit/cases.h"
#include "unit/wire/roce_plain.h"
#include "unit/wire/roce_random.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/bytes/le.h"

#define SEED 4791u
#define ROOM 9216u

/* Is this length one that the opcode may have on some path? */
static bool
may_carry(uint8_t opcode, uint16_t n)
{
	switch (opcode) {
	case RC_READ_REQUEST:
	case RC_ACK:
	case ROCE_CNP:
		return n == 0;
	case RC_SEND_FIRST:
	case RC_SEND_MIDDLE:
	case RC_WRITE_FIRST:
	case RC_WRITE_MIDDLE:
	case RC_READ_RESP_FIRST:
	case RC_READ_RESP_MIDDLE:
		return n != 0 && n % 4 == 0;
	case RC_SEND_LAST:
	case RC_SEND_LAST_IMM:
	case RC_WRITE_LAST:
	case RC_WRITE_LAST_IMM:
	case RC_READ_RESP_LAST:
		return n != 0;
	default:
		return true;
	}
}

/* From a heap block of just the frame's length: ASan sees a read beyond it. Each frame of these
 * tests passes here, and by the short way as well. */
static enum roce_verdict
parse(const uint8_t *buf, size_t len, bool check_icrc, struct roce_view *v)
{
	uint8_t *exact = malloc(len);
	enum roce_verdict verdict = ROCE_NOT_ROCE;
	const char *complaint;
	struct frame_view f;

	memcpy(exact, buf, len);
	complaint = plain_complaint(exact, len);
	if (complaint != NULL)
		fail_msg("roce_parse_plain: %s", complaint);
	if (frame_parse(exact, len, &f) == FRAME_OK)
		verdict = roce_parse(exact, len, &f, check_icrc, v);
	free(exact);
	return verdict;
}

static void
expect(const char *what, const uint8_t *buf, size_t len, enum roce_verdict want)
{
	struct roce_view v;
	enum roce_verdict got = parse(buf, len, true, &v);

	if (got != want)
		fail_msg("%s: verdict %d, not %d", what, got, want);
}

static size_t
simple(uint8_t *buf, uint8_t opcode, uint16_t payload_bytes)
{
	struct roce_path path = host_path(1, 2, 0x22);
	struct roce_fields f = {.opcode = opcode, .migreq = true, .psn = 7};

	return roce_build(buf, ROOM, &path, &f, pattern, payload_bytes);
}

/* Offsets in an untagged IPv4 frame. */
enum { IP = 14, UDP = IP + 20, BTH = UDP + 8, EXT = BTH + 12 };

/* After a change to an untagged IPv4 frame: right lengths, checksum and ICRC again. */
static void
mend(uint8_t *buf, size_t len)
{
	be16_store(buf + IP + 2, (uint16_t)(len - IP));
	be16_store(buf + IP + 10, 0);
	be16_store(buf + IP + 10, ipv4_header_checksum(buf + IP, 20));
	be16_store(buf + UDP + 4, (uint16_t)(len - UDP));
	le32_store(buf + len - 4, icrc_compute(buf + IP, 4, len - IP - 4));
}

TEST(flow_labels_and_ports_match_worked_vectors)
{
	struct prng r;

	assert_int_equal(roce_flow_label(0x11, 0x22), 0x00242);
	assert_int_equal(roce_udp_sport(0x00242), 0xC242);
	assert_int_equal(roce_udp_sport(0xFFFFF), 0xFFC0);
	assert_int_equal(roce_udp_sport(0x1FACE), 0xFAC9);
	prng_seed(&r, SEED, 0);
	for (int i = 0; i < 10000; i++) {
		uint32_t a = prng_u32(&r) & QPN_MASK, b = prng_u32(&r) & QPN_MASK;
		uint32_t label = roce_flow_label(a, b);

		assert_int_equal(label, roce_flow_label(b, a));
		assert_true(label <= 0xFFFFF);
		assert_true(roce_udp_sport(label) >= 49152);
	}
}

TEST(psn_distance_wraps_at_24_bits)
{
	static const struct {
		uint32_t a, b;
		int32_t want;
	} table[] = {
		{0, 0, 0},
		{1, 0, 1},
		{0, 1, -1},
		{0, 0xFFFFFF, 1},
		{0xFFFFFF, 0, -1},
		{5, 0xFFFFFE, 7},
		{0x7FFFFF, 0, 0x7FFFFF},
		{0x800000, 0, -0x800000},
		{0x800001, 0, -0x7FFFFF},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(psn_diff(table[i].a, table[i].b), table[i].want);
}

/* facts 5.2. */
TEST(every_opcode_has_its_extension_headers)
{
	static const struct {
		uint8_t opcode;
		int bytes;
	} table[] = {
		{0x00, 0},
		{0x01, 0},
		{0x02, 0},
		{0x03, 4},
		{0x04, 0},
		{0x05, 4},
		{0x06, 16},
		{0x07, 0},
		{0x08, 0},
		{0x09, 4},
		{0x0A, 16},
		{0x0B, 20},
		{0x0C, 16},
		{0x0D, 4},
		{0x0E, 0},
		{0x0F, 4},
		{0x10, 4},
		{0x11, 4},
		{0x12, 12},
		{0x13, 28},
		{0x14, 28},
		{0x16, 4},
		{0x17, 4},
		{0x64, 8},
		{0x65, 12},
		{0x81, 16},
		/* Reserved ones of RC, which a responder answers: read up to the BTH. */
		{0x15, 0},
		{0x18, 0},
		{0x19, 0},
		{0x1A, 0},
		{0x1B, 0},
		{0x1C, 0},
		{0x1D, 0},
		{0x1E, 0},
		{0x1F, 0},
	};
	size_t known = 0;

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(roce_ext_bytes(table[i].opcode), table[i].bytes);
	for (unsigned int op = 0; op < 256; op++)
		known += roce_ext_bytes((uint8_t)op) >= 0;
	assert_int_equal(known, ARRAY_LEN(table));
}

static void
check_view(const struct roce_path *p, const struct roce_fields *f, uint16_t payload_bytes,
	   const struct roce_view *v)
{
	assert_int_equal(v->opcode, f->opcode);
	assert_int_equal(v->psn, f->psn);
	assert_int_equal(v->dest_qp, p->dest_qp);
	assert_int_equal(v->pkey, p->pkey);
	assert_int_equal(v->udp_sport, p->udp_sport);
	assert_int_equal(v->dscp, p->dscp);
	assert_int_equal(v->ecn, p->ecn);
	assert_int_equal(v->ip_version, p->ip_version);
	assert_int_equal(v->ack_req, f->ack_req);
	assert_int_equal(v->solicited, f->solicited);
	assert_int_equal(v->migreq, f->migreq);
	assert_int_equal(v->becn, f->becn);
	assert_int_equal(v->payload_bytes, payload_bytes);
	assert_int_equal(v->pad, (4 - payload_bytes % 4) % 4);
	assert_int_equal(v->payload_off, v->ext_off + roce_ext_bytes(f->opcode));
	assert_int_equal(v->icrc_off, v->payload_off + payload_bytes + v->pad);
	if (roce_ext_bytes(f->opcode) >= 16 && f->opcode != ROCE_CNP) {
		assert_true(v->reth_va == f->reth_va);
		assert_int_equal(v->reth_rkey, f->reth_rkey);
		assert_int_equal(v->reth_dma_bytes, f->reth_dma_bytes);
	}
	if (f->opcode == RC_ACK || f->opcode == RC_READ_RESP_ONLY) {
		assert_int_equal(v->aeth_syndrome, f->aeth_syndrome);
		assert_int_equal(v->aeth_msn, f->aeth_msn);
	}
	if (f->opcode == UD_SEND_ONLY || f->opcode == UD_SEND_ONLY_IMM) {
		assert_int_equal(v->deth_qkey, f->deth_qkey);
		assert_int_equal(v->deth_src_qp, f->deth_src_qp);
	}
	if (f->opcode == RC_SEND_LAST_IMM || f->opcode == RC_WRITE_ONLY_IMM ||
	    f->opcode == UD_SEND_ONLY_IMM)
		assert_int_equal(v->imm, f->imm);
}

TEST(what_is_built_is_parsed_back)
{
	static uint8_t buf[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 1);
	for (int i = 0; i < 4000; i++) {
		uint8_t opcode = opcodes[prng_below(&r, sizeof(opcodes))];
		uint16_t n = (uint16_t)prng_below(&r, prng_below(&r, 4) ? 70 : 4097);
		struct roce_path path;
		struct roce_fields fields;
		struct roce_view v;
		enum roce_verdict verdict;
		size_t len;

		if (!may_carry(opcode, n))
			n = may_carry(opcode, 0) ? 0 : 1024;
		random_path(&r, &path);
		random_fields(&r, opcode, &fields);
		fields.ip_id = (uint16_t)prng_u32(&r);
		fields.becn = coin(&r);
		len = roce_build(buf, sizeof(buf), &path, &fields, pattern, n);
		assert_true(len != 0);
		verdict = parse(buf, len, true, &v);
		if (verdict != ROCE_OK)
			fail_msg("frame %d of seed %u, opcode %02x, %u bytes: verdict %d", i, SEED,
				 opcode, n, verdict);
		check_view(&path, &fields, n, &v);
		assert_memory_equal(buf + v.payload_off, pattern, n);
		/* Without its room, nothing is built. */
		assert_int_equal(roce_build(buf, len - 1, &path, &fields, pattern, n), 0);
	}
}

TEST(unknown_opcodes_and_atomics_are_not_built)
{
	uint8_t buf[256];

	assert_int_equal(simple(buf, 0x20, 0), 0);
	assert_int_equal(simple(buf, 0xFF, 0), 0);
	assert_int_equal(simple(buf, RC_FETCH_ADD, 0), 0);
}

TEST(atomics_are_told_by_their_size)
{
	static const struct {
		uint8_t opcode;
		size_t ext;
	} table[] = {{RC_ATOMIC_ACK, 12}, {RC_COMPARE_SWAP, 28}, {RC_FETCH_ADD, 28}};
	uint8_t buf[256];

	for (size_t i = 0; i < 3; i++) {
		for (size_t ext = 0; ext <= 32; ext += 4) {
			simple(buf, RC_SEND_ONLY, 64);
			buf[BTH] = table[i].opcode;
			mend(buf, EXT + ext + 4);
			expect("atomic", buf, EXT + ext + 4,
			       ext < table[i].ext    ? ROCE_TRUNCATED_EXT
			       : ext == table[i].ext ? ROCE_OK
						     : ROCE_BAD_PAYLOAD_LENGTH);
		}
	}
}

TEST(every_wrong_length_is_named)
{
	static const uint16_t spoofed[] = {0,  1,  7,  8,  19, 23,   24,    27,
					   28, 29, 31, 33, 36, 1000, 0xFFFF};
	uint8_t buf[256];
	size_t len;

	/* UDP length against IP length: 8 + 12 + 8 + 4 = 32 is the truth. */
	for (size_t i = 0; i < ARRAY_LEN(spoofed); i++) {
		len = simple(buf, RC_SEND_ONLY, 8);
		be16_store(buf + UDP + 4, spoofed[i]);
		expect("UDP length", buf, len, ROCE_BAD_UDP_LENGTH);
	}
	/* Both agree and are too short for BTH and ICRC, or not of whole words, or just enough. */
	for (len = UDP; len < UDP + 28; len++) {
		simple(buf, RC_SEND_ONLY, 64);
		if (len < UDP + 8) {
			be16_store(buf + IP + 2, (uint16_t)(len - IP));
			be16_store(buf + IP + 10, 0);
			be16_store(buf + IP + 10, ipv4_header_checksum(buf + IP, 20));
		} else {
			mend(buf, len);
		}
		expect("IP length", buf, len,
		       len < UDP + 24   ? ROCE_BAD_UDP_LENGTH
		       : len > UDP + 24 ? ROCE_BAD_PAD
					: ROCE_OK);
	}
}

TEST(every_missing_extension_byte_is_named)
{
	uint8_t buf[256];

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		int ext = roce_ext_bytes(opcodes[i]);

		for (int have = 0; have < ext; have += 4) {
			simple(buf, RC_SEND_ONLY, 64);
			buf[BTH] = opcodes[i];
			mend(buf, EXT + (size_t)have + 4);
			expect("extension", buf, EXT + (size_t)have + 4, ROCE_TRUNCATED_EXT);
		}
	}
}

TEST(pad_must_fill_up_the_payload)
{
	static const struct {
		uint8_t opcode, pad;
		size_t max_pkts;
		enum roce_verdict want;
	} table[] = {
		{RC_SEND_ONLY, 0, 0, ROCE_OK},
		{RC_SEND_ONLY, 1, 0, ROCE_BAD_PAD},
		{RC_SEND_ONLY, 3, 4, ROCE_OK},
		{RC_SEND_ONLY, 3, 2, ROCE_BAD_PAD},
		{RC_SEND_ONLY, 0, 5, ROCE_BAD_PAD},
		{RC_SEND_LAST, 2, 8, ROCE_OK},
		{RC_SEND_LAST, 0, 0, ROCE_BAD_PAYLOAD_LENGTH},
		{RC_SEND_FIRST, 0, 8, ROCE_OK},
		{RC_SEND_FIRST, 1, 8, ROCE_BAD_PAD},
		{RC_SEND_FIRST, 0, 0, ROCE_BAD_PAYLOAD_LENGTH},
		{RC_WRITE_MIDDLE, 3, 8, ROCE_BAD_PAD},
		{RC_WRITE_MIDDLE, 0, 0, ROCE_BAD_PAYLOAD_LENGTH},
		{RC_ACK, 0, 4, ROCE_BAD_PAYLOAD_LENGTH},
		{RC_ACK, 1, 0, ROCE_BAD_PAD},
		{RC_READ_REQUEST, 0, 4, ROCE_BAD_PAYLOAD_LENGTH},
		{ROCE_CNP, 0, 4, ROCE_BAD_PAYLOAD_LENGTH},
	};
	uint8_t buf[256];

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		size_t len = EXT + (size_t)roce_ext_bytes(table[i].opcode) + table[i].max_pkts + 4;
		struct roce_view v;
		enum roce_verdict got;

		simple(buf, RC_SEND_ONLY, 100);
		buf[BTH] = table[i].opcode;
		buf[BTH + 1] = (uint8_t)(table[i].pad << 4);
		mend(buf, len);
		got = parse(buf, len, true, &v);
		if (got != table[i].want)
			fail_msg("row %zu: verdict %d", i, got);
	}
}

TEST(frames_of_others_are_left_alone)
{
	uint8_t buf[256];
	size_t len = simple(buf, RC_SEND_ONLY, 8);

	buf[UDP + 3] ^= 1;
	expect("another port", buf, len, ROCE_NOT_ROCE);
	simple(buf, RC_SEND_ONLY, 8);
	buf[IP + 9] = 6;
	mend(buf, len);
	expect("TCP", buf, len, ROCE_NOT_ROCE);
	be16_store(buf + 12, ETHERTYPE_ARP);
	expect("ARP", buf, len, ROCE_NOT_ROCE);
}

TEST(fragments_and_options_are_named)
{
	uint8_t buf[256];
	size_t len = simple(buf, RC_SEND_ONLY, 8);

	be16_store(buf + IP + 6, 0x2000);
	mend(buf, len);
	expect("first fragment", buf, len, ROCE_FRAGMENT);
	len = simple(buf, RC_SEND_ONLY, 8);
	memmove(buf + IP + 24, buf + IP + 20, len - IP - 20);
	len += 4;
	buf[IP] = 0x46;
	be16_store(buf + IP + 2, (uint16_t)(len - IP));
	memset(buf + IP + 20, 1, 4); /* no operation */
	be16_store(buf + IP + 10, 0);
	be16_store(buf + IP + 10, ipv4_header_checksum(buf + IP, 24));
	expect("options", buf, len, ROCE_IP_OPTIONS);
}

TEST(bth_version_and_opcode_are_checked)
{
	uint8_t buf[256];
	size_t len;

	for (uint8_t tver = 1; tver < 16; tver++) {
		len = simple(buf, RC_SEND_ONLY, 8);
		buf[BTH + 1] |= tver;
		mend(buf, len);
		expect("TVer", buf, len, ROCE_BAD_BTH_VERSION);
	}
	len = simple(buf, RC_SEND_ONLY, 8);
	buf[BTH] = 0x24; /* UC */
	mend(buf, len);
	expect("UC", buf, len, ROCE_UNKNOWN_OPCODE);
}

TEST(udp_checksum_may_be_absent_or_right)
{
	uint8_t buf[256];
	size_t len = simple(buf, RC_SEND_ONLY, 9);
	uint16_t right = udp_checksum(buf + IP, 4, buf + UDP, len - UDP);

	assert_int_equal(be16_load(buf + UDP + 6), 0);
	expect("IPv4, absent", buf, len, ROCE_OK);
	be16_store(buf + UDP + 6, right);
	expect("IPv4, right", buf, len, ROCE_OK);
	be16_store(buf + UDP + 6, right ^ 0x0100);
	expect("IPv4, wrong", buf, len, ROCE_BAD_UDP_CHECKSUM);
}

TEST(ipv6_sends_a_checksum_and_accepts_none)
{
	struct roce_path path = {.ip_version = 6, .ttl = 64, .ecn = ECN_ECT0};
	struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
	uint8_t buf[256], *checksum = buf + 14 + 40 + 6;
	size_t len;

	path.src_ip[15] = 1;
	len = roce_build(buf, sizeof(buf), &path, &fields, NULL, 0);
	assert_int_not_equal(be16_load(checksum), 0);
	expect("right", buf, len, ROCE_OK);
	checksum[1] ^= 4;
	expect("wrong", buf, len, ROCE_BAD_UDP_CHECKSUM);
	be16_store(checksum, 0);
	expect("absent", buf, len, ROCE_OK);
}

TEST(icrc_is_checked_only_when_asked)
{
	struct roce_view v;
	uint8_t buf[256];
	size_t len = simple(buf, RC_SEND_ONLY, 10);

	buf[EXT + 3] ^= 0x10;
	assert_int_equal(parse(buf, len, false, &v), ROCE_OK);
	assert_int_equal(parse(buf, len, true, &v), ROCE_BAD_ICRC);
}

TEST(a_cnp_body_is_ignored)
{
	uint8_t buf[256];
	size_t len = simple(buf, ROCE_CNP, 0);

	assert_int_equal(len, 74);
	memset(buf + EXT, 0xA5, CNP_BODY_BYTES);
	mend(buf, len);
	expect("CNP", buf, len, ROCE_OK);
}

TEST(flipped_bits_never_pass_unnoticed)
{
	static uint8_t buf[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 4);
	for (int i = 0; i < 20000; i++) {
		struct roce_path path;
		struct roce_fields fields;
		struct roce_view v;
		size_t len, at, ip, bth;

		random_path(&r, &path);
		random_fields(&r, RC_WRITE_ONLY, &fields);
		len = roce_build(buf, sizeof(buf), &path, &fields, pattern, 33);
		ip = path.tagged ? 18 : 14;
		bth = ip + (path.ip_version == 4 ? 28 : 48);
		at = ip + prng_below(&r, len - ip);
		/* Not guarded by anything: IPv6's first word and hop limit, and FECN and BECN over
		 * IPv4. */
		if (path.ip_version == 6 ? at < ip + 4 || at == ip + 7 || at - ip - 46 < 2
					 : at == bth + 4)
			continue;
		buf[at] ^= (uint8_t)(1u << prng_below(&r, 8));
		if (parse(buf, len, true, &v) == ROCE_OK)
			fail_msg("frame %d of seed %u: byte %zu", i, SEED, at);
	}
}

TEST_MAIN(.begin = make_pattern)
