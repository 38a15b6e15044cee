/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's network interface that a device of net_af_packet uses: its name, its flags, and the
 * offloads that spoil what such a device receives.
 *
 * A packet socket gets frames as the kernel holds them. At the end of a veth pair, that is how the
 * peer's kernel made them: with checksum offload their TCP and UDP checksums are unfinished, and
 * with segmentation offload they are up to 64 KB long. GRO and LRO merge frames before the socket
 * gets them. Nothing after that finishes the work, so TCP hangs.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_KERNEL_INTERFACE_H
#define QUENCH_APP_RUNTIME_DEVICE_KERNEL_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/** Name of the interface that a device uses. @return false: the device is not of net_af_packet. */
bool kernel_interface_name(uint16_t ethdev, char name[IF_NAMESIZE]);

/** Is the interface running? @return false: the kernel does not tell. */
bool kernel_interface_running(const char *name, bool *running);

/** MTU of the interface; 0: the kernel does not tell. */
uint32_t kernel_interface_mtu(const char *name);

/**
 * Longest frame, without FCS and tag, that a device sends: by the interface's MTU, and by the slots
 * of its ring. 0: the kernel does not tell.
 */
uint32_t kernel_interface_most_bytes(uint16_t ethdev, const char *name);

/**
 * Add framesz and blocksz to the arguments of a net_af_packet device, for the longest frame that
 * arrives: the largest one of the configuration, or that of the interface's MTU, if this is less.
 *
 * @param device         Name and arguments, as of EAL's --vdev.
 * @param largest_frame  Without FCS.
 * @return               To be freed. NULL: another driver, the arguments have framesz or blocksz,
 *                       or the driver's default suffices.
 */
char *kernel_interface_fit(const char *device, uint32_t largest_frame);

/** Longest frame, without FCS, that arrives at an interface of this name; the largest one of the
 * configuration if its MTU is not known. */
uint32_t kernel_interface_longest(const char *name, uint32_t largest_frame);

/** Warn of offloads that spoil frames of this device, with the command that turns them off. */
void kernel_interface_check(uint16_t ethdev);

#endif
