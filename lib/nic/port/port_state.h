/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State shared by all nodes of one NIC, besides the wire: the number of active QPs, the gate that
 * enforces the minimum interval between CNPs, the receive buffers of a slow host, and the units of
 * CNP moderation per address pair or port. A node without a share has its own struct.
 *
 * Any node writes it, with atomics, at most once per event (the start of a QP, a CNP, a frame for a
 * slow receiver).
 *
 * Invariant: active = requesters that have started and not ended + responders with QP_SERVES, over
 * all nodes.
 */
#ifndef QUENCH_NIC_PORT_PORT_STATE_H
#define QUENCH_NIC_PORT_PORT_STATE_H

#include <stdint.h>
#include <rte_common.h>

#include "base/field/field.h"
#include "tm/classes/qos_map.h"
#include "nic/host/rx_drain.h"

struct nic_ip_pair {
	struct field_ip local, peer;
};

/* Units of CNP moderation: address pairs, or the port. */
struct nic_units {
	uint64_t *gates_ns; /* np_gate_pass() */
	/* used when flows are added and removed */
	struct nic_ip_pair *pairs;
	uint32_t *users; /* flows per unit, over all nodes */
	uint32_t *table; /* hash of the pair to unit + 1; 0: free */
	uint32_t n, capacity;
};

/* The state of a port: of the only node, or in the share. */
struct nic_port_state {
	uint32_t active;      /* QPs that send: nic_becomes_active() */
	uint32_t wants_xoff;  /* mask: priorities whose senders must be paused */
	uint64_t cnp_gate_ns; /* np_gate_pass(), for the CNPs of the port */
	struct nic_units units;
	struct rx_drain buffers[TM_CLASSES] __rte_cache_aligned;
};

/**
 * Count one more flow of a unit. A new unit is added; if there is no room, it replaces one
 * without flows. One thread at a time. While nodes run, only within the room of
 * nic_units_reserve().
 * @return the unit's index, or -ENOMEM.
 */
int64_t nic_units_find(struct nic_units *units, const struct nic_ip_pair *pair);
/** Count one flow less. */
void nic_units_release(struct nic_units *units, uint32_t unit);
/** Reserve room for n units with flows, so that the arrays that nodes read never move. @return 0 or
 * -ENOMEM. */
int nic_units_reserve(struct nic_units *units, uint32_t n);

void nic_port_state_free(struct nic_port_state *port);

/**
 * A QP has data to send from now on: a requester from its start to its end, a responder while it
 * has READs to answer.
 * @return QPs of the host that were active before. If several QPs start together, exactly one of
 *         them gets 0.
 */
static inline uint32_t
nic_becomes_active(struct nic_port_state *port)
{
	return __atomic_fetch_add(&port->active, 1, __ATOMIC_RELAXED);
}

static inline void
nic_becomes_idle(struct nic_port_state *port)
{
	__atomic_fetch_sub(&port->active, 1, __ATOMIC_RELAXED);
}

#endif
