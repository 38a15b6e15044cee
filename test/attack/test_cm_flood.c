/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attack curves of the connection manager: how many attempts of an honest peer to connect succeed,
 * as a function of the rate at which a stranger sends messages. The honest peer sends each message
 * once, so nothing but the manager's tables decides. A second curve loses its first RTU. The caller
 * makes a QP at once.
 *
 * QUENCH_ATTACK_LONG: also rates that no core can parse, to see where the curves fall.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic/cm/cm.h"
#include "unit/cases.h"
#include "unit/sanitized.h"
#include "wire/mad/cm_ip.h"

#define PORT 7471u
#define CONNECTIONS 1024u
#define ATTEMPT_NS NS_PER_MS
#define ATTEMPTS (SANITIZED ? 10u : 100u)
#define STEP_NS (10 * NS_PER_US)

static struct cm *cm;
static struct cm_stats stats;
static struct prng r;
static uint64_t now_ns;
static bool is_hasty; /* REQs ask for a REP every 4 us */

/* The honest peer: a REQ each millisecond, and an RTU half a round trip after the REP. */
#define MOST_OPEN 128u
#define QPN 0x1000u
static const struct field_ip honest_ip = {.version = 4, .addr = {10, 0, 0, 2}};
static struct {
	uint64_t due_ns; /* of the RTU; 0: none */
	uint32_t own_id, our_id;
	bool has_lost;
} open[MOST_OPEN];
static bool loses; /* its first RTU of each connection */
static uint64_t rtt_ns;
static uint32_t connected;

static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *m)
{
	(void)arg;
	if (m->attribute != CM_REP || !cm_same_ip(&to->ip, &honest_ip) ||
	    m->remote_id >> 16 != 0x5000)
		return;
	open[m->remote_id % MOST_OPEN].due_ns = now_ns + rtt_ns;
	open[m->remote_id % MOST_OPEN].own_id = m->remote_id;
	open[m->remote_id % MOST_OPEN].our_id = m->local_id;
}

static enum cm_reason
on_offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	(void)arg;
	(void)v;
	*own = (struct cm_end){.qpn = 100 + (uint32_t)prng_below(&r, 4096), .psn = 1};
	return (enum cm_reason)0;
}

static void
take_events(void)
{
	struct cm_event e;
	struct cm_view v;

	while (cm_next_event(cm, &e)) {
		bool honest = cm_read(cm, e.id, &v) && cm_same_ip(&v.peer.ip, &honest_ip) &&
			      v.remote_id >> 16 == 0x5000;

		if (e.what == CM_REQUESTED)
			cm_accept(cm, e.id,
				  v.own.qpn != 0 ? &v.own : &(struct cm_end){.qpn = 50, .psn = 1},
				  now_ns);
		if (e.what == CM_CONNECTED && honest) {
			connected++;
			/* Its peer answers at once. */
			cm_disconnect(cm, e.id, now_ns);
			cm_on_message(cm, &v.peer, CM_OK,
				      &(struct cm_msg){.attribute = CM_DREP,
						       .local_id = v.remote_id,
						       .remote_id = e.id},
				      now_ns);
		}
	}
}

static void
send(const struct field_ip *ip, struct cm_msg m)
{
	const struct cm_peer from = {.ip = *ip};
	struct cm_ip header = {.ip_version = 4, .sport = 1};

	if (m.attribute == CM_REQ) {
		m.transaction_id = m.local_id;
		m.service_id = cm_ip_service(PORT);
		m.mtu_code = 3;
		m.local_response_timeout = is_hasty ? 0 : m.local_id >> 16 == 0x5000 ? 16 : 20;
		m.max_retries = 15;
		memcpy(header.src_ip, ip->addr, 4);
		cm_ip_build(m.private_data, &header);
	}
	cm_on_message(cm, &from, CM_OK, &m, now_ns);
	take_events();
}

/* ---- attacks: message n of a stranger ---- */

static struct field_ip
any_ip(void)
{
	uint64_t n = prng_below(&r, 1ull << 32);

	return (struct field_ip){
		4, {192, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(1 + (n >> 16) % 254)}};
}

