/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold while a fabric lives: fabric_life.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"
#include "fabric_life.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/qp/payload.h"
#include "switch/params/sw_counters.h"
#include "tm/buffer/mmu.h"

#define PFC_WIRE_BYTES 64 /* a frame with FCS */
/* The shaper's burst of 1 ns, and the times of a frame in whole ns. */
#define PACE_SLACK_PS 4000

/* One direction of a cable, as who looks at both of its ends sees it. */
struct way {
	struct topology_end from, to;
	uint32_t link;
	uint64_t rate_bps;
	bool is_injected; /* frames come from outside, too */
	uint64_t sent, sent_bytes, left_ps;
	uint64_t came, came_bytes;
};

/* Of a flow, at the last look and when it was last looked at in the quiet part. */
struct seen_flow {
	struct nic_qp_info src, dst;
	uint64_t quiet_sent, quiet_came;
	/* of an open loop: payload that has come for each QP so far, and by when; the highest
	 * load */
	unsigned __int128 nanobits;
	uint64_t came_by_ns, most_bps;
};

static const char *const pools[] = {"lab_data", "lab_control", "lab_frames", "lab_clones"};
#define POOLS (ARRAY_LEN(pools))

static struct {
	struct net *net;
	const struct scenario *s; /* the file's */
	const struct scenario *in_force;
	const struct topology *t;
	struct fabric_plan plan;
	struct way *ways; /* from a to b and from b to a of each link */
	uint32_t n_ways;
	struct nic_stats *hosts;         /* at the last look */
	struct sw_port_stats **switches; /* the same, by port */
	struct seen_flow *flows;
	uint64_t quiet_ns; /* when quiet_sent is of; 0: not yet */
	uint64_t look_ns;
	unsigned int in_use[POOLS];
	bool has_link_events;
} w;

/* ---- the cables ---- */

static void
on_sent(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct way *way = arg;
	uint64_t wire_ps = mul_div(wire_bytes(m->pkt_len), 8000 * NS_PER_SEC, way->rate_bps);
	uint64_t at_ps = at_ns * 1000;

	/* When it can have left at the earliest, after those before it. */
	way->left_ps = max_u64(way->left_ps, sub_sat(at_ps, wire_ps)) + wire_ps;
	/* What comes from outside leaves beside what the node sends. */
	life_must("pace", way->is_injected || way->left_ps <= at_ps + PACE_SLACK_PS,
		  "node %u port %u: a frame of %u bytes has left %" PRIu64 " ps too early",
		  way->from.node, way->from.port, m->pkt_len, way->left_ps - at_ps);
	way->sent++;
	way->sent_bytes += frame_bytes(m->pkt_len);
}

/* What a NIC finds without reading the payload is what all of the frame says. */
static bool
icrc_is_told_right(const struct rte_mbuf *m)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view frame;
	struct roce_view roce;

	return frame_parse(buf, m->data_len, &frame) != FRAME_OK ||
	       roce_parse(buf, m->data_len, &frame, false, &roce) != ROCE_OK ||
	       nic_icrc_is_valid(w.net->payloads, m, &roce) == roce_icrc_is_valid(buf, &roce);
}

static void
on_came(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct way *way = arg;

	life_must("cable", !w.has_link_events || !fabric_link_is_down(w.s, way->link, at_ns),
		  "node %u port %u: a frame comes at %" PRIu64 " ns, while the link is down",
		  way->to.node, way->to.port, at_ns);
	life_must("icrc", icrc_is_told_right(m),
		  "node %u port %u: an ICRC is another one without the payload", way->to.node,
		  way->to.port);
	way->came++;
	way->came_bytes += frame_bytes(m->pkt_len);
}

static bool
is_injected(struct topology_end end)
{
	for (uint32_t i = 0; i < w.s->n_events; i++)
		if (w.s->events[i].action == EVENT_SEND && w.s->events[i].at.node == end.node &&
		    w.s->events[i].at.port == end.port)
			return true;
	return false;
}

static void
add_way(uint32_t link, struct topology_end from, struct topology_end to)
{
	w.ways[w.n_ways] = (struct way){
		.from = from, .to = to, .link = link, .rate_bps = w.t->links[link].cable.rate_bps};
	w.ways[w.n_ways].is_injected = is_injected(w.ways[w.n_ways].from);
	w.n_ways++;
}

static int
tap(struct way *out, struct way *in)
{
	return fabric_tap(net_fabric(w.net), net_end_at(w.net, out->from),
			  (struct cable_tap){on_sent, out}, (struct cable_tap){on_came, in});
}

