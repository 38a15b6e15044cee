/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/np/np_units.h"

#include <errno.h>
#include <stdlib.h>

#include "nic/core/core.h"
#include "nic/port/port_state.h"

/*
 * Grow the arrays to the number of units of the NIC: a node has an entry for each, also for units
 * that only other nodes use.
 */
static int
grow(struct nic_np_units *u, uint32_t capacity)
{
	struct nic_np_unit *unit = realloc(u->unit, capacity * sizeof(*unit));
	uint32_t *heap = realloc(u->heap, capacity * sizeof(*heap));

	u->unit = unit != NULL ? unit : u->unit;
	u->heap = heap != NULL ? heap : u->heap;
	if (unit == NULL || heap == NULL)
		return -ENOMEM;
	for (uint32_t i = u->capacity; i < capacity; i++)
		unit[i] = (struct nic_np_unit){.marked = QP_NONE};
	u->capacity = capacity;
	return 0;
}

void
nic_np_units_free(struct nic_np_units *u)
{
	free(u->unit);
	free(u->heap);
}

int
nic_np_units_reserve(struct nic_np_units *u, const struct nic *nic, uint32_t n_flows)
{
	struct nic_units *all = &nic->port->units;

	return nic_units_reserve(all, n_flows) != 0 ? -ENOMEM : grow(u, all->capacity);
}

/*
 * With moderation per port, the only unit has addresses 0.
 */
int
nic_np_units_add(struct nic_np_units *u, const struct nic *nic, struct qp_flow *flow)
{
	static const struct nic_ip_pair port;
	const struct nic_ip_pair pair = {nic_qp_local_ip(&nic->params, &flow->params),
					 flow->params.peer_ip};
	bool per_port = nic->params.np.np_cnp_moderation == NP_PER_PORT;
	struct nic_units *all = &nic->port->units;
	int64_t unit = nic_units_find(all, per_port ? &port : &pair);

	if (unit < 0 || ((uint32_t)unit >= u->capacity && grow(u, all->capacity) != 0))
		return -ENOMEM;
	flow->np_unit = (uint32_t)unit;
	return 0;
}

static bool
earlier(const struct nic_np_units *u, uint32_t a, uint32_t b)
{
	return u->unit[u->heap[a]].seen_ns < u->unit[u->heap[b]].seen_ns;
}

static void
swap(struct nic_np_units *u, uint32_t a, uint32_t b)
{
	uint32_t unit = u->heap[a];

	u->heap[a] = u->heap[b];
	u->heap[b] = unit;
}

static void
heap_push(struct nic_np_units *u, uint32_t unit)
{
	uint32_t at = u->n_due++;

	u->heap[at] = unit;
	for (; at > 0 && earlier(u, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(u, at, (at - 1) / 2);
}

static uint32_t
heap_pop(struct nic_np_units *u)
{
	uint32_t unit = u->heap[0];
	uint32_t at = 0, child;

	u->heap[0] = u->heap[--u->n_due];
	while ((child = 2 * at + 1) < u->n_due) {
		if (child + 1 < u->n_due && earlier(u, child + 1, child))
			child++;
		if (!earlier(u, child, at))
			break;
		swap(u, child, at);
		at = child;
	}
	return unit;
}

bool
nic_np_units_on_ce(struct nic_np_units *units, struct nic *nic, uint32_t unit, uint32_t item,
		   uint64_t now_ns)
{
	struct nic_np_unit *u = &units->unit[unit];

	u->marked = item;
	/*
	 * A mark is already pending. If its gate has opened meanwhile, the next run sends the CNP.
	 */
	if (u->seen_ns != 0)
		return false;
	u->seen_ns = np_gate_pass(&nic->port->units.gates_ns[unit], units->interval_ns, now_ns);
	if (u->seen_ns == 0)
		return true;
	heap_push(units, unit);
	node_wake(&nic->node, 0);
	return false;
}

uint32_t
nic_np_units_next(struct nic_np_units *units, const struct nic *nic, uint64_t now_ns)
{
	while (units->n_due > 0 && nic_np_units_next_ns(units) <= now_ns) {
		uint32_t unit = heap_pop(units);
		struct nic_np_unit *u = &units->unit[unit];
		uint64_t seen_ns = u->seen_ns;

		u->seen_ns = 0;
		if (np_gate_pass_from(&nic->port->units.gates_ns[unit], seen_ns, now_ns))
			return u->marked;
	}
	return QP_NONE;
}
