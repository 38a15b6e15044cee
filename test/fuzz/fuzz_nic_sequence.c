/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life of one NIC, of one node or of two that share a port: a configuration from the tables of
 * keys, flows of any verb that come and go, then frames, live changes, resets, readings, traces and
 * time in any order. No input may lose an mbuf, make a bad frame, or keep tx() from its end.
 */
#include "ctl/nic_config/nic_config.h"
#include "fuzz/sequence.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"
#include "node/pkt_pool.h"

#define MBUFS 64
#define FIRST_QPN 17u
#define FLOWS 4u
#define FLOW_QPS 2u
#define QPS (FLOWS * FLOW_QPS)
#define MOST_NODES 2u
#define STEPS 300
#define BURST 8
#define TRACE_ROWS 16
/* In which a change comes into force. */
#define CHANGE_CALLS 100

enum flow_state { GONE, THERE, LEAVING };

static struct nic_pools pools;
/* In force, or on their way, and what may follow. */
static struct nic_config configs[2];
static struct nic_flow flows[2][FLOWS];
static struct config_rows rows[2];
static struct nic_config base;
static struct nic_flow base_flows[FLOWS];

struct life {
	struct node *node[MOST_NODES];
	struct nic_share *share; /* NULL: of one node */
	uint32_t n_nodes, at;    /* at: the node of this step */
	uint64_t now_ns;
	unsigned int now_config;
	uint64_t fed, sent; /* frames */
	bool lives;         /* do flows come and go? */
	bool changing;
	bool asked[MOST_NODES]; /* something that the node's next call does */
	enum flow_state state[FLOWS];
	struct nic_reload reload;
	struct nic_flow_update live[FLOWS];
	uint32_t go[FLOWS], come[FLOWS];
	struct nic_traces traces;
	struct nic_trace *trace, *old_trace;
	struct sequence in;
};

static void
set_base(void)
{
	static const int verbs[] = {NIC_WRITE, NIC_SEND, NIC_READ, NIC_UD_SEND};
	struct nic_params *p = &base.nic;

	nic_params_default(p);
	memcpy(p->mac, ((const uint8_t[6]){2, 0, 0, 0, 0, 1}), 6);
	p->ip = (struct field_ip){4, {10, 0, 0, 1}};
	p->ip6 = (struct field_ip){6, {0xFD, [15] = 1}};
	p->link_speed_bps = 40 * GBPS;
	p->max_qps = QPS;
	p->first_qpn = FIRST_QPN;
	p->measure_times = NIC_MEASURE_ON;
	p->cc = CC_DCQCN;
	for (unsigned int i = 0; i < FLOWS; i++) {
		struct nic_flow *f = &base_flows[i];

		FUZZ_CHECK(field_defaults(nic_flow_fields, nic_flow_fields_n, f) == 0);
		snprintf(f->name, sizeof(f->name), "f%u", i);
		f->qp_count = FLOW_QPS;
		f->id = i;
		f->first_number = i * FLOW_QPS;
		f->qp.peer_ip = (struct field_ip){4, {10, 0, 0, 2}};
		f->qp.peer_qpn = FIRST_QPN + i * FLOW_QPS;
		f->qp.flow_id = i;
		f->qp.verb = verbs[i];
		f->qp.mtu_bytes = 256;
		f->qp.message_bytes = i == 3 ? 256 : 600;
		f->qp.depth = 2;
	}
	base.n_flows = FLOWS;
}

static void
start(void)
{
	fuzz_start_eal();
	pools.data = nic_data_pool_create(
		&(struct pkt_pool_params){
			.name = "data", .n_mbufs = MBUFS, .socket = -1, .threads = true},
		NIC_MAX_MTU);
	pools.control = create_pool("control", MBUFS, 1024);
	pools.payloads = nic_payloads_create();
	FUZZ_CHECK(pools.data != NULL && pools.payloads != NULL);
	set_base();
	for (unsigned int i = 0; i < 2; i++) {
		configs[i] = base;
		configs[i].flows = flows[i];
		memcpy(flows[i], base_flows, sizeof(base_flows));
		nic_config_rows(&configs[i], &rows[i]);
		FUZZ_CHECK(!rows[i].no_memory);
	}
}

/* As the programs have them: number, identifier and count are not the file's to change here. */
static struct nic_qp_params
qp_of(const struct nic_flow *f, uint32_t i)
{
	struct nic_flow flow = *f;

	flow.qp_count = FLOW_QPS;
	flow.qp.flow_id = f->id;
	return nic_flow_qp(&flow, i);
}

