/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian loads and stores at any alignment. The caller has checked the bounds.
 */
#ifndef QUENCH_WIRE_BYTES_BE_H
#define QUENCH_WIRE_BYTES_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
be16_load(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t
be32_load(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t
be64_load(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline uint64_t
be48_load(const void *p)
{
	return (uint64_t)be16_load(p) << 32 | be32_load((const uint8_t *)p + 2);
}

static inline void
be16_store(void *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
be32_store(void *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
be48_store(void *p, uint64_t v)
{
	be16_store(p, (uint16_t)(v >> 32));
	be32_store((uint8_t *)p + 2, (uint32_t)v);
}

static inline void
be64_store(void *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