static uint32_t
any_number(void)
{
	return (uint32_t)prng_below(&r, 1ull << 32);
}

static void
reqs_of_anybody(uint64_t n)
{
	const struct field_ip ip = any_ip();

	send(&ip, (struct cm_msg){.attribute = CM_REQ,
				  .local_id = any_number() | 1,
				  .qpn = 2 + (uint32_t)(n % 0xfffff0)});
}

static void
reqs_of_one_host(uint64_t n)
{
	const struct field_ip ip = {4, {10, 0, 0, 66}};

	send(&ip, (struct cm_msg){.attribute = CM_REQ,
				  .local_id = (uint32_t)n + 1,
				  .qpn = 2 + (uint32_t)(n % 0xfffff0)});
}

/* Under the honest peer's address, with other numbers. */
static void
reqs_of_the_victim(uint64_t n)
{
	send(&honest_ip, (struct cm_msg){.attribute = CM_REQ,
					 .local_id = 0x60000000 | (any_number() >> 4),
					 .qpn = 0x800000 + (uint32_t)(n % 0x700000)});
}

/* Also with the numbers of its QPs. */
static void
reqs_with_the_victims_qps(uint64_t n)
{
	send(&honest_ip, (struct cm_msg){.attribute = CM_REQ,
					 .local_id = 0x60000000 | (any_number() >> 4),
					 .qpn = QPN + (uint32_t)(n % ATTEMPTS)});
}

/* Guesses of our IDs, under the honest peer's address and with its ID. */
static void
guesses(uint64_t n)
{
	static const uint16_t attributes[] = {CM_REJ, CM_DREQ, CM_DREP, CM_RTU, CM_MRA, CM_REP};
	uint32_t id = open[n % MOST_OPEN].own_id;

	send(&honest_ip, (struct cm_msg){.attribute = attributes[n % ARRAY_LEN(attributes)],
					 .transaction_id = any_number(),
					 .local_id = id,
					 .remote_id = n % 5 == 0 ? 0 : any_number(),
					 .reason = CM_REASON_TIMEOUT,
					 .remote_qpn = 50});
}

/* A REP that is repeated at once would make us a weapon, and free the connection too soon. */
static void
hasty_reqs(uint64_t n)
{
	is_hasty = true;
	reqs_of_anybody(n);
	is_hasty = false;
}

/* Everything at once. */
static void
mixture(uint64_t n)
{
	if (n % 4 == 0)
		reqs_of_anybody(n);
	else if (n % 4 == 1)
		reqs_of_one_host(n);
	else if (n % 4 == 2)
		reqs_of_the_victim(n);
	else
		guesses(n);
}

static const struct {
	const char *name;
	void (*send)(uint64_t n);
} attacks[] = {
	{"REQs of random addresses", reqs_of_anybody},
	{"REQs of one address", reqs_of_one_host},
	{"REQs of the peer's address", reqs_of_the_victim},
	{"REQs of the peer's QPs", reqs_with_the_victims_qps},
	{"guesses at the peer's IDs", guesses},
	{"REQs without patience", hasty_reqs},
	{"all of them", mixture},
};

static void
honest(uint64_t *next_ns, uint32_t *tried)
{
	for (unsigned int i = 0; i < MOST_OPEN; i++) {
		if (open[i].due_ns == 0 || open[i].due_ns > now_ns)
			continue;
		open[i].due_ns = 0;
		if (loses && !open[i].has_lost) {
			open[i].has_lost = true;
			continue;
		}
		send(&honest_ip, (struct cm_msg){.attribute = CM_RTU,
						 .local_id = open[i].own_id,
						 .remote_id = open[i].our_id});
	}
	if (now_ns < *next_ns || *tried == ATTEMPTS)
		return;
	*next_ns += ATTEMPT_NS;
	send(&honest_ip, (struct cm_msg){.attribute = CM_REQ,
					 .local_id = 0x50000000 + *tried,
					 .qpn = QPN + *tried});
	++*tried;
}

