/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a pair of NICs.
 *
 *   pair nodes=1 qps=24 speed=10G delay=1500ns mbufs=512 budget=30000 salt=7
 *   nic H KEY=VALUE ...         what host H begins with; other sections as rp.rp_ai_rate_bps
 *   add F from=H KEY=VALUE ...  add flow F, a [flow] of host H that the other host answers
 *   remove F / cut F            remove flow F: its requester first / its responder first
 *   set H KEY=VALUE ...         other parameters; flowF.load_bps is of a flow
 *   poll H N                    N calls of rx() without a frame
 *   run TIME
 *   read                        everything that can be read
 *   cable H lose=PPM twice=PPM late=PPM by=TIME mark=PPM salt=N     the way from host H
 *   pause H prios=MASK quanta=N
 *   cnp H flow=F qp=I n=N       from the flow's other end to host H
 *   drain H RATE                a slow receiver
 *   storm H on|off
 *   trace H flow=F qp=I
 *   link down|silent|up         silent: the driver asks for no frames while it is down
 *
 * A host whose change is not in force yet takes the next one when it is.
 */
#include "pair.h"

#include <errno.h>
#include <inttypes.h>

#include "base/numbers/fixed.h"

struct pair_life pair_now;

static struct pair_life *const p = &pair_now;

const struct field_section *
pair_section(unsigned int i)
{
	const struct field_section *s = nic_sections;

	while (s->fields == qos_map_fields || i-- > 0)
		s++;
	return s;
}

const struct field *
pair_find_key(const char *key, size_t *offset)
{
	const struct field *field = NULL;

	for (unsigned int i = 0; field == NULL && i < PAIR_SECTIONS; i++) {
		const struct field_section *s = pair_section(i);
		size_t n = strlen(s->name);

		if (strncmp(key, s->name, n) != 0 || key[n] != '.')
			continue;
		*offset = s->offset;
		field = field_find(s->fields, *s->n, key + n + 1,
				   &(const struct field_alias *){NULL});
	}
	return field;
}

bool
pair_set_key(struct nic_params *params, const char *word, bool live_only)
{
	char key[64], expected[256];
	const struct field *field;
	size_t offset = 0, n = strcspn(word, "=");

	if (word[n] == '\0' || n >= sizeof(key))
		return false;
	snprintf(key, n + 1, "%s", word);
	field = pair_find_key(key, &offset);
	if (field == NULL || (live_only && !field->live))
		return false;
	if (field_parse(field, NULL, word + n + 1, (char *)params + offset, expected,
			sizeof(expected)) != 0)
		return false;
	/* A profile sets the defaults of the others. */
	if (strcmp(field->name, "rp_profile") == 0)
		rp_params_default(&params->rp, (enum rp_profile)params->rp.rp_profile);
	return true;
}

bool
pair_params_are_good(const struct nic_params *params)
{
	char why[256];

	return nic_params_check(params, why, sizeof(why)) == 0;
}

/* ---- hosts ---- */

static void
host_create(unsigned int h, uint32_t mbufs)
{
	struct pair_host *host = &p->host[h];
	struct nic_share_params share = {.n_nodes = p->n_nodes,
					 .first_qpn = PAIR_QPN,
					 .link_speed_bps = p->speed_bps,
					 .shaper_burst_ns = 1,
					 .rx_mbufs = 8191,
					 .socket = SOCKET_ID_ANY};

	if (p->n_nodes > 1) {
		share.shaper_burst_ns = host->first.shaper_burst_ns;
		host->share = nic_share_create(&share);
		life_must("memory", host->share != NULL, "no share");
	}
	for (uint32_t k = 0; k < p->n_nodes; k++) {
		struct nic_params params = host->first;

		params.max_qps = nic_share_qps(host->share, p->max_qps, k);
		nic_test_pools(&host->pools[k], mbufs, 512);
		host->node[k] = nic_create(&params, &host->pools[k]);
		life_must("memory", host->node[k] != NULL, "no NIC: %s", strerror(errno));
		if (p->n_nodes > 1)
			nic_join(host->node[k], host->share, k);
		life_must("memory", nic_reserve_flows(host->node[k], FLOWS) == 0, "no flows");
	}
	host->wanted = host->old = host->next = host->first;
	host->burst_bytes = host->first.qp_burst_bytes;
}

static void
host_destroy(unsigned int h)
{
	struct pair_host *host = &p->host[h];

	for (uint32_t k = 0; k < p->n_nodes; k++)
		nic_destroy(host->node[k]);
	nic_share_destroy(host->share);
	ranges_free(&host->numbers);
	for (uint32_t i = 0; i < host->n_old_traces; i++)
		nic_trace_destroy(host->old_trace[i]);
	for (uint32_t i = 0; i < TRACES; i++)
		nic_trace_destroy(host->trace[i]);
}

