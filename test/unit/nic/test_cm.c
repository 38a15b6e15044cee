/* SPDX-License-Identifier: BSD-3-Clause */
/* Two connection managers and the messages between them, in virtual time: as they should be, lost,
 * repeated and late. */
#include <string.h>

#include "unit/cases.h"
#include "unit/chance.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/cm/cm.h"

#define TIMEOUT_CODE 14u
#define TIMEOUT_NS (4096ull << TIMEOUT_CODE)
#define RETRIES 5u
#define CONNECTIONS 8u
#define MOST 4096u

struct flight {
	uint64_t due_ns;
	int to;
	struct cm_msg msg;
};

static struct end {
	int self;
	struct cm *cm;
	struct cm_stats stats;
	struct cm_event last;
	uint32_t ids[CONNECTIONS]; /* of each slot, the last one seen */
	unsigned int n[4];         /* events, by enum cm_happened */
	bool accepts;
} ends[2];

static struct flight flights[MOST];
static unsigned int n_flights;
static uint64_t now_ns;
static struct prng r;
static unsigned int lose_pct, repeat_pct;
static uint64_t late_ns;
static uint16_t lose_once; /* attribute of a message to lose; 0: none */

static const struct field_ip ip[2] = {{.version = 4, .addr = {10, 0, 0, 1}},
				      {.version = 4, .addr = {10, 0, 0, 2}}};

static void
put(int to, const struct cm_msg *msg)
{
	assert_true(n_flights < MOST);
	flights[n_flights++] =
		(struct flight){now_ns + 1000 + (late_ns > 0 ? any(&r, 0, late_ns) : 0), to, *msg};
}

static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *msg)
{
	const struct end *e = arg;

	assert_memory_equal(to->ip.addr, ip[!e->self].addr, 4);
	if (msg->attribute == lose_once) {
		lose_once = 0;
		return;
	}
	if (chance(&r, lose_pct))
		return;
	put(!e->self, msg);
	if (chance(&r, repeat_pct))
		put(!e->self, msg);
}

static enum cm_reason
on_offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	const struct end *e = arg;

	*own = (struct cm_end){.qpn = 1000 + v->other.qpn, .psn = 9};
	return e->accepts ? (enum cm_reason)0 : CM_REASON_CONSUMER;
}

static void
create(int i, uint32_t key)
{
	const struct cm_params params = {.max_connections = CONNECTIONS,
					 .response_timeout = TIMEOUT_CODE,
					 .max_retries = RETRIES,
					 .ip = ip[i],
					 .key.k = {key, key << 20}};

	ends[i] = (struct end){.self = i, .accepts = true};
	ends[i].cm = cm_create(&params, &ends[i].stats,
			       &(struct cm_ops){.send = on_send, .offer = on_offer}, &ends[i]);
	assert_non_null(ends[i].cm);
}

static int
setup(void **state)
{
	(void)state;
	n_flights = 0;
	now_ns = 1;
	lose_pct = repeat_pct = 0;
	lose_once = 0;
	late_ns = 0;
	prng_seed(&r, 7, 0);
	create(0, 1);
	create(1, 2);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	cm_destroy(ends[0].cm);
	cm_destroy(ends[1].cm);
	return 0;
}

static void
take_events(struct end *e)
{
	struct cm_event event;

	while (cm_next_event(e->cm, &event)) {
		const struct cm_end own = {.qpn = 50 + cm_slot(event.id), .psn = 9};

		e->n[event.what]++;
		e->last = event;
		e->ids[cm_slot(event.id)] = event.id;
		if (event.what == CM_REQUESTED && e->accepts)
			cm_accept(e->cm, event.id, &own, now_ns);
		else if (event.what == CM_REQUESTED)
			cm_reject(e->cm, event.id, CM_REASON_CONSUMER, now_ns);
		else if (event.what == CM_REPLIED)
			cm_ready(e->cm, event.id);
	}
}

static void
deliver_due(void)
{
	for (unsigned int i = 0; i < n_flights;) {
		struct flight f = flights[i];
		const struct cm_peer from = {.ip = ip[!f.to]};

		if (f.due_ns > now_ns) {
			i++;
			continue;
		}
		memmove(&flights[i], &flights[i + 1], (--n_flights - i) * sizeof(f));
		cm_on_message(ends[f.to].cm, &from, CM_OK, &f.msg, now_ns);
		take_events(&ends[f.to]);
	}
}

