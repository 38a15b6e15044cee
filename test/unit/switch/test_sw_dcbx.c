/* SPDX-License-Identifier: BSD-3-Clause */
/* LLDP through the switch: consumed, answered, and PFC in force only where the peer agrees. */
#include "unit/switch/sw_test.h"

#include <stdio.h>

#include "base/numbers/array.h"
#include "unit/chance.h"

#include "switch/control/event_log.h"
#include "switch/monitor/sw_dcbx.h"
#include "wire/link/lldp.h"

static struct bench *
bench_of(int flow_control)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, 2);
	b->params.lldp.lldp = true;
	b->params.ports[1].flow_control = flow_control;
	bench_start_learnt(b);
	return b;
}

static struct lldp_info
a_peer(uint8_t prios)
{
	return (struct lldp_info){
		.src_mac = {2, 0, 0, 0, 0, 9},
		.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 6, .id = {2, 0, 0, 0, 0, 9}},
		.port = {.subtype = LLDP_PORT_IFNAME, .len = 4, .id = "eth0"},
		.ttl_s = 120,
		.dcbx = {.present = 1u << DCBX_PFC, .pfc = {.capability = 8, .enable = prios}},
	};
}

/* A frame of the peer's agent for 01:80:C2:00:00:LAST. */
static void
hear_agent(struct bench *b, uint16_t port, uint8_t last, const struct lldp_info *peer,
	   uint64_t now_ns)
{
	uint8_t frame[LLDP_MAX_BYTES];
	uint16_t n = (uint16_t)lldp_build(frame, peer);

	frame[5] = last;
	give_bytes(b, port, frame, n, now_ns);
	b->sw->ops->control(b->sw, now_ns);
}

static void
hear(struct bench *b, uint16_t port, uint8_t prios, uint64_t now_ns)
{
	struct lldp_info peer = a_peer(prios);

	hear_agent(b, port, 0x0E, &peer, now_ns);
}

/* Take LLDP frames that wait, all with this time to live. */
static unsigned int
take_ttl(struct bench *b, uint16_t port, uint16_t ttl_s, uint64_t now_ns)
{
	struct lldp_info info;
	struct rte_mbuf *m;
	unsigned int n = 0;

	for (; (m = take(b, port, now_ns)) != NULL; now_ns += 1000, n++) {
		assert_int_equal(
			lldp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &info),
			LLDP_OK);
		assert_memory_equal(info.src_mac, b->params.ports[port].mac, 6);
		assert_int_equal(info.ttl_s, ttl_s);
		/* 802.1AB: the two IDs and the time to live are all that a shutdown frame has. */
		assert_int_equal(info.dcbx.present == 0 && m->data_len == 60, ttl_s == 0);
		sent(m);
	}
	return n;
}

static unsigned int
take_lldp(struct bench *b, uint16_t port, uint64_t now_ns)
{
	return take_ttl(b, port, 121, now_ns);
}

/* Does a pause of priority 3 hold data at this time? It is for 838 us. */
static bool
obeys(struct bench *b, uint64_t now_ns)
{
	struct rte_mbuf *m;

	give_pfc(b, 1, 1u << 3, 65535, now_ns);
	give(b, 0, make_data(b, 0, 1, 1), now_ns);
	m = take(b, 1, now_ns);
	if (m == NULL) {
		give_pfc(b, 1, 1u << 3, 0, now_ns);
		sent(take(b, 1, now_ns));
		return true;
	}
	sent(m);
	return false;
}

