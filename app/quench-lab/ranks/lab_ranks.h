/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a run that mpirun has started. quench-lab itself uses no MPI library: a plug-in
 * does, which is loaded only in a process that has others beside it.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RANKS_LAB_RANKS_H
#define QUENCH_APP_QUENCH_LAB_RANKS_LAB_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/ranks/ranks.h"

/* What the plug-in gets. */
struct lab_plugin_needs {
	size_t ranks_bytes; /* sizeof(struct ranks): are both of one build? */
	void *(*more)(struct rank_bytes *b, size_t n); /* rank_bytes_more() */
};

/* The plug-in's functions, by these names. */
#define LAB_PLUGIN(mpi) "quench-lab-" mpi ".so"
#define LAB_PLUGIN_OPEN "quench_lab_mpi_open"
#define LAB_PLUGIN_CLOSE "quench_lab_mpi_close"
/* @return owned by the plug-in, or NULL with one line in why. */
typedef struct ranks *(*lab_plugin_open_fn)(const struct lab_plugin_needs *needs, char *why,
					    size_t why_size);
/* failed: end the other ranks, too, and do not return. */
typedef void (*lab_plugin_close_fn)(struct ranks *ranks, bool failed);

/**
 * Join the other ranks. @param out  NULL: this is the only process.
 * @return 0, or the exit code after an error line.
 */
int lab_ranks_open(struct ranks **out);
/** Leave them. NULL is allowed. */
void lab_ranks_close(struct ranks *ranks, bool failed);

#endif
