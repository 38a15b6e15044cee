/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roce_build() is the reference, which the golden frames hold to the truth: a stamped frame equals
 * it.
 */
#include <string.h>

#include "unit/cases.h"
#include "unit/wire/roce_random.h"
#include "wire/roce/shape.h"

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

TEST(stamped_frames_equal_built_ones_at_every_length)
{
	static struct roce_payload payload;
	struct prng r;

	prng_seed(&r, SEED, 2);
	for (unsigned int n = 0; n <= PAYLOAD_MOST; n += n < 80 ? 1 : 61) {
		roce_payload_init(&payload, pattern, (uint16_t)n);
		for (int i = 0; i < 8; i++)
			check_stamp(&r, &payload, opcodes[prng_below(&r, OPCODES)]);
	}
}

TEST(stamped_frames_equal_built_ones_at_every_mtu_and_opcode)
{
	static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
	static struct roce_payload payload;
	struct prng r;

	prng_seed(&r, SEED, 3);
	for (size_t m = 0; m < 5; m++) {
		roce_payload_init(&payload, pattern, mtus[m]);
		for (size_t op = 0; op < OPCODES; op++) {
			for (int i = 0; i < 20; i++)
				check_stamp(&r, &payload, opcodes[op]);
		}
	}
}

/* A template for a random path, and a shape of one opcode made from it. */
struct shaped {
	struct roce_template t;
	struct roce_shape shape;
	struct roce_ends ends;
};

static void
random_shaped(struct prng *r, struct shaped *p, const struct roce_payload *payload, uint8_t opcode)
{
	struct roce_path path;

	random_path(r, &path);
	p->ends = roce_path_ends(&path);
	roce_template_init(&p->t, &path);
	roce_shape_init(&p->shape, &p->t, payload, opcode);
}

/* Middle and Last packets carry nothing but the BTH. */
TEST(frames_of_a_shape_equal_stamped_ones)
{
	static const uint8_t plain[] = {RC_SEND_MIDDLE,      RC_WRITE_MIDDLE, RC_SEND_LAST,
					RC_READ_RESP_MIDDLE, RC_SEND_ONLY,    RC_WRITE_LAST};
	static const uint16_t lengths[] = {0, 4, 256, 1024, 4096};
	static struct roce_payload payload;
	static uint8_t want[ROOM], got[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 4);
	for (unsigned int i = 0; i < 4000; i++) {
		struct roce_fields f = {.opcode = plain[prng_below(&r, 6)], .migreq = true};
		uint16_t bytes = lengths[i / 800];
		struct shaped p;
		unsigned int hdr;

		if (i % 800 == 0)
			roce_payload_init(&payload, pattern, bytes);
		random_shaped(&r, &p, &payload, f.opcode);
		f.psn = prng_u32(&r);
		f.ack_req = coin(&r);
		memset(want, (int)i, sizeof(want));
		memset(got, (int)i, sizeof(got));
		hdr = roce_template_stamp(&p.t, &p.ends, &payload, &f, want + 200);
		assert_int_equal(roce_shape_stamp(&p.shape, &p.ends, f.psn, f.ack_req, got + 200),
				 hdr);
		assert_int_equal(p.shape.frame_bytes, hdr + bytes + ICRC_BYTES);
		assert_memory_equal(got + 200 - hdr, want + 200 - hdr, hdr + bytes + ICRC_BYTES);
		assert_int_equal(got[200 - ROCE_MAX_HDR_BYTES - 1], (uint8_t)i);
		assert_int_equal(got[200 + bytes + ICRC_BYTES], (uint8_t)i);
	}
}

TEST(frames_of_a_series_equal_stamped_ones)
{
	static struct roce_payload payload;
	static struct roce_series series;
	static uint8_t want[ROOM], got[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 9);
	for (unsigned int i = 0; i < 4000; i++) {
		uint16_t bytes = (uint16_t)(4 * (i / 800) * (i / 800) * 61);
		struct shaped p;
		struct roce_ends no_reg;
		uint32_t psn = prng_u32(&r), ends_icrc;
		unsigned int hdr;

		if (i % 800 == 0) {
			roce_payload_init(&payload, pattern, bytes);
			roce_series_init(&series, &payload);
		}
		random_shaped(&r, &p, &payload, RC_WRITE_MIDDLE);
		ends_icrc = roce_series_ends(&series, p.ends.reg);
		assert_int_equal(roce_series_reg(&series, ends_icrc), p.ends.reg);
		no_reg = p.ends;
		no_reg.reg = 0;
		memset(want, (int)i, sizeof(want));
		memset(got, (int)i, sizeof(got));
		hdr = roce_shape_stamp(&p.shape, &p.ends, psn, false, want + 200);
		assert_int_equal(roce_shape_stamp_next(&p.shape, &series, &no_reg, ends_icrc, psn,
						       got + 200),
				 hdr);
		assert_memory_equal(got, want, sizeof(got));
	}
}

