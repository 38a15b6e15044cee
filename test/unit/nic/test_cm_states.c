/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages x states of the connection manager, after IBTA volume 1, 12.9: for each message in each
 * state, what is sent and which state follows. The same message with a wrong ID, or from another
 * address, belongs to no connection: it changes no state, and is answered as if there were none.
 */
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "nic/cm/cm.h"
#include "unit/cases.h"
#include "wire/mad/cm_ip.h"

#define PEER_QPN 77u
#define PEER_ID 0x7000u
#define OUR_QPN 40u
#define REQ_TRANSACTION 0x1234u
#define MSG_TRANSACTION 0x9999u

enum state {
	NONE,
	REQ_SENT,
	REP_RCVD,
	REQ_RCVD,
	REP_SENT,
	RTU_RCVD,
	ESTABLISHED_PASSIVE,
	ESTABLISHED_ACTIVE,
	DREQ_SENT,
	TIMEWAIT,
	HANDSHAKE, /* REP sent without a connection, in a flood */
	STATES
};
enum message {
	SAME_REQ,  /* once more */
	OTHER_REQ, /* another ID and transaction, and the QP of the connection */
	REP,
	RTU,
	REJ,
	MRA_REQ,
	MRA_REP,
	DREQ,
	OTHER_DREQ, /* of another QP */
	DREP,
	MESSAGES
};
/* The message has: */
enum variant { RIGHT, WRONG_OUR_ID, WRONG_PEER_ID, OTHER_ADDRESS, VARIANTS };

static const char *const state_names[] = {"none",      "req_sent", "rep_rcvd", "req_rcvd",
					  "rep_sent",  "rtu_rcvd", "passive",  "active",
					  "dreq_sent", "timewait", "handshake"};
static const char *const message_names[] = {"REQ",        "other REQ",  "REP",        "RTU",
					    "REJ",        "MRA of REQ", "MRA of REP", "DREQ",
					    "other DREQ", "DREP"};

/*
 * What is sent, by name and, of a REJ, with its reason (6: invalid communication ID, 10: stale
 * connection), ">", and the state that follows, as cm_state_words; "." is the same one. A REQ in
 * the state "none" begins a connection. In the states that our own REQ leads to, the peer has sent
 * none that could come again.
 */
static const char *const cells[STATES][MESSAGES] = {
	[NONE] = {">", ">", "REJ6>", ">", ">", ">", ">", "DREP>", "DREP>", ">"},
	[REQ_SENT] = {NULL, NULL, ">rep_rcvd", ">.", ">", ">.", ">.", ">.", ">.", ">."},
	[REP_RCVD] = {NULL, "REJ10>.", "MRA>.", ">.", ">timewait", ">.", ">.", "DREP>timewait",
		      ">.", ">."},
	/* Another REQ of its QP is another handshake: the peer decides, by its RTU. */
	[REQ_RCVD] = {"MRA>.", "REP>.", "REJ6>.", ">.", ">", ">.", ">.", ">.", ">.", ">."},
	[REP_SENT] = {"REP>.", "REP>.", "REJ6>.", ">established", ">timewait", ">.", ">.",
		      "DREP>timewait", ">.", ">."},
	[RTU_RCVD] = {">.", "REJ10>.", "REJ6>.", ">.", ">timewait", ">.", ">.", "DREP>timewait",
		      ">.", ">."},
	/* The DREQ, of no QP, asks the peer if it has forgotten the connection. */
	[ESTABLISHED_PASSIVE] = {">.", "DREQ>.", "REJ6>.", ">.", ">timewait", ">.", ">.",
				 "DREP>timewait", ">.", ">."},
	[ESTABLISHED_ACTIVE] = {NULL, "DREQ>.", "RTU>.", ">.", ">timewait", ">.", ">.",
				"DREP>timewait", ">.", ">."},
	/* Its REQ is out of date. */
	[DREQ_SENT] = {"REJ10>.", "REJ10>.", "REJ6>.", ">.", ">timewait", ">.", ">.",
		       "DREP>timewait", ">.", ">timewait"},
	[TIMEWAIT] = {"REJ10>.", "REJ10>.", "REJ6>.", ">.", ">.", ">.", ">.", "DREP>.", ">.", ">."},
	/* It has no connection, but for the RTU. */
	[HANDSHAKE] = {"REP>", "REP>", "REJ6>", ">rtu_rcvd", ">", ">", ">", "DREP>", "DREP>", ">"},
};

static struct cm *cm;
static struct cm_stats stats;
static uint64_t now_ns;
static char sent[64];
static struct cm_msg sent_last;
static uint32_t rep_id; /* our ID in the last REP */
static bool accepts;

static const struct cm_peer peer = {.ip = {4, {10, 0, 0, 2}}};

