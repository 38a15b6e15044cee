/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet sockets of net_af_packet (DPDK 22.11): what the driver leaves undone.
 *
 * Frames that the kernel dropped because the ring was full: the driver never asks its sockets for
 * them (packet(7), PACKET_STATISTICS), so they are in none of the device's counters. The driver
 * gives its sockets to nobody: this process finds them among its files.
 *
 * Frames longer than a slot (framesz): the kernel cuts them, the driver hands them over as if they
 * were whole. They are dropped here.
 *
 * IPv4 fragments: the driver asks the kernel to reassemble them (PACKET_FANOUT_FLAG_DEFRAG), and
 * no argument turns that off. A wire does not do so, and the whole may be longer than any frame.
 * This file defines setsockopt(), which takes the flag away.
 *
 * Groups of sockets (PACKET_FANOUT): the driver numbers them by process and interface, modulo 2^16,
 * so that two programs may choose one number, and the second one fails. setsockopt() has the kernel
 * choose it instead (PACKET_FANOUT_FLAG_UNIQUEID, Linux 4.12).
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

/** Frames that were cut, and dropped. From any thread. */
uint64_t kernel_ring_cut(uint16_t ethdev);

/** The driver is about to close its sockets: the number stays. */
void kernel_ring_close(uint16_t ethdev);

#endif
