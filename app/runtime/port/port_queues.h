/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has which queue of a port that several lcores poll.
 *
 * Lcore k of n has transmit queue k, and receive queue k if the device has so many; otherwise the
 * first lcore receives for all. Where control frames have a transmit queue apart, it is n + k.
 *
 * A NIC's transmit queues are its own affair. A virtual device's are joined to queues of its other
 * end (net_memif, net_ring, vhost) or must be as many as its receive queues (net_tap): there both
 * ends must agree, so control frames are apart only if that is asked for, and lcore k receives from
 * queue n + k as well.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_QUEUES_H
#define QUENCH_APP_RUNTIME_PORT_PORT_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/port/poll_loop.h"
#include "nic/nic.h"

/* What a device offers. */
struct port_offer {
	uint16_t rx_queues, tx_queues; /* at most */
	bool joined;                   /* its queues are pairs, or another's as well */
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
 * @return      0, or -EINVAL: control frames cannot have a queue apart, although they must.
 */
int port_plan(const struct port_offer *offer, int wish, uint16_t n, struct port_plan *plan);

/** What a device that EAL has found offers. @return 0 or -errno. */
int port_offer_of(uint16_t ethdev, struct port_offer *offer);

/** The queues of one lcore. */
struct poll_queues port_plan_queues(const struct port_plan *plan, uint16_t lcore);

#endif
