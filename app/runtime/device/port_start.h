/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a device, and restarts a memif client until it is connected.
 *
 * A net_memif client (DPDK 22.11) tries to connect only once, when it is started. Before its
 * server's EAL has started, nobody listens and the start fails; until the server's own device is
 * started, the answer is "ID not found" and the client's link would stay down for good. So a client
 * is started again until its link is up. After 10 to 13 s without a link, a warning line is printed
 * and the client stays as it is; without a listening server, the start has failed.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_START_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_START_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Start a configured device.
 * @return 0 or -errno, as rte_eth_dev_start(); -ECONNREFUSED for a memif client whose server does
 * not listen.
 */
int port_start(uint16_t ethdev);

/** Do these device arguments make a memif device a client, as it is by default? */
bool port_is_memif_client(const char *driver, const char *args);

#endif
