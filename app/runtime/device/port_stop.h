/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stops and closes devices.
 *
 * net_memif (DPDK 22.11 to 26.07) frees a connection on EAL's interrupt thread when its peer goes
 * away, and on the caller's when it is stopped, without a lock between them. So a memif device is
 * stopped and closed on the interrupt thread as well.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_STOP_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_STOP_H

#include <stdbool.h>
#include <stdint.h>

/** Is it a memif device, whose rings EAL's interrupt thread frees while a poller may use them? */
bool port_is_memif(uint16_t ethdev);

/** @return 0 or -errno, as rte_eth_dev_stop(). No lcore may poll the device. */
int port_stop(uint16_t ethdev);

/**
 * Stop and close n devices, at a program's end.
 *
 * Memif devices are closed last, and EAL's interrupt thread is parked from then on (eal/eal_end.h):
 * their listener stays registered there, although it is freed.
 */
void ports_close(const uint16_t *ethdevs, uint16_t n);

#endif