static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *m)
{
	static const char *const names[] = {"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"};
	size_t n = strlen(sent);

	(void)arg;
	(void)to;
	snprintf(sent + n, sizeof(sent) - n, "%s%s", n > 0 ? " " : "",
		 names[m->attribute - CM_REQ]);
	n = strlen(sent);
	if (m->attribute == CM_REJ)
		snprintf(sent + n, sizeof(sent) - n, "%u", m->reason);
	if (m->attribute == CM_REP)
		rep_id = m->local_id;
	sent_last = *m;
}

static enum cm_reason
on_offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	(void)arg;
	(void)v;
	*own = (struct cm_end){.qpn = OUR_QPN, .psn = 1};
	return (enum cm_reason)0;
}

/* @return the ID of the last event; 0: there was none. */
static uint32_t
take_events(void)
{
	const struct cm_end own = {.qpn = OUR_QPN, .psn = 1};
	uint32_t id = 0;
	struct cm_event e;

	while (cm_next_event(cm, &e)) {
		id = e.id;
		if (accepts && e.what == CM_REQUESTED)
			cm_accept(cm, e.id, &own, now_ns);
		if (accepts && e.what == CM_REPLIED)
			cm_ready(cm, e.id);
	}
	return id;
}

static void
receive(const struct cm_peer *from, const struct cm_msg *m)
{
	cm_on_message(cm, from, CM_OK, m, now_ns);
}

static struct cm_msg
req_of(const struct cm_peer *from, uint32_t id, uint64_t transaction, uint32_t qpn)
{
	struct cm_msg m = {.attribute = CM_REQ,
			   .transaction_id = transaction,
			   .local_id = id,
			   .qpn = qpn,
			   .service_id = cm_ip_service(7471),
			   .mtu_code = 3,
			   .local_response_timeout = 14,
			   .ack_timeout = 14,
			   .max_retries = 3};
	struct cm_ip header = {.ip_version = 4, .sport = 1};

	memcpy(header.src_ip, from->ip.addr, 4);
	cm_ip_build(m.private_data, &header);
	return m;
}

static void
receive_req(uint32_t id, uint64_t transaction, uint32_t qpn)
{
	const struct cm_msg m = req_of(&peer, id, transaction, qpn);

	receive(&peer, &m);
}

static void
receive_of(uint16_t attribute, uint32_t our_id)
{
	receive(&peer, &(struct cm_msg){.attribute = attribute,
					.transaction_id = REQ_TRANSACTION,
					.local_id = PEER_ID,
					.remote_id = our_id,
					.qpn = PEER_QPN,
					.remote_qpn = OUR_QPN});
}

/* Connections without RTU: as many as there may be. */
static void
flood(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		receive_req(100 + i, i, 200 + i);
		take_events();
	}
}

/* @return our ID of the connection, or of the handshake. */
static uint32_t
reach(enum state state)
{
	const struct cm_terms terms = {.port = 7471, .mtu_code = 3, .ack_timeout = 14};
	const struct cm_end own = {.qpn = OUR_QPN, .psn = 1};
	uint32_t id = 0;

	accepts = state != REP_RCVD && state != REQ_RCVD && state != RTU_RCVD;
	if (state == HANDSHAKE || state == RTU_RCVD)
		flood();
	switch (state) {
	case REQ_SENT:
	case REP_RCVD:
	case ESTABLISHED_ACTIVE:
		id = cm_connect(cm, &peer, &terms, &own, now_ns);
		if (state != REQ_SENT)
			receive_of(CM_REP, id);
		take_events();
		break;
	case NONE:
		break;
	default:
		receive_req(PEER_ID, REQ_TRANSACTION, PEER_QPN);
		id = take_events();
		if (state == HANDSHAKE || state == RTU_RCVD)
			id = rep_id;
		if (state == RTU_RCVD || state >= ESTABLISHED_PASSIVE)
			if (state != HANDSHAKE)
				receive_of(CM_RTU, id);
		take_events();
		if (state == DREQ_SENT)
			cm_disconnect(cm, id, now_ns);
		if (state == TIMEWAIT)
			receive_of(CM_DREQ, id);
		take_events();
	}
	sent[0] = '\0';
	return id;
}

static enum cm_state
state_of(uint32_t id)
{
	struct cm_view v;

	return cm_read(cm, id, &v) ? v.state : CM_FREE;
}

