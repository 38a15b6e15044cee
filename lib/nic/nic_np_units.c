/* SPDX-License-Identifier: BSD-3-Clause */
/* CNP moderation per pair of addresses or per port: windows that the nodes of a NIC share. */
#include "nic/nic_np.h"

#include <errno.h>
#include <stdlib.h>

#include "nic/nic_internal.h"

/* Room for as many units as there are in the NIC: those of other nodes have no QPs here. */
static int
grow(struct nic_np *np, uint32_t room)
{
	struct nic_np_unit *units = realloc(np->units, room * sizeof(*units));
	uint32_t *heap = realloc(np->heap, room * sizeof(*heap));

	np->units = units != NULL ? units : np->units;
	np->heap = heap != NULL ? heap : np->heap;
	if (units == NULL || heap == NULL)
		return -ENOMEM;
	for (uint32_t i = np->room; i < room; i++)
		units[i] = (struct nic_np_unit){.marked = QP_NONE};
	np->room = room;
	return 0;
}

int
nic_np_units_reserve(struct nic *nic, uint32_t n_flows)
{
	struct nic_units *all = &nic->common->units;

	return nic_units_reserve(all, n_flows) != 0 ? -ENOMEM : grow(&nic->np, all->room);
}

/* We have one address of each family, so the peer's tells the pair; the port is a pair of its own.
 */
int
nic_np_units_add(struct nic *nic, struct qp_flow *flow)
{
	static const struct field_ip port = {0};
	bool per_port = nic->params.np.np_cnp_moderation == NP_PER_PORT;
	struct nic_units *all = &nic->common->units;
	int64_t unit = nic_units_find(all, per_port ? &port : &flow->params.peer_ip);

	if (unit < 0 || ((uint32_t)unit >= nic->np.room && grow(&nic->np, all->room) != 0))
		return -ENOMEM;
	flow->np_unit = (uint32_t)unit;
	return 0;
}

static bool
earlier(const struct nic_np *np, uint32_t a, uint32_t b)
{
	return np->units[np->heap[a]].due_ns < np->units[np->heap[b]].due_ns;
}

static void
swap(struct nic_np *np, uint32_t a, uint32_t b)
{
	uint32_t unit = np->heap[a];

	np->heap[a] = np->heap[b];
	np->heap[b] = unit;
}

static void
heap_push(struct nic_np *np, uint32_t unit)
{
	uint32_t at = np->n_due++;

	np->heap[at] = unit;
	for (; at > 0 && earlier(np, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(np, at, (at - 1) / 2);
}

static uint32_t
heap_pop(struct nic_np *np)
{
	uint32_t unit = np->heap[0];
	uint32_t at = 0, child;

	np->heap[0] = np->heap[--np->n_due];
	while ((child = 2 * at + 1) < np->n_due) {
		if (child + 1 < np->n_due && earlier(np, child + 1, child))
			child++;
		if (!earlier(np, child, at))
			break;
		swap(np, child, at);
		at = child;
	}
	return unit;
}

static uint64_t
interval_ns(const struct nic *nic)
{
	return nic->params.np.np_min_time_between_cnps_us * NS_PER_US;
}

bool
nic_np_units_on_ce(struct nic *nic, uint32_t unit, uint32_t item, uint64_t now_ns)
{
	struct nic_np_unit *u = &nic->np.units[unit];
	uint64_t opens_ns;

	u->marked = item;
	/* It waits already, for a gate that has not been looked at since if that is open now. */
	if (u->due_ns != 0)
		return false;
	opens_ns = np_gate_pass(&nic->common->units.gates_ns[unit], interval_ns(nic), now_ns);
	if (opens_ns == 0)
		return true;
	u->due_ns = opens_ns;
	heap_push(&nic->np, unit);
	node_wake(&nic->node, 0);
	return false;
}

uint32_t
nic_np_units_next(struct nic *nic, uint64_t now_ns)
{
	struct nic_np *np = &nic->np;

	while (np->n_due > 0 && np->units[np->heap[0]].due_ns <= now_ns) {
		uint32_t unit = heap_pop(np);
		struct nic_np_unit *u = &np->units[unit];
		uint64_t seen_ns = u->due_ns;

		u->due_ns = 0;
		if (np_gate_pass_from(&nic->common->units.gates_ns[unit], seen_ns, interval_ns(nic),
				      now_ns))
			return u->marked;
	}
	return QP_NONE;
}
