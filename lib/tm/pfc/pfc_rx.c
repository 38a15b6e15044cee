// SPDX-License-Identifier: BSD-3-Clause
#include "tm/pfc/pfc_rx.h"

#include <assert.h>
#include <string.h>

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/threads/seq.h"

void
pfc_rx_init(struct pfc_rx *p, uint8_t enabled, uint64_t speed_bps)
{
	assert(speed_bps > 0);
	memset(p, 0, sizeof(*p));
	p->enabled = enabled;
	p->speed_bps = speed_bps;
	p->next_ns = NEVER_NS;
}

static void
store(uint64_t *member, uint64_t value)
{
	__atomic_store_n(member, value, __ATOMIC_RELAXED);
}

static void
resume(struct pfc_rx *p, unsigned int prio, uint64_t at_ns)
{
	counter_add(&p->stats.rx_pause_duration_ns[prio], at_ns - p->since_ns[prio]);
	counter_inc(&p->stats.rx_pause_transition[prio]);
	pause_log_add(&p->log, prio, p->since_ns[prio], at_ns - p->since_ns[prio]);
	p->paused &= (uint8_t) ~(1u << prio);
	store(&p->until_ns[prio], 0);
}

static void
pause_until(struct pfc_rx *p, unsigned int prio, uint64_t until_ns, uint64_t now_ns)
{
	if (!(p->paused >> prio & 1))
		store(&p->since_ns[prio], now_ns);
	p->paused |= (uint8_t)(1u << prio);
	store(&p->until_ns[prio], until_ns);
}

static void
find_next(struct pfc_rx *p)
{
	p->next_ns = p->late_n > 0 ? p->late[p->late_first].due_ns : NEVER_NS;
	for (uint8_t m = p->paused; m != 0; m &= (uint8_t)(m - 1))
		p->next_ns = min_u64(p->next_ns, p->until_ns[__builtin_ctz(m)]);
}

static void
end_pauses(struct pfc_rx *p, uint64_t now_ns)
{
	for (uint8_t m = p->paused; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(m);

		if (p->until_ns[prio] <= now_ns)
			resume(p, prio, p->until_ns[prio]);
	}
}

static void
obey(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns)
{
	/* If the pause has expired before this frame arrived, the frame starts a new pause. */
	end_pauses(p, now_ns);
	for (uint8_t m = v->enable & p->enabled; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(m);

		if (v->quanta[prio] > 0)
			pause_until(p, prio, now_ns + pfc_quanta_ns(v->quanta[prio], p->speed_bps),
				    now_ns);
		else if (p->paused >> prio & 1)
			resume(p, prio, now_ns);
	}
}

static void
obey_oldest(struct pfc_rx *p, uint64_t now_ns)
{
	struct pfc_rx_late *late = &p->late[p->late_first];

	p->late_first = (uint8_t)((p->late_first + 1) % PFC_RX_WAITING);
	p->late_n--;
	obey(p, &late->vector, now_ns);
}

/* Frames take effect in order of arrival, even if the delay becomes shorter. */
static void
obey_later(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + pfc_quanta_ns(p->delay_quanta, p->speed_bps);
	struct pfc_rx_late *late;

	if (p->late_n == PFC_RX_WAITING) {
		counter_inc(&p->stats.rx_pause_early);
		obey_oldest(p, now_ns);
	}
	if (p->late_n > 0) {
		late = &p->late[(p->late_first + p->late_n - 1) % PFC_RX_WAITING];
		due_ns = max_u64(due_ns, late->due_ns);
	}
	late = &p->late[(p->late_first + p->late_n++) % PFC_RX_WAITING];
	*late = (struct pfc_rx_late){.due_ns = due_ns, .vector = *v};
}

static void
catch_up(struct pfc_rx *p, uint64_t now_ns)
{
	while (p->late_n > 0 && p->late[p->late_first].due_ns <= now_ns)
		obey_oldest(p, p->late[p->late_first].due_ns);
	end_pauses(p, now_ns);
}