static bool
reload_is_done(unsigned int h)
{
	bool done = true;

	for (uint32_t k = 0; k < p->n_nodes; k++)
		done = done && nic_reload_is_done(p->host[h].node[k]);
	return done;
}

/* Hand over what is asked for, if the last change is in force. */
static void
host_reload(unsigned int h)
{
	struct pair_host *host = &p->host[h];

	if (host->is_pending && reload_is_done(h)) {
		watch_in_force(h);
		host->is_pending = false;
		watch_called(h);
		for (uint32_t i = 0; i < host->reload.n_added; i++) {
			p->flow[host->added[i]].state[h] = THERE;
			watch_came(h, host->added[i]);
		}
	}
	if (host->is_pending || !host->is_wanted)
		return;
	watch_asked(h);
	host->is_wanted = false;
	host->is_pending = true;
	memcpy(host->live, host->wanted_live, sizeof(host->live));
	memcpy(host->removed, host->to_remove, sizeof(host->removed));
	memcpy(host->added, host->to_add, sizeof(host->added));
	host->reload = (struct nic_reload){.params = host->wanted,
					   .flows = host->live,
					   .n_flows = FLOWS,
					   .removed = host->removed,
					   .n_removed = host->n_to_remove,
					   .added = host->added,
					   .n_added = host->n_to_add};
	host->n_to_remove = host->n_to_add = 0;
	host->old = host->next;
	host->next = host->wanted;
	memset(host->has_begun, 0, sizeof(host->has_begun));
	for (uint32_t k = 0; k < p->n_nodes; k++)
		nic_reload(host->node[k], &host->reload);
}

static void
after_call(unsigned int h)
{
	p->calls++;
	watch_called(h);
	host_reload(h);
}

/* ---- the cable ---- */

static void
push(unsigned int to, struct rte_mbuf *m, uint64_t due_ns)
{
	uint32_t i = p->tail[to]++;

	life_must("harness", p->tail[to] - p->head[to] < PAIR_FLYING, "too many frames fly");
	/* Those that are due later come after it. */
	for (; i != p->head[to] && p->flying[to][(i - 1) % PAIR_FLYING].due_ns > due_ns; i--)
		p->flying[to][i % PAIR_FLYING] = p->flying[to][(i - 1) % PAIR_FLYING];
	p->flying[to][i % PAIR_FLYING] =
		(struct flying_frame){.m = m, .due_ns = due_ns, .bytes = frame_bytes(m->pkt_len)};
}

static bool
is_mac_control(const struct rte_mbuf *m)
{
	const uint8_t *eth = rte_pktmbuf_mtod(m, const uint8_t *);

	return eth[12] == 0x88 && eth[13] == 0x08;
}

/* Every frame is whole: what no NIC may get wrong. @return is it RoCEv2? */
static bool
view_frame(const struct rte_mbuf *m, struct frame_view *eth, struct roce_view *roce)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);

	life_must("frame", m->pkt_len >= 60 && m->pkt_len == m->data_len, "a frame of %u bytes",
		  m->pkt_len);
	if (is_mac_control(m))
		return false;
	life_must("frame", frame_parse(buf, m->data_len, eth) == FRAME_OK, "it does not parse");
	if (eth->ip_proto != IP_PROTO_UDP || eth->ip_version == 0)
		return false;
	life_must("frame", roce_parse(buf, m->data_len, eth, true, roce) == ROCE_OK,
		  "it is not RoCEv2, or its ICRC is wrong");
	return true;
}

static void
carry(unsigned int from, struct rte_mbuf *m)
{
	struct pair_host *host = &p->host[from];
	const struct bad_cable *c = &p->cable[from];
	uint64_t fate, due_ns = p->now_ns + p->delay_ns +
				serialization_ns(wire_bytes(m->pkt_len), p->speed_bps);
	struct frame_view eth = {0};
	struct roce_view roce = {0};
	bool is_roce = view_frame(m, &eth, &roce);
	struct rte_mbuf *copy;

	host->sent++;
	host->sent_bytes += frame_bytes(m->pkt_len);
	watch_wire(from, wire_bytes(m->pkt_len));
	host->cnps_sent += is_roce && roce.opcode == ROCE_CNP;
	host->pauses_sent += is_mac_control(m);
	p->digest = digest_add(p->digest, p->now_ns << 16 ^ (uint64_t)m->pkt_len << 1 ^ from);
	if (is_roce) {
		p->digest = digest_add(p->digest, (uint64_t)roce.opcode << 48 ^
							  (uint64_t)roce.dest_qp << 24 ^ roce.psn);
		watch_sent(from, m, &roce);
	}
	fate = draw(c->salt, p->cable[from].frames++);
	if (p->down || fate % 1000000 < c->lose_ppm) {
		rte_pktmbuf_free(m);
		return;
	}
	fate = draw(fate, 1);
	if (is_roce && roce.opcode != ROCE_CNP && fate % 1000000 < c->mark_ppm)
		ecn_set_ce(rte_pktmbuf_mtod_offset(m, uint8_t *, eth.l3_off), eth.ip_version);
	fate = draw(fate, 2);
	if (fate % 1000000 < c->twice_ppm) {
		copy = rte_pktmbuf_copy(m, host->pools[0].control, 0, UINT32_MAX);
		if (copy != NULL)
			push(1 - from, copy, due_ns + 1 + draw(fate, 3) % (c->late_ns + 1));
	}
	fate = draw(fate, 4);
	if (fate % 1000000 < c->late_ppm)
		due_ns += draw(fate, 5) % (c->late_ns + 1);
	push(1 - from, m, due_ns);
}

