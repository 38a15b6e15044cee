// SPDX-License-Identifier: BSD-3-Clause
#include "tm/pfc/pfc_tx.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/threads/seq.h"

#define QUANTUM_BITS 512ull /* IEEE 802.3 31B.2 */

const struct field pfc_fields[] = {
	{FIELD_OF(struct pfc_params, pfc_xoff_quanta), .type = FIELD_U16, .min = 1,
	 .max = UINT16_MAX, .def = "65535", .live = true,
	 .help = "pause time in an XOFF frame, in units of 512 bit times of the port; the "
		 "largest is usual, as XON ends the pause (838.8 us at 40G)"},
	{FIELD_OF(struct pfc_params, pfc_refresh_pct), .type = FIELD_U8, .unit = UNIT_PCT, .min = 1,
	 .max = 99 /* with 100 the peer's timer would expire first */, .def = "50", .live = true,
	 .help = "share of the pause time after which XOFF is repeated"},
};

const unsigned int pfc_fields_n = ARRAY_LEN(pfc_fields);

uint64_t
pfc_quanta_ns(uint16_t quanta, uint64_t speed_bps)
{
	/* No overflow: 65535 x 512 x 10^9 is below 2^55. */
	return quanta * QUANTUM_BITS * NS_PER_SEC / speed_bps;
}

void
pfc_tx_set_params(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps)
{
	uint64_t pause_ns;

	assert(params->pfc_xoff_quanta > 0 && speed_bps > 0);
	assert(params->pfc_refresh_pct > 0 && params->pfc_refresh_pct < 100);
	pause_ns = pfc_quanta_ns(params->pfc_xoff_quanta, speed_bps);
	p->refresh_ns = max_u64(pause_ns * params->pfc_refresh_pct / 100, 1);
	p->quanta = params->pfc_xoff_quanta;
}

void
pfc_tx_init(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps)
{
	memset(p, 0, sizeof(*p));
	pfc_tx_set_params(p, params, speed_bps);
	p->refresh_due_ns = NEVER_NS;
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		p->next_ns[i] = NEVER_NS;
}

void
pfc_tx_set(struct pfc_tx *p, uint8_t prio, bool xoff, uint64_t now_ns)
{
	uint8_t bit = (uint8_t)(1u << prio);

	assert(prio < TM_CLASSES);
	(void)now_ns; /* times count from the departure of the frame */
	p->xoff = (uint8_t)((p->xoff & ~bit) | (xoff ? bit : 0));
}

void
pfc_tx_set_all(struct pfc_tx *p, uint8_t xoff)
{
	p->xoff = xoff;
}

/* Priorities to include in a frame: changes, and XOFFs due for a refresh. */
static uint8_t
due(const struct pfc_tx *p, uint64_t now_ns)
{
	uint8_t mask = p->xoff ^ p->sent;

	if (now_ns < p->refresh_due_ns)
		return mask;
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (p->next_ns[i] <= now_ns)
			mask |= (uint8_t)(1u << i);
	}
	return mask;
}

static uint16_t
send_xoff(struct pfc_tx *p, unsigned int prio, uint64_t now_ns)
{
	if (!(p->sent >> prio & 1)) {
		__atomic_store_n(&p->since_ns[prio], now_ns, __ATOMIC_RELAXED);
		if (p->watch.fn != NULL)
			p->watch.fn(p->watch.arg, (uint8_t)prio, true, now_ns);
	}
	__atomic_store_n(&p->sent, (uint8_t)(p->sent | 1u << prio), __ATOMIC_RELAXED);
	p->next_ns[prio] = now_ns + p->refresh_ns;
	return p->quanta;
}

static uint16_t
send_xon(struct pfc_tx *p, unsigned int prio, uint64_t now_ns)
{
	counter_add(&p->stats.tx_pause_duration_ns[prio], now_ns - p->since_ns[prio]);
	counter_inc(&p->stats.tx_pause_transition[prio]);
	pause_log_add(&p->log, prio, p->since_ns[prio], now_ns - p->since_ns[prio]);
	__atomic_store_n(&p->sent, (uint8_t)(p->sent & ~(1u << prio)), __ATOMIC_RELAXED);
	p->next_ns[prio] = NEVER_NS;
	if (p->watch.fn != NULL)
		p->watch.fn(p->watch.arg, (uint8_t)prio, false, now_ns);
	return 0;
}

void
pfc_tx_reset(struct pfc_tx *p, uint64_t now_ns)
{
	seq_begin(&p->seq);
	for (uint8_t m = p->sent; m != 0; m &= (uint8_t)(m - 1))
		send_xon(p, (unsigned int)__builtin_ctz(m), now_ns);
	seq_end(&p->seq);
	p->refresh_due_ns = NEVER_NS;
}

bool
pfc_tx_take(struct pfc_tx *p, struct pfc_vector *out, uint64_t now_ns)
{
	uint8_t todo = due(p, now_ns);

	if (todo == 0)
		return false;
	memset(out, 0, sizeof(*out));
	out->enable = todo;
	seq_begin(&p->seq);
	for (; todo != 0; todo &= (uint8_t)(todo - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(todo);

		out->quanta[prio] = p->xoff >> prio & 1 ? send_xoff(p, prio, now_ns)
							: send_xon(p, prio, now_ns);
		counter_inc(&p->stats.tx_pause[prio]);
	}
	seq_end(&p->seq);
	p->refresh_due_ns = NEVER_NS;
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		p->refresh_due_ns = min_u64(p->refresh_due_ns, p->next_ns[i]);
	assert(p->xoff == p->sent);
	return true;
}

uint64_t
pfc_tx_duration_ns(const struct pfc_tx *p, uint8_t prio, uint64_t now_ns)
{
	uint64_t duration_ns;
	uint32_t before;

	do {
		bool sent;

		before = seq_read(&p->seq);
		sent = __atomic_load_n(&p->sent, __ATOMIC_RELAXED) >> prio & 1;
		duration_ns = counter_read(&p->stats.tx_pause_duration_ns[prio]);
		/*
		 * now_ns may be before the last frame, because the reader read its clock earlier.
		 */
		if (sent)
			duration_ns += sub_sat(now_ns, counter_read(&p->since_ns[prio]));
	} while (seq_changed(&p->seq, before));
	return duration_ns;
}

unsigned int
pfc_tx_pauses(const struct pfc_tx *p, struct pause_view out[PAUSE_LOG_MOST], uint64_t now_ns)
{
	unsigned int n;
	uint32_t before;

	do {
		uint8_t sent;

		before = seq_read(&p->seq);
		sent = __atomic_load_n(&p->sent, __ATOMIC_RELAXED);
		n = pause_log_read(&p->log, out);
		for (; sent != 0; sent &= (uint8_t)(sent - 1)) {
			uint8_t prio = (uint8_t)__builtin_ctz(sent);
			uint64_t since_ns = counter_read(&p->since_ns[prio]);

			out[n++] = (struct pause_view){
				.start_ns = since_ns,
				.duration_ns = sub_sat(now_ns, since_ns),
				.prio = prio,
				.lasts = true,
			};
		}
	} while (seq_changed(&p->seq, before));
	return n;
}
