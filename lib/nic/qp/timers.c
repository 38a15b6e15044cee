/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/qp/timers.h"

#include "base/numbers/fixed.h"

#define NO_TICK UINT64_MAX

void
nic_timers_init(struct nic_timers *t, uint8_t n)
{
	*t = (struct nic_timers){.slot_log2 = n == 0 ? 0 : (uint8_t)(8 + n)};
	for (unsigned int i = 0; i < NIC_TIMER_SLOTS; i++)
		t->slots[i] = QP_LIST_EMPTY;
}

/* Tick of the first busy slot from now_tick on: all QPs are due within one turn of the ring. */
static uint64_t
next_tick(const struct nic_timers *t)
{
	unsigned int turn = t->now_tick % NIC_TIMER_SLOTS;
	uint32_t turned = t->busy >> turn | t->busy << (-turn % NIC_TIMER_SLOTS);

	return t->busy == 0 ? NO_TICK : t->now_tick + (uint64_t)__builtin_ctz(turned);
}

void
nic_timers_insert(struct nic_timers *t, struct nic_qp *qps, uint32_t item, uint64_t tick)
{
	unsigned int slot;

	tick = min_u64(max_u64(tick, t->now_tick), t->now_tick + NIC_TIMER_SLOTS - 1);
	slot = tick % NIC_TIMER_SLOTS;
	qp_list_push(&t->slots[slot], qps, item, offsetof(struct nic_qp, timer_link));
	t->busy |= 1u << slot;
}

uint32_t
nic_timers_advance(struct nic_timers *t, struct nic_qp *qps, uint32_t *items, uint32_t budget,
		   uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> t->slot_log2;
	uint32_t n = 0;

	while (n < budget) {
		uint64_t tick = next_tick(t);
		struct qp_list *list = &t->slots[tick % NIC_TIMER_SLOTS];

		t->now_tick = max_u64(t->now_tick, min_u64(tick, now_tick));
		if (tick > now_tick)
			break;
		items[n++] = qp_list_pop(list, qps, offsetof(struct nic_qp, timer_link));
		if (list->head == QP_NONE)
			t->busy &= ~(1u << tick % NIC_TIMER_SLOTS);
	}
	return n;
}

uint64_t
nic_timers_next_ns(const struct nic_timers *t)
{
	uint64_t tick = next_tick(t);

	return tick == NO_TICK ? NEVER_NS : tick << t->slot_log2;
}
