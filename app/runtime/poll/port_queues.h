/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns the queues of a port to the lcores that poll it.
 *
 * Lcore k of n has transmit queue k, and receive queue k if the device has n of them; otherwise the
 * first lcore receives for all. A separate transmit queue for control frames is n + k.
 *
 * The peer of a NIC does not see its transmit queues. But each transmit queue of a virtual device
 * is joined to a queue of its peer (net_memif, net_ring, vhost), or the device must have as many
 * transmit as receive queues (net_tap). Both ends must agree, so control frames get separate queues
 * only on request, and lcore k then receives from queue n + k as well.
 *
 * Invariant: every queue belongs to exactly one lcore.
 */
#ifndef QUENCH_APP_RUNTIME_POLL_PORT_QUEUES_H
#define QUENCH_APP_RUNTIME_POLL_PORT_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/poll/poll_loop.h"
#include "nic/nic.h"

/* What a device offers. */
struct port_offer {
	uint16_t rx_queues, tx_queues; /* at most */
	bool joined;                   /* its queues are paired, or joined to the peer's */
};

struct port_plan {
	uint16_t n_lcores;
	uint16_t rx_queues, tx_queues;
	bool control_apart;
};

/**
 * Divide a port.
 *
 * @param wish  enum nic_control_tx_queue.
 * @param n     lcores that want to poll; at least 1.
 * @return      0, or -EINVAL: `wish` demands separate queues, and the device has too few.
 */
int port_plan(const struct port_offer *offer, int wish, uint16_t n, struct port_plan *plan);

/** Read the queues that a device offers. @return 0 or -errno. */
int port_offer_of(uint16_t ethdev, struct port_offer *offer);

/** The queues of one lcore. */
struct poll_queues port_plan_queues(const struct port_plan *plan, uint16_t lcore);

#endif
