/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table-driven CRC, and the polynomial arithmetic from which other backends and shifts are derived.
 */
#include <string.h>

#include "wire/icrc/icrc_impl.h"
#include "wire/bytes/le.h"

uint32_t icrc_table[16][256];

void
icrc_table_init(void)
{
	for (unsigned int b = 0; b < 256; b++) {
		uint32_t reg = b;

		for (int bit = 0; bit < 8; bit++)
			reg = reg >> 1 ^ (reg & 1 ? ICRC_POLY : 0);
		icrc_table[0][b] = reg;
	}
	for (unsigned int k = 1; k < 16; k++) {
		for (unsigned int b = 0; b < 256; b++) {
			uint32_t reg = icrc_table[k - 1][b];

			icrc_table[k][b] = reg >> 8 ^ icrc_table[0][reg & 0xFF];
		}
	}
}

/* Sixteen independent look-ups advance the register by 16 bytes. */
static uint32_t
update_plain(uint32_t reg, const uint8_t *p, size_t n)
{
	for (; n >= 16; n -= 16, p += 16) {
		uint32_t next = 0;

		reg ^= le32_load(p);
		for (unsigned int i = 0; i < 4; i++)
			next ^= icrc_table[15 - i][reg >> 8 * i & 0xFF];
		for (unsigned int i = 4; i < 16; i++)
			next ^= icrc_table[15 - i][p[i]];
		reg = next;
	}
	for (; n > 0; n--, p++)
		reg = reg >> 8 ^ icrc_table[0][(reg ^ *p) & 0xFF];
	return reg;
}

uint32_t
icrc_run_table(const uint8_t *buf, size_t n, const struct icrc_shape *shape)
{
	uint32_t reg = le32_load(shape->seed + ICRC_SHAPE_START);
	uint8_t head[ICRC_SHAPE_BYTES];
	size_t head_bytes = n < sizeof(head) ? n : sizeof(head);

	for (size_t i = 0; i < head_bytes; i++)
		head[i] = buf[i] | shape->ones[ICRC_SHAPE_START + i];
	reg = update_plain(reg, head, head_bytes);
	return update_plain(reg, buf + head_bytes, n - head_bytes);
}

uint32_t
icrc_mul(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a != 0; a <<= 1) {
		if (a & 0x80000000u)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? ICRC_POLY : 0);
	}
	return product;
}

uint32_t
icrc_mul_x_pow(uint32_t reg, uint64_t n_bits)
{
	uint32_t square = 0x40000000u; /* x */

	for (; n_bits != 0; n_bits >>= 1) {
		if (n_bits & 1)
			reg = icrc_mul(square, reg);
		square = icrc_mul(square, square);
	}
	return reg;
}
