/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the ICRC: the tables shared with the frame templates, and the list of backends,
 * which tests compare with each other.
 */
#ifndef QUENCH_WIRE_ICRC_ICRC_IMPL_H
#define QUENCH_WIRE_ICRC_ICRC_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Polynomial of IEEE 802.3, bit-reflected, without x^32. */
#define ICRC_POLY 0xEDB88320u
/*
 * icrc_table[k][b]: register after byte b and k zero bytes, starting from 0. Filled before main().
 * Because a CRC is linear, that is also the contribution of a byte b with k bytes after it.
 */
extern uint32_t icrc_table[16][256];

/*
 * The first bytes of a message are modified on the fly: the start register is xored in, and masked
 * bits count as ones. All of that is within this many bytes.
 */
#define ICRC_SHAPE_BYTES 64u
/*
 * Index of the message's first byte in the tables below: a vector may also cover bytes before the
 * message.
 */
#define ICRC_SHAPE_START 64u
#define ICRC_SHAPE_ROOM (ICRC_SHAPE_START + 2 * ICRC_SHAPE_BYTES)

/*
 * Byte i of a message counts as (byte | ones[i]) ^ seed[i]; both are indexed from ICRC_SHAPE_START.
 */
struct icrc_shape {
	uint8_t ones[ICRC_SHAPE_ROOM];
	uint8_t seed[ICRC_SHAPE_ROOM]; /* the start register, in its first four bytes */
};

/** Register after buf[0..n), modified by the shape. */
typedef uint32_t icrc_run_fn(const uint8_t *buf, size_t n, const struct icrc_shape *shape);

struct icrc_backend {
	const char *name;
	bool (*supported)(void);
	icrc_run_fn *run;
};

/* Slowest first; the table backend is always supported. */
extern const struct icrc_backend icrc_backends[];
extern const unsigned int icrc_backend_count;

/** Switch to another backend. The fastest supported one is selected at start. */
void icrc_use(const struct icrc_backend *backend);

icrc_run_fn icrc_run_table;
/** Fill icrc_table, before its first use. */
void icrc_table_init(void);
#ifdef __x86_64__
icrc_run_fn icrc_run_pclmul;
icrc_run_fn icrc_run_vpclmul;
/** Fill the tables of both x86 backends, before their first use. */
void icrc_x86_init(void);
#endif

/* The polynomial 1 in a register: bit 31 is the coefficient of x^0. */
#define ICRC_X_0 0x80000000u

/** Product of two polynomials in registers, modulo the polynomial. */
uint32_t icrc_mul(uint32_t a, uint32_t b);

/** reg * x^n_bits modulo the polynomial: the register after n_bits zero bits. */
uint32_t icrc_mul_x_pow(uint32_t reg, uint64_t n_bits);

#endif
