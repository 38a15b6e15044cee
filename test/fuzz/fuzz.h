/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fuzz targets share. A failed check aborts, whatever NDEBUG says.
 */
#ifndef QUENCH_TEST_FUZZ_FUZZ_H
#define QUENCH_TEST_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"

#define FUZZ_CHECK(what)                                                                           \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_pkts, unsigned int seed);
/* libFuzzer's own mutator. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max_pkts);

/** Where an IP header may start: behind Ethernet and one tag. */
static inline size_t
fuzz_l3_off(const uint8_t *data, size_t len)
{
	return len >= 18 && be16_load(data + 12) == ETHERTYPE_VLAN ? 18 : 14;
}

static inline void
fuzz_mend_ipv4_checksum(uint8_t *data, size_t len)
{
	size_t off = fuzz_l3_off(data, len), hdr_bytes;

	if (len < off + IPV4_HDR_BYTES || data[off] >> 4 != 4)
		return;
	hdr_bytes = (data[off] & 0xFu) * 4;
	if (hdr_bytes < IPV4_HDR_BYTES || len < off + hdr_bytes)
		return;
	be16_store(data + off + 10, 0);
	be16_store(data + off + 10, ipv4_header_checksum(data + off, hdr_bytes));
}

#endif