static void
lose_all(void)
{
	for (unsigned int h = 0; h < HOSTS; h++)
		while (p->head[h] != p->tail[h])
			rte_pktmbuf_free(p->flying[h][p->head[h]++ % PAIR_FLYING].m);
}

/* ---- time ---- */

static uint64_t
node_next_ns(unsigned int h, uint32_t k)
{
	const struct node *node = p->host[h].node[k];

	return node->ops->next_ns(node, 0);
}

static void
give(unsigned int h, uint32_t k, struct rte_mbuf **m, uint16_t n)
{
	struct node *node = p->host[h].node[k];
	uint64_t before_ns = node_next_ns(h, k);

	node->wake[0] = 0;
	node->ops->rx(node, 0, m, n, p->now_ns);
	watch_stepped(h, k);
	life_must("wake", node_next_ns(h, k) >= before_ns || node->wake[0] == 1 || n == 0,
		  "rx() of host %u made work earlier than next_ns() had said, and did not say so",
		  h);
	after_call(h);
}

static void
note_arrival(unsigned int h, const struct flying_frame *f)
{
	struct pair_host *host = &p->host[h];
	struct frame_view eth = {0};
	struct roce_view roce = {0};

	host->arrived++;
	host->arrived_bytes += f->bytes;
	if (is_mac_control(f->m))
		watch_pause(h, f->m);
	else if (view_frame(f->m, &eth, &roce))
		host->cnps_arrived += roce.opcode == ROCE_CNP;
}

static void
arrive(unsigned int h)
{
	while (p->head[h] != p->tail[h] &&
	       p->flying[h][p->head[h] % PAIR_FLYING].due_ns <= p->now_ns) {
		uint64_t chance = draw(p->salt, p->calls);
		uint32_t k = (uint32_t)(chance % p->n_nodes);
		uint16_t n = 0, most = (uint16_t)(1 + chance / 8 % 8);
		struct rte_mbuf *m[8];

		while (n < most && p->head[h] != p->tail[h] &&
		       p->flying[h][p->head[h] % PAIR_FLYING].due_ns <= p->now_ns) {
			const struct flying_frame *f = &p->flying[h][p->head[h]++ % PAIR_FLYING];

			note_arrival(h, f);
			m[n++] = f->m;
		}
		give(h, k, m, n);
	}
}

/* Ask a node for frames. @return how many it had. */
static uint16_t
ask(unsigned int h, uint32_t k)
{
	struct node *node = p->host[h].node[k];
	uint16_t max_pkts = (uint16_t)(1 + draw(p->salt, p->calls) % 8), n;
	struct rte_mbuf *m[8];

	n = node->ops->tx(node, 0, m, max_pkts, p->now_ns);
	watch_stepped(h, k);
	for (uint16_t i = 0; i < n; i++)
		carry(h, m[i]);
	p->host[h].is_poor = rte_mempool_avail_count(p->host[h].pools[0].data) < 64;
	if (p->host[h].is_poor)
		p->host[h].poor_last_ns = p->now_ns;
	/* Nodes that share a wire may be early; and of many QPs, each call looks at some. */
	if (n == 0 && p->n_nodes == 1 && p->max_qps <= 64 && nic_reload_is_done(node) &&
	    nic_traces_are_set(node))
		life_must("next_ns", node_next_ns(h, k) > p->now_ns,
			  "tx() of host %u gave nothing, and next_ns() is %" PRIu64, h,
			  node_next_ns(h, k));
	after_call(h);
	return n;
}

static void
send(unsigned int h, uint32_t k)
{
	unsigned int turns = 0;

	while (node_next_ns(h, k) <= p->now_ns) {
		if (ask(h, k) == 0 && p->n_nodes > 1)
			break;
		life_must("standstill", ++turns < 100000, "host %u sends without an end", h);
	}
}

