/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/skip/period.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"
#include "switch/control/sw_counts.h"

/*
 * Times are rounded to whole nanoseconds, and a period need not have a whole number of them: so two
 * frames may come a nanosecond earlier or later than a period ago, one after the other.
 */
#define NEAR_NS 3
/* Error of a time on the wire, in picoseconds, and of a difference of two nic_free_ps(). */
#define ROUNDED_PS 3

/* Visits the counters of a net. */
struct visit {
	struct node_pieces to;
	uint64_t *counts; /* NULL: only count them */
	size_t n;
};

static void
copy_counts(struct node_pieces *to, void *at, size_t n)
{
	struct visit *v = (struct visit *)to;
	const uint64_t *from = at;

	if (v->counts != NULL)
		for (size_t i = 0; i < n / sizeof(uint64_t); i++)
			v->counts[v->n + i] = from[i];
	v->n += n / sizeof(uint64_t);
}

static void
visit_counts(struct net *net, struct node_pieces *to)
{
	const struct topology *t = net->scenario->topology;

	for (uint32_t i = 0; i < t->n_switches; i++)
		sw_counts(net->switches[i], to);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		nic_counts(net->hosts[h], to);
}

static uint32_t
n_hosts_of(const struct period *p)
{
	return p->net->scenario->topology->n_hosts;
}

static uint32_t
n_wires_of(const struct period *p)
{
	const struct topology *t = p->net->scenario->topology;
	uint32_t n = t->n_hosts;

	for (uint32_t i = 0; i < t->n_switches; i++)
		n += t->switches[i].n_ports;
	return n;
}

struct period *
period_create(struct net *net)
{
	struct period *p = calloc(1, sizeof(*p));
	struct visit v = {.to.piece = copy_counts};
	uint32_t n = 0;
	bool ok = p != NULL;

	if (p == NULL)
		return NULL;
	p->net = net;
	p->first_of = calloc(n_hosts_of(p) + 1, sizeof(*p->first_of));
	for (uint32_t h = 0; p->first_of != NULL && h < n_hosts_of(p); h++) {
		ok = ok && nic_skip_prepare(net->hosts[h]) == 0;
		n += nic_qp_count(net->hosts[h]);
		p->first_of[h + 1] = n;
	}
	visit_counts(net, &v.to);
	p->n_counts = v.n;
	p->positions = calloc(n + 1, sizeof(*p->positions));
	p->at_end = calloc(n + 1, sizeof(*p->at_end));
	p->wires = calloc(n_wires_of(p) + 1, sizeof(*p->wires));
	p->counts = malloc((p->n_counts + 1) * sizeof(*p->counts));
	p->growths = malloc((p->n_counts + 1) * sizeof(*p->growths));
	if (ok && p->first_of != NULL && p->positions != NULL && p->at_end != NULL &&
	    p->wires != NULL && p->counts != NULL && p->growths != NULL)
		return p;
	period_destroy(p);
	return NULL;
}

void
period_destroy(struct period *p)
{
	if (p == NULL)
		return;
	fabric_phase_free(&p->begin.cables);
	fabric_phase_free(&p->now.cables);
	free(p->growths);
	free(p->counts);
	free(p->wires);
	free(p->at_end);
	free(p->positions);
	free(p->first_of);
	free(p);
}

/* FNV-1a over words. */
static uint64_t
digest_add(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * 0x100000001b3ull;
}

static int
take_state(const struct period *p, uint64_t now_ns, struct period_state *out)
{
	const struct topology *t = p->net->scenario->topology;
	uint64_t digest = 0xcbf29ce484222325ull;

	for (uint32_t h = 0; h < n_hosts_of(p); h++)
		digest = digest_add(digest, nic_phase(p->net->hosts[h]));
	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			for (uint8_t q = 0; q < TM_CLASSES; q++)
				digest = digest_add(digest,
						    sw_queue_bytes(p->net->switches[i], port, q));
	out->nodes = digest;
	return fabric_phase_take(p->net->fabric, now_ns, &out->cables);
}

