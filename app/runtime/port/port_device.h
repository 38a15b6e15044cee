/* SPDX-License-Identifier: BSD-3-Clause */
/* What an Ethernet device is called, and whether it is one of hardware. */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_DEVICE_H
#define QUENCH_APP_RUNTIME_PORT_PORT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct rte_eth_dev_info;

/** Is it on no bus of hardware? Such a device makes up what it says of speeds and sizes. */
bool port_is_virtual(const struct rte_eth_dev_info *info);

/** Name of a device, e.g. "net_pcap0"; valid until this thread's next call. */
const char *port_name(uint16_t ethdev);

#endif
