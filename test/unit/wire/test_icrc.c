/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "wire/icrc/icrc.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/bytes/le.h"

#define SEED 20150817u
#define MOST 4096u
#define GUARD 64u

/* One bit at a time, from the definition: shares nothing with the code under test. */
static uint32_t
reference(uint32_t reg, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		reg ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			reg = reg & 1 ? reg >> 1 ^ 0xEDB88320u : reg >> 1;
	}
	return reg;
}

static void
fill(uint8_t *buf, size_t n, struct prng *r)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = (uint8_t)prng_u32(r);
}

static uint32_t
run(const struct icrc_backend *b, uint32_t start, const uint8_t *buf, size_t n)
{
	struct icrc_shape shape = {0};

	le32_store(shape.seed + ICRC_SHAPE_START, start);
	return b->run(buf, n, &shape);
}

static void
check_backend(const struct icrc_backend *b, const uint8_t *buf, size_t n, uint32_t start)
{
	uint32_t want = reference(start, buf, n), got = run(b, start, buf, n);

	if (got != want)
		fail_msg("%s: %zu bytes at offset %zu: %08x, not %08x (seed %u)", b->name, n,
			 (size_t)((uintptr_t)buf & 63), got, want, SEED);
}

TEST(crc_of_123456789_is_the_check_value_of_ieee_802_3)
{
	assert_int_equal((uint32_t)~icrc_update(0xFFFFFFFFu, "123456789", 9), 0xCBF43926u);
	assert_int_equal((uint32_t)~icrc_update(0xFFFFFFFFu, "", 0), 0);
	assert_int_equal((uint32_t)~icrc_update(0xFFFFFFFFu, "a", 1), 0xE8B7BE43u);
	assert_int_equal((uint32_t)~icrc_update(0xFFFFFFFFu,
						"The quick brown fox jumps over the lazy dog", 43),
			 0x414FA339u);
}

TEST(seed_is_the_register_after_eight_bytes_of_ones)
{
	static const uint8_t lrh[8] = {255, 255, 255, 255, 255, 255, 255, 255};

	assert_int_equal(icrc_update(0xFFFFFFFFu, lrh, 8), ICRC_SEED);
}

TEST(every_backend_equals_the_definition_at_every_length)
{
	static uint8_t mem[MOST + 2 * GUARD] __attribute__((aligned(64)));
	static const size_t long_ones[] = {511, 512, 513, 1024, 1064, 1087, 2048, 4090, 4096};
	struct prng r;
	unsigned int tried = 0;

	prng_seed(&r, SEED, 0);
	fill(mem, sizeof(mem), &r);
	for (unsigned int i = 0; i < icrc_backend_count; i++) {
		const struct icrc_backend *b = &icrc_backends[i];

		if (!b->supported())
			continue;
		tried++;
		for (size_t n = 0; n <= 600; n++)
			check_backend(b, mem + prng_below(&r, GUARD), n, prng_u32(&r));
		for (size_t k = 0; k < ARRAY_LEN(long_ones); k++) {
			for (size_t offset = 0; offset < GUARD; offset++)
				check_backend(b, mem + offset, long_ones[k], prng_u32(&r));
		}
	}
	assert_true(tried >= 1);
}

/* A message that fills the end, and one that fills the start, of the only page that is there. */
TEST(no_backend_reads_beyond_the_message)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *mem = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *mid = mem + page;
	struct prng r;

	assert_true(mem != MAP_FAILED && mprotect(mid, page, PROT_READ | PROT_WRITE) == 0);
	prng_seed(&r, SEED, 7);
	fill(mid, page, &r);
	for (unsigned int i = 0; i < icrc_backend_count; i++) {
		for (size_t n = 0; n <= 600 && icrc_backends[i].supported(); n++) {
			check_backend(&icrc_backends[i], mid + page - n, n, prng_u32(&r));
			check_backend(&icrc_backends[i], mid, n, prng_u32(&r));
		}
	}
	munmap(mem, 3 * page);
}

TEST(every_backend_takes_marked_bits_as_ones)
{
	uint8_t buf[300], masked[300];
	struct icrc_shape shape = {0};
	uint8_t *ones = shape.ones + ICRC_SHAPE_START;
	struct prng r;

	prng_seed(&r, SEED, 1);
	for (size_t n = 0; n <= sizeof(buf); n++) {
		uint32_t want, start = prng_u32(&r);

		fill(buf, sizeof(buf), &r);
		fill(ones, ICRC_SHAPE_BYTES, &r);
		le32_store(shape.seed + ICRC_SHAPE_START, start);
		for (size_t i = 0; i < n; i++)
			masked[i] = buf[i] | (i < ICRC_SHAPE_BYTES ? ones[i] : 0);
		want = reference(start, masked, n);
		for (unsigned int i = 0; i < icrc_backend_count; i++) {
			const struct icrc_backend *b = &icrc_backends[i];

			if (b->supported() && b->run(buf, n, &shape) != want)
				fail_msg("%s: %zu bytes (seed %u)", b->name, n, SEED);
		}
	}
}

TEST(the_best_supported_backend_is_in_use)
{
	const char *best = NULL;

	for (unsigned int i = 0; i < icrc_backend_count; i++) {
		if (icrc_backends[i].supported())
			best = icrc_backends[i].name;
	}
	assert_string_equal(icrc_backend(), best);
}

