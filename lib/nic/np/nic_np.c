/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/np/nic_np.h"

#include "nic/np/echo.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/port/port_state.h"

/*
 * Room that a QP needs in the ring. The decisions of a unit to send a CNP are at least N apart, so
 * each unit has at most delay / N + 1 CNPs in the ring, and there are no more units than QPs. With
 * N = 0 each mark is a decision, but a QP has at most one CNP in the ring.
 */
static uint32_t
delayed_of_a_qp(const struct np_params *p)
{
	uint64_t interval_ns = p->np_min_time_between_cnps_us * NS_PER_US;

	return interval_ns == 0 ? 1 : (uint32_t)(p->np_cnp_delay_ns / interval_ns) + 1;
}

void
nic_np_take_params(struct nic *nic)
{
	nic->np->interval_ns = nic->params.np.np_min_time_between_cnps_us * NS_PER_US;
	nic->np->units.interval_ns = nic->np->interval_ns;
	/* It was computed with the old interval of the port: ask the port's gate again. */
	nic->np->gate_ns = 0;
}

int
nic_np_init(struct nic *nic)
{
	const struct np_params *p = &nic->params.np;
	uint32_t max_qps = nic->params.max_qps;
	struct nic_np *np = nic->np;

	*np = (struct nic_np){.first = QP_NONE, .last = QP_NONE};
	nic_np_take_params(nic);
	if (p->np_cnp_moderation == NP_PER_QP) {
		np->windows = calloc(max_qps, sizeof(*np->windows));
		if (np->windows == NULL)
			return -ENOMEM;
	}
	if (nic->needs.notifies) {
		np->told = calloc(max_qps, sizeof(*np->told));
		if (np->told == NULL)
			return -ENOMEM;
	}
	if (p->np_cnp_delay_ns > 0) {
		np->delayed_capacity = (uint64_t)max_qps * delayed_of_a_qp(p);
		np->delayed = calloc(np->delayed_capacity, sizeof(*np->delayed));
		if (np->delayed == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
nic_np_free(struct nic *nic)
{
	struct nic_np *np = nic->np;

	free(np->windows);
	free(np->told);
	nic_np_units_free(&np->units);
	free(np->delayed);
}

int
nic_np_add_flow(struct nic *nic, struct qp_flow *flow)
{
	return nic->np->windows != NULL ? 0 : nic_np_units_add(&nic->np->units, nic, flow);
}

int
nic_np_reserve(struct nic *nic, uint32_t n_flows)
{
	return nic->np->windows != NULL ? 0 : nic_np_units_reserve(&nic->np->units, nic, n_flows);
}

void
nic_np_remove_flow(struct nic *nic, const struct qp_flow *flow)
{
	/* A flow whose preparation failed has no unit. */
	if (nic->np->windows == NULL && flow->full != NULL)
		nic_units_release(&nic->port->units, flow->np_unit);
}

bool
nic_np_is_quiet(const struct nic *nic, const struct qp_flow *flow, uint32_t item)
{
	const struct nic_np *np = nic->np;
	uint64_t last_ns = flow->hidden_ns + nic->params.np.np_cnp_delay_ns;
	const struct nic_np_unit *unit;

	if (np->delayed_n > 0 && np->delayed[np->delayed_first].due_ns <= last_ns)
		return false;
	if (np->windows != NULL)
		return !np->windows[item].runs;
	unit = &np->units.unit[flow->np_unit];
	return unit->seen_ns == 0 || unit->marked != item;
}

static void
queue_cnp(struct nic *nic, uint32_t item)
{
	nic_queues_push(nic, &nic->cnps, nic_flow_of(nic, &nic->qps[item])->cnp_queue, item,
			offsetof(struct nic_qp, cnp_link));
}

/* A QP owes at most one CNP, which answers all marks so far. */
static void
owe_cnp_now(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->rx_flags & QP_RX_OWES_CNP)
		return;
	qp->rx_flags |= QP_RX_OWES_CNP;
	queue_cnp(nic, item);
}

static void
owe_cnp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	bool is_only_cnp = nic->np->interval_ns == 0;
	struct nic_np *np = nic->np;
	struct nic_qp *qp = &nic->qps[item];

	if (np->delayed == NULL) {
		owe_cnp_now(nic, item);
		return;
	}
	/* The ring can be full only if a reload has made N shorter. */
	if (unlikely(np->delayed_n == np->delayed_capacity))
		return;
	if (is_only_cnp && qp->rx_flags & QP_RX_OWES_CNP)
		return;
	if (is_only_cnp)
		qp->rx_flags |= QP_RX_OWES_CNP;
	np->delayed[(np->delayed_first + np->delayed_n) % np->delayed_capacity] =
		(struct nic_np_delayed){now_ns + nic->params.np.np_cnp_delay_ns, item, is_only_cnp};
	np->delayed_n++;
	node_wake(&nic->node, 0);
}

static void
push_window(struct nic *nic, uint32_t item)
{
	struct nic_np *np = nic->np;

	nic->qps[item].window_link = QP_NONE;
	if (np->first == QP_NONE)
		np->first = item;
	else
		nic->qps[np->last].window_link = item;
	np->last = item;
	node_wake(&nic->node, 0);
}

static void
end_windows(struct nic *nic, uint64_t now_ns)
{
	struct nic_np *np = nic->np;

	while (np->first != QP_NONE &&
	       np_next_ns(&np->windows[np->first], np->interval_ns) <= now_ns) {
		uint32_t item = np->first;

		np->first = nic->qps[item].window_link;
		if (np_on_window_end(&np->windows[item], np->interval_ns, now_ns))
			owe_cnp(nic, item, now_ns);
		if (np->windows[item].runs)
			push_window(nic, item);
	}
}

void
nic_np_run(struct nic *nic, uint64_t now_ns)
{
	struct nic_np *np = nic->np;
	uint32_t item;

	end_windows(nic, now_ns);
	while (np->units.n_due > 0 &&
	       (item = nic_np_units_next(&np->units, nic, now_ns)) != QP_NONE)
		owe_cnp(nic, item, now_ns);
	while (np->delayed_n > 0 && np->delayed[np->delayed_first].due_ns <= now_ns) {
		const struct nic_np_delayed *d = &np->delayed[np->delayed_first];

		np->delayed_first = (np->delayed_first + 1) % np->delayed_capacity;
		np->delayed_n--;
		if (d->is_only_cnp)
			queue_cnp(nic, d->item);
		else
			owe_cnp_now(nic, d->item);
	}
}

/* A mark, with moderation per QP. */
static void
on_ce_of_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct np *window = &nic->np->windows[item];
	bool ran;

	/* End the windows that are over before judging this mark. */
	end_windows(nic, now_ns);
	ran = window->runs;
	if (np_on_ce(window, nic->np->interval_ns, now_ns))
		owe_cnp(nic, item, now_ns);
	if (!ran)
		push_window(nic, item);
}

