/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data room of mbufs that devices receive into: each frame is one segment.
 *
 * Drivers round the room down, and the device splits longer frames into segments: i40e, iavf and
 * ice round to 128 bytes (DBUFF of the receive queue's context), ixgbe and igb to 1 KB (BSIZEPKT of
 * SRRCTL), em to a power of two (BSIZE and BSEX of RCTL). All of them require room for two VLAN
 * tags in addition to the largest frame. net_af_packet requires room for a whole slot of its ring
 * without the header (device_slot_room()).
 *
 * Invariant: the room is a multiple of 1 KB, or a power of two, and holds the largest frame and two
 * VLAN tags.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_DATA_ROOM_H
#define QUENCH_APP_RUNTIME_PORT_DATA_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/frame/frame.h"

/* Least room that every driver accepts, whatever the largest frame. */
#define DATA_ROOM_LEAST_BYTES 2048u
/* The coarsest step of a driver that has steps, and a multiple of the others. */
#define DATA_ROOM_STEP_BYTES 1024u
/* The largest buffer of any driver above. */
#define DATA_ROOM_MOST_BYTES 16384u

/** Does this driver round the room down to a power of two? */
static inline bool
data_room_doubles(const char *driver)
{
	return strcmp(driver, "net_e1000_em") == 0;
}

/**
 * @param frame_bytes  Largest frame, with FCS; below 16 KB.
 * @param doubles      A driver rounds the room down to a power of two.
 * @return             Bytes of data room without headroom.
 */
static inline uint16_t
data_room_bytes(uint32_t frame_bytes, bool doubles)
{
	uint32_t needed_bytes = frame_bytes + 2 * VLAN_TAG_BYTES;
	uint32_t room_bytes = DATA_ROOM_LEAST_BYTES;

	if (needed_bytes < DATA_ROOM_LEAST_BYTES)
		needed_bytes = DATA_ROOM_LEAST_BYTES;
	if (doubles) {
		while (room_bytes < needed_bytes && room_bytes < DATA_ROOM_MOST_BYTES)
			room_bytes *= 2;
		return (uint16_t)room_bytes;
	}
	return (uint16_t)((needed_bytes + DATA_ROOM_STEP_BYTES - 1) / DATA_ROOM_STEP_BYTES *
			  DATA_ROOM_STEP_BYTES);
}

#endif
