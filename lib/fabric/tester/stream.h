/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a stream, and its frames without payload. */
#ifndef QUENCH_FABRIC_TESTER_STREAM_H
#define QUENCH_FABRIC_TESTER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "fabric/tester/tester.h"
#include "tm/classes/qos_map.h"

#define STREAM_NAME_CHARS 32
#define STREAM_HOSTS_CHARS 128

enum stream_headers { STREAM_ETHERNET, STREAM_IP, STREAM_UDP };

/* One [stream NAME]. */
struct stream_params {
	char name[STREAM_NAME_CHARS + 1];
	char src[STREAM_HOSTS_CHARS + 1]; /* a host list */
	char dst[STREAM_HOSTS_CHARS + 1];
	uint8_t dst_mac[6]; /* zero: follows from dst */
	int headers;        /* enum stream_headers */
	uint16_t vlan;
	uint8_t pcp, dscp;
	int ecn; /* as in the IP header */
	uint16_t udp_sport, udp_sports, udp_dport;
	uint32_t frame_bytes; /* with FCS */
	uint64_t rate_bps;    /* 0: that of the link */
	uint64_t count;       /* 0: no limit */
	uint64_t start_ns, stop_ns;
	bool obey_pause;
	/* set by scenario_resolve() from src and dst */
	uint32_t to;
	uint32_t *from; /* n_from hosts */
	uint32_t n_from;
};

FIELD_TABLE(stream_fields);

/* Addresses of the first and the last host, or of the router to it. */
struct stream_ends {
	uint8_t src_mac[6], dst_mac[6];
	struct field_ip src_ip, dst_ip;
};

/** Set the headers and the lengths of out. */
void stream_template(const struct stream_params *params, const struct stream_ends *ends,
		     struct tester_stream *out);

/** The class of a stream: without IP it has no DSCP, and without tag no PCP. */
struct qos_class stream_class(const struct stream_params *params, const struct qos_map_params *qos);

#endif