/* Run until this time, or until nothing is due. */
static void
run(uint64_t until_ns)
{
	for (;;) {
		uint64_t next_ns = NEVER_NS;

		deliver_due();
		for (int i = 0; i < 2; i++) {
			cm_run(ends[i].cm, now_ns);
			take_events(&ends[i]);
			if (cm_next_ns(ends[i].cm) < next_ns)
				next_ns = cm_next_ns(ends[i].cm);
		}
		for (unsigned int i = 0; i < n_flights; i++)
			if (flights[i].due_ns < next_ns)
				next_ns = flights[i].due_ns;
		if (next_ns >= until_ns)
			break;
		now_ns = next_ns > now_ns ? next_ns : now_ns + 1;
	}
	if (until_ns != NEVER_NS)
		now_ns = until_ns;
}

static uint32_t
connect_to(uint32_t qpn)
{
	const struct cm_peer to = {.ip = ip[1]};
	const struct cm_terms terms = {
		.port = 7471, .mtu_code = 3, .retry_cnt = 7, .ack_timeout = TIMEOUT_CODE};
	const struct cm_end own = {.qpn = qpn, .psn = 5, .responder_resources = 4};

	uint32_t id = cm_connect(ends[0].cm, &to, &terms, &own, now_ns);

	if (id != CM_NONE)
		ends[0].ids[cm_slot(id)] = id;
	return id;
}

static enum cm_state
state_of(int end, uint32_t id)
{
	struct cm_view v;

	return cm_read(ends[end].cm, id, &v) ? v.state : CM_FREE;
}

TEST(connection_opens_carries_what_both_said_and_closes)
{
	uint32_t c = connect_to(40);
	struct cm_view v;

	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(state_of(0, c), CM_ESTABLISHED);
	assert_int_equal(ends[1].n[CM_REQUESTED] + ends[1].n[CM_CONNECTED], 2);
	assert_true(cm_read(ends[1].cm, ends[1].last.id, &v));
	assert_int_equal(v.state, CM_ESTABLISHED);
	assert_int_equal(v.other.qpn, 40);
	assert_int_equal(v.other.psn, 5);
	assert_int_equal(v.other.responder_resources, 4);
	assert_int_equal(v.terms.port, 7471);
	assert_int_equal(v.terms.mtu_code, 3);
	assert_true(cm_read(ends[0].cm, c, &v));
	assert_int_equal(v.other.qpn, 50 + cm_slot(ends[1].last.id));
	cm_disconnect(ends[1].cm, ends[1].last.id, now_ns);
	run(NEVER_NS);
	assert_int_equal(ends[0].last.what, CM_ENDED);
	assert_int_equal(ends[0].last.cause, CM_BY_PEER);
	assert_int_equal(ends[1].last.cause, CM_BY_US);
	assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
	/* REQ, RTU, DREP; REP, DREQ. Nothing twice. */
	assert_int_equal(ends[0].stats.cm_messages_sent, 3);
	assert_int_equal(ends[1].stats.cm_messages_sent, 2);
	assert_int_equal(ends[0].stats.cm_retries + ends[1].stats.cm_retries, 0);
}

TEST(refusal_comes_back_with_its_reason)
{
	ends[1].accepts = false;
	connect_to(40);
	run(NEVER_NS);
	assert_int_equal(ends[0].last.what, CM_ENDED);
	assert_int_equal(ends[0].last.cause, CM_BY_REJECT);
	assert_int_equal(ends[0].last.reason, CM_REASON_CONSUMER);
	assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
}

TEST(peer_that_is_silent_is_given_up_after_the_retries)
{
	uint64_t began_ns = now_ns;

	lose_pct = 100;
	connect_to(40);
	run(NEVER_NS);
	assert_int_equal(ends[0].last.what, CM_ENDED);
	assert_int_equal(ends[0].last.cause, CM_BY_TIMEOUT);
	assert_int_equal(ends[0].stats.cm_retries, RETRIES);
	assert_true(now_ns - began_ns <= (RETRIES + 1) * TIMEOUT_NS);
	assert_int_equal(cm_count(ends[0].cm), 0);
}

