/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/prober.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/experiments/probe_experiments.h"
#include "wire/frame/ecn.h"

/* Points of a curve. */
#define CURVE_POINTS (1u << 17)

static struct prober *
prober_of(struct node *node)
{
	return (struct prober *)node;
}

static const struct prober *
prober_of_const(const struct node *node)
{
	return (const struct prober *)node;
}

enum part { PART_NP, PART_RP, PART_TRANSPORT, PART_PAUSE, PART_OTHERS };

static enum part
part_of(const struct prober_experiment *e)
{
	return e->first >= LINE_PIT_SPORT_RANGE ? PART_OTHERS
	       : e->first >= LINE_PFC_STOP      ? PART_PAUSE
	       : e->first >= LINE_TR_NAK_DELAY  ? PART_TRANSPORT
	       : e->first >= LINE_RP_BEFORE     ? PART_RP
						: PART_NP;
}

static bool
is_wanted(const struct prober *p, const struct prober_experiment *e)
{
	const bool wanted[] = {[PART_NP] = p->params.np,
			       [PART_RP] = p->params.rp,
			       [PART_TRANSPORT] = p->params.transport,
			       [PART_PAUSE] = p->params.pfc,
			       [PART_OTHERS] = true};

	return wanted[part_of(e)];
}

/* Go to the next experiment that is wanted, from one on. Other threads read current and done. */
static void
begin_next(struct prober *p, uint32_t from, uint64_t now_ns)
{
	const struct prober_experiment *e;

	while (from < p->n_experiments && !is_wanted(p, &p->experiments[from]))
		from++;
	__atomic_store_n(&p->current, from, __ATOMIC_RELAXED);
	__atomic_store_n(&p->done, from == p->n_experiments, __ATOMIC_RELEASE);
	p->resume = 0;
	p->begin_ns = now_ns;
	p->alarm_ns = p->end_ns = NEVER_NS;
	p->curve.on = false;
	if (p->done)
		return;
	e = &p->experiments[p->current];
	p->end_ns = now_ns + e->most_ns * p->params.answer_ns +
		    (p->current == 0 ? p->params.wait_ns : 0);
	/* Experiments of a part build on what the earlier ones found. */
	prober_look_anew(p, part_of(e) == PART_RP, p->current == 0 || part_of(e) != part_of(e - 1),
			 now_ns);
}

static void
step(struct prober *p, uint64_t now_ns)
{
	while (!p->done) {
		const struct prober_experiment *e = &p->experiments[p->current];

		if (!e->run(p, now_ns) && now_ns < p->end_ns)
			return;
		findings_close(&p->findings, e->first, e->last);
		probe_distrust(p);
		if (p->trouble[0] != '\0')
			findings_say_all(&p->findings, (enum findings_line)0, FINDINGS_LINES - 1,
					 VERDICT_NOT_RUN, p->trouble);
		begin_next(p, p->trouble[0] != '\0' ? p->n_experiments : p->current + 1, now_ns);
	}
}

static void
prober_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct prober *p = prober_of(node);

	(void)port;
	prober_look(p, now_ns);
	for (uint16_t i = 0; i < n; i++)
		prober_take(p, pkts[i], now_ns);
	step(p, now_ns);
	node_wake(node, 0);
}

static uint16_t
prober_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	  uint64_t now_ns)
{
	struct prober *p = prober_of(node);
	uint16_t n = 0;

	(void)port;
	prober_look(p, now_ns);
	prober_tend(p, now_ns);
	prober_tend_reads(p, now_ns);
	if (now_ns >= p->alarm_ns || now_ns >= p->end_ns)
		step(p, now_ns);
	while (n < max_pkts && p->fifo.count > 0 && now_ns >= p->wire_free_ns) {
		struct rte_mbuf *m = pkt_fifo_pop(&p->fifo);

		counter_inc(&p->stats.tx_packets);
		counter_add(&p->stats.tx_bytes, frame_bytes(m->pkt_len));
		p->wire_free_ns =
			max_u64(now_ns, p->wire_free_ns) +
			serialization_ns(wire_bytes(m->pkt_len), p->params.link_speed_bps);
		pkts[n++] = m;
	}
	return n;
}

