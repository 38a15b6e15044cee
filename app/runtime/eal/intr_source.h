/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of EAL's interrupt thread: an eventfd with a callback. */
#ifndef QUENCH_APP_RUNTIME_EAL_INTR_SOURCE_H
#define QUENCH_APP_RUNTIME_EAL_INTR_SOURCE_H

struct rte_intr_handle;

struct intr_source {
	int fd; /* EAL calls the callback for as long as it is readable */
	struct rte_intr_handle *handle;
	void (*call)(void *arg);
	void *arg;
};

/**
 * Register call(arg) with EAL's interrupt thread. The first call follows immediately.
 *
 * @return 0 or -errno.
 */
int intr_source_open(struct intr_source *s, void (*call)(void *arg), void *arg);

/** Unregister the source, after waiting for a callback in progress. */
void intr_source_close(struct intr_source *s);

/** Make fd readable. */
void intr_source_raise(const struct intr_source *s);

/** Make fd not readable. */
void intr_source_lower(const struct intr_source *s);

#endif
