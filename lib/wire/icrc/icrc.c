/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/icrc/icrc.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/frame/frame.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/bytes/le.h"

#define AT(i) [ICRC_SHAPE_START + (i)]
#define SEED(i) AT(i) = (uint8_t)(ICRC_SEED >> 8 * (i))

/* Fields that routers may change count as ones (IBTA annex A17; Linux rxe_icrc.c). */
/* clang-format off */
static const struct icrc_shape ipv4 = {
	.seed = {SEED(0), SEED(1), SEED(2), SEED(3)},
	.ones = {
		AT(1) = 0xFF,                 /* ToS */
		AT(8) = 0xFF,                 /* TTL */
		AT(10) = 0xFF, AT(11) = 0xFF, /* header checksum */
		AT(26) = 0xFF, AT(27) = 0xFF, /* UDP checksum */
		AT(32) = 0xFF,                /* FECN, BECN, reserved */
	},
};
static const struct icrc_shape ipv6 = {
	.seed = {SEED(0), SEED(1), SEED(2), SEED(3)},
	.ones = {
		AT(0) = 0x0F, AT(1) = 0xFF,   /* traffic class, flow label */
		AT(2) = 0xFF, AT(3) = 0xFF,   /* flow label */
		AT(7) = 0xFF,                 /* hop limit */
		AT(46) = 0xFF, AT(47) = 0xFF, /* UDP checksum */
		AT(52) = 0xFF,                /* FECN, BECN, reserved */
	},
};
/* clang-format on */

static bool
always(void)
{
	return true;
}

#ifdef __x86_64__
static bool
has_pclmul(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

static bool
has_vpclmul(void)
{
	return has_pclmul() && __builtin_cpu_supports("vpclmulqdq") &&
	       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bw");
}
#endif

const struct icrc_backend icrc_backends[] = {
	{"slice-by-16", always, icrc_run_table},
#ifdef __x86_64__
	{"pclmulqdq", has_pclmul, icrc_run_pclmul},
	{"vpclmulqdq", has_vpclmul, icrc_run_vpclmul},
#endif
};
const unsigned int icrc_backend_count = ARRAY_LEN(icrc_backends);

static const struct icrc_backend *used = &icrc_backends[0];

__attribute__((constructor)) static void
icrc_init(void)
{
	icrc_table_init();
#ifdef __x86_64__
	__builtin_cpu_init();
	icrc_x86_init();
#endif
	for (unsigned int i = 0; i < icrc_backend_count; i++) {
		if (icrc_backends[i].supported())
			used = &icrc_backends[i];
	}
}

const char *
icrc_backend(void)
{
	return used->name;
}

void
icrc_use(const struct icrc_backend *backend)
{
	assert(backend->supported());
	used = backend;
}

uint32_t
icrc_update(uint32_t reg, const void *buf, size_t n)
{
	struct icrc_shape shape = {0};

	if (n == 0) /* buf may then be NULL */
		return reg;
	le32_store(shape.seed + ICRC_SHAPE_START, reg);
	return used->run(buf, n, &shape);
}

uint32_t
icrc_headers(const uint8_t *ip, unsigned int ip_version)
{
	size_t n = (ip_version == 4 ? IPV4_HDR_BYTES : IPV6_HDR_BYTES) + UDP_HDR_BYTES + 12;

	return used->run(ip, n, ip_version == 4 ? &ipv4 : &ipv6);
}

uint32_t
icrc_compute(const uint8_t *ip, unsigned int ip_version, size_t n)
{
	return ~used->run(ip, n, ip_version == 4 ? &ipv4 : &ipv6);
}

static void
multiply_by_x_pow(struct icrc_shift *s, uint64_t n_bits)
{
	uint32_t power = icrc_mul_x_pow(ICRC_X_0, n_bits);

	/* The operator is linear: products of single bits, and sums of those. */
	for (unsigned int k = 0; k < 4; k++) {
		s->table[k][0] = 0;
		for (unsigned int bit = 1; bit < 256; bit <<= 1) {
			s->table[k][bit] = icrc_mul((uint32_t)bit << 8 * k, power);
			for (unsigned int b = 1; b < bit; b++)
				s->table[k][bit + b] = s->table[k][bit] ^ s->table[k][b];
		}
	}
}

void
icrc_shift_init(struct icrc_shift *s, size_t n_bytes)
{
	multiply_by_x_pow(s, 8 * (uint64_t)n_bytes);
}

void
icrc_unshift_init(struct icrc_shift *s, size_t n_bytes)
{
	/* The polynomial is primitive: x^(2^32 - 1) = 1. */
	multiply_by_x_pow(s, UINT32_MAX - 8 * (uint64_t)n_bytes);
}
