/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps EAL's interrupt thread away from devices while pollers use them.
 *
 * net_memif (DPDK 22.11 to 26.07) unmaps a connection's rings on EAL's interrupt thread as soon as
 * its peer is gone; it neither waits for a burst in progress nor announces the unmapping. A poller
 * then faults in rte_eth_rx_burst() or rte_eth_tx_burst().
 *
 * The gate is an interrupt source whose callback does not return while no event is pending: the
 * interrupt thread waits in this callback, on EAL's own epoll descriptor, instead of in EAL. When
 * another source has an event, the gate shuts, waits until every poller has seen this between two
 * bursts, and only then returns, so that EAL handles the event. Meanwhile pollers skip gated ports.
 * The next call of the callback opens the gate again.
 *
 * Invariant (tested): no interrupt callback runs while a poller is in a burst.
 *
 * Cost: one load and one comparison per round of a poller.
 */
#ifndef QUENCH_APP_RUNTIME_EAL_INTR_GATE_H
#define QUENCH_APP_RUNTIME_EAL_INTR_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <rte_common.h>

#include "runtime/eal/intr_source.h"

#define INTR_GATE_OFFLINE UINT64_MAX

/* State of one poller, which writes it; the interrupt thread reads it while it shuts the gate. */
struct intr_gate_poller {
	_Atomic uint64_t seen; /* epoch, or INTR_GATE_OFFLINE: in no burst */
} __attribute__((aligned(RTE_CACHE_LINE_SIZE)));

struct intr_gate {
	_Atomic uint64_t epoch; /* odd: shut */
	uint16_t n_pollers;
	struct intr_gate_poller *pollers;
	/* used by the interrupt thread */
	struct intr_source source;
	atomic_bool closing;
};

/** Create a gate, shut until the interrupt thread waits in it. @return NULL with errno. */
struct intr_gate *intr_gate_open(uint16_t n_pollers);

/** Return the interrupt thread to EAL. All pollers must have left. NULL: does nothing. */
void intr_gate_close(struct intr_gate *gate);

/** Before a poller's first round, on its thread. */
void intr_gate_join(struct intr_gate *gate, uint16_t poller);

/** After a poller's last burst, on its thread. */
void intr_gate_leave(struct intr_gate *gate, uint16_t poller);

/* Inline definitions */

/** Between two bursts of a poller. @return false: no burst until the next call. */
static inline bool
intr_gate_pass(struct intr_gate *gate, uint16_t poller)
{
	_Atomic uint64_t *seen = &gate->pollers[poller].seen;
	uint64_t epoch = atomic_load_explicit(&gate->epoch, memory_order_acquire);

	if (__builtin_expect(epoch != atomic_load_explicit(seen, memory_order_relaxed), 0))
		atomic_store_explicit(seen, epoch, memory_order_release);
	return epoch % 2 == 0;
}

#endif
