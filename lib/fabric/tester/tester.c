/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tester/tester.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic/nic.h"
#include "wire/bytes/be.h"

#define MARK 0x51535452u /* "QSTR" */
#define BURST 64u
#define NO_STREAM UINT32_MAX

struct stream {
	struct tester_stream p;
	struct tester_stats stats;
	uint64_t next_ns;   /* the next frame is due; NEVER_NS: none is left */
	uint64_t remainder; /* of the last gap, in parts of 1/rate_bps ns */
	uint64_t gap_ns;
};

struct tester {
	struct node node;
	struct node *nic;
	struct rte_mempool *frames;
	uint64_t link_speed_bps, seed;
	uint64_t free_ns;   /* the last frame has left */
	uint64_t remainder; /* of its time, in parts of 1/link_speed_bps ns */
	bool nic_was_last;
	struct stream *streams;
	uint32_t n_streams;
	uint32_t all_streams;
	uint64_t *received; /* by index of a stream */
};

static struct tester *
tester_of(const struct node *node)
{
	return (struct tester *)(uintptr_t)node;
}

/* Pass on that the NIC may have work. */
static void
take_nic_wakes(struct tester *t)
{
	memset(t->nic->wake, 0, sizeof(t->nic->wake));
	node_wake(&t->node, 0);
}

void
tester_wake(struct node *node)
{
	take_nic_wakes(tester_of(node));
}

/* The time to the frame after the next, exactly on average. */
static void
set_gap(struct stream *s)
{
	uint64_t bits = (uint64_t)wire_bytes(s->p.frame_bytes) * 8 * NS_PER_SEC + s->remainder;

	s->gap_ns = bits / s->p.rate_bps;
	s->remainder = bits % s->p.rate_bps;
}

/* When may the stream send, if the wire is free? */
static uint64_t
stream_next_ns(const struct tester *t, const struct stream *s)
{
	const struct pfc_rx *rx = nic_pfc_rx(t->nic);

	if (s->next_ns == NEVER_NS || !s->p.obey_pause)
		return s->next_ns;
	return max_u64(s->next_ns, rx->until_ns[s->p.prio]);
}

/* The seed draws the order of streams that are due at one time, for each time again. */
static uint64_t
drawn(const struct tester *t, uint32_t i, uint64_t at_ns)
{
	struct prng rnd;

	prng_seed(&rnd, t->seed ^ at_ns, t->streams[i].p.index);
	return prng_u64(&rnd);
}

/* Of two streams that may send at one time: the one that is due first. */
static bool
is_before(const struct tester *t, uint32_t i, uint32_t other)
{
	uint64_t due_ns = t->streams[i].next_ns, other_ns = t->streams[other].next_ns;

	if (due_ns != other_ns)
		return due_ns < other_ns;
	return drawn(t, i, due_ns) < drawn(t, other, due_ns);
}

/* The stream that may send first. */
static uint32_t
first_stream(const struct tester *t)
{
	uint32_t best = NO_STREAM;
	uint64_t best_ns = NEVER_NS;

	for (uint32_t i = 0; i < t->n_streams; i++) {
		uint64_t next_ns = stream_next_ns(t, &t->streams[i]);

		if (next_ns < best_ns ||
		    (next_ns == best_ns && best != NO_STREAM && is_before(t, i, best))) {
			best = i;
			best_ns = next_ns;
		}
	}
	return best;
}

static struct rte_mbuf *
build(struct tester *t, const struct stream *s)
{
	const struct tester_stream *p = &s->p;
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->frames);
	uint8_t *data =
		m == NULL ? NULL : (uint8_t *)rte_pktmbuf_append(m, (uint16_t)p->frame_bytes);
	uint8_t *tail;

	if (data == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(data, p->header, p->header_bytes);
	memset(data + p->header_bytes, 0, p->frame_bytes - p->header_bytes);
	if (p->udp_at > 0) {
		uint8_t *sport = data + p->udp_at;
		uint64_t number = s->stats.tx_packets + s->stats.no_mbuf;

		be16_store(sport, (uint16_t)(be16_load(sport) + number % p->udp_sports));
	}
	tail = data + p->frame_bytes - TESTER_TAIL_BYTES;
	be32_store(tail, MARK);
	be32_store(tail + 4, p->index);
	be32_store(tail + 8, (uint32_t)s->stats.tx_packets);
	return m;
}

static struct rte_mbuf *
send(struct tester *t, struct stream *s, uint64_t now_ns)
{
	struct rte_mbuf *m = build(t, s);
	uint64_t late_ns = now_ns - s->next_ns;

	if (m == NULL) {
		s->stats.no_mbuf++;
	} else {
		s->stats.tx_packets++;
		s->stats.tx_bytes += wire_bytes(s->p.frame_bytes);
	}
	/* A shorter wait is one for the wire, and does not change the rate. */
	if (late_ns > s->gap_ns) {
		s->stats.held_ns += late_ns;
		s->next_ns = now_ns;
	}
	set_gap(s);
	s->next_ns += s->gap_ns;
	if (s->stats.tx_packets + s->stats.no_mbuf == s->p.count || s->next_ns >= s->p.stop_ns)
		s->next_ns = NEVER_NS;
	return m;
}