/* @return honest attempts that succeeded. */
static uint32_t
play(void (*attack)(uint64_t n), uint64_t rate)
{
	const struct cm_params p = {.max_connections = CONNECTIONS,
				    .response_timeout = 20,
				    .max_retries = 15,
				    .ip = {.version = 4, .addr = {10, 0, 0, 1}},
				    .key = {{0x1234, 0x5678}}};
	/* The attack has begun before; where RTUs are lost, so long that its REPs are repeated. */
	uint64_t next_ns = loses ? 2 * NS_PER_SEC : 20 * NS_PER_MS, n = 0, end_ns;
	uint32_t tried = 0;

	prng_seed(&r, rate, 0);
	memset(&stats, 0, sizeof(stats));
	memset(open, 0, sizeof(open));
	connected = 0;
	cm = cm_create(&p, &stats, &(struct cm_ops){on_send, on_offer}, NULL);
	assert_non_null(cm);
	end_ns = next_ns + ATTEMPTS * ATTEMPT_NS + 2 * rtt_ns + (loses ? 2 * NS_PER_SEC : 0);
	for (now_ns = STEP_NS; now_ns < end_ns; now_ns += STEP_NS) {
		honest(&next_ns, &tried);
		for (; n < now_ns * rate / NS_PER_SEC; n++)
			attack(n);
		cm_run(cm, now_ns);
		take_events();
	}
	/*
	 * One answer to each message, but for the connections that may be half open, a second or
	 * more each, and the REPs of the others that leave again, 4 in a millisecond.
	 */
	assert_true(stats.cm_messages_sent <=
		    stats.cm_messages_received + 2 * ATTEMPTS + 4 * end_ns / NS_PER_MS +
			    CONNECTIONS / 8 * 17 * (1 + end_ns / NS_PER_SEC));
	cm_destroy(cm);
	return connected;
}

TEST(honest_peers_connect_at_each_rate_of_an_attack)
{
	static const uint64_t rates[] = {0, 1000, 10000, 100000, 1000000, 10000000};
	static const uint64_t rtts_ns[] = {200 * NS_PER_US, 5 * NS_PER_MS};
	size_t n_rates = ARRAY_LEN(rates) - (getenv("QUENCH_ATTACK_LONG") == NULL);
	unsigned int bad = 0;

	for (unsigned int a = 0; a < ARRAY_LEN(attacks); a++)
		for (unsigned int t = 0; t < ARRAY_LEN(rtts_ns); t++) {
			rtt_ns = rtts_ns[t];
			printf("%-27s round trip %4" PRIu64 " us:", attacks[a].name,
			       rtt_ns / NS_PER_US);
			for (unsigned int i = 0; i < n_rates; i++) {
				uint32_t good = play(attacks[a].send, rates[i]);

				bad += rates[i] <= 1000000 && good < ATTEMPTS;
				printf("  %" PRIu64 "/s %u of %u", rates[i], good, ATTEMPTS);
			}
			printf("\n");
		}
	assert_int_equal(bad, 0);
}

/*
 * 4000 REPs a second ask again, first those that have not: of 4000 REQs a second, each once. Beyond
 * it, an honest peer gets 4000 of as many chances as there are REQs.
 */
TEST(lost_rtus_are_asked_for_again_beside_an_attack)
{
	static const uint64_t rates[] = {0, 1000, 2000, 4000, 8000, 16000, 100000};
	static const unsigned int of[] = {0, 5};
	size_t n_rates = ARRAY_LEN(rates) - (getenv("QUENCH_ATTACK_LONG") == NULL);
	unsigned int bad = 0;

	rtt_ns = 200 * NS_PER_US;
	loses = true;
	for (unsigned int a = 0; a < ARRAY_LEN(of); a++) {
		printf("%-27s first RTU lost:", attacks[of[a]].name);
		for (unsigned int i = 0; i < n_rates; i++) {
			uint32_t good = play(attacks[of[a]].send, rates[i]);

			bad += rates[i] <= 4000 && good < ATTEMPTS;
			printf("  %" PRIu64 "/s %u of %u", rates[i], good, ATTEMPTS);
		}
		printf("\n");
	}
	loses = false;
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = NULL)
