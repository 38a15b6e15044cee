/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that the kernel dropped because the ring of a packet socket was full.
 *
 * net_af_packet (DPDK 22.11) never asks its sockets for them (packet(7), PACKET_STATISTICS), so
 * they are in none of the device's counters. The driver gives its sockets to nobody: this process
 * finds them among its files.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_KERNEL_RING_H
#define QUENCH_APP_RUNTIME_DEVICE_KERNEL_RING_H

#include <stdint.h>

/**
 * Find the sockets of a device, if it is of net_af_packet; warns if they are not found. Devices of
 * one interface are opened in the order in which EAL created them.
 */
void kernel_ring_open(uint16_t ethdev);

/** Frames dropped since the socket was made. From any thread. */
uint64_t kernel_ring_drops(uint16_t ethdev);

/** The driver is about to close its sockets: the number stays. */
void kernel_ring_close(uint16_t ethdev);

#endif
