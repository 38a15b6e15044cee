/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/mark_look.h"

#include <errno.h>
#include <rte_malloc.h>

#include "base/numbers/fixed.h"
#include "switch/core/switch.h"

int
sw_mark_look_prepare(struct node *node, uint16_t port, uint8_t queue)
{
	struct sw_queue *q = &sw_of(node)->ports[port].queue[queue];
	struct sw_marking *m;

	/* It is there since the start, or since somebody asked before. It stays until the end. */
	if (sw_marking_of(q) != NULL)
		return 0;
	m = sw_marking_create(true);
	if (m == NULL)
		return -ENOMEM;
	__atomic_store_n(&q->marking, m, __ATOMIC_RELEASE);
	return 0;
}

void
sw_mark_look_at(struct sw *sw, struct sw_mark_look *look, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[look->port];
	struct sw_queue *q = &p->queue[look->queue];
	struct sw_marking *m = sw_marking_of(q);
	uint8_t bit = (uint8_t)(1u << look->queue);

	look->marks = p->ecn_queues & bit && m != NULL && m->accuracy != NULL;
	if (!look->marks)
		return;
	look->always = m->count_until_ns == UINT64_MAX;
	__atomic_store_n(&m->count_until_ns, max_u64(m->count_until_ns, now_ns + SW_MARK_LOOK_NS),
			 __ATOMIC_RELAXED);
	p->observed_queues |= bit;
	look->curve = q->wred.mark;
	look->counts = *m->accuracy;
}
