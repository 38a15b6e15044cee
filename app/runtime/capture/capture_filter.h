/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames a capture keeps: kinds of frames, the QP that they are for, and bits that match. */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_FILTER_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/capture/capture_match.h"

enum capture_kind {
	CAPTURE_DATA,  /* RoCEv2, but for the next three */
	CAPTURE_ACK,   /* with an AETH that acknowledges */
	CAPTURE_NAK,   /* with another AETH; RNR included */
	CAPTURE_CNP,   /* opcode 0x81 */
	CAPTURE_PAUSE, /* MAC control: PFC, and pauses of 802.3x */
	CAPTURE_ARP,   /* and neighbour discovery */
	CAPTURE_OTHER,
	CAPTURE_KINDS
};

enum capture_direction { CAPTURE_BOTH, CAPTURE_RECEIVED, CAPTURE_SENT };

/* The words of the kinds, for a message. */
#define CAPTURE_KIND_WORDS "data, ack, nak, cnp, pause, arp, other"

/* No QP has this number. */
#define CAPTURE_ANY_QP UINT32_MAX

struct capture_filter {
	uint32_t kinds;   /* mask of enum capture_kind */
	uint32_t dest_qp; /* of the BTH; or CAPTURE_ANY_QP */
	uint32_t n_matches;
	int direction;                                 /* enum capture_direction */
	struct capture_match matches[CAPTURE_MATCHES]; /* all must hold */
};

/** Read "data,cnp", or "all". @return a mask of kinds; 0: one of the words is none of them. */
uint32_t capture_kinds(const char *words);

/** Is this a frame to keep? Reads at most len bytes. */
bool capture_filter_keeps(const struct capture_filter *filter, const uint8_t *bytes, size_t len);

#endif
