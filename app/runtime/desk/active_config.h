/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The active configuration of a running program, and its replacement: by reading the file again, or
 * by setting a single key.
 *
 * A change is made or refused as a whole. The requesting thread reads the new configuration, checks
 * it, compares it with the active one and passes it to the main lcore; the lcores of the data path
 * adopt it between two bursts. Only the requesting thread waits. The previous version is freed
 * after the last reply that uses it.
 *
 * SIGHUP reads the file again. The end of the terminal stops the program.
 *
 * Invariant: a refused change leaves the active configuration as it was.
 */
#ifndef QUENCH_APP_RUNTIME_DESK_ACTIVE_CONFIG_H
#define QUENCH_APP_RUNTIME_DESK_ACTIVE_CONFIG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/desk/control_thread.h"
#include "runtime/desk/desk_mailbox.h"
#include "ctl/config/config_compare.h"

/* Longest time that a reply waits for the lcores. */
#define ACTIVE_CONFIG_PATIENCE_MS 2000

/* The first member of a program's configuration. */
struct config_version {
	unsigned int users;
};

/* Operations of a program on its configurations. program is the member of struct active_config. */
struct active_config_ops {
	/* Read and check a whole file, and fill in the values found at start-up. @return owned by
	 * the caller, or NULL with err filled in. */
	struct config_version *(*read)(void *program, struct config *cfg, struct config_error *err);
	void (*free)(struct config_version *v);
	/* Copy now, set the keys in cfg, and check as read() does. @return as read(). */
	struct config_version *(*set)(void *program, const struct config_version *now,
				      struct config *cfg, struct config_error *err);
	/* Copy now without the sections of these names, one on each line, and check as read()
	 * does. @return as read(). NULL: no section can be removed. */
	struct config_version *(*remove)(void *program, const struct config_version *now,
					 struct config *cfg, const char *names,
					 struct config_error *err);
	void (*rows)(const struct config_version *v, struct config_rows *rows);
	/*
	 * The active configuration plus changes that commands made to running state; valid until
	 * the next call. NULL: no command makes any.
	 */
	const struct config_version *(*running)(void *program, const struct config_version *v);
	/*
	 * The reason why next may not replace now although only live keys differ, or NULL. The
	 * function may be NULL: next always may.
	 */
	const char *(*fault)(const struct config_version *now, const struct config_version *next);
	/* Allocate and build what next needs before it is applied; free() undoes it. NULL: nothing
	 * to build. @return 0, or -errno with err filled in. */
	int (*prepare)(void *program, const struct config_version *now, struct config_version *next,
		       const struct config *cfg, struct config_error *err);
	/* Say warnings about a version that was read from cfg. NULL: there are none. */
	void (*warn)(const struct config_version *v, const struct config *cfg);
	/* Pass a version to the data path. On the main lcore. */
	void (*apply)(void *program, const struct config_version *v, uint64_t now_ns);
	/* Is the last version in force on all lcores? Called by the requesting thread. */
	bool (*is_done)(void *program);
};

struct active_config {
	const struct active_config_ops *ops;
	void *program;
	/* One change at a time, in the order of their requests: who asks again and again must not
	 * keep the others waiting. */
	struct {
		pthread_mutex_t lock;
		pthread_cond_t next;
		uint64_t given, ended;
	} turns;
	char *path;           /* of the last file read */
	pthread_mutex_t lock; /* protects current and its users */
	struct config_version *current;
	/* set by active_config_prepare() and active_config_start() */
	struct mailbox *mailbox;
	atomic_bool *stop;
	struct control_thread thread;
	bool has_thread;
};

/** Block SIGHUP. Call before any thread is created. */
void active_config_block_signal(void);

/** Say warnings about values in cfg, and about the version that was read from it. */
void active_config_warn(const struct active_config_ops *ops, const struct config_version *v,
			const struct config *cfg);

/** @param first  The active version, read from path; takes ownership. @return 0 or -ENOMEM. */
int active_config_init(struct active_config *active, const struct active_config_ops *ops,
		       void *program, const char *path, struct config_version *first);
/** Free the active version. Does nothing on a zero-initialised struct. */
void active_config_destroy(struct active_config *active);

/** Accept changes from now on; the main lcore serves the mailbox. */
void active_config_prepare(struct active_config *active, struct mailbox *mailbox,
			   atomic_bool *stop);
/** Accept SIGHUP too. @return 0 or -errno. */
int active_config_start(struct active_config *active);
/** Stop the thread of active_config_start(), if there is one. */
void active_config_stop(struct active_config *active);

/** Get the active version, which is not freed before active_config_release(). */
const struct config_version *active_config_hold(struct active_config *active);
void active_config_release(struct active_config *active, const struct config_version *v);

/**
 * The active configuration plus changes that commands made to running state. It does not change
 * until active_config_running_end(). Waits for a change in progress. Not on an lcore.
 */
const struct config_version *active_config_running_begin(struct active_config *active);
void active_config_running_end(struct active_config *active);

/* A requested change. */
struct active_config_request {
	const char *path; /* file to read; NULL: the last one read */
	/* not NULL, instead of reading a file: set "section.key=value" lines, as one change */
	const char *set;
	const char *remove; /* not NULL, instead of reading a file: remove these, one a line */
	bool quiet;         /* say no warnings about the configuration */
	bool dry_run;       /* check all, and change nothing */
	/* Called for each difference before the change, which may still fail. May be NULL. */
	void (*visit)(void *arg, const struct config_change *change);
	void *arg;
};

/* Outcome of an accepted change; of a dry run all zero. */
struct active_config_outcome {
	bool in_force;      /* on all lcores; false: not yet */
	uint64_t waited_ns; /* for in_force */
};

/**
 * Change the configuration. Not on an lcore.
 * @return 0: out is filled in; or -errno with err filled in, and nothing has changed: -EINVAL
 *         (refused), -EBUSY (the previous change is not in force yet), -ENOMEM, -ESHUTDOWN,
 *         -ETIMEDOUT.
 */
int active_config_change(struct active_config *active, const struct active_config_request *request,
			 struct active_config_outcome *out, struct config_error *err);

/**
 * Wait until is_done() of the program, at most ACTIVE_CONFIG_PATIENCE_MS.
 * @return its last result.
 * @param waited_ns  Set to the time waited. May be NULL.
 */
bool active_config_wait(struct active_config *active, bool (*is_done)(void *program),
			uint64_t *waited_ns);

/** Read the file, and compare it with the active configuration. @return 0, or -errno with err. */
int active_config_compare(struct active_config *active,
			  void (*visit)(void *arg, const struct config_change *change), void *arg,
			  struct config_error *err);

/* The values in force as the text of a file. */
struct active_config_text {
	char *path; /* absolute path of the last file read */
	char *text;
	bool is_edited;          /* text is that of path, with changed lines; false: every key */
	struct config_error why; /* it could not be edited */
};

/**
 * Write the values in force as the text of a file. It was read again, and has the same values.
 * @return 0, or -errno with err filled in.
 */
int active_config_text(struct active_config *active, struct active_config_text *text,
		       struct config_error *err);
void active_config_text_free(struct active_config_text *text);

#endif
