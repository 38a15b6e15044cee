/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An algorithm beside a model of it: one QP hears a random train of ACKs with marks, round-trip
 * times and hops, of CNPs, losses, sent bytes and silence, and the model says which rate and window
 * must follow.
 *
 * A model is written from the paper of the algorithm, in doubles, and shares no code with it. Where
 * rounding decides a branch, either result is right. After each event the model takes over the
 * visible state, which must be within its tolerance, so that rounding does not add up.
 *
 * A train is a sequence of lives with parameters and a start rate of their own. QUENCH_STEPS sets
 * the number of events (default 10^6). A failure names the life and the event; lives are equal
 * in each run.
 */
#ifndef QUENCH_TEST_UNIT_CC_DIFFERENTIAL_H
#define QUENCH_TEST_UNIT_CC_DIFFERENTIAL_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cc/cc_bed.h"
#include "unit/chance.h"
#include "base/numbers/fixed.h"

#define DIFF_LIFE_STEPS 2000u
#define DIFF_STEPS 1000000u

struct differential {
	struct cc_bed bed;
	struct prng rng;
	uint64_t life, step;
	uint64_t start_bps, now_ns;
	/* packets not acknowledged are [acked_seq, next_seq) */
	uint32_t acked_seq, next_seq;
	/* the network of this phase */
	uint64_t rtt_ns, jitter_ns, gap_ns, most_in_flight;
	unsigned int mark_pct, cnp_pct, loss_pct, timeout_pct, sample_pct;
	/* the path: what its hops have sent, and their clocks less ours */
	unsigned int n_hops;
	uint16_t path_id;
	bool is_full;
	struct cc_hop hops[CC_MAX_HOPS];
	double sent_bytes[CC_MAX_HOPS], load[CC_MAX_HOPS];
	uint64_t clock_ns[CC_MAX_HOPS];
	uint64_t told_ns;  /* of the last change of the hops */
	struct cc_cnp cnp; /* the last one */
};

/* All but draw and start may be NULL. They are called after the algorithm has had the event, with
 * the cc_did mask that it gave. */
struct diff_model {
	enum cc_algorithm algorithm;
	void (*draw)(struct differential *d);  /* the parameters, with diff_draw() */
	void (*start)(struct differential *d); /* at the rate d->start_bps, which may be clamped */
	void (*ack)(struct differential *d, const struct cc_ack *ack, uint32_t did);
	void (*cnp)(struct differential *d, uint32_t did);
	void (*loss)(struct differential *d, enum cc_loss by, uint32_t did);
	void (*sent)(struct differential *d, uint32_t bytes, uint32_t did);
};

/* Set a key of the algorithm to a number in its unit. */
static inline double
diff_set(struct differential *d, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	bed_set(&d->bed, key, text);
	return (double)value;
}

/* ... to a random one; each power of two between low and high is as likely. */
static inline uint64_t
diff_any(struct differential *d, uint64_t low, uint64_t high)
{
	unsigned int bits = 0;

	while (bits < 63 && (low + 1) << bits <= high)
		bits++;
	bits = (unsigned int)any(&d->rng, 0, bits);
	return any(&d->rng, low, min_u64(high, low + (1ull << bits)));
}

static inline double
diff_draw(struct differential *d, const char *key, uint64_t low, uint64_t high)
{
	return diff_set(d, key, diff_any(d, low, high));
}

/* Fail unless a value is in [low, high]. */
static inline void
diff_expect(const struct differential *d, const char *what, double is, double low, double high)
{
	if (is < low || is > high || isnan(low) || isnan(high))
		fail_msg("life %" PRIu64 ", event %" PRIu64 ": %s is %.9g, model %.9g to %.9g",
			 d->life, d->step, what, is, low, high);
}

/* A new path: rates, clocks and counts of its hops. */
static inline void
diff_new_path(struct differential *d)
{
	static const uint16_t gbps[] = {1, 10, 25, 40, 100, 400};

	/* Often as many hops as before. */
	if (d->n_hops == 0 || chance(&d->rng, 50))
		d->n_hops = (unsigned int)any(&d->rng, 1, CC_MAX_HOPS);
	d->path_id++;
	d->is_full = chance(&d->rng, 10);
	for (unsigned int i = 0; i < d->n_hops; i++) {
		d->hops[i] = (struct cc_hop){.rate_bps = gbps[any(&d->rng, 0, 5)] * GBPS};
		d->sent_bytes[i] = (double)prng_u32(&d->rng);
		d->clock_ns[i] = prng_u32(&d->rng);
	}
	d->told_ns = d->now_ns;
}

/* A new phase of the network: idle, loaded, marking, losing. */
static inline void
diff_new_phase(struct differential *d)
{
	struct prng *r = &d->rng;

	d->rtt_ns = diff_any(d, 500, NS_PER_MS);
	d->jitter_ns = chance(r, 30) ? 0 : diff_any(d, 1, d->rtt_ns);
	d->gap_ns = diff_any(d, 1, d->rtt_ns);
	d->most_in_flight = diff_any(d, 1, 2000);
	d->mark_pct = chance(r, 50) ? 0 : (unsigned int)any(r, 1, 100);
	d->cnp_pct = chance(r, 50) ? 0 : (unsigned int)any(r, 1, 20);
	d->loss_pct = chance(r, 70) ? 0 : (unsigned int)any(r, 1, 10);
	d->timeout_pct = chance(r, 50) ? 0 : (unsigned int)any(r, 1, 100);
	/* A peer that does not answer. */
	if (chance(r, 5))
		d->loss_pct = d->timeout_pct = 100;
	d->sample_pct = chance(r, 50) ? 100 : (unsigned int)any(r, 1, 100);
	for (unsigned int i = 0; i < CC_MAX_HOPS; i++)
		d->load[i] = chance(r, 30) ? 1 : (double)any(r, 0, 1100) / 1000;
}

