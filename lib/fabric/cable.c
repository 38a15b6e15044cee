/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/cable.h"

#include <stddef.h>

#include "base/fixed.h"

#define PPB UINT64_C(1000000000)

const char *
cable_drop_name(enum cable_drop d)
{
	static const char *const names[CABLE_DROPS] = {
		[CABLE_DROP_LOSS] = "wire_loss",
		[CABLE_DROP_BIT_ERROR] = "wire_bit_error",
		[CABLE_DROP_LINK_DOWN] = "wire_link_down",
	};

	return (unsigned int)d < CABLE_DROPS ? names[d] : "unknown";
}

/* n of whole as a share of 2^64; all of them is one less. */
static uint64_t
share_q64(uint64_t n, uint64_t whole)
{
	return n >= whole ? UINT64_MAX : (uint64_t)(((unsigned __int128)n << 64) / whole);
}

void
cable_init(struct cable *c, const struct cable_params *params, uint64_t stream)
{
	*c = (struct cable){
		.loss_below = share_q64(params->frame_loss_ppb, PPB),
	};
	if (params->bit_errors_per_tbit > 0)
		c->bit_ok_q64 =
			UINT64_MAX - share_q64(params->bit_errors_per_tbit, CABLE_MAX_BIT_ERRORS);
	prng_seed(&c->rnd, params->seed, stream);
}

/* x^n of x in [0, 1), both with 64 bits behind the point: by squares. */
static uint64_t
power_q64(uint64_t x, uint32_t n)
{
	uint64_t result = UINT64_MAX;

	for (; n > 0; n >>= 1) {
		if (n & 1)
			result = (uint64_t)((unsigned __int128)result * x >> 64);
		x = (uint64_t)((unsigned __int128)x * x >> 64);
	}
	return result;
}

static bool
is_damaged(struct cable *c, uint32_t frame_bytes)
{
	if (frame_bytes != c->frame_bytes) {
		c->frame_bytes = frame_bytes;
		c->damaged_below = UINT64_MAX - power_q64(c->bit_ok_q64, 8 * frame_bytes);
	}
	return prng_u64(&c->rnd) < c->damaged_below;
}

static enum cable_drop
fate(struct cable *c, uint32_t frame_bytes)
{
	if (c->down)
		return CABLE_DROP_LINK_DOWN;
	if (c->loss_below > 0 && prng_u64(&c->rnd) < c->loss_below)
		return CABLE_DROP_LOSS;
	if (c->bit_ok_q64 > 0 && is_damaged(c, frame_bytes))
		return CABLE_DROP_BIT_ERROR;
	return CABLE_DROPS;
}

enum cable_drop
cable_send(struct cable *c, const struct rte_mbuf *m, uint32_t frame_bytes, uint64_t sent_ns,
	   uint64_t arrives_ns)
{
	enum cable_drop why = fate(c, frame_bytes);

	if (c->tx.fn != NULL)
		c->tx.fn(c->tx.arg, m, sent_ns);
	if (why != CABLE_DROPS)
		c->drops[why]++;
	else if (c->rx.fn != NULL)
		c->rx.fn(c->rx.arg, m, arrives_ns);
	return why;
}