static uint64_t
prober_next_ns(const struct node *node, uint16_t port)
{
	const struct prober *p = prober_of_const(node);
	uint64_t next_ns = p->fifo.count > 0 ? p->wire_free_ns : NEVER_NS;

	(void)port;
	next_ns = min_u64(next_ns, min_u64(p->hold_ns, p->reads_ns));
	return p->done ? next_ns
		       : min_u64(min_u64(next_ns, p->tick_ns), min_u64(p->alarm_ns, p->end_ns));
}

static uint64_t
prober_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

static const struct node_ops prober_ops = {
	.rx = prober_rx, .tx = prober_tx, .next_ns = prober_next_ns, .control = prober_control};

static void
init_qp(struct prober *p, uint32_t i)
{
	const struct prober_params *params = &p->params;
	struct prober_qp *q = &p->qps[i];
	const struct field_ip *own = i < params->qp_count ? &params->ip : &params->second_ip;
	uint32_t label = roce_flow_label(params->local_qpn + i, params->peer_qpn + i);

	q->path = (struct roce_path){
		.ip_version = own->version,
		.tagged = params->vlan_id != 0,
		.vlan_tci = (uint16_t)(params->vlan_pcp << 13 | params->vlan_id),
		.dscp = params->data_dscp,
		.ecn = ECN_ECT0,
		.ttl = 64,
		.flow_label = label,
		.udp_sport = roce_udp_sport(label),
		.dest_qp = params->peer_qpn + i,
		.pkey = PKEY_DEFAULT,
	};
	memcpy(q->path.src_mac, params->mac, 6);
	memcpy(q->path.dst_mac, params->peer_mac, 6);
	memcpy(q->path.src_ip, own->addr, 16);
	memcpy(q->path.dst_ip, params->peer_ip.addr, 16);
	q->next_psn = q->acked_psn = params->psn;
	q->mode = PROBER_HOLD;
}

struct node *
prober_create(const struct prober_params *params, struct rte_mempool *pool)
{
	static const uint8_t unknown[6];
	struct prober *p;
	char why[128];

	if (prober_params_check(params, why, sizeof(why)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->node.ops = &prober_ops;
	p->params = *params;
	p->pool = pool;
	p->cnps = calloc(PROBER_LOG, sizeof(*p->cnps));
	p->answers = calloc(PROBER_LOG, sizeof(*p->answers));
	p->arrivals = calloc(PROBER_LOG, sizeof(*p->arrivals));
	if (curve_init(&p->curve, CURVE_POINTS) != 0 || p->cnps == NULL || p->answers == NULL ||
	    p->arrivals == NULL) {
		prober_destroy(&p->node);
		errno = ENOMEM;
		return NULL;
	}
	p->strange_opcode = -1;
	p->reads_ns = NEVER_NS;
	p->knows_peer = memcmp(params->peer_mac, unknown, 6) != 0;
	p->n_qps = prober_qps(params);
	for (uint32_t i = 0; i < p->n_qps; i++)
		init_qp(p, i);
	p->experiments = prober_experiments;
	p->n_experiments = prober_experiments_n;
	begin_next(p, 0, 0);
	/* The first call comes at once, whatever the time is. */
	p->alarm_ns = 0;
	return &p->node;
}

void
prober_destroy(struct node *node)
{
	struct prober *p = prober_of(node);

	if (p == NULL)
		return;
	while (p->fifo.count > 0)
		rte_pktmbuf_free(pkt_fifo_pop(&p->fifo));
	curve_free(&p->curve);
	free(p->cnps);
	free(p->answers);
	free(p->arrivals);
	free(p);
}

bool
prober_done(const struct node *node)
{
	return __atomic_load_n(&prober_of_const(node)->done, __ATOMIC_ACQUIRE);
}

const char *
prober_trouble(const struct node *node)
{
	const struct prober *p = prober_of_const(node);

	return p->trouble[0] != '\0' ? p->trouble : NULL;
}

const struct findings *
prober_findings(const struct node *node)
{
	return &prober_of_const(node)->findings;
}

const struct prober_stats *
prober_stats(const struct node *node)
{
	return &prober_of_const(node)->stats;
}

const char *
prober_experiment(const struct node *node)
{
	const struct prober *p = prober_of_const(node);
	uint32_t current = __atomic_load_n(&p->current, __ATOMIC_RELAXED);

	return current < p->n_experiments ? p->experiments[current].name : "none";
}
