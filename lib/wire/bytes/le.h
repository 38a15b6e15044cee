/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Little-endian loads and stores at any alignment, the byte order of the ICRC. The caller has
 * checked the bounds.
 */
#ifndef QUENCH_WIRE_BYTES_LE_H
#define QUENCH_WIRE_BYTES_LE_H

#include <stdint.h>

static inline void
le32_store(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline uint32_t
le32_load(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#endif