TEST(negotiated_pfc_is_off_until_the_peer_agrees_and_when_it_is_gone)
{
	struct bench *b = bench_of(SW_FLOW_AUTO);
	struct sw_event e;

	b->sw->ops->control(b->sw, 0);
	assert_int_equal(take_lldp(b, 1, 0), 1);
	assert_false(obeys(b, NS_PER_MS));
	hear(b, 1, 0x18, 100 * NS_PER_MS);
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_DCBX_MISMATCH);
	assert_int_equal(e.ours, 0x08);
	assert_int_equal(e.theirs, 0x18);
	assert_int_equal(take_lldp(b, 1, 100 * NS_PER_MS), 1);
	assert_false(obeys(b, 101 * NS_PER_MS));
	hear(b, 1, 0x08, 200 * NS_PER_MS);
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_DCBX_AGREED);
	assert_true(obeys(b, 201 * NS_PER_MS));
	/* Not heard again in its 120 s. */
	b->sw->ops->control(b->sw, 121 * NS_PER_SEC);
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_DCBX_NO_NEIGHBOUR);
	assert_int_equal(take_lldp(b, 1, 121 * NS_PER_SEC), 1);
	assert_false(obeys(b, 122 * NS_PER_SEC));
	assert_int_equal(all_drops(b), 0);
	take_lldp(b, 0, 122 * NS_PER_SEC);
	bench_stop(b);
}

/*
 * 802.1AB 7.1 and 9.2: an agent for each group address, with neighbours of its own. Whatever the
 * peer's other agents say, DCBX keeps the nearest bridge's neighbour.
 */
TEST(other_agents_of_the_peer_change_nothing)
{
	static const uint8_t others[] = {0x00, 0x03};
	struct bench *b = bench_of(SW_FLOW_AUTO);
	struct lldp_info says[] = {a_peer(0x18), a_peer(0x08), a_peer(0x08), a_peer(0x08)};
	struct sw_event e;
	uint64_t now_ns = 0, n = 0;

	says[1].dcbx = (struct dcbx_tlvs){0}; /* no DCBX */
	says[2].ttl_s = 0;                    /* a shutdown */
	says[3].chassis.id[5] = 1;            /* another station */
	hear(b, 1, 0x08, 0);
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_DCBX_AGREED);
	for (unsigned int i = 0; i < ARRAY_LEN(says); i++) {
		for (unsigned int k = 0; k < ARRAY_LEN(others); k++) {
			now_ns += 100 * NS_PER_MS;
			hear_agent(b, 1, others[k], &says[i], now_ns);
			assert_false(sw_event_next(b->sw, &e));
			assert_int_equal(drops(b, 1, SW_DROP_RESERVED_ADDRESS), ++n);
		}
	}
	assert_int_equal(sw_dcbx(b->sw, 1)->stats.rx_frames, 1);
	take_lldp(b, 1, now_ns);
	take_lldp(b, 0, now_ns);
	bench_stop(b);
}

/* The LLDP frame that waits at a port. */
static struct lldp_info
said(struct bench *b, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	struct lldp_info info;

	assert_non_null(m);
	assert_int_equal(lldp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &info),
			 LLDP_OK);
	sent(m);
	return info;
}

static void
random_maps(struct qos_map_params *q, struct prng *r)
{
	char why[256];

	do {
		q->trust = (int)any(r, QOS_TRUST_DSCP, QOS_TRUST_PCP);
		q->pfc_enable = (uint8_t)any(r, 0, 255) & (uint8_t)any(r, 0, 255);
		for (unsigned int i = 0; i < TM_DSCPS; i++)
			q->dscp_to_tc_map[i] = (uint8_t)any(r, 0, 7);
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			q->dot1p_to_tc_map[i] = (uint8_t)any(r, 0, 7);
			q->tc_to_queue_map[i] = (uint8_t)(chance(r, 80) ? i : any(r, 0, 7));
			q->tc_to_priority_group_map[i] =
				(uint8_t)(chance(r, 80) ? i : any(r, 0, 7));
			q->pfc_priority_to_queue_map[i] =
				(uint8_t)(chance(r, 80) ? i : any(r, 0, 7));
		}
	} while (qos_map_params_check(q, why, sizeof(why)) != 0);
}