/* Does an ACK answer the data that this QP receives? Only an ACK can echo a mark. */
static bool
is_acknowledged(const struct nic *nic, const struct nic_qp *qp)
{
	return !(qp->flags & (QP_READS | QP_UD)) && !nic_flow_of(nic, qp)->raw;
}

/* A flow with an algorithm of its own has the echoes or the CNPs that this one acts on. */
static bool
echoes(const struct nic *nic, const struct nic_qp *qp)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	bool by_ack = flow->params.cc > 0 ? nic->cc[flow->cc].ops->hears_echoes
					  : nic->params.np.np_ecn_echo;

	return by_ack && is_acknowledged(nic, qp);
}

/* The notification point of the algorithm. @return false: it has none. */
static bool
notify(struct nic *nic, uint32_t item, bool ce, uint64_t now_ns)
{
	const uint8_t cc = nic_flow_of(nic, &nic->qps[item])->cc;
	const struct cc_ops *ops = nic->cc[cc].ops;
	struct nic_np_told *told = &nic->np->told[item];
	struct cc_hop hops[CC_MAX_HOPS];
	struct cc_arrival arrival = {
		.ce = ce,
		.cnp_gap_ns = nic->params.np.np_min_port_cnp_interval_ns,
	};

	if (ops->notify == NULL || (!ce && !ops->hears_arrivals))
		return ops->notify != NULL;
	if (nic->heard_int != NULL) {
		arrival.n_hops = nic_read_hops(nic->heard_int, hops);
		arrival.hops = hops;
	}
	if (ops->notify(&told->state, &nic->np->all[cc], &nic->cc[cc], &arrival, &told->value,
			now_ns))
		owe_cnp(nic, item, now_ns);
	return true;
}

void
nic_np_on_unmarked(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	(void)notify(nic, item, false, now_ns);
}

void
nic_np_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_np *np = nic->np;

	counter_inc(&nic->stats.np.np_ecn_marked_roce_packets);
	nic_measure_ce(nic, item);
	if (unlikely(np->told != NULL) && notify(nic, item, true, now_ns))
		return;
	if (echoes(nic, &nic->qps[item])) {
		nic->echoes[item].ce = true;
		return;
	}
	if (np->interval_ns == 0)
		owe_cnp(nic, item, now_ns);
	else if (np->windows != NULL)
		on_ce_of_qp(nic, item, now_ns);
	else if (nic_np_units_on_ce(&np->units, nic, nic_flow_of(nic, &nic->qps[item])->np_unit,
				    item, now_ns))
		owe_cnp(nic, item, now_ns);
}

bool
nic_np_may_leave(struct nic *nic, uint64_t now_ns)
{
	uint64_t interval_ns = nic->params.np.np_min_port_cnp_interval_ns;
	uint64_t passed_ns;

	if (interval_ns == 0)
		return true;
	if (now_ns < nic->np->gate_ns)
		return false;
	/* A CNP of another node may have closed the gate. */
	passed_ns = np_gate_pass(&nic->port->cnp_gate_ns, interval_ns, now_ns);
	nic->np->gate_ns = (passed_ns == 0 ? now_ns : passed_ns) + interval_ns;
	return passed_ns == 0;
}
