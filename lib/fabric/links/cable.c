/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/cable.h"

#include <stddef.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "wire/frame/frame.h"
#include "wire/icrc/icrc.h"
#include "wire/roce/roce.h"

#define PPB UINT64_C(1000000000)

const char *const cable_frames_words[] = {"all", "data", "ack", "cnp", "pause", NULL};

const char *
cable_drop_name(enum cable_drop d)
{
	static const char *const names[CABLE_DROP_REASONS] = {
		[CABLE_DROP_LOSS] = "wire_loss",
		[CABLE_DROP_BIT_ERROR] = "wire_bit_error",
		[CABLE_DROP_LINK_DOWN] = "wire_link_down",
		[CABLE_DROP_DATA_LOSS] = "wire_data_loss",
		[CABLE_DROP_ACK_LOSS] = "wire_ack_loss",
		[CABLE_DROP_CNP_LOSS] = "wire_cnp_loss",
		[CABLE_DROP_PAUSE_LOSS] = "wire_pause_loss",
	};

	return (unsigned int)d < CABLE_DROP_REASONS ? names[d] : "unknown";
}

bool
cable_params_is_faulty(const struct cable_params *params)
{
	for (unsigned int i = 0; i < CABLE_FRAME_KINDS; i++)
		if (params->loss_ppb[i] > 0)
			return true;
	return params->bit_errors_per_tbit > 0 || params->corrupt_ppb > 0 ||
	       params->reorder_ppb > 0;
}

/* n / whole as a fraction of 2^64; 1 becomes 2^64 - 1. */
static uint64_t
share_q64(uint64_t n, uint64_t whole)
{
	return n >= whole ? UINT64_MAX : (uint64_t)(((unsigned __int128)n << 64) / whole);
}

void
cable_set(struct cable *c, const struct cable_params *params)
{
	c->params = *params;
	c->has_kind_loss = false;
	for (unsigned int i = 0; i < CABLE_FRAME_KINDS; i++) {
		c->loss_below[i] = share_q64(params->loss_ppb[i], PPB);
		c->has_kind_loss |= i != CABLE_FRAMES_ANY && params->loss_ppb[i] > 0;
	}
	c->bit_ok_q64 = 0;
	if (params->bit_errors_per_tbit > 0)
		c->bit_ok_q64 =
			UINT64_MAX - share_q64(params->bit_errors_per_tbit, CABLE_MAX_BIT_ERRORS);
	c->frame_bytes = 0;
	c->corrupt_below = share_q64(params->corrupt_ppb, PPB);
	c->reorder_below = share_q64(params->reorder_ppb, PPB);
}

void
cable_init(struct cable *c, const struct cable_params *params, uint64_t stream)
{
	*c = (struct cable){0};
	cable_set(c, params);
	prng_seed(&c->rnd, params->seed, 2 * stream);
	prng_seed(&c->reorder_rnd, params->seed, 2 * stream + 1);
}

/* x^n for x in [0, 1) with 64 fractional bits, by squaring. */
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

/* An event with this probability. If it is impossible, no random number is drawn. */
static bool
happens(struct prng *rnd, uint64_t below)
{
	return below > 0 && prng_u64(rnd) < below;
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

/* @return false: not RoCEv2. */
static bool
parse(const struct rte_mbuf *m, struct frame_view *frame, struct roce_view *roce)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	return frame_parse(data, m->data_len, frame) == FRAME_OK &&
	       roce_parse(data, m->data_len, frame, false, roce) == ROCE_OK;
}

/* @return CABLE_FRAMES_ANY if the frame is neither data, ACK, CNP nor pause. */
static enum cable_frames
kind_of(const struct rte_mbuf *m)
{
	struct frame_view frame = {0};
	struct roce_view roce;

	if (m == NULL)
		return CABLE_FRAMES_ANY;
	if (!parse(m, &frame, &roce))
		return frame.ethertype == ETHERTYPE_MAC_CONTROL ? CABLE_FRAMES_PAUSE
								: CABLE_FRAMES_ANY;
	switch (roce.opcode) {
	case ROCE_CNP:
		return CABLE_FRAMES_CNP;
	case RC_ACK:
		return CABLE_FRAMES_ACK;
	default:
		return CABLE_FRAMES_DATA;
	}
}

