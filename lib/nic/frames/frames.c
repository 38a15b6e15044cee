/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/frames/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/core/core.h"
#include "nic/frames/signature.h"
#include "nic/port/nic_pause.h"
#include "nic/qp/qp.h"
#include "pacer/first_wait.h"
#include "wire/bytes/headers.h"

struct stream {
	struct nic_frames_params p;
	struct token_bucket bucket;
	uint64_t left;       /* frames of this start */
	uint64_t sent;       /* of this start */
	uint64_t end_ns;     /* of this start */
	uint64_t wait_ns;    /* end of the delay, or of the gap after a burst: no frame before */
	uint32_t burst_left; /* frames of this burst */
	bool gap;            /* wait_ns is the end of a gap */
	bool is_short;       /* frames have room for short signatures only */
	bool held;           /* its queue was paused when it was last looked at */
	uint64_t missed_nanobits; /* not yet in missed_bytes */
	uint64_t paused_ns;       /* since when it is paused */
	uint32_t order;           /* number of the last order that was followed */
	/* shared with other threads */
	bool paused;
	uint32_t orders; /* odd: start, even: stop */
	uint32_t ended;  /* the last start whose frames have all been sent */
	uint64_t tx_packets, tx_bytes, missed_bytes;
};

struct nic_frames {
	struct rte_mempool *pool;
	uint32_t n, turn;
	struct stream streams[];
};

/* Wire bytes by which a stream with rate_pps is charged for each frame. */
static uint32_t
charge_bytes(const struct nic_frames_params *p)
{
	return wire_bytes(p->template.frame_bytes - FCS_BYTES);
}

static uint64_t
bucket_bps(const struct nic_frames_params *p)
{
	return p->rate_pps > 0 ? p->rate_pps * charge_bytes(p) * 8 : p->rate_bps;
}

/* After a late call, the port's shaper has room for shaper_burst_ns. */
static uint64_t
burst_bytes(const struct nic *nic, const struct nic_frames_params *p)
{
	uint64_t of_port = (uint64_t)((unsigned __int128)bucket_bps(p) *
				      nic->params.shaper_burst_ns / (8 * NS_PER_SEC));

	return min_u64(max_u64(of_port, nic->params.qp_burst_bytes), TOKEN_BUCKET_MAX_BURST_BYTES);
}

static void
choose_signature(struct stream *s)
{
	s->is_short = nic_template_least_bytes(&s->p.template) <
		      s->p.template.header_bytes + SIGNATURE_BYTES;
}

int
nic_frames_add(struct node *node, const struct nic_frames_params *streams, uint32_t n,
	       struct rte_mempool *pool)
{
	struct nic *nic = nic_of(node);
	struct nic_frames *f = calloc(1, sizeof(*f) + n * sizeof(f->streams[0]));

	if (f == NULL)
		return -ENOMEM;
	f->pool = pool;
	f->n = n;
	for (uint32_t i = 0; i < n; i++) {
		f->streams[i].p = streams[i];
		token_bucket_init(&f->streams[i].bucket, bucket_bps(&streams[i]),
				  burst_bytes(nic, &streams[i]), 0);
		choose_signature(&f->streams[i]);
	}
	nic->frames = f;
	return 0;
}

void
nic_frames_free(struct nic *nic)
{
	free(nic->frames);
	nic->frames = NULL;
}

static void
order(struct stream *s, bool started)
{
	if ((s->orders & 1) != started)
		__atomic_store_n(&s->orders, s->orders + 1, __ATOMIC_RELAXED);
}

static void
take_params(const struct nic *nic, struct stream *s, const struct nic_frames_params *p,
	    uint64_t now_ns)
{
	token_bucket_set_rate(&s->bucket, bucket_bps(p), now_ns);
	token_bucket_set_burst(&s->bucket, burst_bytes(nic, p));
	nic_template_copy(&s->p.template, &p->template);
	memcpy((uint8_t *)&s->p + sizeof(p->template), (const uint8_t *)p + sizeof(p->template),
	       sizeof(*p) - sizeof(p->template));
	choose_signature(s);
}

static uint64_t
later(uint64_t at_ns, uint64_t by_ns)
{
	return at_ns == NEVER_NS ? NEVER_NS : at_ns + by_ns;
}