/* All of a CNP but the body, which is constant, and of which the caller takes care. */
TEST(cnps_of_a_shape_equal_stamped_ones)
{
	static const uint8_t zeros[CNP_BODY_BYTES];
	static const struct roce_fields cnp = {.opcode = ROCE_CNP, .becn = true};
	static struct roce_payload none, body;
	uint8_t want[ROOM], got[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 5);
	roce_payload_init(&none, NULL, 0);
	roce_payload_init(&body, zeros, sizeof(zeros));
	for (unsigned int i = 0; i < 1000; i++) {
		struct shaped p;
		unsigned int hdr;

		random_shaped(&r, &p, &body, ROCE_CNP);
		memset(want, 0, sizeof(want));
		memset(got, 0, sizeof(got));
		hdr = roce_template_stamp(&p.t, &p.ends, &none, &cnp, want + 200 + CNP_BODY_BYTES);
		p.ends.dest_qp |= ROCE_SHAPE_BECN;
		assert_int_equal(roce_shape_stamp(&p.shape, &p.ends, 0, false, got + 200),
				 hdr - CNP_BODY_BYTES);
		assert_int_equal(p.shape.frame_bytes, hdr + ICRC_BYTES);
		assert_memory_equal(got + 200 + CNP_BODY_BYTES - hdr,
				    want + 200 + CNP_BODY_BYTES - hdr, p.shape.frame_bytes);
		memset(got, 0, sizeof(got));
		roce_shape_stamp_cnp(&p.shape, &p.ends, 0, got + 200);
		assert_memory_equal(got + 200 + CNP_BODY_BYTES - hdr,
				    want + 200 + CNP_BODY_BYTES - hdr, p.shape.frame_bytes);
	}
}

/* With a number in the body, a CNP parses, its ICRC is right, and the rest of the body is zero. */
TEST(cnps_may_tell_a_number)
{
	static const uint8_t zeros[CNP_BODY_BYTES];
	static struct roce_payload body;
	struct prng r;

	prng_seed(&r, SEED, 7);
	roce_payload_init(&body, zeros, sizeof(zeros));
	for (unsigned int i = 0; i < 1000; i++) {
		uint8_t frame[ROOM] = {0}, *at = frame + 200;
		struct frame_view eth;
		struct roce_view v;
		struct shaped p;
		unsigned int hdr;
		uint32_t value = prng_u32(&r);
		uint16_t n;

		random_shaped(&r, &p, &body, ROCE_CNP);
		p.ends.dest_qp |= ROCE_SHAPE_BECN;
		hdr = roce_shape_stamp_cnp(&p.shape, &p.ends, value, at);
		n = (uint16_t)(hdr + CNP_BODY_BYTES + ICRC_BYTES);
		assert_int_equal(frame_parse(at - hdr, n, &eth), FRAME_OK);
		assert_int_equal(roce_parse(at - hdr, n, &eth, true, &v), ROCE_OK);
		assert_int_equal(v.opcode, ROCE_CNP);
		assert_int_equal(be32_load(at - hdr + v.ext_off), value);
		assert_memory_equal(at + 4, zeros, CNP_BODY_BYTES - 4);
	}
}

TEST(acks_of_a_shape_equal_stamped_ones)
{
	static const uint8_t zeros[AETH_BYTES];
	static struct roce_payload none, aeth;
	uint8_t want[ROOM], got[ROOM];
	struct prng r;

	prng_seed(&r, SEED, 6);
	roce_payload_init(&none, NULL, 0);
	roce_payload_init(&aeth, zeros, sizeof(zeros));
	for (unsigned int i = 0; i < 1000; i++) {
		struct roce_fields f = {.opcode = RC_ACK, .migreq = true};
		struct shaped p;
		unsigned int hdr;

		random_shaped(&r, &p, &aeth, RC_ACK);
		f.psn = prng_u32(&r) & PSN_MASK;
		f.aeth_syndrome = (uint8_t)prng_u32(&r);
		f.aeth_msn = prng_u32(&r) & 0xFFFFFFu;
		memset(want, (int)i, sizeof(want));
		memset(got, (int)i, sizeof(got));
		hdr = roce_template_stamp(&p.t, &p.ends, &none, &f, want + 200);
		assert_int_equal(roce_shape_stamp_ack(&p.shape, &p.ends, f.psn,
						      (uint32_t)f.aeth_syndrome << 24 | f.aeth_msn,
						      got + 200 - AETH_BYTES),
				 hdr - AETH_BYTES);
		assert_int_equal(p.shape.frame_bytes, hdr + ICRC_BYTES);
		assert_memory_equal(got + 200 - hdr, want + 200 - hdr, p.shape.frame_bytes);
	}
}

TEST_MAIN(.begin = make_pattern)