void
fabric_watch(struct net *net, const struct fabric_plan *plan)
{
	memset(&w, 0, sizeof(w));
	w.net = net;
	w.s = w.in_force = net_scenario(net);
	w.t = w.s->topology;
	w.plan = *plan;
	w.ways = calloc(2 * w.t->n_links, sizeof(*w.ways));
	w.hosts = calloc(w.t->n_hosts, sizeof(*w.hosts));
	w.switches = calloc(w.t->n_switches, sizeof(*w.switches));
	w.flows = calloc(net_flow_count(net) + 1, sizeof(*w.flows));
	for (uint32_t i = 0; i < w.t->n_switches; i++)
		w.switches[i] = calloc(w.t->switches[i].n_ports, sizeof(*w.switches[i]));
	for (uint32_t i = 0; i < w.s->n_events; i++)
		w.has_link_events |= w.s->events[i].action == EVENT_LINK_DOWN ||
				     w.s->events[i].action == EVENT_SWITCH_RESTART;
	for (uint32_t i = 0; i < w.t->n_links; i++) {
		add_way(i, w.t->links[i].a, w.t->links[i].b);
		add_way(i, w.t->links[i].b, w.t->links[i].a);
	}
	for (uint32_t i = 0; i < w.n_ways; i++)
		life_must("harness", tap(&w.ways[i], &w.ways[i ^ 1]) == 0,
			  "node %u port %u has no cable", w.ways[i].from.node, w.ways[i].from.port);
	for (unsigned int i = 0; i < POOLS; i++)
		w.in_use[i] = rte_mempool_in_use_count(rte_mempool_lookup(pools[i]));
}

void
fabric_watch_end(void)
{
	for (uint32_t i = 0; i < w.t->n_switches; i++)
		free(w.switches[i]);
	free(w.switches);
	free(w.hosts);
	free(w.flows);
	free(w.ways);
}

/* ---- counters only grow ---- */

static void
must_grow(const void *was, const void *is, const struct counter_field *fields, unsigned int n,
	  const char *what, unsigned int number)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t before, now;

		memcpy(&before, (const char *)was + fields[i].offset, sizeof(before));
		memcpy(&now, (const char *)is + fields[i].offset, sizeof(now));
		life_must("count", now >= before, "%s %u: %s falls from %" PRIu64 " to %" PRIu64,
			  what, number, fields[i].name, before, now);
	}
}

static void
look_at_port(uint32_t sw, uint16_t port)
{
	const struct sw_port_stats *is = sw_port_stats(net_switch(w.net, sw), port);
	const struct sw_port_stats *was = &w.switches[sw][port];
	uint64_t malformed = 0, queues = 0, groups = 0;

	must_grow(was, is, sw_port_counter_fields, sw_port_counter_fields_n, "port", port);
	must_grow(was, is, sw_drop_counter_fields, SW_DROPS, "port", port);
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		must_grow(&was->queue[i], &is->queue[i], sw_queue_counter_fields,
			  sw_queue_counter_fields_n, "queue", i);
		must_grow(&was->pg[i], &is->pg[i], sw_pg_counter_fields, sw_pg_counter_fields_n,
			  "group", i);
		queues += is->queue[i].tx_packets;
		groups += is->pg[i].rx_packets;
	}
	for (unsigned int i = 0; i < FRAME_VERDICTS; i++)
		malformed += is->malformed[i];
	life_must("count", malformed == is->drops[SW_DROP_MALFORMED],
		  "port %u of switch %u: malformed frames", port, sw);
	life_must("count", queues <= is->tx_packets && groups <= is->rx_packets,
		  "port %u of switch %u: %" PRIu64 " frames of queues and %" PRIu64
		  " of groups, of %" PRIu64 " sent and %" PRIu64 " received",
		  port, sw, queues, groups, is->tx_packets, is->rx_packets);
}

/* ---- switches ---- */

static void
check_ledger(uint32_t i)
{
	const struct node *sw = net_switch(w.net, i);
	struct sw_ledger l = sw_ledger(sw);
	uint64_t queued = 0;

	life_must("ledger",
		  l.in + l.copies + l.generated == l.queued + l.sent + l.dropped + l.consumed,
		  "switch %u: in %" PRIu64 " copies %" PRIu64 " generated %" PRIu64
		  ", queued %" PRIu64 " sent %" PRIu64 " dropped %" PRIu64 " consumed %" PRIu64,
		  i, l.in, l.copies, l.generated, l.queued, l.sent, l.dropped, l.consumed);
	life_must("ledger", mmu_balanced(sw_mmu(sw)), "switch %u: the buffer's sums", i);
	for (uint16_t port = 0; port < w.t->switches[i].n_ports; port++)
		for (uint8_t q = 0; q < TM_CLASSES; q++)
			queued += sw_queue_bytes(sw, port, q);
	life_must("ledger", l.queued == queued,
		  "switch %u: queued is %" PRIu64 ", the queues hold %" PRIu64, i, l.queued,
		  queued);
}

