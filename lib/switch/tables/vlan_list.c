/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/tables/vlan_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parse a number. @return the text after it, or NULL. */
static const char *
parse_vid(const char *text, unsigned long *vid)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*vid = strtoul(text, &end, 10);
	return *vid >= 1 && *vid <= VLAN_MAX_ID ? end : NULL;
}

int
vlan_set_parse(const char *list, struct vlan_set *set)
{
	const char *at = list;

	memset(set, 0, sizeof(*set));
	if (*list == '\0' || strcmp(list, "none") == 0)
		return 0;
	for (;;) {
		unsigned long first, last;

		at += strspn(at, " ");
		at = parse_vid(at, &first);
		last = first;
		if (at != NULL && *at == '-')
			at = parse_vid(at + 1, &last);
		if (at == NULL || last < first)
			return -EINVAL;
		for (unsigned long vid = first; vid <= last; vid++)
			set->bits[vid / 64] |= 1ull << (vid % 64);
		at += strspn(at, " ");
		if (*at == '\0')
			return 0;
		if (*at++ != ',')
			return -EINVAL;
	}
}