static enum cable_drop
kind_loss(struct cable *c, const struct rte_mbuf *m)
{
	enum cable_frames kind = kind_of(m);

	if (kind == CABLE_FRAMES_ANY || !happens(&c->rnd, c->loss_below[kind]))
		return CABLE_ARRIVES;
	return CABLE_DROP_DATA_LOSS + kind - CABLE_FRAMES_DATA;
}

static enum cable_drop
fate(struct cable *c, const struct rte_mbuf *m, uint32_t frame_bytes)
{
	if (c->down)
		return CABLE_DROP_LINK_DOWN;
	if (happens(&c->rnd, c->loss_below[CABLE_FRAMES_ANY]))
		return CABLE_DROP_LOSS;
	if (c->bit_ok_q64 > 0 && is_damaged(c, frame_bytes))
		return CABLE_DROP_BIT_ERROR;
	return c->has_kind_loss ? kind_loss(c, m) : CABLE_ARRIVES;
}

/*
 * Flip a bit in a copy. In the frame itself, the damage would also reach other holders, and later
 * frames: a NIC writes a payload once, and sends it in many frames.
 */
static void
corrupt(struct cable *c, struct rte_mbuf **m)
{
	struct frame_view frame;
	struct roce_view roce;
	struct rte_mbuf *copy;
	uint64_t bit;

	if (!parse(*m, &frame, &roce))
		return;
	copy = rte_pktmbuf_copy(*m, c->params.copies, 0, UINT32_MAX);
	if (copy == NULL || copy->nb_segs > 1) {
		rte_pktmbuf_free(copy);
		c->stats.corrupt_no_mbuf++;
		return;
	}
	bit = 8 * roce.ext_off +
	      prng_below(&c->rnd, 8 * (roce.icrc_off + ICRC_BYTES - roce.ext_off));
	rte_pktmbuf_mtod(copy, uint8_t *)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	/* The payload is no longer the sender's pattern (nic/qp/payload.h). */
	copy->ol_flags = 0;
	rte_pktmbuf_free(*m);
	*m = copy;
	c->stats.corrupted++;
}

enum cable_drop
cable_send(struct cable *c, struct rte_mbuf **m, uint32_t frame_bytes, uint64_t sent_ns)
{
	enum cable_drop why = fate(c, *m, frame_bytes);

	if (c->tx.fn != NULL)
		c->tx.fn(c->tx.arg, *m, sent_ns);
	if (why != CABLE_ARRIVES)
		c->drops[why]++;
	else if (happens(&c->rnd, c->corrupt_below))
		corrupt(c, m);
	return why;
}

/* From now on no frame overtakes the late frame. */
static void
settle_late(struct cable *c, const struct flight *late)
{
	c->last_due_ns = late->due_ns;
	c->late = NULL;
}

/* The late frame was last; the new frame goes before it. */
static void
overtake(struct cable *c, struct flights *on_cable)
{
	struct flight *late = on_cable->tail - 1, frame = *late;

	*late = late[-1];
	late[-1] = frame;
	if (c->late_left == 0 || --c->late_left > 0)
		return;
	late->due_ns = c->last_due_ns;
	settle_late(c, late);
}

bool
cable_queue(struct cable *c, struct flights *on_cable, struct flight *frame)
{
	uint64_t due_ns = max_u64(frame->due_ns, c->last_due_ns);
	bool late;

	if (c->late != NULL && on_cable->tail[-1].due_ns <= due_ns)
		settle_late(c, on_cable->tail - 1);
	late = c->late == NULL && happens(&c->reorder_rnd, c->reorder_below);
	frame->due_ns = late ? due_ns + c->params.reorder_delay_ns : due_ns;
	if (!flights_push(on_cable, frame))
		return false;
	if (late) {
		c->late = flight_mbuf(frame);
		c->late_left = c->params.reorder_frames;
		c->stats.reordered++;
		return true;
	}
	c->last_due_ns = due_ns;
	if (c->late != NULL)
		overtake(c, on_cable);
	return true;
}

void
cable_arrive(struct cable *c, const struct rte_mbuf *m, uint64_t now_ns)
{
	if (m == c->late)
		c->late = NULL;
	if (c->rx.fn != NULL)
		c->rx.fn(c->rx.arg, m, now_ns);
}

void
cable_cut(struct cable *c, uint64_t n)
{
	c->drops[CABLE_DROP_LINK_DOWN] += n;
	c->late = NULL;
}
