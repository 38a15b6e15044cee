/* SPDX-License-Identifier: BSD-3-Clause */
/* The KEY=VALUE words of "connect perftest" and "listen perftest". */
#ifndef QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_OPTIONS_H
#define QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "base/field/field.h"

enum perftest_verb { PERFTEST_SEND, PERFTEST_WRITE, PERFTEST_READ };
extern const char *const perftest_verb_words[];

enum perftest_gid { PERFTEST_GID_AUTO, PERFTEST_GID_IPV4, PERFTEST_GID_IPV6 };

#define PERFTEST_FLOW_CHARS 16
#define PERFTEST_MOST_QPS 64
/* Memory of each QP that a peer may name: more than its largest message. */
#define PERFTEST_MEMORY_BYTES (4ull << 30)

struct perftest_options {
	int verb; /* enum perftest_verb */
	uint64_t message_bytes;
	uint32_t messages; /* of each QP */
	uint64_t duration_ns;
	uint32_t qp_count;
	uint16_t mtu_bytes;
	uint32_t depth;
	uint16_t port;
	int gid; /* enum perftest_gid */
	bool gbits;
	char flow[PERFTEST_FLOW_CHARS + 1];
};

FIELD_TABLE(perftest_fields);

/** Print the keys with their defaults, for people. */
void perftest_options_print(FILE *out);

/**
 * Fill in the defaults, then the words.
 * @param words  KEY=VALUE, n of them, the first NULL ends them.
 * @return 0, or APP_BAD_USAGE after an error line.
 */
int perftest_options_read(const char *const *words, unsigned int n, struct perftest_options *o);

#endif