/* Of the ways that a router has to a subnet, one that is up. */
static bool
has_other_way(uint32_t sw, uint16_t port, uint64_t now_ns)
{
	for (uint32_t n = 0; n < routes_n_subnets(w.s->routes); n++) {
		struct port_set ports = routes_ports(w.s->routes, sw, n);
		bool other = false;

		if (!port_set_has(&ports, port))
			continue;
		for (uint16_t p = 0; p < w.t->switches[sw].n_ports; p++)
			other |= p != port && port_set_has(&ports, p) &&
				 !fabric_link_is_down(w.s, w.t->switches[sw].link[p], now_ns);
		if (!other)
			return false;
	}
	return true;
}

/* Equal ways: nobody sends into the one that is dead. */
static void
check_dead_way(uint32_t sw, uint16_t port, uint64_t now_ns)
{
	uint32_t link = w.t->switches[sw].link[port];
	uint64_t drops = sw_port_stats(net_switch(w.net, sw), port)->drops[SW_DROP_LINK_DOWN];
	uint64_t was = w.switches[sw][port].drops[SW_DROP_LINK_DOWN];

	if (w.s->routes == NULL || port < w.t->switches[sw].n_hosts || w.s->n_static_routes > 0 ||
	    w.s->fabric.reroute_after_ns != NEVER_NS)
		return;
	for (uint32_t i = 0; i < w.s->n_events; i++) {
		const struct event_params *e = &w.s->events[i];

		/* It goes where it is told, and so do ARPs. */
		if (e->action == EVENT_SEND)
			return;
		if (e->action != EVENT_LINK_DOWN && e->action != EVENT_LINK_UP &&
		    e->action != EVENT_SWITCH_RESTART)
			continue;
		/* Not since the last look. */
		if ((e->at_ns >= w.look_ns && e->at_ns <= now_ns) ||
		    (e->at_ns + e->for_ns >= w.look_ns && e->at_ns + e->for_ns <= now_ns))
			return;
	}
	if (fabric_link_is_down(w.s, link, now_ns) && has_other_way(sw, port, now_ns))
		life_must("ecmp", drops == was,
			  "switch %u sends %" PRIu64
			  " frames into the dead link of port %u, and there are other ways",
			  sw, drops - was, port);
}

static void
look_at_switch(uint32_t i, uint64_t now_ns)
{
	const struct node *sw = net_switch(w.net, i);

	check_ledger(i);
	for (uint16_t port = 0; port < w.t->switches[i].n_ports; port++) {
		look_at_port(i, port);
		check_dead_way(i, port, now_ns);
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			struct pfc_rx_view v = pfc_rx_read(sw_pfc_rx(sw, port), prio, now_ns);

			life_must("times", v.duration_ns <= now_ns,
				  "port %u of switch %u was paused for %" PRIu64 " ns", port, i,
				  v.duration_ns);
		}
		w.switches[i][port] = *sw_port_stats(sw, port);
		if (!w.plan.is_lossless)
			continue;
		for (unsigned int d = SW_DROP_MTU; d < SW_DROPS; d++)
			life_must("lossless", w.switches[i][port].drops[d] == 0,
				  "switch %u port %u drops %" PRIu64 " frames by %s", i, port,
				  w.switches[i][port].drops[d], sw_drop_name(d));
	}
}

/* ---- what was sent is what came, was lost, or is on its way ---- */

static uint64_t
injected(const struct events *events, struct topology_end end)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w.s->n_events; i++)
		if (w.s->events[i].action == EVENT_SEND && w.s->events[i].at.node == end.node &&
		    w.s->events[i].at.port == end.port)
			n += events_result(events, i).frames_sent;
	return n;
}

static uint64_t
lost(const struct way *way)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < CABLE_DROP_REASONS; i++)
		n += net_cable_drops(w.net, way->to, (enum cable_drop)i);
	return n;
}

static const struct nic_stats *
host_stats(uint32_t node)
{
	return nic_stats(net_host(w.net, (uint16_t)(node - w.t->n_switches + 1)));
}