TEST(any_message_may_be_lost_once)
{
	static const uint16_t attributes[] = {CM_REQ, CM_REP, CM_RTU, CM_DREQ, CM_DREP};

	for (unsigned int i = 0; i < ARRAY_LEN(attributes); i++) {
		uint64_t retries = ends[0].stats.cm_retries + ends[1].stats.cm_retries;
		uint32_t id;

		lose_once = attributes[i];
		id = connect_to(40 + i);
		run(now_ns + 3 * TIMEOUT_NS);
		assert_int_equal(state_of(0, id), CM_ESTABLISHED);
		assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
		cm_disconnect(ends[0].cm, id, now_ns);
		run(NEVER_NS);
		assert_int_equal(lose_once, 0);
		/* Without a REP, the timers of both ends go off. */
		retries = ends[0].stats.cm_retries + ends[1].stats.cm_retries - retries;
		assert_int_equal(retries, attributes[i] == CM_REP ? 2 : 1);
		assert_int_equal(ends[0].last.cause, CM_BY_US);
		assert_int_equal(ends[1].last.cause, CM_BY_PEER);
		assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
	}
}

/* Whoever acts on old news must not hit the next connection of the slot. */
TEST(id_of_a_connection_that_is_no_more_does_nothing)
{
	uint32_t first = connect_to(40), second;

	cm_disconnect(ends[0].cm, first, now_ns);
	run(NEVER_NS);
	second = connect_to(41);
	assert_int_equal(cm_slot(second), cm_slot(first));
	assert_int_equal(state_of(0, first), CM_FREE);
	cm_disconnect(ends[0].cm, first, now_ns);
	cm_ready(ends[0].cm, first);
	cm_reject(ends[0].cm, first, CM_REASON_CONSUMER, now_ns);
	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(state_of(0, second), CM_ESTABLISHED);
}

/* A REQ to an end that no RTU follows, of a peer that claims to be slow. */
static void
inject_req_of(int to, uint32_t id, uint32_t qpn)
{
	const struct cm_peer from = {.ip = ip[1 - to]};
	struct cm_msg req = {.attribute = CM_REQ,
			     .local_id = id,
			     .qpn = qpn,
			     .service_id = 0x0000000001060000ull | 7471,
			     .mtu_code = 3,
			     .local_response_timeout = 31,
			     .max_retries = 15};

	req.private_data[1] = 0x40;
	memcpy(req.private_data + 16, from.ip.addr, 4);
	cm_on_message(ends[to].cm, &from, CM_OK, &req, now_ns);
	take_events(&ends[to]);
}

/* Both ends of an established connection that the first one asked for. */
static uint32_t
establish(uint32_t qpn)
{
	uint32_t c = connect_to(qpn);

	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(state_of(0, c), CM_ESTABLISHED);
	assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
	return c;
}

TEST(peer_that_has_restarted_is_told_and_may_come_again)
{
	for (int round = 0; round < 2; round++) {
		uint32_t c = establish(40), passive = ends[1].last.id;

		/* The first end has restarted: it knows nothing, and uses the QP again. */
		cm_destroy(ends[0].cm);
		create(0, 3);
		/* The question, or the answer, may be lost: the next REQ asks again. */
		lose_once = round == 0 ? 0 : CM_DREQ;
		c = connect_to(40);
		run(now_ns + TIMEOUT_NS / 2);
		assert_int_equal(ends[1].stats.cm_stale, 1 - round);
		assert_int_equal(state_of(1, passive), round == 0 ? CM_TIMEWAIT : CM_ESTABLISHED);
		run(now_ns + 4 * TIMEOUT_NS);
		assert_int_equal(ends[1].stats.cm_stale, 1);
		assert_int_equal(state_of(0, c), CM_ESTABLISHED);
		assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
		teardown(NULL);
		setup(NULL);
	}
}

/* The active end may be the one whose peer has restarted. */
TEST(active_end_asks_a_peer_that_may_have_restarted)
{
	uint32_t c = establish(40);

	cm_destroy(ends[1].cm);
	create(1, 3);
	/* The passive end's QP is 50. */
	inject_req_of(0, 1000, 50 + cm_slot(ends[0].last.id));
	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(ends[0].stats.cm_stale, 1);
	assert_int_equal(ends[0].last.what, CM_ENDED);
	assert_int_equal(ends[0].last.cause, CM_BY_STALE);
	run(NEVER_NS);
	assert_int_equal(state_of(0, c), CM_FREE);
}

