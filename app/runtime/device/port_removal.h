/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removal of a device while the program runs.
 *
 * vfio-pci asks the process that holds a device to release it (VFIO_PCI_REQ_ERR_IRQ), and the
 * kernel does not complete the hot-unplug before the process has done so. Some other drivers report
 * RTE_ETH_EVENT_INTR_RMV. Both requests come on EAL's interrupt thread, which only records them.
 * The control thread closes the device when no lcore uses it any more (run/run.c).
 *
 * A closed device keeps its name and its last counters.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_REMOVAL_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

struct rte_eth_conf;
struct rte_eth_dev_info;
struct rte_eth_stats;

/** Ask the driver for removal events, if it has them. Before rte_eth_dev_configure(). */
void port_removal_ask(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf);

/** Begin to record requests to release a device. @return 0 or -errno. */
int port_removal_watch(uint16_t ethdev);

/** Has the release of the device been requested? From any thread. */
bool port_removal_requested(uint16_t ethdev);

/** Close the device and release it. Control thread; no lcore may use the device any more. */
void port_removal_close(uint16_t ethdev);

/**
 * Counters of the device, with frames that the kernel's ring dropped (imissed); its last ones if it
 * is closed. From any thread. @return 0 or -errno.
 */
int port_device_stats(uint16_t ethdev, struct rte_eth_stats *stats);

#endif