static struct period_totals
totals_of(const struct net *net)
{
	struct period_totals sum = {0};

	for (uint32_t i = 0; i < net_flow_count(net); i++) {
		struct nic_qp_info sender, receiver;

		net_flow_info(net, i, &sender, &receiver);
		sum.wire_bytes += sender.tx_wire_bytes;
		sum.cnps += sender.cnps_handled;
	}
	return sum;
}

static struct period_wire
wire_of_host(const struct period *p, uint32_t h)
{
	return (struct period_wire){.sent_bytes = nic_wire_bytes(p->net->hosts[h]),
				    .free_ps = nic_free_ps(p->net->hosts[h])};
}

static void
take_wires(const struct period *p, struct period_wire *out)
{
	const struct topology *t = p->net->scenario->topology;

	for (uint32_t h = 0; h < n_hosts_of(p); h++)
		*out++ = wire_of_host(p, h);
	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			*out++ = (struct period_wire){
				.sent_bytes = sw_port_wire_bytes(p->net->switches[i], port)};
}

int
period_begin(struct period *p, uint64_t now_ns)
{
	struct visit v = {.to.piece = copy_counts, .counts = p->counts};

	for (uint32_t h = 0; h < n_hosts_of(p); h++)
		nic_positions(p->net->hosts[h], &p->positions[p->first_of[h]]);
	take_wires(p, p->wires);
	visit_counts(p->net, &v.to);
	p->totals = totals_of(p->net);
	return take_state(p, now_ns, &p->begin);
}

int
period_is_over(struct period *p, uint64_t now_ns)
{
	int rc = take_state(p, now_ns, &p->now);

	if (rc < 0)
		return rc;
	return p->now.nodes == p->begin.nodes &&
	       fabric_phase_is(&p->now.cables, &p->begin.cables, NEAR_NS);
}

struct growing {
	struct node_pieces to;
	struct period *p;
	size_t next;
};

static void
find_growth(struct node_pieces *to, void *at, size_t n)
{
	struct growing *g = (struct growing *)to;
	struct period *p = g->p;
	uint64_t *now = at;

	for (size_t i = 0; i < n / sizeof(uint64_t); i++, g->next++)
		if (now[i] != p->counts[g->next])
			p->growths[p->n_growths++] = (struct period_growth){
				.at = &now[i], .by = now[i] - p->counts[g->next]};
}

/* Have both ends of all flows gone on by the same packets? */
static bool
ends_agree(const struct period *p)
{
	for (uint32_t i = 0; i < net_flow_count(p->net); i++) {
		const struct net_flow *flow = net_flow(p->net, i);
		const struct nic_stretch *src = &p->positions[p->first_of[flow->src - 1]];
		const struct nic_stretch *dst = &p->positions[p->first_of[flow->dst - 1]];

		for (uint32_t k = 0; k < flow->qps; k++)
			if (src[flow->src_qp + k].sent != dst[flow->dst_qp + k].received)
				return false;
	}
	return true;
}

static uint64_t
ps_on_wire(uint64_t bytes, uint64_t rate_bps)
{
	return rate_bps > 0 ? mul_div(bytes, 8000 * NS_PER_SEC, rate_bps) : 0;
}

static bool
is_near(uint64_t a, uint64_t b, uint64_t by)
{
	return (a > b ? a - b : b - a) <= by;
}

static bool
is_sender(const struct period *p, uint32_t h)
{
	for (uint32_t i = p->first_of[h]; i < p->first_of[h + 1]; i++)
		if (p->positions[i].sent > 0)
			return true;
	return false;
}

/*
 * The time that a host needs for what it has sent is the period's, exactly, if its wire was never
 * idle. So this must be the same time for all of them: otherwise they do not keep step.
 */
