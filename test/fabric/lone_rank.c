/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-in of quench-lab for a test: rank 1 of two without the other. In the first exchanges, as
 * many as LONE_EXCHANGES says, it gets back what it sends, as of a rank that agrees; all others
 * fail. It prints how the rank leaves the others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quench-lab/ranks/lab_ranks.h"

static void *(*more)(struct rank_bytes *b, size_t n);
static int left;

static int
exchange(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in)
{
	void *to;

	(void)ranks;
	if (left-- <= 0)
		return -ENOMEM;
	in[0].n = 0;
	to = more(&in[0], out[0].n);
	if (to != NULL)
		memcpy(to, out[0].at, out[0].n);
	return to != NULL ? 0 : -ENOMEM;
}

__attribute__((visibility("default"))) struct ranks *
quench_lab_mpi_open(const struct lab_plugin_needs *needs, char *why, size_t why_size);
__attribute__((visibility("default"))) void quench_lab_mpi_close(struct ranks *ranks, bool failed);

struct ranks *
quench_lab_mpi_open(const struct lab_plugin_needs *needs, char *why, size_t why_size)
{
	struct ranks *ranks = calloc(1, sizeof(*ranks));

	more = needs->more;
	left = atoi(getenv("LONE_EXCHANGES"));
	if (ranks == NULL)
		snprintf(why, why_size, "no memory");
	else
		*ranks = (struct ranks){.self = 1, .n = 2, .exchange = exchange};
	return ranks;
}

void
quench_lab_mpi_close(struct ranks *ranks, bool failed)
{
	fprintf(stderr, "lone rank: %s\n", failed ? "ends the others" : "leaves them");
	free(ranks);
}
