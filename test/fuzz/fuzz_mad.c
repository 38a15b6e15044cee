/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as messages of the connection manager: a message that is read, written and read again
 * is the same. A connection manager that accepts everything gets them in sequence.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "nic/cm/cm.h"
#include "wire/mad/cm_ip.h"
#include "wire/mad/mad.h"

#define CONNECTIONS 4u
#define STEP_BYTES 40u

static unsigned int sent;
static uint32_t last_id[CONNECTIONS]; /* of each slot */

static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *msg)
{
	uint8_t mad[MAD_BYTES];

	(void)arg;
	(void)to;
	cm_msg_build(mad, msg);
	sent++;
}

static enum cm_reason
on_offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	(void)arg;
	*own = (struct cm_end){.qpn = 20, .psn = v->other.psn};
	return (enum cm_reason)0;
}

static void
check_message(const uint8_t *mad)
{
	uint8_t built[MAD_BYTES];
	struct cm_msg m, again;
	struct cm_ip ip = {0}, ip_again = {0};
	uint8_t data[CM_IP_BYTES];

	if (cm_msg_parse(mad, MAD_BYTES, &m) != CM_OK)
		return;
	cm_msg_build(built, &m);
	FUZZ_CHECK(cm_msg_parse(built, MAD_BYTES, &again) == CM_OK);
	FUZZ_CHECK(memcmp(&m, &again, sizeof(m)) == 0);
	if (m.attribute != CM_REQ || !cm_ip_parse(m.private_data, &ip))
		return;
	cm_ip_build(data, &ip);
	FUZZ_CHECK(cm_ip_parse(data, &ip_again));
	FUZZ_CHECK(memcmp(&ip, &ip_again, sizeof(ip)) == 0);
}

static void
take_events(struct cm *cm, uint64_t now_ns)
{
	struct cm_event e;

	while (cm_next_event(cm, &e)) {
		const struct cm_end own = {.qpn = 20 + cm_slot(e.id)};

		FUZZ_CHECK(cm_slot(e.id) < CONNECTIONS);
		last_id[cm_slot(e.id)] = e.id;
		if (e.what == CM_REQUESTED)
			cm_accept(cm, e.id, &own, now_ns);
		else if (e.what == CM_REPLIED)
			cm_ready(cm, e.id);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct cm_params params = {.max_connections = CONNECTIONS,
					 .response_timeout = 10,
					 .max_retries = 2,
					 .ip = {.version = 4, .addr = {10, 0, 0, 1}}};
	const struct cm_peer peer = {.ip = {.version = 4, .addr = {10, 0, 0, 2}}};
	const struct cm_terms terms = {.port = 1, .mtu_code = 3};
	const struct cm_end own = {.qpn = 9};
	struct cm_stats stats = {0};
	struct cm *cm = cm_create(&params, &stats, &(struct cm_ops){on_send, on_offer}, NULL);
	uint64_t now_ns = 1;

	FUZZ_CHECK(cm != NULL);
	memset(last_id, 0, sizeof(last_id));
	for (size_t at = 0; at + 1 < len; at += STEP_BYTES) {
		uint8_t mad[MAD_BYTES] = {0};
		size_t n = len - at - 1 < STEP_BYTES ? len - at - 1 : STEP_BYTES;
		enum cm_verdict verdict;
		struct cm_msg m = {0};

		mad_build(mad, &(struct mad){.class = CM_CLASS,
					     .class_version = CM_CLASS_VERSION,
					     .method = MAD_METHOD_SEND,
					     .attribute = (uint16_t)(CM_REQ + data[at] % 7)});
		memcpy(mad + MAD_HDR_BYTES, data + at + 1, n);
		check_message(mad);
		verdict = cm_msg_parse(mad, MAD_BYTES, &m);
		/* An ID that exists, so that states are reached. */
		if (data[at] & 0x40 && verdict == CM_OK)
			m.remote_id = last_id[data[at] % CONNECTIONS];
		if (data[at] & 0x80) {
			uint32_t id = cm_connect(cm, &peer, &terms, &own, now_ns);

			if (id != CM_NONE)
				last_id[cm_slot(id)] = id;
		}
		cm_on_message(cm, &peer, verdict, &m, now_ns);
		take_events(cm, now_ns);
		now_ns += 1000000ull * (data[at] & 15);
		cm_run(cm, now_ns);
		take_events(cm, now_ns);
		FUZZ_CHECK(cm_count(cm) <= CONNECTIONS);
	}
	if (len == MAD_BYTES)
		check_message(data);
	cm_destroy(cm);
	return 0;
}
