/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a frame: offsets stay inside, and marking CE changes nothing but ECN and the
 * checksum.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/frame/ecn.h"
#include "wire/frame/frame_plain.h"

static void
check_offsets(const struct frame_view *v, size_t len)
{
	FUZZ_CHECK(v->l3_off == (v->tagged ? 18 : 14));
	FUZZ_CHECK(v->l3_off <= len);
	if (v->ip_version == 0)
		return;
	FUZZ_CHECK(v->ip_version == 4 || v->ip_version == 6);
	FUZZ_CHECK(v->l4_off >= v->l3_off + (v->ip_version == 4 ? 20 : 40));
	FUZZ_CHECK(v->l4_off <= v->ip_end && v->ip_end <= len);
	FUZZ_CHECK(v->dscp < 64 && v->ecn < 4);
}

static void
check_mark(const uint8_t *data, size_t len, const struct frame_view *before)
{
	uint8_t *copy = malloc(len);
	struct frame_view after;
	bool ect = before->ecn == ECN_ECT0 || before->ecn == ECN_ECT1;

	memcpy(copy, data, len);
	FUZZ_CHECK(ecn_set_ce(copy + before->l3_off, before->ip_version) == ect);
	/* A right IPv4 checksum stays right, or this is refused. */
	FUZZ_CHECK(frame_parse(copy, len, &after) == FRAME_OK);
	FUZZ_CHECK(after.ecn == (ect ? ECN_CE : before->ecn));
	after.ecn = before->ecn;
	FUZZ_CHECK(memcmp(&after, before, sizeof(after)) == 0);
	free(copy);
}

/* The short way is for untagged IPv4 without options or faults, and says what the long one does. */
static void
check_plain(const uint8_t *data, size_t len, enum frame_verdict verdict, const struct frame_view *v)
{
	bool plain = verdict == FRAME_OK && v->ip_version == 4 && !v->tagged &&
		     v->l4_off == v->l3_off + IPV4_HDR_BYTES;
	struct frame_view view;

	if (len > UINT16_MAX)
		return;
	FUZZ_CHECK(frame_parse_plain(data, (uint16_t)len, &view) == plain);
	FUZZ_CHECK(!plain || memcmp(&view, v, offsetof(struct frame_view, fragment) + 1) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct frame_view v;
	enum frame_verdict verdict = frame_parse(data, len, &v);

	FUZZ_CHECK(frame_verdict_name(verdict) != NULL);
	check_plain(data, len, verdict, &v);
	if (verdict == FRAME_OK) {
		check_offsets(&v, len);
		if (v.ip_version != 0)
			check_mark(data, len, &v);
	}
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_pkts, unsigned int seed)
{
	len = LLVMFuzzerMutate(data, len, max_pkts);
	/* Most inputs get a right IPv4 checksum, or none but the corpus would be seen past it. */
	if (seed % 8 != 0)
		fuzz_mend_ipv4_checksum(data, len);
	return len;
}