uint8_t
pfc_rx_expire(struct pfc_rx *p, uint64_t now_ns)
{
	seq_begin(&p->seq);
	catch_up(p, now_ns);
	find_next(p);
	seq_end(&p->seq);
	return p->paused;
}

static void
count(struct pfc_rx *p, const struct pfc_vector *v)
{
	for (uint8_t m = v->enable; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(m);

		counter_inc(&p->stats.rx_pause[prio]);
		counter_add(&p->stats.rx_xoff[prio], v->quanta[prio] > 0);
	}
}

uint8_t
pfc_rx_on_frame(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns)
{
	seq_begin(&p->seq);
	count(p, v);
	catch_up(p, now_ns);
	if (p->delay_quanta > 0 || p->late_n > 0)
		obey_later(p, v, now_ns);
	else
		obey(p, v, now_ns);
	find_next(p);
	seq_end(&p->seq);
	/* A pause shorter than a nanosecond ends at once. */
	return pfc_rx_paused(p, now_ns);
}

void
pfc_rx_set_enabled(struct pfc_rx *p, uint8_t enabled, uint64_t now_ns)
{
	seq_begin(&p->seq);
	catch_up(p, now_ns);
	for (uint8_t m = p->paused & (uint8_t)~enabled; m != 0; m &= (uint8_t)(m - 1))
		resume(p, (unsigned int)__builtin_ctz(m), now_ns);
	p->enabled = enabled;
	find_next(p);
	seq_end(&p->seq);
}

void
pfc_rx_set_delay(struct pfc_rx *p, uint16_t quanta)
{
	p->delay_quanta = quanta;
}

void
pfc_rx_reset(struct pfc_rx *p, uint64_t now_ns)
{
	uint8_t enabled = p->enabled;

	pfc_rx_set_enabled(p, 0, now_ns);
	p->late_n = 0;
	p->next_ns = NEVER_NS;
	p->enabled = enabled;
}

/* now_ns may be before the last frame, because the reader read its clock earlier. */
static struct pfc_rx_view
read_once(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns)
{
	uint64_t until_ns = counter_read(&p->until_ns[prio]);
	uint64_t since_ns = counter_read(&p->since_ns[prio]);
	struct pfc_rx_view v = {
		.paused = until_ns > now_ns,
		.pause_frames = counter_read(&p->stats.rx_pause[prio]),
		.xoff_frames = counter_read(&p->stats.rx_xoff[prio]),
		.duration_ns = counter_read(&p->stats.rx_pause_duration_ns[prio]),
	};

	if (until_ns > 0)
		v.duration_ns += sub_sat(min_u64(now_ns, until_ns), since_ns);
	return v;
}

struct pfc_rx_view
pfc_rx_read(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns)
{
	struct pfc_rx_view v;
	uint32_t before;

	do {
		before = seq_read(&p->seq);
		v = read_once(p, prio, now_ns);
	} while (seq_changed(&p->seq, before));
	return v;
}

uint64_t
pfc_rx_duration_ns(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns)
{
	return pfc_rx_read(p, prio, now_ns).duration_ns;
}

static unsigned int
read_pauses(const struct pfc_rx *p, struct pause_view out[PAUSE_LOG_MOST], uint64_t now_ns)
{
	unsigned int n = pause_log_read(&p->log, out);

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		uint64_t until_ns = counter_read(&p->until_ns[prio]);
		uint64_t since_ns = counter_read(&p->since_ns[prio]);

		if (until_ns == 0)
			continue;
		/* The owner may not have noticed the end yet. */
		out[n++] = (struct pause_view){
			.start_ns = since_ns,
			.duration_ns = sub_sat(min_u64(now_ns, until_ns), since_ns),
			.prio = prio,
			.lasts = until_ns > now_ns,
		};
	}
	return n;
}

unsigned int
pfc_rx_pauses(const struct pfc_rx *p, struct pause_view out[PAUSE_LOG_MOST], uint64_t now_ns)
{
	unsigned int n;
	uint32_t before;

	do {
		before = seq_read(&p->seq);
		n = read_pauses(p, out, now_ns);
	} while (seq_changed(&p->seq, before));
	return n;
}
