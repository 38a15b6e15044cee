/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/ideal.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "pacer/token_bucket.h"

/* Fractions of a nanosecond in sums of gaps. 2^31 bytes at 1 Mb/s take less than 2^45 ns. */
#define FRACTION_BITS 16

static uint64_t
transit_ns(const struct ideal_link *l, uint32_t len)
{
	uint64_t wire = wire_bytes(len + l->tag_bytes);

	return ((wire * l->ns_per_byte_q32 + Q32_ONE - 1) >> 32) + l->delay_ns;
}

static uint64_t
gap_q16(const struct ideal_link *l, uint32_t len)
{
	return wire_bytes(len + l->tag_bytes) * l->ns_per_byte_q32 >> (32 - FRACTION_BITS);
}

static uint64_t
ns_up(uint64_t q16)
{
	return (q16 + (1u << FRACTION_BITS) - 1) >> FRACTION_BITS;
}

/* Time of one frame over these links. */
static uint64_t
all_ns(const struct ideal_link *links, uint32_t n, uint32_t len)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < n; i++)
		ns += transit_ns(&links[i], len);
	return ns;
}

static uint64_t
to_slot_ns(const struct ideal_message *m, uint64_t at_ns)
{
	return (at_ns + m->slot_ns - 1) & ~(m->slot_ns - 1);
}

/* When the tokens of the sender allow frame n, of data that begins at from_ns. */
static uint64_t
paced_ns(const struct ideal_message *m, uint32_t n, uint64_t from_ns)
{
	uint64_t bytes;
	__int128 debt;

	if (m->pace_bps == 0 || n == 0)
		return from_ns;
	bytes = wire_bytes(m->first_len) + (n - 1) * (uint64_t)wire_bytes(m->middle_len);
	debt = (__int128)bytes * NANOBITS_PER_BYTE - m->tokens_nanobits;
	return from_ns + (uint64_t)(debt <= 0 ? 0 : (debt + m->pace_bps - 1) / m->pace_bps);
}

/* When the shaper of a link has paid for all frames so far. */
struct port {
	uint64_t free_q16;
};

/* When a port can send the next frame. */
static uint64_t
free_ns(const struct port *port, const struct ideal_link *l)
{
	uint64_t burst_q16 = l->burst_bytes * l->ns_per_byte_q32 >> (32 - FRACTION_BITS);

	return ns_up(sub_sat(port->free_q16, burst_q16));
}

/* A frame may leave from at_ns on. @return when it leaves. */
static uint64_t
leave_ns(struct port *port, const struct ideal_link *l, uint32_t len, uint64_t at_ns)
{
	uint64_t begin_ns = max_u64(at_ns, free_ns(port, l));

	port->free_q16 = max_u64(port->free_q16, begin_ns << FRACTION_BITS) + gap_q16(l, len);
	return begin_ns;
}

/*
 * Frame n of this length goes over all links, after `skipped` frames of the middle whose way is not
 * followed. @return when it has arrived, of data that begins at from_ns.
 */
static uint64_t
send_ns(const struct ideal_message *m, const struct ideal_link *links, uint32_t n_links,
	struct port *ports, uint32_t n, uint32_t skipped, uint32_t len, uint64_t from_ns)
{
	uint64_t at_ns = paced_ns(m, n, from_ns);

	for (uint32_t j = 0; j < n_links; j++) {
		ports[j].free_q16 += skipped * gap_q16(&links[j], m->middle_len);
		/* A wait that ends before the wire is free skips the wheel. */
		if (j == 0 && at_ns > from_ns && at_ns > free_ns(&ports[0], &links[0]))
			at_ns = to_slot_ns(m, at_ns);
		at_ns = leave_ns(&ports[j], &links[j], len, at_ns) + transit_ns(&links[j], len);
	}
	return at_ns;
}

/* Time between packets after the first n links: the longest of the links and of the sender. */
static uint64_t
slowest_q16(const struct ideal_message *m, const struct ideal_path *p, uint32_t n)
{
	uint64_t most_q16 = 0;

	if (m->pace_bps > 0)
		most_q16 = mul_div(wire_bytes(m->middle_len), (8 * NS_PER_SEC) << FRACTION_BITS,
				   m->pace_bps);
	for (uint32_t j = 0; j < n; j++)
		most_q16 = max_u64(most_q16, gap_q16(&p->links[j], m->middle_len));
	return most_q16;
}

/*
 * Time by which a window that is too small for the path delays the last packet at link j. In each
 * window the last packet of the first ack_every ones asks for the ACK that allows the first packet
 * of the next window. So a window takes the round trip of that packet and the time of these
 * packets, if that is more than its own time at the links so far.
 */
static uint64_t
lost_ns(const struct ideal_message *m, const struct ideal_path *p, uint32_t j)
{
	uint64_t windows = (m->packets - 1) / m->window_packets;
	uint64_t asks = min_u64(m->ack_every, m->window_packets), trip_ns;

	if (m->request_len > 0 || windows == 0)
		return 0;
	trip_ns = all_ns(p->links, p->n_there, m->middle_len) +
		  all_ns(p->links + p->n_there, p->n_back, m->ack_len) +
		  ns_up((asks - 1) * slowest_q16(m, p, p->n_there));
	return windows * sub_sat(trip_ns, ns_up(m->window_packets * slowest_q16(m, p, j + 1)));
}

/* When the last frame of data that begins at from_ns has arrived. */
static uint64_t
data_ns(const struct ideal_message *m, const struct ideal_path *p, uint64_t from_ns)
{
	const struct ideal_link *links = m->request_len > 0 ? p->links + p->n_there : p->links;
	uint32_t n_links = m->request_len > 0 ? p->n_back : p->n_there, n = m->packets;
	/* The first packet of a window follows an ACK, and finds all links but the host's free. */
	uint32_t n_busy = (n - 1) % m->window_packets == 0 ? 1 : n_links;
	struct port ports[IDEAL_MAX_LINKS];
	uint64_t end_ns;

	memset(ports, 0, n_links * sizeof(ports[0]));
	end_ns = send_ns(m, links, n_links, ports, 0, 0, m->first_len, from_ns);
	if (n > 2)
		send_ns(m, links, n_links, ports, 1, 0, m->middle_len, from_ns);
	if (n > 3)
		send_ns(m, links, n_links, ports, n - 2, n - 4, m->middle_len, from_ns);
	if (n == 1)
		return end_ns;
	for (uint32_t j = 0; n > m->window_packets && j < n_busy; j++)
		ports[j].free_q16 += lost_ns(m, p, j) << FRACTION_BITS;
	return send_ns(m, links, n_links, ports, n - 1, 0, m->last_len, from_ns + lost_ns(m, p, 0));
}

uint64_t
ideal_ns(const struct ideal_path *p, const struct ideal_message *m)
{
	/* Relative times lose the place in a slot of the wheel, so count from the slot before. */
	uint64_t in_slot_ns = m->begun_ns & (m->slot_ns - 1);
	uint64_t from_ns = m->waits_for_slot ? to_slot_ns(m, in_slot_ns) : in_slot_ns;
	uint64_t end_ns;

	assert(p->n_there <= IDEAL_MAX_LINKS && p->n_back <= IDEAL_MAX_LINKS);
	if (m->request_len > 0)
		end_ns = data_ns(m, p, from_ns + all_ns(p->links, p->n_there, m->request_len));
	else
		end_ns = data_ns(m, p, from_ns) +
			 all_ns(p->links + p->n_there, p->n_back, m->ack_len);
	return max_u64(end_ns - in_slot_ns, 1);
}