TEST(forged_req_ends_no_connection_of_a_peer_that_lives)
{
	uint32_t c = establish(40), passive = ends[1].last.id;
	const uint32_t qpns[2] = {50 + cm_slot(passive), 40};

	for (int to = 0; to < 2; to++) {
		uint64_t sent = ends[to].stats.cm_messages_sent;

		for (unsigned int i = 0; i < 10; i++) {
			/* The question is lost as well: silence is no proof. */
			lose_once = i % 2 == 0 ? CM_DREQ : 0;
			inject_req_of(to, 1000 + i, qpns[to]);
			run(now_ns + 10 * TIMEOUT_NS);
			assert_int_equal(state_of(0, c), CM_ESTABLISHED);
			assert_int_equal(state_of(1, passive), CM_ESTABLISHED);
			/* One message to the peer, and none to who sent the REQ. */
			assert_int_equal(ends[to].stats.cm_messages_sent, sent + i + 1);
		}
		lose_once = 0;
		assert_int_equal(ends[to].stats.cm_stale, 0);
		assert_int_equal(ends[to].stats.cm_doubts, 10);
		assert_int_equal(cm_next_ns(ends[to].cm), NEVER_NS);
	}
	cm_disconnect(ends[1].cm, passive, now_ns);
	run(NEVER_NS);
	assert_int_equal(ends[1].last.cause, CM_BY_US);
	assert_int_equal(ends[0].last.cause, CM_BY_PEER);
	assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
}

/* A stranger who names the QP first, under the peer's address, does not keep the peer out. */
TEST(forged_req_before_the_peers_own_keeps_it_not_out)
{
	/* The peer refuses a REP that it did not ask for, before or after its own REQ arrives. */
	for (unsigned int late = 0; late < 2; late++) {
		uint32_t c;

		inject_req_of(1, 1000 + late, 40 + late);
		if (late == 0)
			run(now_ns + 3000);
		c = connect_to(40 + late);
		run(now_ns + TIMEOUT_NS / 2);
		assert_int_equal(state_of(0, c), CM_ESTABLISHED);
		assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
		assert_int_equal(ends[1].stats.cm_evicted, 1 + late);
		run(NEVER_NS);
		assert_int_equal(cm_count(ends[1].cm), 1 + late);
	}
}

/* A stranger who guesses the QP of the peer's REP, under the peer's address, ends nothing. */
TEST(forged_req_before_the_peers_rep_ends_no_connection)
{
	uint32_t c = connect_to(40);

	/* The peer refuses the REP to it later than it answers our REQ. */
	inject_req_of(0, 1000, 50);
	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(state_of(0, c), CM_ESTABLISHED);
	assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
	assert_int_equal(ends[0].stats.cm_evicted, 1);
	run(NEVER_NS);
	assert_int_equal(cm_count(ends[0].cm), 1);
}

/* In a flood, too, the REP of an RTU that was lost is repeated; the flood's own, three times. */
TEST(lost_rtu_in_a_flood_is_asked_for_again)
{
	uint32_t c;

	inject_req_of(1, 100, 200);
	lose_once = CM_RTU;
	c = connect_to(40);
	run(now_ns + 4 * TIMEOUT_NS);
	assert_int_equal(state_of(0, c), CM_ESTABLISHED);
	assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
	lose_pct = 100;
	for (uint32_t i = 0; i < 1000; i++)
		inject_req_of(1, 2000 + i, 2000 + i);
	run(NEVER_NS);
	assert_int_equal(ends[1].stats.cm_messages_received, 1 + 1 + 1 + 1 + 1000);
	assert_true(ends[1].stats.cm_messages_sent <= 4 * 1000 + 2 * (RETRIES + 2) + 2);
	assert_int_equal(cm_count(ends[1].cm), 1);
}

/* What a stranger knows: the peer's address and its ID, but not ours. */
TEST(message_that_names_one_id_alone_does_nothing)
{
	static const uint16_t attributes[] = {CM_MRA, CM_REJ, CM_REP, CM_RTU, CM_DREQ, CM_DREP};
	uint32_t c = establish(40), passive = ends[1].last.id;
	const struct cm_peer from = {.ip = ip[0]};

	for (unsigned int i = 0; i < 2 * ARRAY_LEN(attributes); i++) {
		const struct cm_msg m = {
			.attribute = attributes[i / 2],
			.local_id = i % 2 == 0 ? c : c + 1,
			.remote_id = i % 2 == 0 ? 0 : passive,
			.reason = CM_REASON_TIMEOUT,
			.qpn = 40,
			.remote_qpn = 50 + cm_slot(passive),
		};

		cm_on_message(ends[1].cm, &from, CM_OK, &m, now_ns);
		take_events(&ends[1]);
		assert_int_equal(state_of(1, passive), CM_ESTABLISHED);
	}
	/* Before the RTU, a REJ without our ID needs the transaction of the REQ. */
	lose_once = CM_RTU;
	c = connect_to(41);
	run(now_ns + TIMEOUT_NS / 2);
	for (uint64_t transaction = 0; transaction < 100; transaction++) {
		const struct cm_msg m = {.attribute = CM_REJ,
					 .transaction_id = transaction,
					 .local_id = c,
					 .reason = CM_REASON_TIMEOUT};

		cm_on_message(ends[1].cm, &from, CM_OK, &m, now_ns);
	}
	assert_int_equal(state_of(1, ends[1].last.id), CM_REP_SENT);
}