/* Successive frames take their time exactly on average. */
static void
occupy(struct tester *t, uint32_t frame_bytes, uint64_t now_ns)
{
	uint64_t bits = (uint64_t)wire_bytes(frame_bytes) * 8 * NS_PER_SEC;

	bits += now_ns == t->free_ns ? t->remainder : 0;
	t->free_ns = now_ns + bits / t->link_speed_bps;
	t->remainder = bits % t->link_speed_bps;
}

static uint16_t
tester_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	  uint64_t now_ns)
{
	struct tester *t = tester_of(node);
	uint32_t first = first_stream(t);
	bool due = first != NO_STREAM && stream_next_ns(t, &t->streams[first]) <= now_ns;
	uint16_t n = 0;

	if (now_ns < t->free_ns || max_pkts == 0)
		return 0;
	if (!due || !t->nic_was_last)
		n = t->nic->ops->tx(t->nic, port, pkts, 1, now_ns);
	t->nic_was_last = n > 0;
	while (n == 0 && due) {
		pkts[0] = send(t, &t->streams[first], now_ns);
		n = pkts[0] != NULL;
		first = first_stream(t);
		due = first != NO_STREAM && stream_next_ns(t, &t->streams[first]) <= now_ns;
	}
	if (n > 0)
		occupy(t, pkts[0]->pkt_len, now_ns);
	take_nic_wakes(t);
	return n;
}

static uint64_t
tester_next_ns(const struct node *node, uint16_t port)
{
	const struct tester *t = tester_of(node);
	uint32_t first = first_stream(t);
	uint64_t next_ns = t->nic->ops->next_ns(t->nic, port);

	if (first != NO_STREAM)
		next_ns = min_u64(next_ns, stream_next_ns(t, &t->streams[first]));
	return max_u64(next_ns, t->free_ns);
}

/* @return is it a frame of a stream? Then it is counted. */
static bool
take(struct tester *t, struct rte_mbuf *m)
{
	const uint8_t *tail;
	uint32_t index;

	if (m->data_len < TESTER_TAIL_BYTES)
		return false;
	tail = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - TESTER_TAIL_BYTES);
	index = be32_load(tail + 4);
	if (be32_load(tail) != MARK || index >= t->all_streams)
		return false;
	t->received[index]++;
	rte_pktmbuf_free(m);
	return true;
}

static void
tester_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct tester *t = tester_of(node);
	struct rte_mbuf *others[BURST];
	uint16_t n_others = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (take(t, pkts[i]))
			continue;
		others[n_others++] = pkts[i];
		if (n_others == BURST) {
			t->nic->ops->rx(t->nic, port, others, n_others, now_ns);
			n_others = 0;
		}
	}
	if (n_others > 0 || n == 0)
		t->nic->ops->rx(t->nic, port, others, n_others, now_ns);
	take_nic_wakes(t);
}

static uint64_t
tester_control(struct node *node, uint64_t now_ns)
{
	struct tester *t = tester_of(node);
	uint64_t next_ns = t->nic->ops->control(t->nic, now_ns);

	take_nic_wakes(t);
	return next_ns;
}

static const struct node_ops tester_ops = {
	.rx = tester_rx,
	.tx = tester_tx,
	.next_ns = tester_next_ns,
	.control = tester_control,
};

struct node *
tester_create(const struct tester_params *params)
{
	struct tester *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (struct tester){.node = {.ops = &tester_ops},
			     .nic = params->nic,
			     .frames = params->frames,
			     .link_speed_bps = params->link_speed_bps,
			     .seed = params->seed,
			     .n_streams = params->n_streams,
			     .all_streams = params->all_streams};
	t->streams = calloc(t->n_streams + 1, sizeof(*t->streams));
	t->received = calloc(t->all_streams + 1, sizeof(*t->received));
	if (t->streams == NULL || t->received == NULL) {
		tester_destroy(&t->node);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_streams; i++) {
		t->streams[i].p = params->streams[i];
		t->streams[i].next_ns = params->streams[i].start_ns;
		set_gap(&t->streams[i]);
		t->streams[i].remainder = 0;
	}
	return &t->node;
}

void
tester_destroy(struct node *node)
{
	struct tester *t = tester_of(node);

	if (node == NULL)
		return;
	free(t->streams);
	free(t->received);
	free(t);
}

const struct tester_stats *
tester_sent(const struct node *node, uint32_t i)
{
	return &tester_of(node)->streams[i].stats;
}

uint64_t
tester_received(const struct node *node, uint32_t index)
{
	return tester_of(node)->received[index];
}

void
tester_pieces(struct node *node, struct node_pieces *to)
{
	struct tester *t = tester_of(node);

	for (uint32_t i = 0; i < t->n_streams; i++)
		node_piece(to, &t->streams[i].stats, sizeof(t->streams[i].stats));
	node_piece(to, t->received, t->all_streams * sizeof(*t->received));
}