static bool
find_exact(struct period *p)
{
	uint64_t exact_ps = 0;

	p->is_exact = true;
	for (uint32_t h = 0; h < n_hosts_of(p); h++) {
		struct period_wire now = wire_of_host(p, h), *begin = &p->wires[h];
		uint64_t ps = ps_on_wire(now.sent_bytes - begin->sent_bytes,
					 nic_link_bps(p->net->hosts[h]));

		if (!is_sender(p, h))
			continue;
		if (!is_near(now.free_ps - begin->free_ps, ps, ROUNDED_PS))
			p->is_exact = false;
		else if (exact_ps > 0 && !is_near(ps, exact_ps, ROUNDED_PS))
			return false;
		else
			exact_ps = ps;
	}
	if (exact_ps == 0)
		return true;
	if (!is_near(exact_ps, p->ps, NEAR_NS * 1000))
		return false;
	p->ps = exact_ps;
	return true;
}

/* Had each port of a switch the time to send what it sent? Otherwise its queue grows. */
static bool
is_within_rates(const struct period *p)
{
	const struct topology *t = p->net->scenario->topology;
	const struct period_wire *begin = &p->wires[n_hosts_of(p)];
	uint64_t most_ps = p->ps + (p->is_exact ? ROUNDED_PS : 1000);

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++, begin++) {
			const struct node *sw = p->net->switches[i];
			uint64_t sent = sw_port_wire_bytes(sw, port) - begin->sent_bytes;

			if (ps_on_wire(sent, sw_port_rate_bps(sw, port)) > most_ps)
				return false;
		}
	return true;
}

bool
period_end(struct period *p, uint64_t ps)
{
	struct growing g = {.to.piece = find_growth, .p = p};

	p->ps = ps;
	p->n_growths = 0;
	visit_counts(p->net, &g.to);
	for (uint32_t h = 0; h < n_hosts_of(p); h++) {
		struct nic_stretch *begin = &p->positions[p->first_of[h]];
		uint32_t n = nic_qp_count(p->net->hosts[h]);
		struct nic_stretch *now = p->at_end;

		nic_positions(p->net->hosts[h], now);
		for (uint32_t i = 0; i < n; i++) {
			begin[i].sent = now[i].sent - begin[i].sent;
			begin[i].received = now[i].received - begin[i].received;
		}
	}
	p->totals = (struct period_totals){
		.wire_bytes = totals_of(p->net).wire_bytes - p->totals.wire_bytes,
		.cnps = totals_of(p->net).cnps - p->totals.cnps,
	};
	return ends_agree(p) && find_exact(p) && is_within_rates(p);
}

struct period_error
period_compare(const struct period *p, uint64_t n, const struct period *measured)
{
	struct period_error e = {
		.predicted_bytes = n * p->totals.wire_bytes,
		.simulated_bytes = measured->totals.wire_bytes,
		.predicted_cnps = n * p->totals.cnps,
		.simulated_cnps = measured->totals.cnps,
	};

	for (uint32_t i = 0; i < p->first_of[n_hosts_of(p)]; i++) {
		uint64_t predicted = n * p->positions[i].sent, sent = measured->positions[i].sent;
		uint64_t off = predicted > sent ? predicted - sent : sent - predicted;

		if (predicted == 0 || off < e.off_packets)
			continue;
		if (off > e.off_packets || e.packets == 0 || predicted < e.packets)
			e.packets = predicted;
		e.off_packets = off;
	}
	return e;
}

uint64_t
period_most(const struct period *p)
{
	uint64_t most = UINT64_MAX;

	for (uint32_t h = 0; h < n_hosts_of(p); h++)
		most = min_u64(most,
			       nic_skip_most(p->net->hosts[h], &p->positions[p->first_of[h]]));
	return most;
}

uint64_t
period_skip(struct period *p, uint64_t n, uint64_t now_ns)
{
	uint64_t ns = mul_div(p->ps, n, 1000);

	for (size_t i = 0; i < p->n_growths; i++)
		*p->growths[i].at += n * p->growths[i].by;
	for (uint32_t h = 0; h < n_hosts_of(p); h++)
		nic_skip(p->net->hosts[h], &p->positions[p->first_of[h]], n, ns, now_ns);
	p->net->skipped_ns += ns;
	return ns;
}
