/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work for the main lcore, handed in by other threads that wait for it: what telemetry is asked to
 * change, and what it may read only where control work is done.
 *
 * The main lcore looks whenever it does slow work, at least every 10 ms, and looking costs a load.
 * A caller waits at most MAILBOX_PATIENCE_MS for its turn; work that has begun is always ended.
 */
#ifndef QUENCH_APP_RUNTIME_TELEMETRY_MAILBOX_H
#define QUENCH_APP_RUNTIME_TELEMETRY_MAILBOX_H

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
 * @return 0, or -ETIMEDOUT (it did not come to it), -ESHUTDOWN (mailbox_close()).
 */
int mailbox_call(struct mailbox *m, void (*work)(void *arg, uint64_t now_ns), void *arg);

/** On the main lcore: do what waits. @return was there anything? */
bool mailbox_serve(struct mailbox *m, uint64_t now_ns);

/** On the main lcore: nobody will serve any more; those that wait are told. */
void mailbox_close(struct mailbox *m);

#endif
