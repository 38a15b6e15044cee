/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting a device, and a memif client until it is connected.
 *
 * net_memif of DPDK 22.11 connects in its start and never again. Its server listens from EAL's
 * start on, but knows its own device only once that has been started; in between it tells a client
 * "ID not found", and the client's link would stay down for good. So a client is stopped and
 * started again until its link is up.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_START_H
#define QUENCH_APP_RUNTIME_PORT_PORT_START_H

#include <stdbool.h>
#include <stdint.h>

/** Start a configured device. @return 0 or -errno, as rte_eth_dev_start(). */
int port_start(uint16_t ethdev);

/** Do these device arguments make a memif device a client, as it is by default? */
bool port_is_memif_client(const char *driver, const char *args);

#endif