/* What the sender counts, PFC included. */
static void
check_sent(const struct way *way, const struct events *events)
{
	uint64_t n, bytes;

	if (topology_is_switch(w.t, way->from.node)) {
		const struct sw_port_stats *s =
			sw_port_stats(net_switch(w.net, way->from.node), way->from.port);
		uint64_t pauses = s->tx_pause_frames + s->tx_global_pause_frames;

		n = s->tx_packets + pauses;
		bytes = s->tx_bytes + pauses * PFC_WIRE_BYTES;
	} else {
		n = host_stats(way->from.node)->tx_packets;
		bytes = host_stats(way->from.node)->tx_bytes;
	}
	life_must("count",
		  n + injected(events, way->from) == way->sent &&
			  (way->is_injected || bytes == way->sent_bytes),
		  "node %u port %u counts %" PRIu64 " frames and %" PRIu64
		  " bytes sent, the cable %" PRIu64 " and %" PRIu64,
		  way->from.node, way->from.port, n, bytes, way->sent, way->sent_bytes);
}

static void
check_came(const struct way *way)
{
	uint64_t n, bytes, pauses = 0;

	if (topology_is_switch(w.t, way->to.node)) {
		const struct sw_port_stats *s =
			sw_port_stats(net_switch(w.net, way->to.node), way->to.port);

		/* Others of MAC control are dropped by name, and of any length. */
		pauses = s->rx_pause_frames + s->rx_global_pause_frames;
		n = s->rx_packets + pauses + s->drops[SW_DROP_MAC_CONTROL_MALFORMED] +
		    s->drops[SW_DROP_MAC_CONTROL_UNKNOWN] + s->drops[SW_DROP_MAC_CONTROL_ADDRESS];
		bytes = s->rx_bytes + pauses * PFC_WIRE_BYTES;
	} else {
		n = host_stats(way->to.node)->rx_packets;
		bytes = host_stats(way->to.node)->rx_bytes;
	}
	life_must("count", n == way->came && (way->is_injected || bytes == way->came_bytes),
		  "node %u port %u counts %" PRIu64 " frames and %" PRIu64
		  " bytes received, the cable %" PRIu64 " and %" PRIu64,
		  way->to.node, way->to.port, n, bytes, way->came, way->came_bytes);
}

static void
look_at_cables(const struct events *events)
{
	for (uint32_t i = 0; i < w.n_ways; i++) {
		const struct way *way = &w.ways[i];
		uint64_t gone = lost(way);

		check_sent(way, events);
		check_came(way);
		life_must("cable", way->sent >= way->came + gone,
			  "node %u port %u: %" PRIu64 " frames sent, %" PRIu64 " lost, and %" PRIu64
			  " came",
			  way->from.node, way->from.port, way->sent, gone, way->came);
		life_must("lossless", !w.plan.is_lossless || gone == 0,
			  "node %u port %u: %" PRIu64 " frames are lost on a good cable",
			  way->from.node, way->from.port, gone);
	}
}

/* ---- hosts and flows ---- */

static const struct workload *
work_of(uint32_t flow)
{
	return &net_flow(w.net, flow)->params->work;
}

/* Of the same flow, what is in force. */
static const struct flow_params *
flow_now(uint32_t flow)
{
	return &w.in_force->flows[net_flow(w.net, flow)->params - w.s->flows];
}

/* What comes for an open loop comes whatever else happens: nothing while its flow is stopped. */
static void
let_come(uint32_t i, uint64_t now_ns)
{
	struct seen_flow *seen = &w.flows[i];
	const struct flow_params *now = flow_now(i);
	uint64_t from_ns = max_u64(seen->came_by_ns, now->start_ns);

	if (now_ns > from_ns && !now->stopped)
		seen->nanobits += (unsigned __int128)now->load_bps * (now_ns - from_ns);
	seen->came_by_ns = now_ns;
	seen->most_bps = max_u64(seen->most_bps, now->load_bps);
}

void
fabric_watch_set(const struct scenario *next, uint64_t now_ns)
{
	for (uint32_t i = 0; i < net_flow_count(w.net); i++)
		let_come(i, now_ns);
	w.in_force = next;
}

/* Messages of an open loop that come in so long at that load. */
static uint64_t
messages_in(uint32_t flow, uint16_t qp, uint64_t load_bps, uint64_t ns)
{
	const struct net_flow *f = net_flow(w.net, flow);
	struct workload work = *work_of(flow);
	uint64_t n = 0, at_ns = 0, gap_ns;

	/* As net_create() gives it. */
	work.seed += (w.s->fabric.seed << 32) + ((uint64_t)f->src << 16);
	for (;; n++) {
		gap_ns = workload_gap_ns(&work, load_bps, SCENARIO_FIRST_QPN + f->src_qp + qp, n);
		if (gap_ns > ns - at_ns)
			return n;
		at_ns += gap_ns;
	}
}