/* Who gets some of our IDs and transactions can compute no other ones. */
TEST(ids_and_transactions_are_not_in_a_row)
{
	enum { N = 64 };
	uint32_t ids[N];
	unsigned int repeated = 0;

	for (unsigned int i = 0; i < N; i++) {
		ids[i] = connect_to(40 + i) >> CM_SLOT_BITS;
		cm_disconnect(ends[0].cm, ends[0].ids[0], now_ns);
		run(NEVER_NS);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
	}
	for (unsigned int i = 2; i < N; i++)
		repeated += ids[i] - ids[i - 1] == ids[1] - ids[0] ||
			    (ids[i] ^ ids[i - 1]) == (ids[1] ^ ids[0]);
	assert_true(repeated < 4);
}

TEST(full_table_refuses_and_counts)
{
	for (unsigned int i = 0; i < CONNECTIONS; i++)
		assert_int_not_equal(connect_to(40 + i), CM_NONE);
	assert_int_equal(connect_to(60), CM_NONE);
	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(ends[0].stats.cm_connected, CONNECTIONS);
	assert_int_equal(cm_count(ends[1].cm), CONNECTIONS);
}

static void
inject_req(uint32_t i)
{
	inject_req_of(1, 100 + i, 200 + i);
}

TEST(flood_of_requests_keeps_nobody_out)
{
	lose_pct = 100;
	for (uint32_t i = 0; i < 1000; i++)
		inject_req(i);
	/* One of the eight connections waits for its RTU; the others' REPs have left too. */
	assert_int_equal(cm_count(ends[1].cm), 1);
	assert_int_equal(ends[1].stats.cm_messages_sent, 1000);
	assert_int_equal(ends[1].stats.cm_rejects_sent, 0);
	lose_pct = 0;
	for (uint32_t c = 0; c < 5; c++) {
		uint32_t id = connect_to(40 + c);

		for (unsigned int i = 0; i < 100; i++) {
			inject_req(1000 + 100 * c + i);
			now_ns += 20;
		}
		run(now_ns + 4000);
		assert_int_equal(state_of(0, id), CM_ESTABLISHED);
		assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
		assert_int_equal(ends[1].last.what, CM_CONNECTED);
	}
	assert_int_equal(ends[1].stats.cm_connected, 5);
	assert_int_equal(ends[1].stats.cm_drop_full, 0);
	run(NEVER_NS);
	assert_int_equal(cm_count(ends[1].cm), 5);
}

TEST(handshake_without_a_connection_ends_as_others_do)
{
	uint32_t c;

	inject_req(0);
	/* A REP that was lost leaves again with the REQ. */
	lose_once = CM_REP;
	c = connect_to(40);
	run(now_ns + 2 * TIMEOUT_NS);
	assert_int_equal(state_of(0, c), CM_ESTABLISHED);
	assert_int_equal(state_of(1, ends[1].last.id), CM_ESTABLISHED);
	cm_disconnect(ends[0].cm, c, now_ns);
	run(NEVER_NS);
	assert_int_equal(ends[1].last.cause, CM_BY_PEER);
	inject_req(1);
	/* Refused by whom it was offered to: after the RTU this takes a DREQ. */
	c = connect_to(41);
	deliver_due();
	now_ns += 1000;
	deliver_due();
	ends[1].accepts = false;
	run(NEVER_NS);
	assert_int_equal(ends[0].last.cause, CM_BY_PEER);
	/* Refused at once. */
	inject_req(2);
	c = connect_to(42);
	run(now_ns + TIMEOUT_NS / 2);
	assert_int_equal(ends[0].last.cause, CM_BY_REJECT);
	run(NEVER_NS);
	assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
}

