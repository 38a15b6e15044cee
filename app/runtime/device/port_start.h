/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a device, and restarts a memif client until it is connected.
 *
 * A net_memif client (DPDK 22.11) tries to connect only once, when it is started. Its server
 * listens as soon as EAL has started, but answers "ID not found" until its own device is started;
 * the client's link would then stay down for good. So a client is stopped and started again until
 * its link is up. After 10 to 13 s without a link, a warning line is printed and the client stays
 * as it is.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_START_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_START_H

#include <stdbool.h>
#include <stdint.h>

/** Start a configured device. @return 0 or -errno, as rte_eth_dev_start(). */
int port_start(uint16_t ethdev);

/** Do these device arguments make a memif device a client, as it is by default? */
bool port_is_memif_client(const char *driver, const char *args);

#endif