/* What a willing NIC makes of our TLVs: where its lossless traffic goes, and what a pause stops. */
static void
check_said(const struct lldp_info *info, const struct qos_map_params *q)
{
	const uint8_t *tc_of = info->dcbx.ets_conf.prio_tc;
	bool queue_is_lossless[TM_CLASSES] = {false};
	bool is_advertised[TM_DSCPS] = {false};
	unsigned int n_lossless = 0;

	assert_memory_equal(tc_of, info->dcbx.ets_reco.prio_tc, TM_CLASSES);
	for (uint8_t tc = 0; tc < TM_CLASSES; tc++) {
		uint8_t pg = q->tc_to_priority_group_map[tc];

		if (!(q->pfc_enable >> pg & 1))
			continue;
		assert_int_equal(tc_of[pg], q->tc_to_queue_map[tc]);
		n_lossless += !queue_is_lossless[q->tc_to_queue_map[tc]];
		queue_is_lossless[q->tc_to_queue_map[tc]] = true;
	}
	for (uint8_t prio = 0; prio < TM_CLASSES && n_lossless < TM_CLASSES; prio++) {
		if (q->trust == QOS_TRUST_DSCP && !(q->pfc_enable >> prio & 1))
			assert_false(queue_is_lossless[tc_of[prio]]);
	}
	for (unsigned int i = 0; i < info->dcbx.n_apps; i++) {
		const struct dcbx_app *app = &info->dcbx.apps[i];

		assert_true(q->pfc_enable >> app->prio & 1);
		if (app->selector != DCBX_DSCP)
			continue;
		assert_int_equal(q->trust, QOS_TRUST_DSCP);
		assert_int_equal(app->prio,
				 q->tc_to_priority_group_map[q->dscp_to_tc_map[app->protocol]]);
		is_advertised[app->protocol] = true;
	}
	for (unsigned int dscp = 0; dscp < TM_DSCPS && q->trust == QOS_TRUST_DSCP; dscp++) {
		uint8_t pg = q->tc_to_priority_group_map[q->dscp_to_tc_map[dscp]];

		assert_int_equal(is_advertised[dscp], q->pfc_enable >> pg & 1);
	}
}

TEST(a_willing_peer_gets_lossless_traffic_classes_of_their_own)
{
	struct bench *b = &bench;
	struct prng r;

	prng_seed(&r, 16, 0);
	for (unsigned int i = 0; i < 300; i++) {
		struct lldp_info info;

		bench_defaults(&b->params, 2);
		b->params.lldp.lldp = true;
		if (i > 0)
			random_maps(&b->params.qos, &r);
		else /* every DSCP is lossless: 65 entries */
			memset(b->params.qos.dscp_to_tc_map, 3, TM_DSCPS);
		bench_start(b);
		b->sw->ops->control(b->sw, 0);
		info = said(b, 1, 0);
		check_said(&info, &b->params.qos);
		said(b, 0, 0);
		bench_stop(b);
	}
}

TEST(a_port_says_its_name_and_what_the_system_is)
{
	struct bench *b = &bench;
	struct lldp_info info;
	struct sw_params *p = &b->params;

	bench_defaults(p, 2);
	p->lldp.lldp = true;
	snprintf(p->ports[1].name, sizeof(p->ports[1].name), "Ethernet1/2");
	snprintf(p->system_name, sizeof(p->system_name), "leaf7");
	snprintf(p->system_description, sizeof(p->system_description), "a switch");
	bench_start(b);
	b->sw->ops->control(b->sw, 0);
	info = said(b, 1, 0);
	assert_int_equal(info.port.subtype, LLDP_PORT_IFNAME);
	assert_int_equal(info.port.len, strlen("Ethernet1/2"));
	assert_memory_equal(info.port.id, "Ethernet1/2", info.port.len);
	assert_memory_equal(info.port_description.text, "port1", info.port_description.len);
	assert_memory_equal(info.system_name.text, "leaf7", info.system_name.len);
	assert_memory_equal(info.system_description.text, "a switch", info.system_description.len);
	assert_int_equal(info.system_name.len, 5);
	assert_int_equal(info.system_description.len, 8);
	assert_int_equal(info.capabilities, LLDP_BRIDGE | LLDP_ROUTER);
	assert_int_equal(info.enabled, LLDP_BRIDGE);
	info = said(b, 0, 0);
	assert_int_equal(info.port.len, strlen("port0"));
	assert_memory_equal(info.port.id, "port0", info.port.len);
	bench_stop(b);
}