/* Nothing may be sent before the time that next_ns() names. */
static void
ask_early(unsigned int h, uint64_t until_ns)
{
	uint64_t gap_ns = until_ns - p->now_ns, next_ns = node_next_ns(h, 0);
	struct node *node = p->host[h].node[0];
	struct rte_mbuf *m[1];

	/* A frame may be free before a node that found none looks again. */
	if (p->n_nodes > 1 || p->host[h].is_poor || p->down || gap_ns < 2 ||
	    draw(p->salt, p->calls) % 8 != 0)
		return;
	p->now_ns += 1 + draw(p->salt, p->calls + 1) % (gap_ns - 1);
	life_now_ns = p->now_ns;
	life_must("early", node->ops->tx(node, 0, m, 1, p->now_ns) == 0,
		  "host %u sends before the time that it named, %" PRIu64, h, next_ns);
	after_call(h);
}

static uint64_t
next_ns(void)
{
	uint64_t at_ns = NEVER_NS;

	for (unsigned int h = 0; h < HOSTS; h++) {
		if (p->head[h] != p->tail[h])
			at_ns = min_u64(at_ns, p->flying[h][p->head[h] % PAIR_FLYING].due_ns);
		if (p->down && p->silent)
			continue;
		for (uint32_t k = 0; k < p->n_nodes; k++)
			at_ns = min_u64(at_ns, node_next_ns(h, k));
	}
	/* A driver without a link calls rx() all the time. */
	if (p->down && p->silent)
		at_ns = min_u64(at_ns, p->now_ns + 50 * NS_PER_US);
	return at_ns;
}

static void
step(void)
{
	for (unsigned int h = 0; h < HOSTS; h++)
		arrive(h);
	for (unsigned int h = 0; h < HOSTS; h++)
		for (uint32_t k = 0; k < p->n_nodes; k++) {
			if (p->down && p->silent)
				give(h, k, NULL, 0);
			else
				send(h, k);
		}
}

static void
run(uint64_t until_ns)
{
	uint64_t at_ns;
	unsigned int still = 0;

	while ((at_ns = next_ns()) <= until_ns && (p->calls < p->most_calls || p->ending)) {
		if (at_ns > p->now_ns) {
			ask_early(draw(p->salt, p->calls) / 16 % HOSTS, at_ns);
			at_ns = max_u64(p->now_ns, next_ns());
			if (at_ns > until_ns)
				break;
		}
		still = at_ns > p->now_ns ? 0 : still + 1;
		life_must("standstill", still < 100000, "the time does not pass");
		p->now_ns = max_u64(at_ns, p->now_ns);
		life_now_ns = p->now_ns;
		step();
		if (p->n_nodes > 1 && next_ns() <= p->now_ns)
			p->now_ns++;
		watch_still();
	}
	if (until_ns > p->now_ns && (p->calls < p->most_calls || p->ending))
		p->now_ns = until_ns;
	life_now_ns = p->now_ns;
	watch_still();
}

/* ---- flows ---- */

static struct nic_flow_place
place_of(const struct pair_flow *f, unsigned int h, uint32_t k)
{
	struct nic_flow_place at = {.first_number = f->first[h], .first_item = UINT32_MAX};

	for (uint32_t number = f->first[h]; number < f->first[h] + f->n_qps; number++) {
		struct nic_location place = pair_place(h, number);

		if (place.node == k && at.n_qps++ == 0)
			at.first_item = place.item;
	}
	if (at.n_qps == 0)
		at.first_item = 0;
	return at;
}

/* What the file of a host would say of it. */
static bool
describe(struct pair_flow *f, uint32_t id, const struct words *w)
{
	char expected[256];
	char why[256];

	memset(&f->config, 0, sizeof(f->config));
	field_parse(field_find(nic_flow_fields, nic_flow_fields_n, "peer_ip",
			       &(const struct field_alias *){NULL}),
		    NULL, "10.0.0.1", &f->config, expected, sizeof(expected));
	if (field_defaults(nic_flow_fields, nic_flow_fields_n, &f->config) != 0)
		return false;
	for (unsigned int i = 2; i < w->n; i++) {
		const struct field_alias *alias;
		const struct field *field;
		char key[64];
		size_t n = strcspn(w->word[i], "=");

		if (w->word[i][n] == '\0' || n >= sizeof(key))
			continue;
		snprintf(key, n + 1, "%s", w->word[i]);
		field = field_find(nic_flow_fields, nic_flow_fields_n, key, &alias);
		if (field != NULL && field_parse(field, alias, w->word[i] + n + 1, &f->config,
						 expected, sizeof(expected)) != 0)
			return false;
	}
	f->from = words_number(w, "from", 0) & 1;
	f->n_qps = f->config.qp_count;
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct nic_qp_params *qp = &f->params[h];
		struct nic_params *peer = &p->host[1 - h].first;

		*qp = f->config.qp;
		qp->requester = h == f->from;
		qp->flow_id = id;
		qp->has_dscp = f->config.dscp >= 0;
		qp->dscp = f->config.dscp >= 0 ? (uint8_t)f->config.dscp : 0;
		qp->vlan_tci = (uint16_t)(f->config.vlan_pcp << 13 | f->config.vlan_id);
		if (words_number(w, "ask", 0) != 0)
			memset(qp->peer_mac, 0, 6);
		else
			memcpy(qp->peer_mac, peer->mac, 6);
		qp->peer_ip = words_number(w, "ipv6", 0) != 0 ? peer->ip6 : peer->ip;
		qp->peer_qpn = PAIR_QPN;
		qp->start_ns += p->now_ns;
		if (qp->stop_ns != NEVER_NS)
			qp->stop_ns += p->now_ns;
		if (nic_qp_params_check(qp, params_of(h), why, sizeof(why)) != 0)
			return false;
	}
	return f->n_qps > 0;
}