/* What the hops tell now. */
static inline void
diff_tell_hops(struct differential *d)
{
	double gap_s = (double)(d->now_ns - d->told_ns) / 1e9;

	d->told_ns = d->now_ns;
	for (unsigned int i = 0; i < d->n_hops; i++) {
		struct cc_hop *h = &d->hops[i];

		d->sent_bytes[i] += floor((double)h->rate_bps / 8 * gap_s * d->load[i]);
		h->tx_bytes = (uint32_t)(uint64_t)fmod(d->sent_bytes[i], 4294967296.);
		h->time_ns = (uint32_t)(d->now_ns + d->clock_ns[i]);
		h->queue_bytes = d->load[i] < 0.9 && chance(&d->rng, 80)
					 ? 0
					 : (uint32_t)diff_any(d, 0, 20000000);
	}
}

static inline void
diff_ack(struct differential *d, const struct diff_model *m)
{
	struct prng *r = &d->rng;
	struct cc_ack ack = {.packets = (uint32_t)diff_any(d, 1, d->next_seq - d->acked_seq)};
	uint32_t did;

	d->acked_seq += ack.packets;
	/* Before the ACK was sent, the requester had sent more. */
	if (d->next_seq - d->acked_seq < d->most_in_flight)
		d->next_seq +=
			(uint32_t)any(r, 0, d->most_in_flight - (d->next_seq - d->acked_seq));
	ack.acked_seq = d->acked_seq;
	ack.next_seq = d->next_seq;
	if (chance(r, d->mark_pct))
		ack.ce_packets = ack.packets;
	if (d->bed.node.hears_rtts && chance(r, d->sample_pct))
		ack.rtt_ns = any(r, d->rtt_ns, d->rtt_ns + d->jitter_ns);
	if (d->bed.node.hears_hops && !chance(r, 2)) {
		if (chance(r, 1))
			diff_new_path(d);
		diff_tell_hops(d);
		ack.n_hops = d->n_hops;
		ack.hops = d->hops;
		ack.path_id = d->path_id;
		ack.is_full = d->is_full;
	}
	did = cc_on_ack(&d->bed.cc, &d->bed.node, &ack, d->now_ns);
	if (m->ack != NULL)
		m->ack(d, &ack, did);
}

static inline void
diff_step(struct differential *d, const struct diff_model *m)
{
	struct prng *r = &d->rng;
	struct cc *cc = &d->bed.cc;
	const struct cc_node *node = &d->bed.node;
	uint32_t bytes;

	if (chance(r, 1))
		diff_new_phase(d);
	/* Silence of up to a quarter of an hour now and then. */
	d->now_ns +=
		prng_below(r, 1000) == 0 ? diff_any(d, 1, 1000 * NS_PER_SEC) : any(r, 0, d->gap_ns);
	if (m->sent != NULL) {
		bytes = (uint32_t)any(r, 64, 9000);
		m->sent(d, bytes, cc_on_sent(cc, node, bytes, d->now_ns));
	}
	if (m->cnp != NULL && chance(r, d->cnp_pct)) {
		d->cnp = (struct cc_cnp){
			.next_seq = d->next_seq,
			.value = chance(r, 50) ? 0 : (uint32_t)diff_any(d, 1, UINT32_MAX),
		};
		m->cnp(d, cc_on_cnp(cc, node, &d->cnp, d->now_ns));
	} else if (m->loss != NULL && chance(r, d->loss_pct)) {
		/* Go-back-N. */
		enum cc_loss by = chance(r, d->timeout_pct) ? CC_LOSS_TIMEOUT : CC_LOSS_NAK;

		d->next_seq = d->acked_seq;
		m->loss(d, by, cc_on_loss(cc, node, d->next_seq, by, d->now_ns));
	} else if (d->next_seq != d->acked_seq)
		diff_ack(d, m);
	else
		d->next_seq += (uint32_t)any(r, 1, d->most_in_flight);
}

static inline void
diff_run(const struct diff_model *m)
{
	static struct differential d;
	const char *text = getenv("QUENCH_STEPS");
	uint64_t steps = text != NULL ? strtoull(text, NULL, 10) : DIFF_STEPS;

	for (uint64_t done = 0, life = 0; done < steps; life++) {
		memset(&d, 0, sizeof(d));
		d.life = life;
		prng_seed(&d.rng, life, 0);
		d.now_ns = chance(&d.rng, 10) ? 0 : diff_any(&d, 0, 1000000 * NS_PER_SEC);
		d.acked_seq = d.next_seq = prng_u32(&d.rng);
		bed_init(&d.bed, m->algorithm);
		m->draw(&d);
		d.start_bps = diff_any(&d, MBPS, LINE_BPS);
		bed_start(&d.bed, d.start_bps);
		m->start(&d);
		diff_new_path(&d);
		diff_new_phase(&d);
		for (d.step = 0; d.step < DIFF_LIFE_STEPS && done < steps; d.step++, done++)
			diff_step(&d, m);
	}
}

#endif