/* May this flow be? */
static bool
is_flow(const struct nic_config *c, uint32_t id)
{
	struct nic_qp_params qp = qp_of(&c->flows[id], 0);
	const struct field_ip *own = qp.peer_ip.version == 4 ? &c->nic.ip : &c->nic.ip6;
	char why[256] = "";

	/* A rule of the file that names both. */
	if (own->version != qp.peer_ip.version)
		return false;
	if (nic_qp_params_check(&qp, &c->nic, why, sizeof(why)) == 0)
		return qp.peer_qpn < (1u << 24) - FLOW_QPS;
	check_refusal(why);
	return false;
}

static void
set_live(struct life *l, uint32_t id)
{
	const struct nic_flow *f = &configs[l->now_config].flows[id];

	l->live[id] = (struct nic_flow_update){.stopped = f->qp.stopped,
					       .rate_cap_bps = f->qp.rate_cap_bps,
					       .load_bps = f->qp.load_bps};
}

static void
add_flows(struct life *l)
{
	for (uint32_t id = 0; id < FLOWS; id++) {
		if (!is_flow(&configs[0], id))
			return;
		for (uint32_t i = 0; i < FLOW_QPS; i++) {
			struct nic_qp_params qp = qp_of(&configs[0].flows[id], i);
			uint32_t number = id * FLOW_QPS + i;
			struct node *nic = l->node[nic_share_find(l->share, number).node];

			FUZZ_CHECK(nic_add_qp(nic, &qp, l->now_ns) == FIRST_QPN + number);
		}
		l->state[id] = THERE;
		set_live(l, id);
	}
}

/* QPs in turn, or where a table has each of them. */
static void
create_share(struct life *l, const struct nic_params *p, bool placed)
{
	uint8_t homes = placed ? take8(&l->in) : 0;
	uint32_t items[MOST_NODES] = {0};

	l->share = nic_share_create(&(struct nic_share_params){
		.n_nodes = l->n_nodes,
		.first_qpn = FIRST_QPN,
		.link_speed_bps = p->link_speed_bps,
		.shaper_burst_ns = p->shaper_burst_ns,
		.rx_mbufs = MBUFS,
		.socket = -1,
	});
	FUZZ_CHECK(l->share != NULL);
	if (!placed)
		return;
	FUZZ_CHECK(nic_share_use_table(l->share, QPS) == 0);
	for (uint32_t number = 0; number < QPS; number++) {
		uint32_t node = homes >> number & 1;

		nic_share_assign(l->share, number, (struct nic_location){node, items[node]++});
	}
}

static void
create_nodes(struct life *l, const struct nic_params *p)
{
	for (uint32_t k = 0; k < l->n_nodes; k++) {
		struct nic_params params = *p;

		params.max_qps = nic_share_qps(l->share, QPS, k);
		l->node[k] = nic_create(&params, &pools);
		FUZZ_CHECK(l->node[k] != NULL);
		if (l->share != NULL)
			nic_join(l->node[k], l->share, k);
		if (l->lives)
			FUZZ_CHECK(nic_reserve_flows(l->node[k], FLOWS) == 0);
	}
}

static bool
create(struct life *l)
{
	struct nic_config *c = &configs[0];
	uint8_t first = take8(&l->in), second = take8(&l->in), keys = second % 12;
	char why[256] = "";

	c->nic = base.nic;
	memcpy(c->flows, base_flows, sizeof(base_flows));
	c->nic.measure_pacing = first & 1;
	c->nic.cc = first / 2 % 4;
	for (uint32_t id = 0; id < FLOWS; id++)
		c->flows[id].qp.requester = first >> 4 >> id & 1;
	while (keys-- > 0)
		take_key(&l->in, &rows[0], false);
	c->nic.first_qpn = FIRST_QPN;
	c->nic.max_qps = QPS;
	if (nic_params_check(&c->nic, why, sizeof(why)) != 0) {
		check_refusal(why);
		return false;
	}
	l->lives = first & 8;
	l->n_nodes = second < 168 ? 1 : MOST_NODES;
	if (l->n_nodes > 1)
		create_share(l, &c->nic, second & 1);
	create_nodes(l, &c->nic);
	if (!l->lives)
		add_flows(l);
	return true;
}

static struct node *
acting(const struct life *l)
{
	return l->node[l->at];
}

