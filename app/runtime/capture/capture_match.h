/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bits of a frame that a capture compares: HEADER@BIT/BITS:VALUE/MASK, such as
 * ipv4@96/32:0a000001/ffffffff for the source address 10.0.0.1.
 *
 * A frame without the header, or without these bits, matches nothing, negated or not.
 */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_MATCH_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/frame.h"

#define CAPTURE_MATCHES 16
#define CAPTURE_MATCH_CHARS 700
/* A place within the largest frame. */
#define CAPTURE_MATCH_LAST_BIT 73727u
#define CAPTURE_MATCH_BITS 128u
/* The bits may begin and end within a byte. */
#define CAPTURE_MATCH_BYTES (CAPTURE_MATCH_BITS / 8 + 1)

enum capture_header {
	CAPTURE_ETH,  /* the first byte of the frame */
	CAPTURE_VLAN, /* the tag, after its EtherType */
	CAPTURE_IPV4,
	CAPTURE_IPV6,
	CAPTURE_L4, /* after the IP header, its options and extension headers; not of a fragment */
	CAPTURE_HEADERS
};

struct capture_match {
	enum capture_header header;
	uint32_t bit; /* from the beginning of the header */
	uint32_t bits;
	bool negate;
	/* of the bytes from bit / 8 on */
	uint8_t value[CAPTURE_MATCH_BYTES], mask[CAPTURE_MATCH_BYTES];
};

/**
 * Read matches, which commas separate. '!' before one negates it.
 *
 * @param matches  Receives at most CAPTURE_MATCHES.
 * @param n        Receives their number.
 * @return         0, or the length of the word at the beginning of *text, which is none.
 */
size_t capture_matches_read(const char **text, struct capture_match *matches, uint32_t *n);

/** @param v  Of the frame; ip_version is 0 unless the frame is sound. */
bool capture_match_holds(const struct capture_match *m, const uint8_t *bytes, size_t len,
			 const struct frame_view *v);

#endif
