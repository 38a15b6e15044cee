/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of EAL's interrupt thread: an eventfd with a callback. */
#ifndef QUENCH_APP_RUNTIME_EAL_INTR_SOURCE_H
#define QUENCH_APP_RUNTIME_EAL_INTR_SOURCE_H

struct rte_intr_handle;

struct intr_source {
	int fd; /* readable: call the callback, and again until it has been read */
	struct rte_intr_handle *handle;
	void (*call)(void *arg);
	void *arg;
};

/**
 * Have call(arg) called on EAL's interrupt thread, for the first time at once.
 *
 * @return 0 or -errno.
 */
int intr_source_open(struct intr_source *s, void (*call)(void *arg), void *arg);

/** After its callback has returned, which is waited for. */
void intr_source_close(struct intr_source *s);

/** Make fd readable. */
void intr_source_raise(const struct intr_source *s);

/** Make fd not readable. */
void intr_source_lower(const struct intr_source *s);

#endif