/* One that waits for its next message has sent all that have come. */
static void
check_open_loop(uint32_t i, uint64_t now_ns)
{
	const struct net_flow *f = net_flow(w.net, i);
	struct seen_flow *seen = &w.flows[i];
	uint64_t load_bps = f->params->load_bps, bytes = workload_largest_bytes(work_of(i)), ns;

	let_come(i, now_ns);
	/* Gaps are whole ns: short ones are not what the load says. */
	if (scenario_has_after(f->params) || !workload_is_open(work_of(i)) || load_bps == 0 ||
	    workload_ends(work_of(i)) || work_of(i)->message_size != WORKLOAD_FIXED ||
	    mul_div(bytes, 8 * NS_PER_SEC, max_u64(seen->most_bps, 1)) < 1000)
		return;
	ns = (uint64_t)(seen->nanobits / load_bps);
	for (uint16_t k = 0; k < f->qps; k++) {
		uint64_t come = messages_in(i, k, load_bps, ns), slack = 3 + come / 256, begun;
		struct nic_qp_wait wait;
		struct nic_qp_info qp;

		if (!nic_qp_wait(net_host(w.net, f->src), f->src_qp + k, &wait) ||
		    wait.reason == NIC_WAIT_ERROR ||
		    !nic_qp_info(net_host(w.net, f->src), f->src_qp + k, &qp))
			continue;
		begun = f->params->verb == NIC_UD_SEND ? qp.tx_packets : qp.tx_messages;
		life_must("arrivals", begun <= come + slack,
			  "flow %s, QP %u: %" PRIu64 " messages are done, and %" PRIu64
			  " have come",
			  f->name, k, begun, come);
		life_must("arrivals",
			  wait.reason != NIC_WAIT_MESSAGE || wait.unacked_packets > 0 ||
				  begun + slack >= come,
			  "flow %s, QP %u waits for a message: %" PRIu64 " are done, and %" PRIu64
			  " have come",
			  f->name, k, begun, come);
	}
}

static void
check_grown(const struct nic_qp_info *was, const struct nic_qp_info *is, uint32_t flow)
{
#define GROWS(member)                                                                              \
	life_must("count", is->member >= was->member,                                              \
		  "flow %u: " #member " falls from %" PRIu64 " to %" PRIu64, flow,                 \
		  (uint64_t)was->member, (uint64_t)is->member)
	GROWS(tx_wire_bytes);
	GROWS(tx_packets);
	GROWS(retransmitted_packets);
	GROWS(tx_messages);
	GROWS(tx_payload_bytes);
	GROWS(rx_payload_bytes);
	GROWS(rx_messages);
	GROWS(rx_packets);
	GROWS(rx_wire_bytes);
	GROWS(cnps_handled);
	GROWS(cnps_sent);
	GROWS(rate_cuts);
	GROWS(ce_packets);
	GROWS(completions);
	GROWS(error);
#undef GROWS
}

/* The source of a READ is where the data comes to, and knows of the messages. */
static const struct nic_qp_info *
requester(uint32_t flow, const struct nic_qp_info *src, const struct nic_qp_info *dst)
{
	return net_flow(w.net, flow)->params->verb == NIC_READ ? dst : src;
}

static void
check_messages(uint32_t i, const struct nic_qp_info *src, const struct nic_qp_info *dst)
{
	const struct net_flow *f = net_flow(w.net, i);
	const struct nic_qp_info *asks = requester(i, src, dst);
	uint64_t ends = work_of(i)->messages;

	if (f->params->verb == NIC_UD_SEND) {
		life_must("once", dst->rx_messages <= src->tx_packets,
			  "flow %s: %" PRIu64 " messages came, of %" PRIu64, f->name,
			  dst->rx_messages, src->tx_packets);
		return;
	}
	life_must("once", dst->rx_messages >= asks->tx_messages,
		  "flow %s: %" PRIu64 " messages are completed, %" PRIu64 " came", f->name,
		  asks->tx_messages, dst->rx_messages);
	life_must("once", dst->rx_payload_bytes >= asks->tx_payload_bytes,
		  "flow %s: %" PRIu64 " bytes are completed, %" PRIu64 " came", f->name,
		  asks->tx_payload_bytes, dst->rx_payload_bytes);
	life_must("once", ends == 0 || dst->rx_messages <= ends * f->qps,
		  "flow %s: %" PRIu64 " messages came, and it has %" PRIu64, f->name,
		  dst->rx_messages, ends * f->qps);
	if (workload_is_fixed(work_of(i)) && f->params->pattern != FLOW_TRACE)
		life_must("once",
			  asks->tx_payload_bytes == asks->tx_messages * work_of(i)->message_bytes,
			  "flow %s: %" PRIu64 " messages have %" PRIu64 " bytes", f->name,
			  asks->tx_messages, asks->tx_payload_bytes);
}

