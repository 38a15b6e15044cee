/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the next ACK of a responder echoes: that a packet since the last ACK had CE (np_ecn_echo),
 * and the INT header of the last packet.
 */
#ifndef QUENCH_NIC_NP_ECHO_H
#define QUENCH_NIC_NP_ECHO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/roce/int_hdr.h"

/* Zero-initialised state echoes nothing. */
struct nic_echo {
	bool ce;
	bool has_int;
	uint8_t int_hdr[INT_MAX_BYTES];
};

/* Inline definitions */

/** A data packet arrived with a valid INT header. */
static inline void
nic_echo_int(struct nic_echo *e, const uint8_t *hdr)
{
	e->has_int = true;
	memcpy(e->int_hdr, hdr, int_hdr_bytes(int_hdr_hops(hdr)));
}

/** Put the hops into an ACK. @return bytes by which the frame at buf now begins earlier. */
static inline unsigned int
nic_echo_insert(const struct nic_echo *e, uint8_t *buf)
{
	unsigned int hops = int_hdr_hops(e->int_hdr);
	uint8_t full = int_hdr_is_full(e->int_hdr) ? INT_FULL : 0;

	return int_insert(buf, hops, INT_ECHO | full, int_hdr_path_id(e->int_hdr),
			  e->int_hdr + INT_HDR_BYTES, hops);
}

#endif
