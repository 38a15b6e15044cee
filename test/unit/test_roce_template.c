/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roce_build() is the reference, which the golden frames hold to the truth: a stamped frame equals
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "roce_random.h"

#define SEED 17u
#define ROOM 9216u

/* Stamp into the middle of noise; outside of what the header promises to touch, the noise stays. */
static void
check_stamp(struct prng *r, const struct roce_payload *p, uint8_t opcode)
{
	static uint8_t want[ROOM], got[ROOM];
	uint8_t *at = got + 200, noise = (uint8_t)prng_u32(r);
	struct roce_template t;
	struct roce_path path;
	struct roce_fields fields;
	struct roce_ends ends;
	unsigned int hdr;
	size_t len, end;

	random_path(r, &path);
	random_fields(r, opcode, &fields);
	fields.becn = coin(r);
	len = roce_build(want, sizeof(want), &path, &fields, pattern, p->payload_bytes);
	memset(got, noise, sizeof(got));
	memcpy(at, pattern, p->payload_bytes);
	roce_template_init(&t, &path);
	ends = roce_path_ends(&path);
	hdr = roce_template_stamp(&t, &ends, p, &fields, at);
	assert_int_equal(hdr + p->payload_bytes + p->pad + ICRC_BYTES, len);
	if (memcmp(at - hdr, want, len) != 0)
		fail_msg("opcode %02x, %u bytes, IPv%u, %s, seed %u", opcode, p->payload_bytes,
			 path.ip_version, path.tagged ? "tagged" : "untagged", SEED);
	for (uint8_t *q = got; q < at - ROCE_MAX_HDR_BYTES; q++)
		assert_int_equal(*q, noise);
	end = (size_t)p->payload_bytes + 8;
	for (uint8_t *q = at + end; q < at + end + 64; q++)
		assert_int_equal(*q, noise);
}

static void
stamped_frames_equal_built_ones_at_every_length(void **state)
{
	static struct roce_payload payload;
	struct prng r;

	(void)state;
	prng_seed(&r, SEED, 2);
	for (unsigned int n = 0; n <= PAYLOAD_MOST; n += n < 80 ? 1 : 61) {
		roce_payload_init(&payload, pattern, (uint16_t)n);
		for (int i = 0; i < 8; i++)
			check_stamp(&r, &payload, opcodes[prng_below(&r, OPCODES)]);
	}
}

static void
stamped_frames_equal_built_ones_at_every_mtu_and_opcode(void **state)
{
	static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
	static struct roce_payload payload;
	struct prng r;

	(void)state;
	prng_seed(&r, SEED, 3);
	for (size_t m = 0; m < 5; m++) {
		roce_payload_init(&payload, pattern, mtus[m]);
		for (size_t op = 0; op < OPCODES; op++) {
			for (int i = 0; i < 20; i++)
				check_stamp(&r, &payload, opcodes[op]);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamped_frames_equal_built_ones_at_every_length),
		cmocka_unit_test(stamped_frames_equal_built_ones_at_every_mtu_and_opcode),
	};

	return cmocka_run_group_tests(tests, make_pattern, NULL);
}