/* Frames that were due meanwhile are not made up for. */
static void
no_credit(struct stream *s)
{
	if (s->bucket.account.credit_nanobits > 0)
		s->bucket.account.credit_nanobits = 0;
}

static void
set_paused(struct stream *s, bool paused, uint64_t now_ns)
{
	if (paused == s->paused)
		return;
	__atomic_store_n(&s->paused, paused, __ATOMIC_RELAXED);
	if (paused) {
		s->paused_ns = now_ns;
		return;
	}
	s->end_ns = later(s->end_ns, now_ns - s->paused_ns);
	if (s->wait_ns > s->paused_ns)
		s->wait_ns += now_ns - s->paused_ns;
	token_bucket_update(&s->bucket, now_ns);
	no_credit(s);
}

void
nic_frames_update(struct nic *nic, const struct nic_frames_update *updates, uint64_t now_ns)
{
	struct nic_frames *f = nic->frames;

	for (uint32_t i = 0; i < f->n; i++) {
		struct stream *s = &f->streams[i];

		if (updates[i].params != NULL)
			take_params(nic, s, updates[i].params, now_ns);
		order(s, updates[i].started);
		set_paused(s, updates[i].paused, now_ns);
	}
}

struct nic_frames_info
nic_frames_info(const struct node *node, uint32_t i)
{
	const struct stream *s = &nic_of_const(node)->frames->streams[i];
	uint32_t orders = __atomic_load_n(&s->orders, __ATOMIC_RELAXED);

	return (struct nic_frames_info){
		.tx_packets = counter_read(&s->tx_packets),
		.tx_bytes = counter_read(&s->tx_bytes),
		.missed_bytes = counter_read(&s->missed_bytes),
		.started =
			(orders & 1) != 0 && __atomic_load_n(&s->ended, __ATOMIC_RELAXED) != orders,
		.paused = __atomic_load_n(&s->paused, __ATOMIC_RELAXED),
	};
}

static bool
has_order(const struct stream *s)
{
	return s->orders != s->order;
}

static int64_t
first_debt_nanobits(const struct nic *nic, const struct stream *s)
{
	if (!nic->params.spread_starts || bucket_bps(&s->p) >= nic->params.link_speed_bps)
		return 0;
	return first_wait_nanobits((uint32_t)(s - nic->frames->streams),
				   (uint32_t)mac_number(nic->params.mac), charge_bytes(&s->p));
}

static void
follow_order(const struct nic *nic, struct stream *s, uint64_t now_ns)
{
	s->order = s->orders;
	s->sent = 0;
	s->left = 0;
	s->paused_ns = now_ns;
	if ((s->order & 1) == 0)
		return;
	s->left = s->p.count > 0 ? s->p.count : UINT64_MAX;
	s->wait_ns = now_ns + s->p.delay_ns;
	s->end_ns = s->p.duration_ns > 0 ? s->wait_ns + s->p.duration_ns : NEVER_NS;
	s->burst_left = s->p.burst_packets;
	s->gap = s->held = false;
	/* No credit is left of earlier times. Different debts spread streams of one rate. */
	s->bucket.account.updated_ns = s->wait_ns;
	s->bucket.account.credit_nanobits = -first_debt_nanobits(nic, s);
}

static void
end(struct stream *s)
{
	s->left = 0;
	__atomic_store_n(&s->ended, s->order, __ATOMIC_RELAXED);
}

static struct rte_mbuf *
build(struct nic *nic, struct stream *s, uint64_t now_ns)
{
	const struct half_sip_key key = half_sip_key(nic->params.signature_key);
	const struct signature signature = {
		.id = s->p.signature,
		.is_short = s->is_short,
		.cut_through = s->p.cut_through,
		/* Starts in a row differ, and mostly those of different processes. */
		.start = (uint8_t)((s->order / 2 + (nic->epoch_ns >> 20)) % SIGNATURE_STARTS),
		.number = (uint32_t)s->sent,
		.time_ns = now_ns + nic->epoch_ns,
	};
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->frames->pool, now_ns);
	uint16_t bytes = nic_template_bytes(&s->p.template, s->sent);
	uint8_t *data;

	if (m == NULL)
		return NULL;
	data = (uint8_t *)rte_pktmbuf_append(m, bytes);
	assert(data != NULL);
	nic_template_write(&s->p.template, s->sent, bytes, s->p.signature != 0 ? &signature : NULL,
			   &key, data);
	return m;
}

