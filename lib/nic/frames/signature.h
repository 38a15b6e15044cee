/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signature at the end of a test frame, by which a receiving tester counts it: stream, number,
 * time of departure, and a keyed check. It is before the FCS, and covers only itself, so that a
 * frame still counts after a device has changed its headers.
 *
 *	time 5, number 4, kind and start 1, stream 2, check 4 bytes; big-endian
 *
 * A frame without room for that ends with stream and check only: it is counted, but has neither a
 * number nor a time.
 *
 * The key is a number of one run, so that frames of other testers and of earlier runs do not count.
 * The check has 32 bits (half_sip.h): a frame by chance or by a guess passes once in 2^32. It is no
 * protection from someone who copies a frame; such copies are counted as duplicates.
 */
#ifndef QUENCH_NIC_FRAMES_SIGNATURE_H
#define QUENCH_NIC_FRAMES_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/half_sip.h"

#define SIGNATURE_BYTES 16u
#define SIGNATURE_SHORT_BYTES 6u
/* Times are modulo this: 18 minutes. */
#define SIGNATURE_TIME_NS (1ull << 40)
#define SIGNATURE_STARTS 128u

struct signature {
	uint16_t id; /* of the stream, from 1 */
	bool is_short;
	/* of a long one */
	bool cut_through; /* latency counts from the first bit, not from the last */
	uint8_t start;    /* of the stream, modulo SIGNATURE_STARTS */
	uint32_t number;  /* of the frame since the start, from 0 */
	uint64_t time_ns; /* of departure, modulo SIGNATURE_TIME_NS */
};

/** Write SIGNATURE_BYTES, or SIGNATURE_SHORT_BYTES, that end at `end`. */
void signature_write(uint8_t *end, const struct half_sip_key *key, const struct signature *s);

/**
 * Read the signature that ends at `end`.
 * @param room  Bytes before `end` that may be read.
 * @return      Is there one with this key?
 */
bool signature_read(const uint8_t *end, uint32_t room, const struct half_sip_key *key,
		    struct signature *s);

#endif