static void
want_live(unsigned int h, uint32_t id)
{
	const struct nic_qp_params *qp = &p->flow[id].params[h];

	p->host[h].wanted_live[id] = (struct nic_flow_update){
		.stopped = qp->stopped, .rate_cap_bps = qp->rate_cap_bps, .load_bps = qp->load_bps};
}

static void
add_flow(uint32_t id, const struct words *w)
{
	struct pair_flow *f = &p->flow[id];

	if (f->state[0] != ABSENT || f->state[1] != ABSENT || !describe(f, id, w))
		return;
	for (unsigned int h = 0; h < HOSTS; h++) {
		int64_t first = ranges_take(&p->host[h].numbers, f->n_qps, p->max_qps);

		if (first < 0) {
			if (h == 1)
				ranges_give(&p->host[0].numbers, f->first[0], f->n_qps);
			return;
		}
		f->first[h] = (uint32_t)first;
	}
	f->cut_short = false;
	f->added_ns = p->now_ns;
	memset(f->made_ns, 0, sizeof(f->made_ns));
	for (unsigned int i = 0; i < HOSTS; i++) {
		/* Who answers is told first. */
		unsigned int h = i == 0 ? 1 - f->from : f->from;
		struct pair_host *host = &p->host[h];

		f->params[h].peer_qpn = PAIR_QPN + f->first[1 - h];
		for (uint32_t k = 0; k < p->n_nodes; k++) {
			struct nic_flow_place at = place_of(f, h, k);
			int rc = nic_prepare_flow(host->node[k], &f->params[h], &at);

			life_must("add", rc == 0, "flow %u is not taken by host %u: %s", id, h,
				  strerror(-rc));
		}
		want_live(h, id);
		host->to_add[host->n_to_add++] = id;
		host->is_wanted = true;
		f->state[h] = WANTED;
		host_reload(h);
	}
}

static void
want_go(unsigned int h, uint32_t id)
{
	struct pair_host *host = &p->host[h];

	p->flow[id].state[h] = ENDING;
	host->to_remove[host->n_to_remove++] = id;
	host->is_wanted = true;
	host_reload(h);
}

static void
remove_flow(uint32_t id, bool responder_first)
{
	struct pair_flow *f = &p->flow[id];

	if (f->state[0] != THERE || f->state[1] != THERE)
		return;
	f->cut_short = responder_first;
	f->ended_ns = NEVER_NS;
	if (responder_first)
		want_go(1 - f->from, id);
	want_go(f->from, id);
}

static bool
is_free(unsigned int h, uint32_t id)
{
	bool all = !p->host[h].is_pending && !p->host[h].is_wanted;

	for (uint32_t k = 0; k < p->n_nodes; k++)
		all = all && nic_flow_is_free(p->host[h].node[k], id);
	return all;
}

/* Flows that end: the responder goes when the requester has, and then nobody knows them. */
static void
see_ends(void)
{
	for (uint32_t id = 0; id < FLOWS; id++) {
		struct pair_flow *f = &p->flow[id];
		unsigned int to = 1 - f->from;

		for (unsigned int h = 0; h < HOSTS; h++)
			if (f->state[h] == ENDING && is_free(h, id)) {
				f->state[h] = ENDED;
				f->ended_ns = p->now_ns;
			}
		/* What flies has arrived. */
		if (f->state[f->from] == ENDED && f->state[to] == THERE &&
		    p->now_ns > f->ended_ns + 2 * p->delay_ns + 100 * NS_PER_US)
			want_go(to, id);
		if (f->state[0] != ENDED || f->state[1] != ENDED)
			continue;
		watch_ended(id);
		for (unsigned int h = 0; h < HOSTS; h++) {
			watch_went(h, id);
			for (uint32_t k = 0; k < p->n_nodes; k++)
				nic_forget_flow(p->host[h].node[k], id);
			life_must("harness",
				  ranges_give(&p->host[h].numbers, f->first[h], f->n_qps) == 0,
				  "ranges");
			f->state[h] = ABSENT;
		}
	}
}

