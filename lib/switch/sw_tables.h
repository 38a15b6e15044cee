/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch may be told in any number: static addresses. Each kind has its table of keys. */
#ifndef QUENCH_SWITCH_SW_TABLES_H
#define QUENCH_SWITCH_SW_TABLES_H

#include <stdint.h>

#include "base/field.h"

#define SW_NAME_CHARS 40

/* An address that neither ages nor moves. */
struct sw_static_mac {
	char name[SW_NAME_CHARS + 1]; /* of its section, behind the first word */
	uint8_t mac[6];
	uint16_t vlan; /* 0: untagged, with vlan_filtering off */
	uint16_t port;
};

extern const struct field sw_static_mac_fields[];
extern const unsigned int sw_static_mac_fields_n;

/* Zero-initialised state is empty. Arrays are owned by whoever read them. */
struct sw_tables {
	struct sw_static_mac *static_macs;
	uint32_t n_static_macs;
};

struct sw_params;

/**
 * Rules of the tables against the rest of params.
 *
 * @param why  On failure "SECTION: KEY: expected ...".
 * @return     0 or -EINVAL.
 */
int sw_tables_check(const struct sw_params *params, char *why, unsigned int why_size);

/** Free the arrays. */
void sw_tables_free(struct sw_tables *tables);

#endif