static void
check_times(uint32_t i, const struct nic_qp_info *asks, uint64_t now_ns)
{
	const struct nic_times *times = net_flow_times(w.net, i);

	if (times == NULL)
		return;
	life_must("times", times->completion_ns.count == asks->completions,
		  "flow %u: %" PRIu64 " completions, and %" PRIu64 " times", i, asks->completions,
		  times->completion_ns.count);
	life_must("times", asks->completions <= asks->tx_messages,
		  "flow %u: %" PRIu64 " completions of %" PRIu64 " messages", i, asks->completions,
		  asks->tx_messages);
	life_must("times",
		  times->completion_ns.max <= now_ns && times->rtt_ns.max <= now_ns &&
			  asks->completion_max_ns <= now_ns,
		  "flow %u: %" PRIu64 " ns for a message, %" PRIu64 " for a round trip", i,
		  times->completion_ns.max, times->rtt_ns.max);
	life_must("times", net_flow_paused_ns(w.net, i, now_ns) <= now_ns,
		  "flow %u was paused for longer", i);
}

/* What was set is what is in force. */
static void
check_in_force(uint32_t i)
{
	const struct net_flow *f = net_flow(w.net, i);
	const struct flow_params *now = flow_now(i);
	struct net_end from = net_flow_sender(f);
	const struct rp_params *rp = &w.in_force->nic.rp;
	uint64_t line_bps = w.t->links[w.t->hosts[from.host - 1].link].cable.rate_bps;

	for (uint16_t k = 0; k < f->qps; k++) {
		struct nic_qp_wait wait;
		struct nic_qp_wait asks;

		if (!nic_qp_wait(net_host(w.net, from.host), from.first_qp + k, &wait) ||
		    !nic_qp_wait(net_host(w.net, f->src), f->src_qp + k, &asks))
			continue;
		life_must("set", wait.cap_bps == now->rate_cap_bps,
			  "flow %s has a cap of %" PRIu64 " bit/s, and was given %" PRIu64, f->name,
			  wait.cap_bps, now->rate_cap_bps);
		life_must("set", asks.reason != NIC_WAIT_STOPPED || now->stopped,
			  "flow %s is stopped, and was not told so", f->name);
		if (w.in_force->nic.cc != CC_DCQCN)
			continue;
		life_must(
			"rate",
			wait.cc_rate_bps >= min_u64(rp->rp_min_rate_bps, line_bps) &&
				wait.cc_rate_bps <=
					(rp->rp_max_rate_bps == 0 ? line_bps : rp->rp_max_rate_bps),
			"flow %s: %" PRIu64 " bit/s, from %" PRIu64 " to %" PRIu64 " are allowed",
			f->name, wait.cc_rate_bps, rp->rp_min_rate_bps, rp->rp_max_rate_bps);
	}
}

static void
look_at_flow(uint32_t i, uint64_t now_ns)
{
	struct seen_flow *seen = &w.flows[i];
	struct nic_qp_info src, dst;

	net_flow_info(w.net, i, &src, &dst);
	check_grown(&seen->src, &src, i);
	check_grown(&seen->dst, &dst, i);
	check_messages(i, &src, &dst);
	check_times(i, requester(i, &src, &dst), now_ns);
	check_in_force(i);
	life_must("lossless", !w.plan.is_lossless || !(src.error || dst.error),
		  "flow %u fails, and nothing is lost", i);
	seen->src = src;
	seen->dst = dst;
}

static void
look_at_host(uint16_t h)
{
	const struct nic_stats *is = nic_stats(net_host(w.net, h));
	uint64_t drops = 0;

	must_grow(&w.hosts[h - 1], is, nic_counters, nic_counters_n, "host", h);
	for (unsigned int i = 0; i < NIC_DROPS; i++)
		drops += is->drops[i];
	life_must("count", drops <= is->rx_packets, "host %u: %" PRIu64 " drops of %" PRIu64, h,
		  drops, is->rx_packets);
	w.hosts[h - 1] = *is;
	if (!w.plan.is_lossless)
		return;
	/* What is behind a packet that found no receive WQE comes out of sequence. */
	life_must("lossless",
		  is->rnr_naks_sent > 0 || is->out_of_sequence + is->packet_seq_err == 0,
		  "host %u: %" PRIu64 " out of sequence, and nothing is lost", h,
		  is->out_of_sequence);
}

