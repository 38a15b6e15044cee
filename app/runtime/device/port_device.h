/* SPDX-License-Identifier: BSD-3-Clause */
/* Name of an Ethernet device, and whether it is hardware. */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_DEVICE_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct rte_eth_dev_info;

/** Is the device on no hardware bus? Such a device reports made-up speeds and sizes. */
bool port_is_virtual(const struct rte_eth_dev_info *info);

/** Name of a device, e.g. "net_pcap0"; valid until this thread's next call. */
const char *port_name(uint16_t ethdev);

/** Give a port's device the name of the port. Before other threads ask for it. */
void port_give_name(uint16_t ethdev, const char *name);

/** A port in lines after "port": its name, else its number. As long as of port_name(). */
const char *port_word(uint16_t ethdev, uint16_t number);

/** Keep the name for the time after the device is closed. Before other threads ask for it. */
void port_keep_name(uint16_t ethdev);

#endif
