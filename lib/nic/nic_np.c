/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_np.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "nic/nic_internal.h"

/* Twice as many places as there can be pairs: half of them stay free. */
static int
pairs_alloc(struct nic_np *np, uint32_t max_qps)
{
	uint32_t places = 2;

	while (places < 2 * max_qps)
		places *= 2;
	np->table_mask = places - 1;
	np->table = calloc(places, sizeof(*np->table));
	np->peers = calloc(max_qps, sizeof(*np->peers));
	np->unit_of = calloc(max_qps, sizeof(*np->unit_of));
	return np->table && np->peers && np->unit_of ? 0 : -ENOMEM;
}

int
nic_np_init(struct nic *nic)
{
	const struct np_params *p = &nic->params.np;
	uint32_t max_qps = nic->params.max_qps;
	uint32_t units = p->np_cnp_moderation == NP_PER_PORT ? 1 : max_qps;
	struct nic_np *np = &nic->np;

	*np = (struct nic_np){.first = QP_NONE, .last = QP_NONE};
	np->units = calloc(units, sizeof(*np->units));
	if (np->units == NULL)
		return -ENOMEM;
	if (p->np_cnp_moderation != NP_PER_QP) {
		np->marked = calloc(units, sizeof(*np->marked));
		np->links = calloc(units, sizeof(*np->links));
		if (np->marked == NULL || np->links == NULL)
			return -ENOMEM;
	}
	if (p->np_cnp_moderation == NP_PER_IP_PAIR && pairs_alloc(np, max_qps) != 0)
		return -ENOMEM;
	if (p->np_cnp_delay_ns > 0) {
		np->delayed = calloc(max_qps, sizeof(*np->delayed));
		if (np->delayed == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
nic_np_free(struct nic *nic)
{
	struct nic_np *np = &nic->np;

	free(np->units);
	free(np->links);
	free(np->marked);
	free(np->unit_of);
	free(np->peers);
	free(np->table);
	free(np->delayed);
}

/* FNV-1a over version and address. */
static uint32_t
hash(const struct field_ip *ip)
{
	uint32_t h = (2166136261u ^ ip->version) * 16777619u;
	unsigned int n = ip->version == 4 ? 4 : sizeof(ip->addr);

	for (unsigned int i = 0; i < n; i++)
		h = (h ^ ip->addr[i]) * 16777619u;
	return h;
}

static bool
same_ip(const struct field_ip *a, const struct field_ip *b)
{
	return a->version == b->version &&
	       memcmp(a->addr, b->addr, a->version == 4 ? 4 : sizeof(a->addr)) == 0;
}

/* We have one address of each family, so the peer's tells the pair. */
void
nic_np_add_qp(struct nic *nic, uint32_t item, const struct field_ip *peer_ip)
{
	struct nic_np *np = &nic->np;
	uint32_t at, *place;

	if (np->table == NULL)
		return;
	for (at = hash(peer_ip);; at++) {
		place = &np->table[at & np->table_mask];
		if (*place == 0) {
			np->peers[np->n_units++] = *peer_ip;
			*place = np->n_units;
		}
		if (same_ip(&np->peers[*place - 1], peer_ip))
			break;
	}
	np->unit_of[item] = *place - 1;
}

static uint32_t
unit_of(const struct nic *nic, uint32_t item)
{
	switch (nic->params.np.np_cnp_moderation) {
	case NP_PER_QP:
		return item;
	case NP_PER_IP_PAIR:
		return nic->np.unit_of[item];
	default:
		return 0;
	}
}

static void
queue_cnp(struct nic *nic, uint32_t item)
{
	nic_queues_push(nic, &nic->cnps, nic_flow_of(nic, &nic->qps[item])->cnp_queue, item,
			offsetof(struct nic_qp, cnp_link));
}

static void
owe_cnp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_np *np = &nic->np;
	struct nic_qp *qp = &nic->qps[item];

	if (qp->rx_flags & QP_RX_OWES_CNP)
		return;
	qp->rx_flags |= QP_RX_OWES_CNP;
	if (np->delayed == NULL) {
		queue_cnp(nic, item);
		return;
	}
	np->delayed[(np->delayed_first + np->delayed_n) % nic->params.max_qps] =
		(struct nic_np_delayed){now_ns + nic->params.np.np_cnp_delay_ns, item};
	np->delayed_n++;
	node_wake(&nic->node, 0);
}

static uint32_t *
link_of(struct nic *nic, uint32_t unit)
{
	return nic->np.links != NULL ? &nic->np.links[unit] : &nic->qps[unit].window_link;
}

static void
push_window(struct nic *nic, uint32_t unit)
{
	struct nic_np *np = &nic->np;

	*link_of(nic, unit) = QP_NONE;
	if (np->first == QP_NONE)
		np->first = unit;
	else
		*link_of(nic, np->last) = unit;
	np->last = unit;
	node_wake(&nic->node, 0);
}

static void
end_windows(struct nic *nic, uint64_t now_ns)
{
	struct nic_np *np = &nic->np;

	while (np->first != QP_NONE && np_next_ns(&np->units[np->first]) <= now_ns) {
		uint32_t unit = np->first;

		np->first = *link_of(nic, unit);
		if (np_on_window_end(&np->units[unit], &nic->params.np, now_ns))
			owe_cnp(nic, np->marked ? np->marked[unit] : unit, now_ns);
		if (np_next_ns(&np->units[unit]) != NEVER_NS)
			push_window(nic, unit);
	}
}

void
nic_np_run(struct nic *nic, uint64_t now_ns)
{
	struct nic_np *np = &nic->np;

	end_windows(nic, now_ns);
	while (np->delayed_n > 0 && np->delayed[np->delayed_first].due_ns <= now_ns) {
		queue_cnp(nic, np->delayed[np->delayed_first].item);
		np->delayed_first = (np->delayed_first + 1) % nic->params.max_qps;
		np->delayed_n--;
	}
}

void
nic_np_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_np *np = &nic->np;
	uint32_t unit;
	bool ran;

	counter_inc(&nic->stats.np.np_ecn_marked_roce_packets);
	if (nic->params.np.np_min_time_between_cnps_us == 0) {
		owe_cnp(nic, item, now_ns);
		return;
	}
	/* A window that is over and not yet looked at must end before this mark is judged. */
	end_windows(nic, now_ns);
	unit = unit_of(nic, item);
	if (np->marked != NULL)
		np->marked[unit] = item;
	/* It is in the FIFO just as long as it runs. */
	ran = np_next_ns(&np->units[unit]) != NEVER_NS;
	if (np_on_ce(&np->units[unit], &nic->params.np, now_ns))
		owe_cnp(nic, item, now_ns);
	if (!ran)
		push_window(nic, unit);
}

uint64_t
nic_np_next_ns(const struct nic *nic)
{
	const struct nic_np *np = &nic->np;
	uint64_t next_ns = NEVER_NS;

	if (np->first != QP_NONE)
		next_ns = np_next_ns(&np->units[np->first]);
	if (np->delayed_n > 0)
		next_ns = min_u64(next_ns, np->delayed[np->delayed_first].due_ns);
	return next_ns;
}
