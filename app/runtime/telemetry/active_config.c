/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/telemetry/active_config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "base/units.h"
#include "runtime/notice/say.h"

/* Interval between looks whether the owners have adopted a change. */
#define OWNER_LOOK_NS 100000l

static sigset_t
hangup(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	return set;
}

void
active_config_block_signal(void)
{
	const sigset_t set = hangup();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int
active_config_init(struct active_config *l, const struct active_config_ops *ops, void *program,
		   const char *path, struct config_version *first)
{
	*l = (struct active_config){.ops = ops, .program = program, .current = first};
	first->users = 1;
	l->path = strdup(path);
	pthread_mutex_init(&l->turn, NULL);
	pthread_mutex_init(&l->lock, NULL);
	return l->path == NULL ? -ENOMEM : 0;
}

void
active_config_destroy(struct active_config *l)
{
	if (l->ops == NULL)
		return;
	active_config_release(l, l->current);
	pthread_mutex_destroy(&l->turn);
	pthread_mutex_destroy(&l->lock);
	free(l->path);
	*l = (struct active_config){0};
}

const struct config_version *
active_config_hold(struct active_config *l)
{
	struct config_version *v;

	pthread_mutex_lock(&l->lock);
	v = l->current;
	v->users++;
	pthread_mutex_unlock(&l->lock);
	return v;
}

void
active_config_release(struct active_config *l, const struct config_version *v)
{
	struct config_version *last = (struct config_version *)v;
	bool is_last;

	pthread_mutex_lock(&l->lock);
	is_last = --last->users == 0;
	pthread_mutex_unlock(&l->lock);
	if (is_last)
		l->ops->free(last);
}

const struct config_version *
active_config_running_begin(struct active_config *l)
{
	pthread_mutex_lock(&l->turn);
	return l->ops->running(l->program, l->current);
}

void
active_config_running_end(struct active_config *l)
{
	pthread_mutex_unlock(&l->turn);
}

/* Read the requested configuration, without comparing it with the active one. @return owned by the
 * caller, or NULL with err filled in. *cfg is owned by the caller too, and may be NULL. */
static struct config_version *
read_request(struct active_config *l, const struct active_config_request *r, struct config **cfg,
	     struct config_error *err)
{
	char path[4096];

	if (r->set == NULL) {
		*cfg = config_open(r->path != NULL ? r->path : l->path, err);
		return *cfg == NULL ? NULL : l->ops->read(l->program, *cfg, err);
	}
	snprintf(path, sizeof(path), "%s as it runs", l->path);
	*cfg = config_open_text(path, "", 0, err);
	if (*cfg == NULL || config_set(*cfg, r->set, err) != 0)
		return NULL;
	return l->ops->set(l->program, l->ops->running(l->program, l->current), *cfg, err);
}

/* Read and prepare the requested configuration. @return owned by the caller, or NULL with err. */
static struct config_version *
read_next(struct active_config *l, const struct active_config_request *r, struct config_error *err)
{
	struct config *cfg = NULL;
	struct config_version *next = read_request(l, r, &cfg, err);
	const struct config_version *now = l->ops->running(l->program, l->current);
	struct config_rows from = {0}, to = {0};
	const char *fault;
	int rc;

	if (next != NULL) {
		next->users = 1;
		l->ops->rows(now, &from);
		l->ops->rows(next, &to);
		fault = l->ops->fault(now, next);
		rc = config_rows_refuse_fixed(config_path(cfg), &from, &to, err);
		if (rc == 0 && fault != NULL) {
			snprintf(err->text, sizeof(err->text), "%s: %s", config_path(cfg), fault);
			rc = -EINVAL;
		}
		if (rc == 0 && l->ops->prepare != NULL)
			rc = l->ops->prepare(l->program, now, next, cfg, err);
		if (rc == 0 && r->visit != NULL)
			config_rows_compare(&from, &to, r->visit, r->arg);
		if (rc != 0) {
			l->ops->free(next);
			next = NULL;
		}
	}
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	return next;
}

struct commit {
	struct active_config *live;
	struct config_version *next;
};

static void
commit(void *arg, uint64_t now_ns)
{
	struct commit *c = arg;
	struct active_config *l = c->live;
	struct config_version *before = l->current;

	l->ops->apply(l->program, c->next, now_ns);
	pthread_mutex_lock(&l->lock);
	l->current = c->next;
	pthread_mutex_unlock(&l->lock);
	c->next = before;
}

static uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

bool
active_config_wait(struct active_config *l, bool (*is_done)(void *program), uint64_t *waited_ns)
{
	const struct timespec pause = {.tv_nsec = OWNER_LOOK_NS};
	uint64_t begin_ns = clock_ns();
	bool done = is_done(l->program);

	while (!done && clock_ns() - begin_ns < ACTIVE_CONFIG_PATIENCE_MS * NS_PER_MS &&
	       !atomic_load_explicit(l->stop, memory_order_relaxed)) {
		nanosleep(&pause, NULL);
		done = is_done(l->program);
	}
	if (waited_ns != NULL)
		*waited_ns = clock_ns() - begin_ns;
	return done;
}

static int
change(struct active_config *l, const struct active_config_request *r,
       struct active_config_outcome *out, struct config_error *err)
{
	struct commit c = {.live = l};
	char *path = r->path != NULL && r->set == NULL ? strdup(r->path) : NULL;
	int rc = 0;

	if (!active_config_wait(l, l->ops->is_done, NULL)) {
		snprintf(
			err->text, sizeof(err->text),
			"%s: nothing was changed: the previous change is not in force yet: try again",
			l->path);
		rc = -EBUSY;
	}
	if (rc == 0)
		c.next = read_next(l, r, err);
	if (rc == 0 && c.next == NULL)
		rc = -EINVAL;
	if (rc == 0) {
		rc = mailbox_call(l->mailbox, commit, &c);
		if (rc != 0)
			snprintf(err->text, sizeof(err->text), "%s: nothing was changed: %s",
				 l->path,
				 rc == -ETIMEDOUT ? "the main lcore did not respond: try again"
						  : "the program is about to end");
		/* The previous version, or the one that was not adopted. */
		active_config_release(l, c.next);
		if (rc == 0 && path != NULL) {
			free(l->path);
			l->path = path;
			path = NULL;
		}
		if (rc == 0)
			out->in_force = active_config_wait(l, l->ops->is_done, &out->waited_ns);
	}
	free(path);
	return rc;
}

int
active_config_change(struct active_config *l, const struct active_config_request *request,
		     struct active_config_outcome *out, struct config_error *err)
{
	int rc;

	pthread_mutex_lock(&l->turn);
	rc = change(l, request, out, err);
	pthread_mutex_unlock(&l->turn);
	return rc;
}

int
live_compare(struct active_config *l, void (*visit)(void *arg, const struct config_change *change),
	     void *arg, struct config_error *err)
{
	struct config_rows from = {0}, to = {0};
	struct config_version *file = NULL;
	struct config *cfg;
	int rc = 0;

	pthread_mutex_lock(&l->turn);
	cfg = config_open(l->path, err);
	if (cfg != NULL)
		file = l->ops->read(l->program, cfg, err);
	if (file != NULL) {
		l->ops->rows(file, &from);
		l->ops->rows(l->ops->running(l->program, l->current), &to);
		config_rows_compare(&from, &to, visit, arg);
		l->ops->free(file);
	} else {
		rc = -EINVAL;
	}
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	pthread_mutex_unlock(&l->turn);
	return rc;
}

static void
count_change(void *arg, const struct config_change *change)
{
	(void)change;
	++*(unsigned int *)arg;
}

static void
reload_for_signal(struct active_config *l)
{
	struct active_config_outcome out;
	struct config_error err;
	unsigned int n = 0;
	const struct active_config_request request = {.visit = count_change, .arg = &n};

	if (active_config_change(l, &request, &out, &err) != 0)
		say_warning("SIGHUP: nothing changes: %s", err.text);
	else if (out.in_force)
		say("SIGHUP: %s: %u keys changed", l->path, n);
	else
		say_warning("SIGHUP: %s: %u keys change, but are not in force on all lcores yet",
			    l->path, n);
}

static void
wait_for_signals(struct active_config *l)
{
	const sigset_t set = hangup();

	while (!atomic_load_explicit(l->stop, memory_order_relaxed)) {
		siginfo_t info;

		if (sigwaitinfo(&set, &info) != SIGHUP)
			continue;
		/* active_config_stop() sends this signal too. */
		if (atomic_load_explicit(l->stop, memory_order_relaxed))
			break;
		if (info.si_code == SI_KERNEL)
			atomic_store_explicit(l->stop, true, memory_order_relaxed);
		else
			reload_for_signal(l);
	}
}

/* The thread runs on a CPU without lcores. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static uint32_t
run_thread(void *arg)
{
	wait_for_signals(arg);
	return 0;
}

static int
start_thread(struct active_config *l)
{
	return rte_thread_create_control(&l->thread, "live", run_thread, l);
}

static void
join_thread(struct active_config *l)
{
	rte_thread_join(l->thread, NULL);
}
#else
static void *
run_thread(void *arg)
{
	wait_for_signals(arg);
	return NULL;
}

static int
start_thread(struct active_config *l)
{
	pthread_t thread;
	int rc = rte_ctrl_thread_create(&thread, "live", NULL, run_thread, l);

	l->thread.opaque_id = (uintptr_t)thread;
	return rc;
}

static void
join_thread(struct active_config *l)
{
	pthread_join((pthread_t)l->thread.opaque_id, NULL);
}
#endif

void
active_config_prepare(struct active_config *l, struct mailbox *mailbox, atomic_bool *stop)
{
	l->mailbox = mailbox;
	l->stop = stop;
}

int
active_config_start(struct active_config *l)
{
	int rc = start_thread(l);

	l->has_thread = rc == 0;
	return rc;
}

void
active_config_stop(struct active_config *l)
{
	if (!l->has_thread)
		return;
	atomic_store_explicit(l->stop, true, memory_order_relaxed);
	/* The thread waits for the signal, and then sees the flag. */
	pthread_kill((pthread_t)l->thread.opaque_id, SIGHUP);
	join_thread(l);
	l->has_thread = false;
}