TEST(pfc_that_is_on_stays_on_and_the_mismatch_is_said)
{
	struct bench *b = bench_of(SW_FLOW_PFC);
	struct sw_event e;

	hear(b, 1, 0x18, 0);
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_DCBX_MISMATCH);
	assert_int_equal(take_lldp(b, 1, 0), 1);
	assert_true(obeys(b, NS_PER_MS));
	take_lldp(b, 0, 2 * NS_PER_MS);
	bench_stop(b);
}

TEST(more_frames_than_boxes_are_dropped_under_their_own_name)
{
	struct bench *b = bench_of(SW_FLOW_PFC);
	uint8_t frame[60] = {0x01, 0x80, 0xC2, 0, 0, 0x0E, 2, 0, 0, 0, 0, 9, 0x88, 0xCC};

	for (unsigned int i = 0; i < 20; i++)
		give_bytes(b, 1, frame, sizeof(frame), 0);
	assert_int_equal(drops(b, 1, SW_DROP_CONTROL_BUSY), 16);
	b->sw->ops->control(b->sw, 0);
	assert_int_equal(sw_dcbx(b->sw, 1)->stats.rx_malformed, 4);
	take_lldp(b, 0, 0);
	take_lldp(b, 1, 0);
	bench_stop(b);
}

/* Port 0 sends more LLDP than anybody looks at, without a pause; the peer of port 1 is heard. */
TEST(flood_of_lldp_takes_nothing_from_other_ports)
{
	static const uint8_t broken[60] = {0x01, 0x80, 0xC2, 0, 0, 0x0E, 2,
					   0,    0,    0,    0, 5, 0x88, 0xCC};
	struct bench *b = bench_of(SW_FLOW_AUTO);
	uint64_t now_ns = 0, heard = 0;

	for (unsigned int second = 0; second < 300; second++) {
		for (unsigned int i = 0; i < 20; i++, now_ns += 50 * NS_PER_MS) {
			for (unsigned int k = 0; k < 100; k++)
				give_bytes(b, 0, broken, sizeof(broken), now_ns);
			if (second % 30 == 0 && i == 10) {
				hear(b, 1, 1u << 3, now_ns);
				heard++;
			}
			b->sw->ops->control(b->sw, now_ns);
			take_lldp(b, 0, now_ns);
			take_lldp(b, 1, now_ns);
		}
		if (second > 0)
			assert_int_equal(sw_dcbx(b->sw, 1)->pfc_prios, 1u << 3);
	}
	assert_int_equal(sw_dcbx(b->sw, 1)->stats.rx_frames, heard);
	assert_int_equal(drops(b, 1, SW_DROP_CONTROL_BUSY), 0);
	assert_true(drops(b, 0, SW_DROP_CONTROL_BUSY) > 0);
	bench_stop(b);
}

