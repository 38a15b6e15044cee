/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/frames/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/port/nic_pause.h"
#include "nic/qp/qp.h"
#include "pacer/first_wait.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/bytes/headers.h"

struct stream {
	struct nic_frames_params p;
	struct token_bucket bucket;
	uint64_t left;   /* frames of this start */
	uint64_t sent;   /* of this start */
	uint64_t end_ns; /* of this start */
	uint32_t order;  /* the last one that was followed */
	/* shared with other threads */
	uint32_t orders; /* odd: start, even: stop */
	uint32_t ended;  /* the last start whose frames have all been sent */
	uint64_t tx_packets, tx_bytes;
};

struct nic_frames {
	struct rte_mempool *pool;
	uint32_t n, turn;
	struct stream streams[];
};

int
nic_frames_add(struct node *node, const struct nic_frames_params *streams, uint32_t n,
	       uint64_t burst_bytes, struct rte_mempool *pool)
{
	struct nic *nic = nic_of(node);
	struct nic_frames *f = calloc(1, sizeof(*f) + n * sizeof(f->streams[0]));

	if (f == NULL)
		return -ENOMEM;
	f->pool = pool;
	f->n = n;
	for (uint32_t i = 0; i < n; i++) {
		f->streams[i].p = streams[i];
		token_bucket_init(&f->streams[i].bucket, streams[i].rate_bps, burst_bytes, 0);
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

/* Without the patterns that are not used: they are most of the bytes. */
static void
copy_params(struct nic_frames_params *to, const struct nic_frames_params *from)
{
	memcpy(to->patterns, from->patterns, from->n_patterns * sizeof(from->patterns[0]));
	memcpy(to->header, from->header, sizeof(to->header));
	to->header_bytes = from->header_bytes;
	to->frame_bytes = from->frame_bytes;
	to->ip_at = from->ip_at;
	to->queue = from->queue;
	to->n_patterns = from->n_patterns;
	to->rate_bps = from->rate_bps;
	to->count = from->count;
	to->duration_ns = from->duration_ns;
}

void
nic_frames_update(struct nic *nic, const struct nic_frames_update *updates, uint64_t now_ns)
{
	struct nic_frames *f = nic->frames;

	for (uint32_t i = 0; i < f->n; i++) {
		struct stream *s = &f->streams[i];

		if (updates[i].params != NULL) {
			token_bucket_set_rate(&s->bucket, updates[i].params->rate_bps, now_ns);
			copy_params(&s->p, updates[i].params);
		}
		order(s, updates[i].started);
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
		.started =
			(orders & 1) != 0 && __atomic_load_n(&s->ended, __ATOMIC_RELAXED) != orders,
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
	if (!nic->params.spread_starts || s->p.rate_bps >= nic->params.link_speed_bps)
		return 0;
	return first_wait_nanobits((uint32_t)(s - nic->frames->streams),
				   (uint32_t)mac_number(nic->params.mac),
				   wire_bytes(s->p.frame_bytes - FCS_BYTES));
}

static void
follow_order(const struct nic *nic, struct stream *s, uint64_t now_ns)
{
	s->order = s->orders;
	s->sent = 0;
	s->left = 0;
	if ((s->order & 1) == 0)
		return;
	s->left = s->p.count > 0 ? s->p.count : UINT64_MAX;
	s->end_ns = s->p.duration_ns > 0 ? now_ns + s->p.duration_ns : NEVER_NS;
	/* No credit of the time before, and streams of one rate do not send together. */
	token_bucket_update(&s->bucket, now_ns);
	s->bucket.account.credit_nanobits = -first_debt_nanobits(nic, s);
}

static void
end(struct stream *s)
{
	s->left = 0;
	__atomic_store_n(&s->ended, s->order, __ATOMIC_RELAXED);
}

static void
write_field(uint8_t *header, uint16_t bit, uint8_t width, uint64_t value)
{
	for (uint32_t left = width, at = bit + width; left > 0;) {
		uint32_t low = (8 - at % 8) % 8;     /* bits of the byte below the field */
		uint32_t n = min_u64(8 - low, left); /* bits of the field in the byte */
		uint8_t mask = (uint8_t)(((1u << n) - 1) << low);
		uint8_t *byte = &header[(at - 1) / 8];

		*byte = (uint8_t)((*byte & ~mask) | ((value << low) & mask));
		value >>= n;
		at -= n;
		left -= n;
	}
}

static void
write_patterns(const struct stream *s, uint8_t *header)
{
	for (uint32_t i = 0; i < s->p.n_patterns; i++) {
		const struct nic_frames_pattern *p = &s->p.patterns[i];
		uint64_t k = s->sent % p->n;

		write_field(header, p->bit, p->width,
			    p->listed ? p->list[k] : p->first + k * p->step);
	}
}

static void
write_checksum(const struct stream *s, uint8_t *header, uint32_t bytes)
{
	uint8_t *ip = header + s->p.ip_at;
	uint8_t *udp = ip + IPV6_HDR_BYTES;

	if (ip[0] >> 4 == 4) {
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
	} else if (ip[6] == IP_PROTO_UDP) {
		be16_store(udp + 6, 0);
		be16_store(udp + 6, udp_checksum(ip, 6, udp, bytes - s->p.ip_at - IPV6_HDR_BYTES));
	}
}

static struct rte_mbuf *
build(struct nic *nic, struct stream *s, uint64_t now_ns)
{
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->frames->pool, now_ns);
	uint16_t bytes = s->p.frame_bytes - FCS_BYTES;
	uint8_t *data;

	if (m == NULL)
		return NULL;
	data = (uint8_t *)rte_pktmbuf_append(m, bytes);
	assert(data != NULL);
	memcpy(data, s->p.header, s->p.header_bytes);
	memset(data + s->p.header_bytes, 0, bytes - s->p.header_bytes);
	write_patterns(s, data);
	if (s->p.ip_at > 0)
		write_checksum(s, data, bytes);
	return m;
}

static struct rte_mbuf *
send(struct nic *nic, struct stream *s, uint64_t now_ns)
{
	struct rte_mbuf *m = build(nic, s, now_ns);

	if (m == NULL)
		return NULL;
	token_bucket_charge(&s->bucket, wire_bytes(m->pkt_len));
	counter_inc(&s->tx_packets);
	counter_add(&s->tx_bytes, s->p.frame_bytes);
	s->sent++;
	s->left--;
	if (s->left == 0)
		end(s);
	return m;
}

static bool
may_send(const struct nic *nic, struct stream *s, uint8_t open_queues, uint64_t now_ns)
{
	if (has_order(s))
		follow_order(nic, s, now_ns);
	if (s->left > 0 && now_ns >= s->end_ns)
		end(s);
	if (s->left == 0 || (s->p.queue >= 0 && !(open_queues >> s->p.queue & 1)))
		return false;
	token_bucket_update(&s->bucket, now_ns);
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
		if (s->left == 0)
			continue;
		if (s->p.queue >= 0 && !(open_queues >> s->p.queue & 1))
			next_ns = min_u64(next_ns, pfc_rx_next_ns(&nic->pause->pfc_rx));
		else
			next_ns = min_u64(next_ns, token_bucket_next_ns(&s->bucket));
		next_ns = min_u64(next_ns, s->end_ns);
	}
	return max_u64(next_ns, nic->mbufs.retry_ns);
}