TEST(a_register_continues_where_it_stopped)
{
	uint8_t buf[700];
	struct prng r;

	prng_seed(&r, SEED, 2);
	fill(buf, sizeof(buf), &r);
	for (size_t cut = 0; cut <= sizeof(buf); cut += 7) {
		uint32_t reg = icrc_update(ICRC_SEED, buf, cut);

		assert_int_equal(icrc_update(reg, buf + cut, sizeof(buf) - cut),
				 reference(ICRC_SEED, buf, sizeof(buf)));
	}
}

TEST(shift_is_the_same_as_appending_zeros)
{
	static const uint8_t zeros[MOST];
	static const size_t lengths[] = {0, 1, 3, 4, 64, 255, 256, 512, 1000, 1024, 2048, 4096};
	static struct icrc_shift shift;
	struct prng r;

	prng_seed(&r, SEED, 3);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		icrc_shift_init(&shift, lengths[i]);
		for (int k = 0; k < 50; k++) {
			uint32_t reg = prng_u32(&r);

			assert_int_equal(icrc_shift_apply(&shift, reg),
					 reference(reg, zeros, lengths[i]));
		}
	}
}

TEST(shift_joins_the_registers_of_two_parts)
{
	static struct icrc_shift shift;
	uint8_t buf[60 + 1024];
	struct prng r;
	uint32_t first, second;

	prng_seed(&r, SEED, 4);
	fill(buf, sizeof(buf), &r);
	icrc_shift_init(&shift, 1024);
	first = icrc_update(ICRC_SEED, buf, 60);
	second = icrc_update(0, buf + 60, 1024);
	assert_int_equal(icrc_shift_apply(&shift, first) ^ second,
			 reference(ICRC_SEED, buf, sizeof(buf)));
}

/* The fold constants of icrc_x86.c as they are derived: x^n mod P, reflected, shifted left by
 * one. */
static uint64_t
fold_constant(unsigned int n)
{
	return (uint64_t)icrc_mul_x_pow(ICRC_X_0, n) << 1;
}

TEST(powers_of_x_are_the_published_fold_constants)
{
	/* Linux arch/x86/crypto/crc32-pclmul and the Intel paper print these. */
	static const struct {
		unsigned int n;
		uint64_t want;
	} table[] = {
		{4 * 128 + 32, 0x154442bd4},
		{4 * 128 - 32, 0x1c6e41596},
		{128 + 32, 0x1751997d0},
		{128 - 32, 0x0ccaa009e},
		{64, 0x163cd6124},
		/* and ours, derived in the same way */
		{2048 + 32, 0x11542778a},
		{2048 - 32, 0x1322d1430},
		{1536 + 32, 0x1821d8bc0},
		{1536 - 32, 0x12e958ac4},
		{1024 + 32, 0x1e88ef372},
		{1024 - 32, 0x14a7fe880},
		{384 + 32, 0x03db1ecdc},
		{256 + 96, 0x174359406},
		{256 + 32, 0x0f1da05aa},
		{128 + 96, 0x15a546366},
		{32, 0x1db710640},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(fold_constant(table[i].n), table[i].want);
}

TEST(headers_then_the_rest_is_the_whole)
{
	uint8_t ip[40 + 8 + 12 + 64];
	struct prng r;

	prng_seed(&r, SEED, 5);
	for (unsigned int version = 4; version <= 6; version += 2) {
		size_t headers = (version == 4 ? 20 : 40) + 8 + 12;

		fill(ip, sizeof(ip), &r);
		for (size_t n = headers; n <= sizeof(ip); n++) {
			uint32_t reg = icrc_headers(ip, version);

			assert_int_equal((uint32_t)~icrc_update(reg, ip + headers, n - headers),
					 icrc_compute(ip, version, n));
		}
	}
}

/* facts 5.6: exactly these bits are invariant-exempt, all others count. */
TEST(only_what_routers_change_is_exempt)
{
	static const struct {
		unsigned int version;
		size_t headers;
		uint8_t exempt[64];
	} table[] = {
		{4,
		 40,
		 {[1] = 255,
		  [8] = 255,
		  [10] = 255,
		  [11] = 255,
		  [26] = 255,
		  [27] = 255,
		  [32] = 255}},
		{6,
		 60,
		 {[0] = 15,
		  [1] = 255,
		  [2] = 255,
		  [3] = 255,
		  [7] = 255,
		  [46] = 255,
		  [47] = 255,
		  [52] = 255}},
	};
	uint8_t ip[64];
	struct prng r;

	prng_seed(&r, SEED, 6);
	for (size_t t = 0; t < 2; t++) {
		uint32_t icrc;

		fill(ip, sizeof(ip), &r);
		icrc = icrc_compute(ip, table[t].version, sizeof(ip));
		for (unsigned int bit = 0; bit < 8 * sizeof(ip); bit++) {
			uint32_t changed;

			ip[bit / 8] ^= (uint8_t)(1u << bit % 8);
			changed = icrc_compute(ip, table[t].version, sizeof(ip));
			ip[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if ((changed == icrc) != (table[t].exempt[bit / 8] >> bit % 8 & 1))
				fail_msg("IPv%u: bit %u of byte %u", table[t].version, bit % 8,
					 bit / 8);
		}
	}
}

TEST(icrc_stands_least_significant_byte_first)
{
	uint8_t p[4];

	le32_store(p, 0x6D58FB12u);
	assert_memory_equal(p, "\x12\xfb\x58\x6d", 4);
	assert_int_equal(le32_load(p), 0x6D58FB12u);
}

TEST_MAIN()
