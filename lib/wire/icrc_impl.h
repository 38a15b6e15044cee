/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the ICRC: the table family shared with the frame templates, and the list of backends,
 * which tests hold against each other.
 */
#ifndef QUENCH_WIRE_ICRC_IMPL_H
#define QUENCH_WIRE_ICRC_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Polynomial of IEEE 802.3, bit-reflected, without x^32. */
#define ICRC_POLY 0xEDB88320u
/* The fields that routers change lie within this many bytes from the start of the IP header. */
#define ICRC_MASK_BYTES 64u

/*
 * icrc_table[k][b]: register after byte b and k bytes of zero, starting from 0. Filled before
 * main(). Because a CRC is linear, it is also what a byte b contributes to a register from k bytes
 * before its end.
 */
extern uint32_t icrc_table[16][256];

/**
 * Continue reg over buf[0..n), with ones[0..ICRC_MASK_BYTES) or'ed onto the start of what is read.
 */
typedef uint32_t icrc_update_fn(uint32_t reg, const uint8_t *buf, size_t n, const uint8_t *ones);

struct icrc_backend {
	const char *name;
	bool (*supported)(void);
	icrc_update_fn *update;
};

extern const uint8_t icrc_no_ones[ICRC_MASK_BYTES];
/* Slowest first, the tables always there. */
extern const struct icrc_backend icrc_backends[];
extern const unsigned int icrc_backend_count;

icrc_update_fn icrc_update_table;
#ifdef __x86_64__
icrc_update_fn icrc_update_pclmul;
icrc_update_fn icrc_update_vpclmul;
#endif

/** x^n_bits times reg, modulo the polynomial: the register after n_bits of zero. */
uint32_t icrc_mul_x_pow(uint32_t reg, uint64_t n_bits);

#endif
