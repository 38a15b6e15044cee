/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of a --vdev option: "net_af_packet0,iface=eth0,framesz=2048". */
#ifndef QUENCH_APP_RUNTIME_DEVICE_DEVICE_ARGS_H
#define QUENCH_APP_RUNTIME_DEVICE_DEVICE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_eth_dev_info;

/** The arguments of a device, or NULL: it has none. */
const char *device_args(const struct rte_eth_dev_info *info);

/** The number of KEY=NUMBER in arguments, which may be NULL; otherwise, or if it is none, def. */
uint32_t device_args_number(const char *args, const char *key, uint32_t def);

/** Is there a KEY=VALUE in arguments, which may be NULL? */
bool device_args_has(const char *args, const char *key);

/** Copy the value of KEY=VALUE in arguments. @return false: there is none, or it is too long. */
bool device_args_text(const char *args, const char *key, char *value, size_t size);

/* Slots of the rings of a net_af_packet device. */
struct device_slots {
	uint32_t framesz; /* bytes of a slot, with the kernel's header */
	uint32_t blocksz; /* bytes of a block, which is whole slots */
};

/** Those in the arguments, or the driver's own. */
struct device_slots device_slots(const char *args);

/**
 * Bytes of the longest frame, without FCS and without the tag that the kernel takes off, that is
 * certainly whole in a slot: the kernel cuts longer ones, and one that fills a slot may be cut.
 */
uint32_t device_whole_frame(uint32_t framesz);

/** Slots for such frames; blocks are the shortest possible ones. */
struct device_slots device_slots_for(uint32_t frame_bytes);

/**
 * Longest frame, without FCS and tag, that a net_memif device sends in one buffer of its rings
 * (bsize, which both ends need); 0: another driver. The driver sends a longer one in several
 * buffers, also if the ring has no room for all of them, and then the receiver reads the rest of
 * the ring again and again as if it were new.
 */
uint32_t device_memif_frame(const struct rte_eth_dev_info *info);

/**
 * Data room of mbufs that a net_af_packet device with this framesz requires: the driver copies a
 * slot of the ring without its header.
 */
uint32_t device_slot_room(uint32_t framesz);

#endif