/* ---- steps ---- */

static void
set_flow_key(unsigned int h, const char *word)
{
	uint32_t id = (uint32_t)(word[4] - '0');
	const char *value = strchr(word, '=');
	struct nic_flow_update *live;

	/* One that is to come, or that leaves, has what the file says, or said. */
	if (id >= FLOWS || value == NULL || p->flow[id].state[h] != THERE)
		return;
	live = &p->host[h].wanted_live[id];
	value++;
	if (strncmp(word + 5, ".stopped=", 9) == 0)
		live->stopped = strcmp(value, "on") == 0;
	else if (strncmp(word + 5, ".rate_cap_bps=", 14) == 0)
		live->rate_cap_bps = life_number(value);
	else if (strncmp(word + 5, ".load_bps=", 10) == 0 &&
		 workload_is_open(&p->flow[id].params[h].work) && life_number(value) > 0)
		live->load_bps = life_number(value);
}

static void
do_set(const struct words *w)
{
	unsigned int h = (unsigned int)words_at(w, 1) & 1;
	struct nic_params params = p->host[h].wanted;

	for (unsigned int i = 2; i < w->n; i++)
		if (strncmp(w->word[i], "flow", 4) != 0)
			pair_set_key(&params, w->word[i], true);
	/* Together they may break a rule: the program refuses all of it. */
	if (!pair_params_are_good(&params))
		return;
	p->host[h].wanted = params;
	for (unsigned int i = 2; i < w->n; i++)
		if (strncmp(w->word[i], "flow", 4) == 0)
			set_flow_key(h, w->word[i]);
	p->host[h].is_wanted = true;
	host_reload(h);
}

static void
do_cable(const struct words *w)
{
	struct bad_cable *c = &p->cable[words_at(w, 1) & 1];

	c->lose_ppm = words_number(w, "lose", 0);
	c->twice_ppm = words_number(w, "twice", 0);
	c->late_ppm = words_number(w, "late", 0);
	c->late_ns = words_number(w, "by", 10000);
	c->mark_ppm = words_number(w, "mark", 0);
	c->salt = words_number(w, "salt", 1);
	c->frames = 0;
}

static struct rte_mbuf *
scripted_mbuf(unsigned int h)
{
	return rte_pktmbuf_alloc(p->host[h].pools[0].control);
}

static void
do_pause(const struct words *w)
{
	unsigned int h = (unsigned int)words_at(w, 1) & 1;
	struct rte_mbuf *m = p->down ? NULL : scripted_mbuf(1 - h);
	uint16_t quanta = (uint16_t)words_number(w, "quanta", 0xFFFF);
	bool pfc = p->host[h].first.flow_control == NIC_FLOW_PFC;

	if (m == NULL)
		return;
	nic_test_pause(m, p->host[1 - h].first.mac, quanta,
		       pfc ? (int)(words_number(w, "prios", 0xFF) & 0xFF) : NIC_TEST_LINK_PAUSE);
	push(h, m, p->now_ns);
}

static void
do_cnp(const struct words *w)
{
	unsigned int h = (unsigned int)words_at(w, 1) & 1;
	const struct pair_flow *f = &p->flow[words_number(w, "flow", 0) % FLOWS];
	uint32_t i = (uint32_t)words_number(w, "qp", 0);
	const struct nic_params *us = &p->host[h].first, *peer = &p->host[1 - h].first;
	bool v4 = f->params[h].peer_ip.version == 4;
	struct roce_path path = {
		.ip_version = v4 ? 4 : 6,
		.udp_sport = 50000,
		.dscp = 48,
		.ttl = 64,
		.pkey = PKEY_DEFAULT,
	};

	if (f->state[h] == ABSENT || p->down)
		return;
	i %= f->n_qps;
	memcpy(path.src_mac, peer->mac, 6);
	memcpy(path.dst_mac, us->mac, 6);
	memcpy(path.src_ip, v4 ? peer->ip.addr : peer->ip6.addr, 16);
	memcpy(path.dst_ip, v4 ? us->ip.addr : us->ip6.addr, 16);
	path.dest_qp = PAIR_QPN + f->first[h] + i;
	for (uint64_t n = words_number(w, "n", 1); n > 0; n--) {
		const struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
		struct rte_mbuf *m = scripted_mbuf(1 - h);

		if (m == NULL)
			return;
		rte_pktmbuf_append(m, (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
							   rte_pktmbuf_tailroom(m), &path, &fields,
							   NULL, 0));
		push(h, m, p->now_ns);
	}
}