/* Ports 1 and 2 send nothing and hold the tagged copies of what port 0 floods. */
TEST(flood_that_gets_tags_leaves_lldp_its_frames)
{
	struct bench *b = &bench;
	struct rte_mempool *few = bench_pool("few", 8, 2048);
	struct rte_mempool *own = bench_pool("own", 8, LLDP_MAX_BYTES);
	const struct sw_pools pools = {.frames = b->frames,
				       .clones = b->clones,
				       .own = own,
				       .copies = few,
				       .mbufs = 2 * BENCH_FRAMES};
	uint64_t none;

	bench_defaults(&b->params, 3);
	b->params.lldp.lldp = true;
	b->params.vlan_filtering = true;
	b->params.ports[0].access_vlan = 10;
	strcpy(b->params.ports[1].tagged_vlans, "10");
	strcpy(b->params.ports[2].tagged_vlans, "10");
	sw_params_resolve(&b->params);
	b->sw = sw_create(&b->params, &pools);
	assert_non_null(b->sw);
	flood_until_empty(b, few);
	none = drops(b, 1, SW_DROP_NO_MBUF);
	assert_true(none > 0);
	assert_int_equal(rte_mempool_avail_count(own), 8);
	b->sw->ops->control(b->sw, 0);
	b->sw->ops->rx(b->sw, 0, NULL, 0, 0);
	assert_int_equal(rte_mempool_avail_count(own), 5);
	assert_int_equal(drops(b, 1, SW_DROP_NO_MBUF), none);
	bench_stop(b);
	assert_int_equal(rte_mempool_avail_count(few), 8);
	assert_int_equal(rte_mempool_avail_count(own), 8);
	pkt_pool_destroy(few);
	pkt_pool_destroy(own);
}

TEST(frame_heard_before_the_link_went_down_makes_no_neighbour)
{
	struct bench *b = bench_of(SW_FLOW_AUTO);
	uint8_t frame[LLDP_MAX_BYTES];
	struct lldp_info peer = {
		.src_mac = {2, 0, 0, 0, 0, 9},
		.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 6, .id = {2, 0, 0, 0, 0, 9}},
		.port = {.subtype = LLDP_PORT_IFNAME, .len = 4, .id = "eth0"},
		.ttl_s = 120,
		.dcbx = {.present = 1u << DCBX_PFC, .pfc = {.capability = 8, .enable = 0x08}},
	};
	uint16_t len = (uint16_t)lldp_build(frame, &peer);

	give_bytes(b, 1, frame, len, 0);
	sw_set_link(b->sw, 1, false, 0);
	b->sw->ops->control(b->sw, 0);
	assert_int_equal(sw_dcbx(b->sw, 1)->pfc_state, DCBX_NO_NEIGHBOUR);
	/* Down and up between two looks at the boxes. */
	sw_set_link(b->sw, 1, true, NS_PER_MS);
	give_bytes(b, 1, frame, len, NS_PER_MS);
	sw_set_link(b->sw, 1, false, NS_PER_MS);
	sw_set_link(b->sw, 1, true, NS_PER_MS);
	b->sw->ops->control(b->sw, NS_PER_MS);
	assert_int_equal(sw_dcbx(b->sw, 1)->pfc_state, DCBX_NO_NEIGHBOUR);
	take_lldp(b, 0, 2 * NS_PER_MS);
	take_lldp(b, 1, 2 * NS_PER_MS);
	bench_stop(b);
}

/* The data path finds a new link state and a frame to send at the same time. */
TEST(frame_meets_the_link_as_it_is_now)
{
	struct bench *b = bench_of(SW_FLOW_PFC);

	b->sw->ops->control(b->sw, 0);
	sw_set_link(b->sw, 1, false, 0);
	assert_int_equal(take_lldp(b, 1, 0), 0);
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 1);
	sw_set_link(b->sw, 1, true, NS_PER_MS);
	b->sw->ops->control(b->sw, NS_PER_MS);
	assert_int_equal(take_lldp(b, 1, NS_PER_MS), 1);
	assert_int_equal(all_drops(b), 1);
	take_lldp(b, 0, 2 * NS_PER_MS);
	take_lldp(b, 1, 2 * NS_PER_MS);
	bench_stop(b);
}

