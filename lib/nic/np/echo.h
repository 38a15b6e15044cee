/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the next ACK of a responder echoes: that a packet since the last ACK had CE (np_ecn_echo),
 * and the INT header of the last packet.
 */
#ifndef QUENCH_NIC_NP_ECHO_H
#define QUENCH_NIC_NP_ECHO_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/numbers/units.h"
#include "cc/cc.h"
#include "wire/roce/int_hdr.h"

static_assert(CC_MAX_HOPS == INT_MAX_HOPS, "a packet tells all hops of a header");

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

/** The hops of an INT header, for congestion control. @return their number. */
static inline unsigned int
nic_read_hops(const uint8_t *hdr, struct cc_hop hops[CC_MAX_HOPS])
{
	unsigned int n = int_hdr_hops(hdr);

	for (unsigned int i = 0; i < n; i++) {
		struct int_hop hop = int_read_hop(hdr, i);

		hops[i] = (struct cc_hop){.rate_bps = hop.rate_mbps * MBPS,
					  .queue_bytes = hop.queue_bytes,
					  .tx_bytes = hop.tx_bytes,
					  .time_ns = hop.time_ns};
	}
	return n;
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