static struct sequence_hosts
take_hosts(struct life *l)
{
	uint8_t who = take8(&l->in);
	const struct nic_flow *f = &configs[l->now_config].flows[who / FLOW_QPS % FLOWS];
	const struct nic_params *p = &configs[l->now_config].nic;
	const struct field_ip *peer = &f->qp.peer_ip;
	const struct field_ip *own = peer->version == 4 ? &p->ip : &p->ip6;
	struct sequence_hosts h = {
		.src_mac = {2, 0, 0, 0, 0, 2},
		.ip_version = peer->version,
		.tagged = who & 64,
		.vlan_tci = who & 128 ? 10 : 0,
		.dest_qp = FIRST_QPN + who % QPS,
	};

	memcpy(h.dst_mac, p->mac, 6);
	memcpy(h.src_ip, peer->addr, 16);
	memcpy(h.dst_ip, own->addr, 16);
	if (who & 32)
		h.src_ip[3] ^= 1;
	return h;
}

static void
feed(struct life *l)
{
	uint8_t what = take8(&l->in), buf[SEQUENCE_FRAME];
	struct sequence_hosts h = take_hosts(l);
	size_t len = make_frame(&l->in, buf, &h);
	struct rte_mbuf *pkts[4];
	uint16_t n = make_burst(pools.control, buf, len, pkts, 1 + what % 4);

	l->fed += n;
	acting(l)->ops->rx(acting(l), 0, pkts, n, l->now_ns);
}

static void
check_sent(const struct rte_mbuf *m)
{
	struct frame_view eth = check_frame(m);
	struct roce_view v;

	FUZZ_CHECK(m->data_len >= 60);
	if (eth.ip_proto == IP_PROTO_UDP)
		FUZZ_CHECK(roce_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &eth, true,
				      &v) == ROCE_OK);
}

static uint16_t
tx(struct life *l, uint16_t max_pkts)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = acting(l)->ops->tx(acting(l), 0, pkts, max_pkts, l->now_ns);

	FUZZ_CHECK(n <= max_pkts);
	l->sent += n;
	for (uint16_t i = 0; i < n; i++) {
		check_sent(pkts[i]);
		rte_pktmbuf_free(pkts[i]);
	}
	return n;
}

/* Nothing to send now is nothing before another time, but for changes that come in several
 * calls. */
static void
poll(struct life *l, uint16_t max_pkts)
{
	uint16_t n = tx(l, max_pkts);

	for (unsigned int i = 0; n == 0 && max_pkts > 0; i++) {
		if (acting(l)->ops->next_ns(acting(l), 0) > l->now_ns)
			break;
		FUZZ_CHECK(l->asked[l->at] && i < CHANGE_CALLS);
		n = tx(l, max_pkts);
	}
	l->asked[l->at] = l->asked[l->at] && max_pkts == 0;
}

/* At the times that the node names, a few frames. */
static void
run(struct life *l)
{
	for (unsigned int i = 1 + take8(&l->in) % 32; i > 0; i--) {
		uint64_t next_ns = acting(l)->ops->next_ns(acting(l), 0);

		if (next_ns >= SEQUENCE_END_NS)
			break;
		l->now_ns = next_ns > l->now_ns ? next_ns : l->now_ns;
		poll(l, 1);
	}
}

/* That all nodes do with their next calls. */
static void
ask(struct life *l)
{
	for (uint32_t k = 0; k < l->n_nodes; k++)
		l->asked[k] = true;
	l->changing = true;
}

/* A reload or a reset; the next one begins after it. */
static void
end_change(struct life *l)
{
	for (uint32_t k = 0; l->changing && k < l->n_nodes; k++) {
		struct node *nic = l->node[k];

		for (unsigned int i = 0; !nic_reload_is_done(nic) || !nic_reset_is_done(nic); i++) {
			FUZZ_CHECK(i < CHANGE_CALLS);
			nic->ops->rx(nic, 0, NULL, 0, l->now_ns);
		}
	}
	l->changing = false;
}

/* Of a flow that is there, has left or never was. */
static void
reset(struct life *l, uint32_t id)
{
	end_change(l);
	for (uint32_t k = 0; k < l->n_nodes; k++)
		FUZZ_CHECK(nic_reset_flow(l->node[k], id) == 0);
	ask(l);
}

static void
let_go(struct life *l, uint32_t id)
{
	l->go[l->reload.n_removed++] = id;
	l->state[id] = LEAVING;
}

static struct nic_flow_place
place_of(const struct life *l, uint32_t id, uint32_t node)
{
	struct nic_flow_place p = {.first_number = id * FLOW_QPS};

	for (uint32_t number = id * FLOW_QPS; number < (id + 1) * FLOW_QPS; number++) {
		struct nic_location at = nic_share_find(l->share, number);

		if (at.node == node && p.n_qps++ == 0)
			p.first_item = at.item;
	}
	return p;
}