static struct cm_msg
message_of(enum message message, uint32_t our_id, const struct cm_peer *from)
{
	static const uint16_t attributes[MESSAGES] = {
		[REP] = CM_REP,     [RTU] = CM_RTU,   [REJ] = CM_REJ,         [MRA_REQ] = CM_MRA,
		[MRA_REP] = CM_MRA, [DREQ] = CM_DREQ, [OTHER_DREQ] = CM_DREQ, [DREP] = CM_DREP};

	if (message == SAME_REQ)
		return req_of(from, PEER_ID, REQ_TRANSACTION, PEER_QPN);
	if (message == OTHER_REQ)
		return req_of(from, PEER_ID + 1, MSG_TRANSACTION, PEER_QPN);
	return (struct cm_msg){
		.attribute = attributes[message],
		.transaction_id = MSG_TRANSACTION,
		.local_id = PEER_ID,
		.remote_id = our_id,
		.qpn = PEER_QPN,
		.about = message == MRA_REP ? CM_ABOUT_REP : CM_ABOUT_REQ,
		.service_timeout = 10,
		.reason = CM_REASON_CONSUMER,
		.remote_qpn = message == OTHER_DREQ ? OUR_QPN + 1 : OUR_QPN,
	};
}

static uint64_t
counted(void)
{
	return stats.cm_drop_unknown + stats.cm_drop_unexpected + stats.cm_duplicates +
	       stats.cm_rejects_received;
}

/* @return what was sent, ">", and the state that follows; "." if it is the same. */
static const char *
outcome(enum state state, enum message message, enum variant variant, bool *is_counted)
{
	static char text[128];
	const struct cm_params params = {.max_connections = 8,
					 .response_timeout = 14,
					 .max_retries = 3,
					 .ip = {4, {10, 0, 0, 1}},
					 .key = {{3, 4}}};
	struct cm_peer from = peer;
	struct cm_msg m;
	enum cm_state was, is;
	uint64_t before;
	uint32_t id;

	memset(&stats, 0, sizeof(stats));
	now_ns = 1000;
	cm = cm_create(&params, &stats, &(struct cm_ops){on_send, on_offer}, NULL);
	assert_non_null(cm);
	id = reach(state);
	was = state_of(id);
	if (state != NONE && state != HANDSHAKE)
		assert_true(was != CM_FREE);
	from.ip.addr[3] = variant == OTHER_ADDRESS ? 9 : from.ip.addr[3];
	m = message_of(message, variant == WRONG_OUR_ID ? id + (1u << CM_SLOT_BITS) : id, &from);
	if (variant == WRONG_PEER_ID)
		m.local_id += 1000;
	before = counted();
	accepts = false;
	receive(&from, &m);
	take_events();
	is = state_of(id);
	snprintf(text, sizeof(text), "%s>%s", sent,
		 is == CM_FREE ? ""
		 : is == was   ? "."
			       : cm_state_words[is]);
	*is_counted = counted() > before || strcmp(sent, "") != 0 || is != was;
	/* An answer names what it answers. */
	if (sent[0] != '\0' && sent_last.attribute != CM_DREQ) {
		assert_int_equal(sent_last.remote_id, m.local_id);
		if (sent_last.attribute == CM_REJ || sent_last.attribute == CM_DREP)
			assert_true(sent_last.transaction_id == m.transaction_id);
		if (sent_last.attribute == CM_REJ)
			assert_int_equal(sent_last.about,
					 m.attribute == CM_REP ? CM_ABOUT_REP : CM_ABOUT_REQ);
	}
	cm_destroy(cm);
	return text;
}

static unsigned int
expect(enum state state, enum message message, enum variant variant, const char *want)
{
	bool is_counted;
	const char *got = outcome(state, message, variant, &is_counted);
	bool is_new = state == NONE && message <= OTHER_REQ;

	if (strcmp(got, want) == 0 && (is_counted || is_new || message == MRA_REQ ||
				       message == MRA_REP || message <= OTHER_REQ))
		return 0;
	printf("NOT OK %s in %s, variant %u: %s instead of %s%s\n", message_names[message],
	       state_names[state], variant, got, want, is_counted ? "" : ", and not counted");
	return 1;
}

TEST(each_message_in_each_state)
{
	unsigned int bad = 0;

	for (enum state s = 0; s < STATES; s++)
		for (enum message m = 0; m < MESSAGES; m++)
			if (cells[s][m] != NULL)
				bad += expect(s, m, RIGHT, cells[s][m]);
	assert_int_equal(bad, 0);
}

/* A REQ has no ID of ours; and from elsewhere, it asks for a connection of its own. */
TEST(messages_of_others_change_no_state)
{
	unsigned int bad = 0;

	for (enum state s = REQ_SENT; s < STATES; s++)
		for (enum message m = REP; m < MESSAGES; m++)
			for (enum variant v = WRONG_OUR_ID; v < VARIANTS; v++) {
				char want[32];

				/* A peer that refuses our REQ need not have an ID. */
				if (s == REQ_SENT && v == WRONG_PEER_ID)
					continue;
				snprintf(want, sizeof(want), "%s%s", cells[NONE][m],
					 s == HANDSHAKE ? "" : ".");
				bad += expect(s, m, v, want);
			}
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = NULL)
