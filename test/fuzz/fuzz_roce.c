/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a RoCEv2 frame: what passes with its ICRC has offsets in order and inside, passes
 * again after a switch marked it, and is rebuilt byte for byte wherever our builder can say all
 * that it says. The short way to parse takes just the frames that it should.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "golden/rebuild.h"
#include "unit/wire/roce_plain.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/ecn.h"
#include "wire/bytes/le.h"
#include "wire/roce/int_hdr.h"

#define IPV4_DF_ONLY 0x4000

static void
check_view(const struct frame_view *f, const struct roce_view *r)
{
	int ext = roce_ext_bytes(r->opcode);

	FUZZ_CHECK(ext >= 0);
	FUZZ_CHECK(r->ip_off == f->l3_off && r->ip_version == f->ip_version);
	FUZZ_CHECK(r->bth_off == r->ip_off + (r->ip_version == 4 ? 20 : 40) + 8);
	FUZZ_CHECK(r->ext_off == r->bth_off + 12);
	FUZZ_CHECK(r->payload_off == r->ext_off + ext);
	FUZZ_CHECK(r->icrc_off == r->payload_off + r->payload_bytes + r->pad);
	FUZZ_CHECK(r->icrc_off + 4 == f->ip_end);
	FUZZ_CHECK(r->pad < 4 && (r->payload_bytes + r->pad) % 4 == 0);
	FUZZ_CHECK(r->psn <= PSN_MASK && r->dest_qp <= QPN_MASK && r->aeth_msn <= PSN_MASK);
}

static bool
all_zero(const uint8_t *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

/* Reserved bits, FECN, a UDP checksum where we send none: seen by the parser's caller, not by the
 * builder. */
static bool
representable(const uint8_t *d, const struct frame_view *f, const struct roce_view *r)
{
	const uint8_t *ip = d + r->ip_off, *bth = d + r->bth_off, *ext = d + r->ext_off;
	bool udp_checksum_sent = be16_load(bth - 2) != 0;

	if (r->ip_version == 4 && (be16_load(ip + 6) != IPV4_DF_ONLY || udp_checksum_sent))
		return false;
	if (r->ip_version == 6 && !udp_checksum_sent)
		return false;
	if ((bth[4] & ~0x40) != 0 || (bth[8] & 0x7F) != 0 ||
	    !all_zero(d + r->payload_off + r->payload_bytes, r->pad))
		return false;
	if (r->opcode == ROCE_CNP)
		return all_zero(ext, CNP_BODY_BYTES);
	if (r->opcode == UD_SEND_ONLY || r->opcode == UD_SEND_ONLY_IMM)
		return ext[4] == 0;
	return f->ip_proto == IP_PROTO_UDP && r->opcode != RC_ATOMIC_ACK &&
	       r->opcode != RC_COMPARE_SWAP && r->opcode != RC_FETCH_ADD;
}

static void
check_rebuild(const uint8_t *d, const struct frame_view *f, const struct roce_view *r)
{
	uint8_t *out = malloc(f->ip_end);

	/* Ours to the byte, in just the room that it takes. */
	FUZZ_CHECK(rebuild(d, f, r, out, f->ip_end) == f->ip_end);
	FUZZ_CHECK(memcmp(out, d, f->ip_end) == 0);
	free(out);
}

static void
check_mark(const uint8_t *d, size_t len, const struct frame_view *f)
{
	uint8_t *copy = malloc(len);
	struct frame_view frame;
	struct roce_view r;

	memcpy(copy, d, len);
	ecn_set_ce(copy + f->l3_off, f->ip_version);
	FUZZ_CHECK(frame_parse(copy, len, &frame) == FRAME_OK);
	FUZZ_CHECK(roce_parse(copy, len, &frame, true, &r) == ROCE_OK);
	free(copy);
}

/* A hop is added and read back inside the frame, and nothing else changes. */
static void
check_int(const uint8_t *data, size_t len)
{
	const struct int_hop hop = {1, 2, 3, 4};
	uint8_t *copy = malloc(len), *out = malloc(len);
	struct frame_view f;
	const uint8_t *hdr;

	memcpy(copy, data, len);
	if (int_is_open(copy, len) && int_append(copy, len, 5, &hop) == INT_OK &&
	    frame_parse(copy, len, &f) == FRAME_OK &&
	    int_strip(copy, len, &f, out, &hdr) == INT_OK) {
		struct int_hop last = int_read_hop(hdr, int_hdr_hops(hdr) - 1);

		FUZZ_CHECK(memcmp(&last, &hop, sizeof(hop)) == 0);
		FUZZ_CHECK(int_hdr_hops(hdr) <= int_hdr_slots(hdr));
		FUZZ_CHECK(hdr + int_hdr_bytes(int_hdr_slots(hdr)) <= copy + len);
	}
	free(copy);
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct frame_view f;
	struct roce_view r;
	enum roce_verdict verdict;

	FUZZ_CHECK(plain_complaint(data, len) == NULL);
	check_int(data, len);
	if (frame_parse(data, len, &f) != FRAME_OK)
		return 0;
	verdict = roce_parse(data, len, &f, false, &r);
	FUZZ_CHECK((unsigned int)verdict < ROCE_VERDICTS);
	if (verdict == ROCE_OK)
		check_view(&f, &r);
	if (roce_parse(data, len, &f, true, &r) != ROCE_OK)
		return 0;
	FUZZ_CHECK(verdict == ROCE_OK);
	check_mark(data, len, &f);
	if (representable(data, &f, &r))
		check_rebuild(data, &f, &r);
	return 0;
}

/* Lengths, checksums and ICRC right again, as far as the frame's own words say where they are. */
static void
mend(uint8_t *data, size_t len, unsigned int how)
{
	size_t off = fuzz_l3_off(data, len), ip_bytes, udp, end;
	unsigned int version;

	if (len < off + 1)
		return;
	version = data[off] >> 4;
	if (version != 4 && version != 6)
		return;
	ip_bytes = version == 4 ? IPV4_HDR_BYTES : IPV6_HDR_BYTES;
	udp = off + ip_bytes;
	if (len < udp + UDP_HDR_BYTES + BTH_BYTES + ICRC_BYTES)
		return;
	/* Sometimes all of the input is the packet, sometimes it keeps its length, and padding. */
	end = how & 1 ? len
		      : off + be16_load(data + off + (version == 4 ? 2 : 4)) +
				(version == 4 ? 0 : ip_bytes);
	if (end > len || end < udp + UDP_HDR_BYTES + BTH_BYTES + ICRC_BYTES)
		return;
	be16_store(data + off + (version == 4 ? 2 : 4),
		   (uint16_t)(version == 4 ? end - off : end - udp));
	be16_store(data + udp + 4, (uint16_t)(end - udp));
	fuzz_mend_ipv4_checksum(data, len);
	le32_store(data + end - 4, icrc_compute(data + off, version, end - 4 - off));
	if (how & 2)
		be16_store(data + udp + 6,
			   udp_checksum(data + off, version, data + udp, end - udp));
	else
		be16_store(data + udp + 6, 0);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_pkts, unsigned int seed)
{
	len = LLVMFuzzerMutate(data, len, max_pkts);
	if (seed % 8 != 0)
		mend(data, len, seed >> 8);
	return len;
}