static void
forget(const struct life *l, uint32_t id)
{
	for (uint32_t k = 0; k < l->n_nodes; k++)
		nic_forget_flow(l->node[k], id);
}

/* One that has left may come again, as another one. */
static void
let_come(struct life *l, uint32_t id, struct nic_config *next)
{
	struct nic_flow *f = &next->flows[id];

	if (l->state[id] == LEAVING) {
		for (uint32_t k = 0; k < l->n_nodes; k++)
			if (!nic_flow_is_free(l->node[k], id))
				return;
		forget(l, id);
		l->state[id] = GONE;
	}
	f->qp.verb = take8(&l->in) % (NIC_UD_SEND + 1);
	f->qp.requester = take8(&l->in) & 1;
	f->qp.arrival = take8(&l->in) % 5;
	if (!is_flow(next, id))
		return;
	for (uint32_t k = 0; k < l->n_nodes; k++) {
		struct nic_flow_place place = place_of(l, id, k);
		struct nic_qp_params qp = qp_of(f, 0);

		FUZZ_CHECK(nic_prepare_flow(l->node[k], &qp, &place) == 0);
	}
	if (take8(&l->in) & 1) {
		forget(l, id);
		return;
	}
	l->come[l->reload.n_added++] = id;
	l->state[id] = THERE;
}

static void
reload(struct life *l)
{
	struct nic_config *now = &configs[l->now_config], *next = &configs[1 - l->now_config];
	uint8_t what = take8(&l->in), which = take8(&l->in);
	char why[256] = "";

	end_change(l);
	next->nic = now->nic;
	memcpy(next->flows, now->flows, sizeof(base_flows));
	for (unsigned int i = 0; i < 1u + what % 4; i++)
		take_key(&l->in, &rows[1 - l->now_config], true);
	if (nic_params_check(&next->nic, why, sizeof(why)) != 0) {
		check_refusal(why);
		return;
	}
	for (uint32_t id = 0; id < FLOWS; id++) {
		if (l->state[id] == THERE && !is_flow(next, id))
			return;
	}
	l->reload.n_removed = l->reload.n_added = 0;
	for (uint32_t id = 0; id < FLOWS && l->lives; id++) {
		if (!(which >> id & 1))
			continue;
		if (l->state[id] == THERE)
			let_go(l, id);
		else
			let_come(l, id, next);
	}
	l->now_config = 1 - l->now_config;
	for (uint32_t id = 0; id < FLOWS; id++)
		set_live(l, id);
	l->reload.params = next->nic;
	l->reload.flows = l->live;
	l->reload.n_flows = FLOWS;
	l->reload.removed = l->go;
	l->reload.added = l->come;
	for (uint32_t k = 0; k < l->n_nodes; k++)
		nic_reload(l->node[k], &l->reload);
	ask(l);
}

static void
read_qp(const struct life *l, const struct node *nic, uint32_t index)
{
	struct nic_qp_info info;
	struct nic_qp_wait wait;
	bool is_there = nic_qp_info(nic, index, &info);

	(void)nic_qp_wait(nic, index, &wait);
	FUZZ_CHECK((unsigned int)wait.reason < NIC_WAITS);
	FUZZ_CHECK(index < QPS || !is_there);
	FUZZ_CHECK(is_there || (info.tx_packets == 0 && info.rate_bps == 0));
	FUZZ_CHECK(info.tx_packets <= l->sent && info.rx_packets <= l->fed);
	FUZZ_CHECK(info.retransmitted_packets <= info.tx_packets);
	FUZZ_CHECK(info.completion_max_ns <= SEQUENCE_END_NS);
}

static void
read_flow(const struct life *l, const struct node *nic, uint32_t id)
{
	static struct nic_times times_since, times_sum;
	struct nic_flow_info info = {0};
	const struct nic_times *times = nic_flow_times(nic, id);
	const struct nic_pacing *pacing = nic_flow_pacing(nic, id);

	nic_flow_info(nic, id, &info);
	FUZZ_CHECK(info.qps <= FLOW_QPS && info.qps_done + info.qps_failed <= 2 * info.qps);
	FUZZ_CHECK(nic_flow_paused_ns(nic, id, l->now_ns) <= SEQUENCE_END_NS);
	if (times != NULL && id == 0) {
		memset(&times_since, 0, sizeof(times_since));
		nic_times_since(times, &times_since, &times_sum);
	}
	if (pacing != NULL)
		(void)nic_pacing_error_ppm(pacing);
}

