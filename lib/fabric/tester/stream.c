/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tester/stream.h"

#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/bytes/headers.h"
#include "wire/frame/l2.h"

/* Ethernet, tag, IPv4, UDP, the tail and the FCS. */
#define MIN_FRAME_BYTES 64u
#define MAX_FRAME_BYTES 9216u
/* IEEE 802: local experimental EtherType 1; RFC 3692: protocol for experiments. */
#define ETHERTYPE_EXPERIMENT 0x88B5u
#define IP_PROTO_EXPERIMENT 253u
#define TTL 64

static const char *const header_words[] = {"ethernet", "ip", "udp", NULL};
static const char *const ecn_words[] = {"not_ect", "ect1", "ect0", "ce", NULL};

const struct field stream_fields[] = {
	{FIELD_OF(struct stream_params, src), .type = FIELD_STR, .min = 1,
	 .max = STREAM_HOSTS_CHARS,
	 .help = "sending hosts, one stream for each: such as 1-4 or 1,3, h1-h4, T1/1-4, T1"},
	{FIELD_OF(struct stream_params, dst), .type = FIELD_STR, .min = 1,
	 .max = STREAM_HOSTS_CHARS, .help = "receiving host, such as 5, h5 or T4/1"},
	{FIELD_OF(struct stream_params, dst_mac), .type = FIELD_MAC, .def = "00:00:00:00:00:00",
	 .help = "destination address; all zero: that of dst, or of the router to it"},
	{FIELD_OF(struct stream_params, headers), .type = FIELD_ENUM, .choices = header_words,
	 .def = "udp",
	 .help = "headers of a frame: ethernet (EtherType 0x88b5), ip (and IPv4, protocol 253), "
		 "udp (and UDP)"},
	{FIELD_OF(struct stream_params, vlan), .type = FIELD_U16, .max = 4094, .def = "0",
	 .help = "VLAN of a tag; 0: a tag with priority alone if pcp is above 0, else no tag"},
	{FIELD_OF(struct stream_params, pcp), .type = FIELD_U8, .max = 7, .def = "0",
	 .help = "priority in the tag"},
	{FIELD_OF(struct stream_params, dscp), .type = FIELD_U8, .max = 63, .def = "0",
	 .help = "DSCP of IP; the maps of [qos_map] give the priority whose pauses stop the stream"},
	{FIELD_OF(struct stream_params, ecn), .type = FIELD_ENUM, .choices = ecn_words,
	 .def = "not_ect", .help = "ECN field of IP"},
	{FIELD_OF(struct stream_params, udp_sport), .type = FIELD_U16, .max = UINT16_MAX,
	 .def = "49152", .help = "UDP source port of the first frame"},
	{FIELD_OF(struct stream_params, udp_sports), .type = FIELD_U16, .min = 1, .max = UINT16_MAX,
	 .def = "1",
	 .help = "number of UDP source ports, which successive frames take in turn, for several "
		 "paths"},
	{FIELD_OF(struct stream_params, udp_dport), .type = FIELD_U16, .max = UINT16_MAX,
	 .def = "9", .help = "UDP destination port; 4791 is that of RoCEv2"},
	{FIELD_OF(struct stream_params, frame_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .min = MIN_FRAME_BYTES, .max = MAX_FRAME_BYTES, .def = "1024",
	 .help = "length of a frame with FCS"},
	{FIELD_OF(struct stream_params, rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "rate of each stream in wire bytes; 0: that of the link"},
	{FIELD_OF(struct stream_params, count), .type = FIELD_U64, .max = UINT32_MAX, .def = "0",
	 .help = "frames of each stream; 0: no limit"},
	{FIELD_OF(struct stream_params, start_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0", .help = "time of the first frame"},
	{FIELD_OF(struct stream_params, stop_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = UINT64_MAX, .def = "never", .help = "no frame is due from then on"},
	{FIELD_OF(struct stream_params, obey_pause), .type = FIELD_BOOL, .def = "on",
	 .help = "wait while the priority is paused; frames that were due meanwhile are not made "
		 "up for. off: ignore pauses"},
};
const unsigned int stream_fields_n = ARRAY_LEN(stream_fields);

static bool
is_tagged(const struct stream_params *p)
{
	return p->vlan > 0 || p->pcp > 0;
}

/* @return length. */
static size_t
write_ip(const struct stream_params *p, const struct stream_ends *ends, size_t length, uint8_t *ip)
{
	ip[0] = 0x45;
	ip[1] = (uint8_t)(p->dscp << 2 | p->ecn);
	be16_store(ip + 2, (uint16_t)length);
	ip[8] = TTL;
	ip[9] = p->headers == STREAM_UDP ? IP_PROTO_UDP : IP_PROTO_EXPERIMENT;
	memcpy(ip + 12, ends->src_ip.addr, 4);
	memcpy(ip + 16, ends->dst_ip.addr, 4);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
	return IPV4_HDR_BYTES;
}

void
stream_template(const struct stream_params *p, const struct stream_ends *ends,
		struct tester_stream *out)
{
	struct l2 l2 = {.tagged = is_tagged(p), .vlan_tci = (uint16_t)(p->pcp << 13 | p->vlan)};
	size_t at;

	memcpy(l2.src_mac, ends->src_mac, 6);
	memcpy(l2.dst_mac, ends->dst_mac, 6);
	out->frame_bytes = p->frame_bytes - FCS_BYTES;
	at = l2_write(out->header, &l2,
		      p->headers == STREAM_ETHERNET ? ETHERTYPE_EXPERIMENT : ETHERTYPE_IPV4);
	if (p->headers != STREAM_ETHERNET)
		at += write_ip(p, ends, out->frame_bytes - at, out->header + at);
	if (p->headers == STREAM_UDP) {
		uint8_t *udp = out->header + at;

		be16_store(udp, p->udp_sport);
		be16_store(udp + 2, p->udp_dport);
		be16_store(udp + 4, (uint16_t)(out->frame_bytes - at));
		out->udp_at = (uint32_t)at;
		at += UDP_HDR_BYTES;
	}
	out->header_bytes = (uint32_t)at;
}

struct qos_class
stream_class(const struct stream_params *p, const struct qos_map_params *qos)
{
	return qos_map_classify(qos, p->headers == STREAM_ETHERNET ? -1 : p->dscp,
				is_tagged(p) ? p->pcp : -1);
}
