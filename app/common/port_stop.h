/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stopping and closing a device.
 *
 * net_memif of DPDK 22.11 frees a connection on EAL's interrupt thread when its peer goes away, and
 * on the caller's when it is stopped, without a lock between them: two programs that end at the
 * same time may crash (a fault in eal-intr-thread). So a memif device is stopped and closed on the
 * interrupt thread as well.
 */
#ifndef QUENCH_APP_PORT_STOP_H
#define QUENCH_APP_PORT_STOP_H

#include <stdint.h>

/** @return 0 or -errno, as rte_eth_dev_stop(). No lcore may poll the device. */
int port_stop(uint16_t ethdev);

/** Stop and close. */
void port_close(uint16_t ethdev);

#endif
