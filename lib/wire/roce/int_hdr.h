/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In-band telemetry (INT): a header between UDP and BTH in which each switch of the path records
 * its egress queue, for congestion control by HPCC (Li et al., SIGCOMM 2019, section 3 and figure
 * 7). The format is ours (doc/int.md): a frame with it goes to UDP port 4792, the sender reserves
 * slots for hops, and a switch fills in the next free slot. So no switch changes a length.
 *
 *   byte 0   version (high 4 bits), flags
 *        1   slots (high 4 bits), hops, at most slots
 *        2   path ID: XOR of the IDs of the ports that the frame left by, those without a slot too
 *        4   slots of 16 bytes: queue bytes, bytes sent, time in ns, Mb/s, in network order
 *
 * The ICRC is that of the frame without the header: int_strip() restores the frame that was there
 * before int_insert(), except for an UDP checksum, which becomes 0.
 */
#ifndef QUENCH_WIRE_ROCE_INT_HDR_H
#define QUENCH_WIRE_ROCE_INT_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/frame.h"

#define INT_UDP_PORT 4792u
/* Seeds of the fuzzer have it: test/fuzz/corpus/{roce,switch}/int_*. */
#define INT_VERSION 2u
#define INT_HDR_BYTES 4u
#define INT_HOP_BYTES 16u
/* Most slots: what fits into the headroom of any frame of ours. */
#define INT_MAX_HOPS 6u
#define INT_MAX_BYTES (INT_HDR_BYTES + INT_MAX_HOPS * INT_HOP_BYTES)

/* Longest frame: one with the largest MTU of a NIC and any headers fits. */
#define INT_MAX_FRAME_BYTES 9216u

/* Flags. */
#define INT_ECHO 0x1u /* of the receiver, in an ACK: switches add nothing */
#define INT_FULL 0x2u /* a switch found no free slot */

/* What a switch records when a frame leaves. */
struct int_hop {
	uint32_t queue_bytes; /* left in the frame's egress queue */
	uint32_t tx_bytes;    /* wire bytes that the port has sent, modulo 2^32 */
	uint32_t time_ns;     /* modulo 2^32 */
	uint32_t rate_mbps;   /* of the port */
};

enum int_verdict {
	INT_OK,
	INT_NONE,     /* no frame to INT_UDP_PORT over IP */
	INT_NO_ROOM,  /* all slots are used: INT_FULL is set now */
	INT_MALFORMED /* wrong version, or lengths that contradict each other or the frame */
};

/** Bytes of a header with this many slots. */
static inline unsigned int
int_hdr_bytes(unsigned int slots)
{
	return INT_HDR_BYTES + slots * INT_HOP_BYTES;
}

/**
 * Insert a header into a RoCEv2 frame of ours: with at most one tag, and no IP options.
 *
 * @param buf    The frame, with int_hdr_bytes(slots) of room before it.
 * @param path_id  0, or in an echo that of the frame.
 * @param hops   n_hops of them, at most slots; each of INT_HOP_BYTES as on the wire. The other
 *               slots are zero.
 * @return       Bytes by which the frame now begins earlier.
 */
unsigned int int_insert(uint8_t *buf, unsigned int slots, uint8_t flags, uint16_t path_id,
			const uint8_t *hops, unsigned int n_hops);

/**
 * Copy a received frame without its header.
 *
 * @param frame  Result of frame_parse() for buf[0..len).
 * @param out    len bytes. With INT_OK it has the frame as it was before int_insert().
 * @param hdr    With INT_OK: the header, in buf.
 * @return       INT_OK, INT_NONE or INT_MALFORMED.
 */
enum int_verdict int_strip(const uint8_t *buf, size_t len, const struct frame_view *frame,
			   uint8_t *out, const uint8_t **hdr);

/** Is this a frame to INT_UDP_PORT over IP, whose header is not an echo if it is well-formed? */
bool int_is_open(const uint8_t *buf, size_t len);

/**
 * Add a hop to a frame that passes a switch, and for which int_is_open().
 *
 * @param buf      A frame that frame_parse() has accepted, possibly with a tag added or removed
 *                 since.
 * @param port_id  int_port_id() of the port.
 * @return         INT_OK or INT_NO_ROOM: the header has changed; else the frame is unchanged.
 */
enum int_verdict int_append(uint8_t *buf, size_t len, uint16_t port_id, const struct int_hop *hop);

/** ID of a switch's port, for the path ID: equal ones are as likely as for random numbers. */
uint16_t int_port_id(const uint8_t switch_mac[6], uint16_t port);

static inline unsigned int
int_hdr_slots(const uint8_t *hdr)
{
	return hdr[1] >> 4;
}

/** Number of hops in a header. */
static inline unsigned int
int_hdr_hops(const uint8_t *hdr)
{
	return hdr[1] & 15;
}

static inline bool
int_hdr_is_full(const uint8_t *hdr)
{
	return hdr[0] & INT_FULL;
}

static inline uint16_t
int_hdr_path_id(const uint8_t *hdr)
{
	return (uint16_t)(hdr[2] << 8 | hdr[3]);
}

/** Hop i of a header, i < int_hdr_hops(). */
struct int_hop int_read_hop(const uint8_t *hdr, unsigned int i);

#endif