static void
do_link(const struct words *w)
{
	bool up = w->n > 1 && strcmp(w->word[1], "up") == 0;

	p->silent = w->n > 1 && strcmp(w->word[1], "silent") == 0;
	if (p->down == !up)
		return;
	p->down = !up;
	if (p->down)
		lose_all();
	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < p->n_nodes; k++)
			nic_reset_pause(p->host[h].node[k], p->now_ns);
		for (unsigned int i = 0; i < TM_CLASSES; i++)
			p->host[h].paused_until_ns[i] = 0;
	}
	p->down_last_ns = p->now_ns;
}

/* Another set of QPs is traced; what was traced before can still be read. */
static void
do_trace(const struct words *w)
{
	unsigned int h = (unsigned int)words_at(w, 1) & 1;
	struct pair_host *host = &p->host[h];
	const struct pair_flow *f = &p->flow[words_number(w, "flow", 0) % FLOWS];
	uint32_t i = (uint32_t)words_number(w, "qp", 0), item;
	uint32_t slot = (uint32_t)words_number(w, "slot", 0) % TRACES;

	if (p->n_nodes > 1 || !nic_traces_are_set(host->node[0]) || f->state[h] != THERE ||
	    host->n_old_traces == 64)
		return;
	i %= f->n_qps;
	pair_node(h, f->first[h] + i, &item);
	for (uint32_t k = 0; k < TRACES; k++)
		if (host->trace[k] != NULL && host->trace[k]->index == item)
			return;
	if (host->trace[slot] != NULL)
		host->old_trace[host->n_old_traces++] = host->trace[slot];
	host->trace[slot] = nic_trace_create(item, 1 + (uint32_t)words_number(w, "rows", 15));
	host->traces = (struct nic_traces){0};
	for (uint32_t k = 0; k < TRACES; k++)
		if (host->trace[k] != NULL)
			nic_traces_add(&host->traces, host->trace[k]);
	nic_set_traces(host->node[0], &host->traces);
}

static void
do_step(const char *line)
{
	struct words w;
	unsigned int h;

	words_of(line, &w);
	h = (unsigned int)words_at(&w, 1) & 1;
	if (strcmp(w.word[0], "run") == 0)
		run(p->now_ns + words_at(&w, 1));
	else if (strcmp(w.word[0], "add") == 0)
		add_flow((uint32_t)words_at(&w, 1) % FLOWS, &w);
	else if (strcmp(w.word[0], "remove") == 0)
		remove_flow((uint32_t)words_at(&w, 1) % FLOWS, false);
	else if (strcmp(w.word[0], "cut") == 0)
		remove_flow((uint32_t)words_at(&w, 1) % FLOWS, true);
	else if (strcmp(w.word[0], "set") == 0)
		do_set(&w);
	else if (strcmp(w.word[0], "read") == 0)
		;
	else if (strcmp(w.word[0], "cable") == 0)
		do_cable(&w);
	else if (strcmp(w.word[0], "pause") == 0)
		do_pause(&w);
	else if (strcmp(w.word[0], "cnp") == 0)
		do_cnp(&w);
	else if (strcmp(w.word[0], "link") == 0)
		do_link(&w);
	else if (strcmp(w.word[0], "trace") == 0)
		do_trace(&w);
	else if (strcmp(w.word[0], "poll") == 0)
		for (uint64_t n = min_u64(words_at(&w, 2), 1000); n > 0; n--)
			give(h, (uint32_t)(n % p->n_nodes), NULL, 0);
	else if (strcmp(w.word[0], "drain") == 0 && p->n_nodes == 1)
		nic_set_drain_rate(p->host[h].node[0], words_at(&w, 2), p->now_ns);
	else if (strcmp(w.word[0], "storm") == 0 && p->n_nodes == 1)
		nic_set_pause_storm(p->host[h].node[0], w.n > 2 && strcmp(w.word[2], "on") == 0,
				    p->now_ns);
	see_ends();
	for (h = 0; h < HOSTS; h++)
		watch_read(h);
}

/* ---- the end: all that hinders is taken away, and everything has to come to rest ---- */

static void
set_min_rates(struct cc_params *params, uint64_t bps)
{
	const struct field_alias *alias;

	for (int i = CC_DCQCN + 1; i < CC_ALGORITHMS; i++) {
		const struct cc_ops *ops = cc_algorithms[i];
		const struct field *field;

		if (ops->min_rate_key == NULL)
			continue;
		field = field_find(ops->fields, *ops->n_fields, ops->min_rate_key, &alias);
		memcpy((char *)&params->of[CC_SLOT(i)] + field->offset, &bps, sizeof(bps));
	}
}

