/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equal-cost multipath: chooses one of n next hops for a flow (RFC 2992, hash threshold). A flow is
 * a 5-tuple; the UDP source port distinguishes the QPs of RoCEv2. All frames of a flow get the same
 * next hop. Successive routers on a path use different seeds, so that their choices are independent
 * (no polarisation). For fragments, and for protocols other than TCP and UDP, the hash uses 0 for
 * both ports.
 *
 * IPv6's flow label can replace the ports (RFC 6438). It spreads the flows of hosts that set one
 * label per flow, whatever extension headers precede the ports.
 */
#ifndef QUENCH_FWD_ECMP_H
#define QUENCH_FWD_ECMP_H

#include <stdint.h>
#include <string.h>

struct ecmp_flow {
	const uint8_t *addrs; /* source and destination, adjacent */
	uint8_t ip_version;
	uint8_t proto;
	uint32_t ports; /* both, as in the packet; or the flow label */
};

static inline uint64_t
ecmp_mix(uint64_t h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static inline uint32_t
ecmp_hash(const struct ecmp_flow *flow, uint32_t seed)
{
	uint64_t words[4] = {0};
	uint64_t h = (uint64_t)seed << 8 | flow->proto;

	memcpy(words, flow->addrs, 8);
	if (flow->ip_version == 6) {
		memcpy(words, flow->addrs, 32);
		h = ecmp_mix(h ^ words[3]);
		h = ecmp_mix(h ^ words[2]);
		h = ecmp_mix(h ^ words[1]);
	}
	h = ecmp_mix(h ^ words[0]);
	return (uint32_t)(ecmp_mix(h ^ flow->ports) >> 32);
}

/** Derive an independent hash of the same flow, for a second choice. */
static inline uint32_t
ecmp_rehash(uint32_t hash)
{
	return (uint32_t)(ecmp_mix(hash ^ 0x9e3779b97f4a7c15ull) >> 32);
}

/** @return a number below n; each gets an equal share of the hash's range. */
static inline uint32_t
ecmp_pick(uint32_t hash, uint32_t n)
{
	return (uint32_t)((uint64_t)hash * n >> 32);
}

#endif