/* Put b->params, as the test has changed them, in force. */
static void
reload(struct bench *b, uint64_t now_ns)
{
	struct sw_forwarding *next;
	char why[256];

	sw_params_resolve(&b->params);
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), 0);
	assert_int_equal(sw_reload_prepare(b->sw, &b->params, &next, why, sizeof(why)), 0);
	sw_reload(b->sw, &b->params, next, now_ns);
	b->sw->ops->rx(b->sw, 0, NULL, 0, now_ns);
	b->sw->ops->control(b->sw, now_ns);
	assert_true(sw_reload_settle(b->sw));
}

TEST(lldp_falls_silent_speaks_again_and_follows_its_interval)
{
	struct bench *b = bench_of(SW_FLOW_PFC);
	struct rte_mbuf *m;

	b->sw->ops->control(b->sw, 0);
	hear(b, 1, 0x08, 100 * NS_PER_MS);
	assert_true(sw_dcbx(b->sw, 1)->has_peer);
	take_lldp(b, 0, 200 * NS_PER_MS);
	take_lldp(b, 1, 200 * NS_PER_MS);
	b->params.lldp.lldp = false;
	reload(b, NS_PER_SEC);
	assert_false(sw_dcbx(b->sw, 1)->has_peer);
	/* Its peers forget it at once. */
	assert_int_equal(take_ttl(b, 0, 0, NS_PER_SEC), 1);
	assert_int_equal(take_ttl(b, 1, 0, NS_PER_SEC), 1);
	hear(b, 1, 0x08, 2 * NS_PER_SEC);
	assert_int_equal(drops(b, 1, SW_DROP_RESERVED_ADDRESS), 1);
	b->sw->ops->control(b->sw, 100 * NS_PER_SEC);
	assert_int_equal(take_lldp(b, 0, 100 * NS_PER_SEC), 0);
	assert_int_equal(take_lldp(b, 1, 100 * NS_PER_SEC), 0);
	b->params.lldp.lldp = true;
	reload(b, 200 * NS_PER_SEC);
	assert_int_equal(take_lldp(b, 0, 200 * NS_PER_SEC), 1);
	assert_int_equal(take_lldp(b, 1, 200 * NS_PER_SEC), 1);
	/* The next was due in 30 s. */
	b->params.lldp.lldp_tx_interval_ns = 5 * NS_PER_SEC;
	reload(b, 201 * NS_PER_SEC);
	b->sw->ops->control(b->sw, 206 * NS_PER_SEC);
	for (uint16_t port = 0; port < 2; port++) {
		m = take(b, port, 206 * NS_PER_SEC);
		assert_non_null(m);
		sent(m);
		assert_null(take(b, port, 207 * NS_PER_SEC));
	}
	bench_stop(b);
}

TEST(neighbours_hear_that_the_switch_ends)
{
	struct bench *b = bench_of(SW_FLOW_PFC);
	uint64_t now_ns = NS_PER_SEC;

	b->sw->ops->control(b->sw, 0);
	sw_set_link(b->sw, 0, false, 0);
	/* The first frames are still to be sent: the last ones come after them. */
	assert_true(sw_dcbx_leave(b->sw, now_ns));
	assert_int_equal(take_lldp(b, 1, now_ns), 1);
	now_ns += NS_PER_MS;
	b->sw->ops->control(b->sw, now_ns);
	assert_true(sw_dcbx_leave(b->sw, now_ns));
	assert_int_equal(take_ttl(b, 1, 0, now_ns), 1);
	assert_false(sw_dcbx_leave(b->sw, now_ns));
	b->sw->ops->control(b->sw, 100 * NS_PER_SEC);
	assert_int_equal(take_ttl(b, 1, 0, 100 * NS_PER_SEC), 0);
	bench_stop(b);
	/* Without LLDP there is nothing to wait for. */
	bench_defaults(&b->params, 2);
	bench_start_learnt(b);
	assert_false(sw_dcbx_leave(b->sw, 0));
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