static void
end_burst(const struct nic *nic, struct stream *s, uint32_t bytes, uint64_t now_ns)
{
	s->burst_left = s->p.burst_packets;
	s->gap = true;
	s->wait_ns =
		now_ns + serialization_ns(bytes, nic->params.link_speed_bps) + s->p.burst_gap_ns;
}

static struct rte_mbuf *
send(struct nic *nic, struct stream *s, uint64_t now_ns)
{
	struct rte_mbuf *m = build(nic, s, now_ns);

	if (m == NULL)
		return NULL;
	token_bucket_charge(&s->bucket,
			    s->p.rate_pps > 0 ? charge_bytes(&s->p) : wire_bytes(m->pkt_len));
	counter_inc(&s->tx_packets);
	counter_add(&s->tx_bytes, frame_bytes(m->pkt_len));
	s->sent++;
	s->left--;
	if (s->burst_left > 0 && --s->burst_left == 0)
		end_burst(nic, s, wire_bytes(m->pkt_len), now_ns);
	if (s->left == 0)
		end(s);
	return m;
}

/* Count the credit that the burst cut off. before: the account of the last update */
static void
miss(struct stream *s, const struct token_account *before, uint64_t now_ns)
{
	const unsigned __int128 bytes = NANOBITS_PER_BYTE;
	unsigned __int128 lost = s->missed_nanobits;

	if (now_ns > before->updated_ns)
		lost += (unsigned __int128)before->rate_bps * (now_ns - before->updated_ns) -
			((uint64_t)s->bucket.account.credit_nanobits -
			 (uint64_t)before->credit_nanobits);
	counter_add(&s->missed_bytes, (uint64_t)(lost / bytes));
	s->missed_nanobits = (uint64_t)(lost % bytes);
}

static bool
may_send(const struct nic *nic, struct stream *s, uint8_t open_queues, uint64_t now_ns)
{
	struct token_account before;

	if (has_order(s))
		follow_order(nic, s, now_ns);
	if (s->left == 0 || s->paused)
		return false;
	if (now_ns >= s->end_ns) {
		end(s);
		return false;
	}
	if (now_ns < s->wait_ns)
		return false;
	if (s->p.queue >= 0 && !(open_queues >> s->p.queue & 1)) {
		s->held = true;
		return false;
	}
	if (s->gap || s->held) {
		/* Only bursts have the rate: neither the gap between them nor a pause earns
		 * credit. */
		token_bucket_update(&s->bucket, s->held ? now_ns : s->wait_ns);
		no_credit(s);
		s->gap = s->held = false;
	}
	before = s->bucket.account;
	token_bucket_update(&s->bucket, now_ns);
	if (unlikely(s->bucket.account.credit_nanobits == s->bucket.cap_nanobits))
		miss(s, &before, now_ns);
	return token_bucket_can_send(&s->bucket);
}

struct rte_mbuf *
nic_frames_next(struct nic *nic, uint8_t open_queues, uint64_t now_ns)
{
	struct nic_frames *f = nic->frames;

	for (uint32_t i = 0; i < f->n; i++) {
		struct stream *s = &f->streams[f->turn];

		f->turn = f->turn + 1 == f->n ? 0 : f->turn + 1;
		if (may_send(nic, s, open_queues, now_ns))
			return send(nic, s, now_ns);
	}
	return NULL;
}

uint64_t
nic_frames_next_ns(const struct nic *nic)
{
	const struct nic_frames *f = nic->frames;
	uint8_t open_queues = (uint8_t)~nic->pause->paused_queues;
	uint64_t next_ns = NEVER_NS;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct stream *s = &f->streams[i];

		if (has_order(s))
			return 0;
		if (s->left == 0 || s->paused)
			continue;
		if (s->p.queue >= 0 && !(open_queues >> s->p.queue & 1))
			next_ns = min_u64(next_ns, pfc_rx_next_ns(&nic->pause->pfc_rx));
		else
			next_ns = min_u64(next_ns,
					  max_u64(token_bucket_next_ns(&s->bucket), s->wait_ns));
		next_ns = min_u64(next_ns, s->end_ns);
	}
	return max_u64(next_ns, nic->mbufs.retry_ns);
}