static void
be_kind(void)
{
	uint64_t fast_bps = p->speed_bps / 4;

	p->down = false;
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct pair_host *host = &p->host[h];

		p->cable[h] = (struct bad_cable){.salt = 1};
		for (uint32_t k = 0; k < p->n_nodes; k++) {
			nic_reset_pause(host->node[k], p->now_ns);
			if (p->n_nodes > 1)
				continue;
			nic_set_pause_storm(host->node[k], false, p->now_ns);
			nic_set_drain_rate(host->node[k], 0, p->now_ns);
		}
		host->wanted.rp.rp_max_rate_bps = p->speed_bps;
		host->wanted.rp.rp_min_rate_bps = fast_bps;
		set_min_rates(&host->wanted.cc_params, fast_bps);
		host->wanted.min_rnr_timer = 1;
		for (uint32_t id = 0; id < FLOWS; id++)
			if (p->flow[id].state[h] == THERE)
				host->wanted_live[id].rate_cap_bps = 0;
		if (!pair_params_are_good(&host->wanted))
			host->wanted.rp = host->first.rp;
		host->is_wanted = true;
		host_reload(h);
	}
}

static void
end(void)
{
	uint64_t most_ns = p->now_ns + 30 * NS_PER_SEC;
	bool rest = false;

	life_line = "(the end)";
	p->ending = true;
	p->calls = 0;
	be_kind();
	/* In force before anybody leaves. */
	run(p->now_ns + NS_PER_MS);
	while (!rest) {
		rest = true;
		for (uint32_t id = 0; id < FLOWS; id++) {
			remove_flow(id, false);
			for (unsigned int h = 0; h < HOSTS; h++)
				rest = rest && p->flow[id].state[h] == ABSENT;
		}
		run(p->now_ns + NS_PER_MS);
		see_ends();
		for (unsigned int h = 0; h < HOSTS; h++)
			for (uint32_t id = 0; id < FLOWS; id++)
				life_must("rest",
					  p->now_ns < most_ns || p->flow[id].state[h] == ABSENT,
					  "flow %u does not come to rest at host %u within 30 s",
					  id, h);
	}
	run(p->now_ns + NS_PER_MS);
	watch_end();
	lose_all();
}

static void
begin(const struct script *s)
{
	struct words w;
	uint32_t mbufs;

	words_of(s->line[0], &w);
	memset(p, 0, sizeof(*p));
	p->n_nodes = (uint32_t)min_u64(words_number(&w, "nodes", 1), MOST_NODES);
	p->n_nodes = p->n_nodes == 0 ? 1 : p->n_nodes;
	p->max_qps = (uint32_t)min_u64(words_number(&w, "qps", 24), MOST_QPS);
	p->max_qps = p->max_qps < MOST_NODES ? MOST_NODES : p->max_qps;
	p->speed_bps = max_u64(words_number(&w, "speed", 10 * GBPS), 10 * MBPS);
	p->delay_ns = words_number(&w, "delay", 1500);
	p->most_calls = words_number(&w, "budget", 30000);
	p->salt = words_number(&w, "salt", 1);
	mbufs = (uint32_t)min_u64(max_u64(words_number(&w, "mbufs", 512), 4), 1024);
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct nic_params *first = &p->host[h].first;

		nic_test_params(first, h);
		first->link_speed_bps = p->speed_bps;
		first->max_qps = p->max_qps;
		p->cable[h].salt = 1;
	}
	for (unsigned int i = 1; i < s->n; i++) {
		struct nic_params params;
		unsigned int h;

		words_of(s->line[i], &w);
		if (strcmp(w.word[0], "nic") != 0)
			continue;
		h = (unsigned int)words_at(&w, 1) & 1;
		params = p->host[h].first;
		for (unsigned int k = 2; k < w.n; k++)
			pair_set_key(&params, w.word[k], false);
		if (pair_params_are_good(&params))
			p->host[h].first = params;
	}
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct nic_params *first = &p->host[h].first;

		if (first->rp.rp_max_rate_bps == 0)
			first->rp.rp_max_rate_bps = p->speed_bps;
		host_create(h, mbufs);
	}
}

static uint64_t
live(const struct script *s)
{
	begin(s);
	life_take_steps(s, do_step);
	end();
	for (unsigned int h = 0; h < HOSTS; h++)
		host_destroy(h);
	for (unsigned int h = 0; h < HOSTS; h++)
		for (uint32_t k = 0; k < p->n_nodes; k++) {
			struct nic_pools *pools = &p->host[h].pools[k];

			life_must("mbufs",
				  rte_mempool_in_use_count(pools->data) == 0 &&
					  rte_mempool_in_use_count(pools->control) == 0,
				  "%u data and %u control mbufs of host %u are lost",
				  rte_mempool_in_use_count(pools->data),
				  rte_mempool_in_use_count(pools->control), h);
			nic_test_pools_free(pools);
		}
	return p->digest;
}

const struct life_kind life_pair = {
	.name = "pair",
	.help = "two NICs on a bad cable",
	.make = pair_make,
	.live = live,
};
