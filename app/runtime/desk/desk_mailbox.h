/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work for the main lcore from other threads, which wait for it: changes at the desk, and reads of
 * state that belongs to the main lcore.
 *
 * The main lcore checks for work whenever it does slow work, at least every 10 ms; a check costs
 * one load. A caller waits at most MAILBOX_PATIENCE_MS for its turn; work that has begun is always
 * completed.
 *
 * Invariant: work runs at most once, and exactly once if mailbox_call() returns 0.
 */
#ifndef QUENCH_APP_RUNTIME_DESK_DESK_MAILBOX_H
#define QUENCH_APP_RUNTIME_DESK_DESK_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MAILBOX_PATIENCE_MS 2000

struct mail;

struct mailbox {
	atomic_bool full; /* there may be work */
	bool closed;
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct mail *first, **last;
};

int mailbox_init(struct mailbox *m);
void mailbox_destroy(struct mailbox *m);

/**
 * Let the main lcore call work(arg, now_ns), and wait for it.
 * @return 0, or -ETIMEDOUT (not begun in time) or -ESHUTDOWN (mailbox_close()); not called then.
 */
int mailbox_call(struct mailbox *m, void (*work)(void *arg, uint64_t now_ns), void *arg);

/** On the main lcore: do the waiting work. @return true: there was some. */
bool mailbox_serve(struct mailbox *m, uint64_t now_ns);

/** On the main lcore: end the service; waiting calls return -ESHUTDOWN. */
void mailbox_close(struct mailbox *m);

#endif
