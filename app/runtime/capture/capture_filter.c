/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture_filter.h"

#include <string.h>

#include "wire/bytes/be.h"
#include "wire/frame/frame.h"
#include "wire/roce/int_hdr.h"
#include "wire/roce/roce.h"

#define UDP_DPORT 2u
#define BTH_DEST_QP 4u
#define IP_PROTO_ICMPV6 58u
/* Neighbour discovery: router solicitation to redirect (RFC 4861 section 4). */
#define ND_FIRST_TYPE 133u
#define ND_LAST_TYPE 137u
/* The kind of an AETH: bits 6 and 5 of its syndrome; 0 acknowledges (IBTA table 45). */
#define AETH_KIND_MASK 0x60u

#define ALL_KINDS ((1u << CAPTURE_KINDS) - 1)

static const char *const kind_words[CAPTURE_KINDS] = {
	[CAPTURE_DATA] = "data",   [CAPTURE_ACK] = "ack",     [CAPTURE_NAK] = "nak",
	[CAPTURE_CNP] = "cnp",     [CAPTURE_PAUSE] = "pause", [CAPTURE_ARP] = "arp",
	[CAPTURE_OTHER] = "other",
};

static uint32_t
kind_of_word(const char *word, size_t n)
{
	for (unsigned int i = 0; i < CAPTURE_KINDS; i++)
		if (strlen(kind_words[i]) == n && memcmp(kind_words[i], word, n) == 0)
			return 1u << i;
	return 0;
}

uint32_t
capture_kinds(const char *words)
{
	uint32_t kinds = 0;

	if (strcmp(words, "all") == 0)
		return ALL_KINDS;
	for (;; words++) {
		size_t n = strcspn(words, ",");
		uint32_t kind = kind_of_word(words, n);

		if (kind == 0)
			return 0;
		kinds |= kind;
		words += n;
		if (*words == '\0')
			return kinds;
	}
}

/* Offset of the BTH, or 0: the frame has none. */
static size_t
find_bth(const uint8_t *bytes, size_t len, const struct frame_view *v)
{
	size_t at = (size_t)v->l4_off + UDP_HDR_BYTES;
	uint16_t port;

	if (v->ip_version == 0 || v->fragment || v->ip_proto != IP_PROTO_UDP || at > len)
		return 0;
	port = be16_load(bytes + v->l4_off + UDP_DPORT);
	if (port == INT_UDP_PORT && at + INT_HDR_BYTES <= len)
		at += int_hdr_bytes(int_hdr_slots(bytes + at));
	else if (port != ROCE_UDP_PORT)
		return 0;
	return at + BTH_BYTES <= len ? at : 0;
}

static enum capture_kind
kind_of_roce(const uint8_t *bth, size_t len)
{
	switch (bth[0]) {
	case ROCE_CNP:
		return CAPTURE_CNP;
	case RC_ACK:
	case RC_ATOMIC_ACK:
		return len > BTH_BYTES && (bth[BTH_BYTES] & AETH_KIND_MASK) != 0 ? CAPTURE_NAK
										 : CAPTURE_ACK;
	default:
		return CAPTURE_DATA;
	}
}

static bool
is_discovery(const uint8_t *bytes, size_t len, const struct frame_view *v)
{
	return v->ip_version == 6 && !v->fragment && v->ip_proto == IP_PROTO_ICMPV6 &&
	       v->l4_off < len && bytes[v->l4_off] >= ND_FIRST_TYPE &&
	       bytes[v->l4_off] <= ND_LAST_TYPE;
}

static bool
all_match(const struct capture_filter *filter, const uint8_t *bytes, size_t len,
	  const struct frame_view *v)
{
	for (uint32_t i = 0; i < filter->n_matches; i++)
		if (!capture_match_holds(&filter->matches[i], bytes, len, v))
			return false;
	return true;
}

bool
capture_filter_keeps(const struct capture_filter *filter, const uint8_t *bytes, size_t len)
{
	enum capture_kind kind = CAPTURE_OTHER;
	struct frame_view v;
	bool whole = frame_parse(bytes, len, &v) == FRAME_OK;
	size_t bth = whole ? find_bth(bytes, len, &v) : 0;

	if (bth != 0)
		kind = kind_of_roce(bytes + bth, len - bth);
	else if (whole && v.ethertype == ETHERTYPE_MAC_CONTROL)
		kind = CAPTURE_PAUSE;
	else if (whole && (v.ethertype == ETHERTYPE_ARP || is_discovery(bytes, len, &v)))
		kind = CAPTURE_ARP;
	if (!whole)
		v.ip_version = 0;
	return (filter->kinds >> kind & 1) != 0 &&
	       (filter->dest_qp == CAPTURE_ANY_QP ||
		(bth != 0 &&
		 (be32_load(bytes + bth + BTH_DEST_QP) & QPN_MASK) == filter->dest_qp)) &&
	       all_match(filter, bytes, len, &v);
}
