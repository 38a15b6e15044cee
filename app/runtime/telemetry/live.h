/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration in force of a program that runs, and how another one takes its place: from its
 * file, read again, or by a single key.
 *
 * A change is made whole or refused whole. It is read and checked by the thread that asks, compared
 * with what is in force, and handed to the main lcore; the owners of the data path put it in force
 * between two bursts. Nobody waits but the one who asks. What was in force before is freed when the
 * last reply that shows it has ended.
 *
 * SIGHUP reads the file again. A terminal that goes away stops the program.
 */
#ifndef QUENCH_APP_RUNTIME_TELEMETRY_LIVE_H
#define QUENCH_APP_RUNTIME_TELEMETRY_LIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <rte_thread.h>

#include "runtime/telemetry/mailbox.h"
#include "ctl/config/compare.h"

/* So long a reply waits for the lcores. */
#define LIVE_PATIENCE_MS 2000

/* A configuration; the program's begins with this. */
struct live_version {
	unsigned int users;
};

/* What a program does to its configurations. program is that of struct live. */
struct live_ops {
	/* All of a file, checked, what is to be found out filled in. @return the caller's, or NULL
	 * with err filled in. */
	struct live_version *(*read)(void *program, struct config *cfg, struct config_error *err);
	void (*free)(struct live_version *v);
	/* A copy of now with the keys that cfg has over it, checked as read() does. @return as
	 * read(). */
	struct live_version *(*set)(void *program, const struct live_version *now,
				    struct config *cfg, struct config_error *err);
	void (*rows)(const struct live_version *v, struct config_rows *rows);
	/* The one in force, with what was changed beside it; valid until the next call. */
	const struct live_version *(*running)(void *program, const struct live_version *v);
	/* A rule between two of them that no flag of a key says, or NULL. */
	const char *(*fault)(const struct live_version *now, const struct live_version *next);
	/* Build what next needs to come into force, beside what is; free() undoes it. NULL: there
	 * is nothing to build. @return 0, or -errno with err filled in. */
	int (*prepare)(void *program, const struct live_version *now, struct live_version *next,
		       const struct config *cfg, struct config_error *err);
	/* On the main lcore: let it come into force. */
	void (*apply)(void *program, const struct live_version *v, uint64_t now_ns);
	/* Is the last one in force everywhere? Asked by who changes something. */
	bool (*is_done)(void *program);
};

struct live {
	const struct live_ops *ops;
	void *program;
	pthread_mutex_t turn; /* of who changes something */
	char *path;           /* of the file that was read last */
	pthread_mutex_t lock; /* of what follows */
	struct live_version *current;
	/* live_prepare(), live_start() */
	struct mailbox *mailbox;
	atomic_bool *stop;
	rte_thread_t thread;
	bool has_thread;
};

/** Block SIGHUP, before any thread is made. */
void live_block_signal(void);

/** @param first  In force, owned from now on; read from path. @return 0 or -ENOMEM. */
int live_init(struct live *l, const struct live_ops *ops, void *program, const char *path,
	      struct live_version *first);
/** Frees the version in force. Of a zero-initialised one: nothing. */
void live_destroy(struct live *l);

/** Changes are taken from now on; the main lcore serves mailbox. */
void live_prepare(struct live *l, struct mailbox *mailbox, atomic_bool *stop);
/** SIGHUP is one, too. @return 0 or -errno. */
int live_start(struct live *l);
/** Before mailbox_close(). Without a start: nothing. */
void live_stop(struct live *l);

/** The configuration in force, which stays until it is released. */
const struct live_version *live_hold(struct live *l);
void live_release(struct live *l, const struct live_version *v);

/**
 * The configuration in force with what commands changed beside it, which nobody changes until
 * live_running_end(). Waits for a change that has begun. Not on an lcore.
 */
const struct live_version *live_running_begin(struct live *l);
void live_running_end(struct live *l);

/* What is asked for. */
struct live_request {
	const char *path; /* file to read; NULL: the one that was read last */
	const char *set;  /* not a file but this, "section.key=value", over what is in force */
	/* For each difference, before it is made, and whether or not it will be. May be NULL. */
	void (*visit)(void *arg, const struct config_change *change);
	void *arg;
};

/* Of a change that was taken. */
struct live_outcome {
	bool in_force;      /* on all lcores; false: not yet, but it will be */
	uint64_t waited_ns; /* for that */
};

/**
 * Change the configuration. Not on an lcore.
 * @return 0: out is filled in; or -errno with err filled in, and nothing has changed: -EINVAL
 *         (refused), -EBUSY (the change before is not in force yet), -ENOMEM, -ESHUTDOWN,
 * -ETIMEDOUT.
 */
int live_change(struct live *l, const struct live_request *request, struct live_outcome *out,
		struct config_error *err);

/**
 * Wait until is_done() of the program, at most LIVE_PATIENCE_MS. @return whether it is.
 * @param waited_ns  How long it took. May be NULL.
 */
bool live_wait(struct live *l, bool (*is_done)(void *program), uint64_t *waited_ns);

/**
 * Compare the file as it is now with what is in force. @return 0, or -errno with err filled in.
 */
int live_compare(struct live *l, void (*visit)(void *arg, const struct config_change *change),
		 void *arg, struct config_error *err);

#endif