/* Of its barrier: no QP is more than one message ahead of another one that has some left. */
static void
look_at_rounds(uint32_t flow)
{
	const struct flow_params *params = net_flow(w.net, flow)->params;
	uint64_t most = 0, least = UINT64_MAX;

	if (!scenario_has_barrier(params))
		return;
	for (uint32_t i = 0; i < net_flow_count(w.net); i++) {
		const struct net_flow *f = net_flow(w.net, i);

		if (strcmp(f->params->barrier, params->barrier) != 0)
			continue;
		for (uint16_t k = 0; k < f->qps; k++) {
			struct nic_qp_wait wait;
			struct nic_qp_info qp;
			uint64_t ended;

			if (!nic_qp_wait(net_host(w.net, f->src), f->src_qp + k, &wait) ||
			    !nic_qp_info(net_host(w.net, f->src), f->src_qp + k, &qp))
				continue;
			/* A datagram has ended when it has left, and has one packet. */
			ended = f->params->verb == NIC_UD_SEND ? qp.tx_packets : qp.tx_messages;
			most = max_u64(most, ended);
			if (wait.reason != NIC_WAIT_DONE && wait.reason != NIC_WAIT_ERROR)
				least = min_u64(least, ended);
		}
	}
	life_must("round", least == UINT64_MAX || most <= least + 1,
		  "barrier %s: a QP has ended %" PRIu64 " messages, and another one %" PRIu64,
		  params->barrier, most, least);
}

/* ---- when ---- */

void
fabric_watch_look(const struct events *events, uint64_t now_ns)
{
	for (uint32_t i = 0; i < w.t->n_switches; i++)
		look_at_switch(i, now_ns);
	for (uint16_t h = 1; h <= w.t->n_hosts; h++)
		look_at_host(h);
	look_at_cables(events);
	for (uint32_t i = 0; i < net_flow_count(w.net); i++) {
		look_at_flow(i, now_ns);
		look_at_rounds(i);
	}
	w.look_ns = now_ns;
	if (now_ns < w.plan.calm_ns || w.plan.stop_ns == NEVER_NS ||
	    now_ns + w.plan.grace_ns > w.plan.stop_ns)
		return;
	w.quiet_ns = now_ns;
	for (uint32_t i = 0; i < net_flow_count(w.net); i++) {
		w.flows[i].quiet_sent = w.flows[i].src.tx_packets;
		w.flows[i].quiet_came = w.flows[i].dst.rx_packets;
	}
}

/* Has it work, always? */
static bool
works(uint32_t flow)
{
	const struct workload *work = work_of(flow);

	if (workload_ends(work) || work->start_ns > w.quiet_ns || flow_now(flow)->stopped ||
	    scenario_has_after(flow_now(flow)) || scenario_has_barrier(flow_now(flow)))
		return false;
	switch (work->arrival) {
	case WORKLOAD_CLOSED:
		return true;
	case WORKLOAD_ON_OFF:
		return work->on_ns > 1000 && work->off_ns < w.plan.grace_ns / 4;
	case WORKLOAD_POISSON:
	case WORKLOAD_PERIODIC:
		/* A dozen messages. */
		return flow_now(flow)->load_bps > 0 &&
		       mul_div(workload_largest_bytes(work), 12 * 8 * NS_PER_SEC,
			       flow_now(flow)->load_bps) < w.plan.grace_ns;
	default:
		return false;
	}
}

/*
 * ACKs of messages of a few bytes take as much of the wire as these, and go before all data. And
 * small frames may take all packet buffers of the lab, which one host may get for ever.
 */
static bool
is_crowded(void)
{
	for (uint32_t i = 0; i < w.s->n_flows; i++)
		if (workload_largest_bytes(&w.s->flows[i].work) < 128)
			return true;
	for (uint16_t h = 1; h <= w.t->n_hosts; h++)
		if (nic_stats(net_host(w.net, h))->no_mbuf > 0)
			return true;
	return false;
}

static const char *
held_by(uint32_t flow)
{
	const struct net_flow *f = net_flow(w.net, flow);
	struct nic_qp_wait wait;

	nic_qp_wait(net_host(w.net, f->src), f->src_qp, &wait);
	return nic_wait_words[wait.reason];
}