static void
read_node(const struct life *l, const struct node *nic)
{
	uint32_t unresolved = 0;

	for (uint32_t i = 0; i < QPS + 2; i++)
		read_qp(l, nic, i);
	read_qp(l, nic, UINT32_MAX);
	for (uint32_t id = 0; id <= FLOWS; id++)
		read_flow(l, nic, id);
	FUZZ_CHECK(nic_qp_count(nic) <= QPS);
	FUZZ_CHECK(nic_neighbours(nic, &unresolved) >= unresolved);
	FUZZ_CHECK(nic_stats(nic) != NULL && nic_pfc_rx(nic) != NULL);
	FUZZ_CHECK(nic_pfc_tx(nic) != NULL);
	(void)nic_done(nic);
}

/* Every figure that telemetry reads, of QPs and flows that are not there as well. */
static void
read_all(const struct life *l)
{
	struct nic_trace_row row;

	for (uint32_t k = 0; k < l->n_nodes; k++)
		read_node(l, l->node[k]);
	for (uint64_t i = 0; l->trace != NULL && i < nic_trace_written(l->trace); i++)
		(void)nic_trace_read(l->trace, i, &row);
}

/* Traces are of QPs of the first node. */
static void
end_traces(struct life *l)
{
	struct node *nic = l->node[0];

	if (!nic_traces_are_set(nic))
		nic->ops->rx(nic, 0, NULL, 0, l->now_ns);
	FUZZ_CHECK(nic_traces_are_set(nic));
	nic_trace_destroy(l->old_trace);
	l->old_trace = NULL;
}

static void
trace(struct life *l)
{
	uint8_t what = take8(&l->in);
	uint32_t index = what % QPS;
	struct nic_qp_info info;

	end_traces(l);
	l->traces.n = 0;
	l->old_trace = l->trace;
	l->trace = NULL;
	if (what & 0x80 && nic_qp_info(l->node[0], index, &info)) {
		l->trace = nic_trace_create(index, 1 + what / 8 % TRACE_ROWS);
		FUZZ_CHECK(l->trace != NULL);
		nic_traces_add(&l->traces, l->trace);
	}
	nic_set_traces(l->node[0], &l->traces);
	l->asked[0] = true;
}

/* As the lab's events do it: at a rate that the configuration could have had. */
static void
set_drain_rate(struct life *l)
{
	struct rx_drain_params receiver = configs[l->now_config].nic.receiver;
	char why[256] = "";

	receiver.drain_rate_bps = take_ns(&l->in) % (800 * GBPS + 1);
	/* A fault of a host of one node. */
	if (l->n_nodes == 1 && rx_drain_params_check(&receiver, why, sizeof(why)) == 0)
		nic_set_drain_rate(acting(l), receiver.drain_rate_bps, l->now_ns);
}

static void
command(struct life *l)
{
	uint8_t what = take8(&l->in);

	if (what & 1)
		nic_reset_pause(acting(l), l->now_ns);
	else if (what & 2)
		reset(l, what / 4 % (FLOWS + 1));
	else if (l->n_nodes == 1)
		nic_set_pause_storm(acting(l), take8(&l->in) & 1, l->now_ns);
}

static void
step(struct life *l)
{
	if (l->n_nodes > 1)
		l->at = take8(&l->in) % l->n_nodes;
	switch (take8(&l->in) % 12) {
	case 0:
	case 1:
	case 2:
		feed(l);
		break;
	case 3:
		poll(l, take8(&l->in) % (BURST + 1));
		break;
	case 4:
	case 5:
		run(l);
		break;
	case 6:
		step_on(&l->in, &l->now_ns);
		break;
	case 7:
		reload(l);
		break;
	case 8:
		read_all(l);
		break;
	case 9:
		trace(l);
		break;
	case 10:
		set_drain_rate(l);
		break;
	case 11:
		command(l);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct life l;

	l = (struct life){.in = {data, len}, .now_ns = 1};
	if (pools.data == NULL)
		start();
	if (!create(&l))
		return 0;
	for (unsigned int i = 0; i < STEPS && l.in.len > 0; i++)
		step(&l);
	end_change(&l);
	end_traces(&l);
	read_all(&l);
	for (uint32_t k = 0; k < l.n_nodes; k++)
		nic_destroy(l.node[k]);
	nic_share_destroy(l.share);
	nic_trace_destroy(l.trace);
	FUZZ_CHECK(rte_mempool_avail_count(pools.data) == MBUFS);
	FUZZ_CHECK(rte_mempool_avail_count(pools.control) == MBUFS);
	return 0;
}
