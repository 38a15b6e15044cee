/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/nearest.h"

#include <string.h>

#define MAX_NAME 64 /* longer names are never near */

/*
 * Single-letter edits between two names (Levenshtein). limit + 1, without a comparison, if their
 * lengths differ by more than limit, or b is longer than MAX_NAME.
 */
static unsigned int
edit_distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int row[MAX_NAME + 1];
	size_t n = strlen(b);

	if (strlen(a) > n + limit || n > strlen(a) + limit || n > MAX_NAME)
		return limit + 1;
	for (unsigned int j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= n; j++) {
			unsigned int change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned int cut = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = change < cut ? change : cut;
		}
	}
	return row[n];
}

void
nearest_try(struct nearest *best, const char *name)
{
	size_t n = strlen(best->wanted);
	unsigned int d = edit_distance(best->wanted, name, 2);

	if (n > 3 && strncmp(name, best->wanted, n) == 0 && name[n] == '_')
		d = 2;
	if (d <= 2 && 2 * d < n && (!best->name || d < best->distance)) {
		best->name = name;
		best->distance = d;
	}
}
