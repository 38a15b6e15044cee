/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of VLAN identifiers as written in a file: "10,20-29", or "none". */
#ifndef QUENCH_SWITCH_TABLES_VLAN_LIST_H
#define QUENCH_SWITCH_TABLES_VLAN_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define VLAN_MAX_ID 4094u /* 802.1Q table 9-2: 0 is no VLAN, 4095 is reserved */
#define VLAN_LIST_CHARS 200

struct vlan_set {
	uint64_t bits[64];
};

static inline bool
vlan_set_has(const struct vlan_set *set, uint16_t vid)
{
	return set->bits[vid / 64] >> (vid % 64) & 1;
}

static inline bool
vlan_set_is_empty(const struct vlan_set *set)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < 64; i++)
		any |= set->bits[i];
	return any == 0;
}

/** "" means none. @return 0, or -EINVAL: malformed, or a number outside 1 to VLAN_MAX_ID. */
int vlan_set_parse(const char *list, struct vlan_set *set);

#endif