void
fabric_watch_progress(uint64_t now_ns)
{
	for (uint32_t i = 0; i < net_flow_count(w.net); i++)
		check_open_loop(i, now_ns);
	if (w.quiet_ns == 0 || is_crowded())
		return;
	for (uint32_t i = 0; i < net_flow_count(w.net); i++) {
		const struct seen_flow *seen = &w.flows[i];
		struct nic_qp_info src, dst;

		net_flow_info(w.net, i, &src, &dst);
		if (!works(i) || src.error || dst.error)
			continue;
		life_must("still",
			  src.tx_packets > seen->quiet_sent && dst.rx_packets > seen->quiet_came,
			  "flow %s: since %" PRIu64 " ns %" PRIu64 " packets were sent and %" PRIu64
			  " came; it is held by \"%s\"",
			  net_flow(w.net, i)->name, w.quiet_ns, src.tx_packets - seen->quiet_sent,
			  dst.rx_packets - seen->quiet_came, held_by(i));
	}
}

static void
check_hist(const struct hist *hist, const char *name, uint32_t flow)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum += hist->weight[i];
	life_must("times", sum == hist->count,
		  "flow %u: %" PRIu64 " in the buckets of %s, and it counts %" PRIu64, flow, sum,
		  name, hist->count);
}

static void
check_ended(uint32_t i)
{
	const struct net_flow *f = net_flow(w.net, i);
	const struct nic_times *times = net_flow_times(w.net, i);
	const struct seen_flow *seen = &w.flows[i];
	const struct nic_qp_info *asks = requester(i, &seen->src, &seen->dst);
	bool failed = seen->src.error || seen->dst.error;

	for (uint16_t k = 0; k < f->qps; k++) {
		struct nic_qp_wait wait;

		nic_qp_wait(net_host(w.net, f->src), f->src_qp + k, &wait);
		/* One that waits for another's message waits for ever, if that was stopped. */
		life_must(
			"rest",
			wait.reason == NIC_WAIT_ERROR || wait.reason == NIC_WAIT_DONE ||
				wait.reason == NIC_WAIT_STOPPED || wait.reason == NIC_WAIT_START ||
				(wait.reason == NIC_WAIT_FLOWS && scenario_has_after(f->params)) ||
				(wait.reason == NIC_WAIT_ROUND &&
				 scenario_has_barrier(f->params)) ||
				(wait.reason == NIC_WAIT_MESSAGE && f->params->pattern == FLOW_JOB),
			"flow %s, QP %u is stopped, and held by \"%s\"", f->name, k,
			nic_wait_words[wait.reason]);
	}
	if (!failed && f->params->verb != NIC_UD_SEND)
		life_must("once",
			  seen->dst.rx_messages == asks->tx_messages &&
				  seen->dst.rx_payload_bytes == asks->tx_payload_bytes,
			  "flow %s: %" PRIu64 " messages of %" PRIu64
			  " bytes are completed, %" PRIu64 " of %" PRIu64 " came",
			  f->name, asks->tx_messages, asks->tx_payload_bytes, seen->dst.rx_messages,
			  seen->dst.rx_payload_bytes);
	if (w.plan.is_lossless && f->params->verb == NIC_UD_SEND && f->params->max_recv_wr == 0)
		life_must("lossless", seen->dst.rx_messages == seen->src.tx_packets,
			  "flow %s: %" PRIu64 " of %" PRIu64 " datagrams came", f->name,
			  seen->dst.rx_messages, seen->src.tx_packets);
	if (times == NULL)
		return;
	check_hist(&times->completion_ns, "completion_ns", i);
	check_hist(&times->slowdown_milli, "slowdown", i);
	check_hist(&times->rtt_ns, "rtt_ns", i);
}

void
fabric_watch_rest(void)
{
	for (uint32_t i = 0; i < w.n_ways; i++)
		life_must("rest", w.ways[i].sent == w.ways[i].came + lost(&w.ways[i]),
			  "node %u port %u: %" PRIu64 " frames sent, %" PRIu64 " lost, and %" PRIu64
			  " came",
			  w.ways[i].from.node, w.ways[i].from.port, w.ways[i].sent,
			  lost(&w.ways[i]), w.ways[i].came);
	for (uint32_t i = 0; i < w.t->n_switches; i++) {
		const struct node *sw = net_switch(w.net, i);

		life_must("rest", sw_ledger(sw).queued == 0 && mmu_used_bytes(sw_mmu(sw)) == 0,
			  "switch %u: %" PRIu64 " bytes wait, %" PRIu64 " are charged", i,
			  sw_ledger(sw).queued, mmu_used_bytes(sw_mmu(sw)));
	}
	for (uint32_t i = 0; i < net_flow_count(w.net); i++)
		check_ended(i);
	for (unsigned int i = 0; i < POOLS; i++) {
		unsigned int n = rte_mempool_in_use_count(rte_mempool_lookup(pools[i]));

		life_must("mbufs", n == w.in_use[i], "%u of %s are out, and were %u", n, pools[i],
			  w.in_use[i]);
	}
}