/* A year of uptime: slots and numbers are used again, nothing is left. */
TEST(hundred_thousand_connections_one_after_another)
{
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t c = connect_to(40 + i % 1000);

		assert_int_not_equal(c, CM_NONE);
		run(now_ns + TIMEOUT_NS / 2);
		assert_int_equal(state_of(0, c), CM_ESTABLISHED);
		cm_disconnect(ends[i % 2].cm, i % 2 == 0 ? c : ends[1].ids[0], now_ns);
		run(NEVER_NS);
		assert_int_equal(cm_count(ends[0].cm) + cm_count(ends[1].cm), 0);
	}
	assert_int_equal(ends[0].stats.cm_connected, 100000);
	assert_int_equal(ends[0].stats.cm_timeouts + ends[1].stats.cm_timeouts, 0);
	assert_int_equal(ends[0].stats.cm_drop_unknown + ends[1].stats.cm_drop_unknown, 0);
}

TEST(peer_cannot_hold_the_table_for_longer_than_our_patience)
{
	uint64_t began_ns = now_ns;

	lose_pct = 100;
	for (uint32_t i = 0; i <= CONNECTIONS; i++)
		inject_req(i);
	assert_int_equal(cm_count(ends[1].cm), 1);
	run(began_ns + (RETRIES + 2) * TIMEOUT_NS);
	assert_int_equal(cm_count(ends[1].cm), 0);

	/* Nor a connection that we end. */
	began_ns = now_ns;
	inject_req(50);
	cm_on_packet(ends[1].cm, ends[1].last.id);
	assert_int_equal(ends[1].stats.cm_connected, 1);
	cm_disconnect(ends[1].cm, ends[1].last.id, now_ns);
	run(NEVER_NS);
	assert_int_equal(cm_count(ends[1].cm), 0);
	assert_true(now_ns - began_ns <= (RETRIES + 2) * TIMEOUT_NS);
}

TEST(messages_for_nobody_are_counted_and_answered_where_the_peer_waits)
{
	const struct cm_peer from = {.ip = ip[0]};
	const struct cm_msg dreq = {.attribute = CM_DREQ, .local_id = 5, .remote_id = 6};
	const struct cm_msg rtu = {.attribute = CM_RTU, .local_id = 5, .remote_id = 6};
	const struct cm_msg rep = {.attribute = CM_REP, .local_id = 5, .remote_id = 6, .qpn = 9};

	cm_on_message(ends[1].cm, &from, CM_OK, &dreq, now_ns);
	cm_on_message(ends[1].cm, &from, CM_OK, &rtu, now_ns);
	cm_on_message(ends[1].cm, &from, CM_OK, &rep, now_ns);
	cm_on_message(ends[1].cm, &from, CM_MALFORMED, &rep, now_ns);
	cm_on_message(ends[1].cm, &from, CM_OTHER_CLASS, &rep, now_ns);
	assert_int_equal(ends[1].stats.cm_drop_unknown, 3);
	assert_int_equal(ends[1].stats.cm_drop_malformed, 1);
	assert_int_equal(ends[1].stats.cm_drop_unsupported, 1);
	/* DREP and REJ. */
	assert_int_equal(ends[1].stats.cm_messages_sent, 2);
	assert_int_equal(cm_count(ends[1].cm), 0);
}

/* Whatever happens to the messages, both ends forget every connection. */
TEST(random_lives_end_on_both_sides)
{
	for (unsigned int life = 0; life < 300; life++) {
		uint32_t c[4];
		unsigned int n = (unsigned int)any(&r, 1, 4);

		lose_pct = (unsigned int)any(&r, 0, 80);
		repeat_pct = (unsigned int)any(&r, 0, 50);
		late_ns = chance(&r, 50) ? any(&r, 0, 2 * TIMEOUT_NS) : 0;
		for (unsigned int i = 0; i < n; i++)
			c[i] = connect_to((uint32_t)any(&r, 40, 60));
		run(now_ns + any(&r, 0, 8 * TIMEOUT_NS));
		for (unsigned int i = 0; i < n; i++)
			if (chance(&r, 50))
				cm_disconnect(ends[0].cm, c[i], now_ns);
		run(now_ns + any(&r, 0, 8 * TIMEOUT_NS));
		for (uint32_t i = 0; i < CONNECTIONS; i++)
			for (int e = 0; e < 2; e++)
				cm_disconnect(ends[e].cm, ends[e].ids[i], now_ns);
		run(NEVER_NS);
		assert_int_equal(n_flights, 0);
		assert_int_equal(cm_count(ends[0].cm), 0);
		assert_int_equal(cm_count(ends[1].cm), 0);
	}
	assert_true(ends[0].stats.cm_connected > 100 && ends[0].stats.cm_timeouts > 10);
}

TEST_MAIN(.before_each = setup, .after_each = teardown)
