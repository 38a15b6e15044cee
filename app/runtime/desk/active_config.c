/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/active_config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/units.h"
#include "ctl/config/config_edit.h"
#include "ctl/ini/file.h"
#include "ctl/yaml/yaml_file.h"
#include "runtime/desk/desk_peer.h"
#include "runtime/notice/doubts.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

/* Interval between checks whether the owners have adopted a change. */
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
active_config_init(struct active_config *active, const struct active_config_ops *ops, void *program,
		   const char *path, struct config_version *first)
{
	*active = (struct active_config){.ops = ops, .program = program, .current = first};
	first->users = 1;
	active->path = strdup(path);
	pthread_mutex_init(&active->turns.lock, NULL);
	pthread_cond_init(&active->turns.next, NULL);
	pthread_mutex_init(&active->lock, NULL);
	return active->path == NULL ? -ENOMEM : 0;
}

void
active_config_destroy(struct active_config *active)
{
	if (active->ops == NULL)
		return;
	active_config_release(active, active->current);
	pthread_mutex_destroy(&active->turns.lock);
	pthread_cond_destroy(&active->turns.next);
	pthread_mutex_destroy(&active->lock);
	free(active->path);
	*active = (struct active_config){0};
}

const struct config_version *
active_config_hold(struct active_config *active)
{
	struct config_version *v;

	pthread_mutex_lock(&active->lock);
	v = active->current;
	v->users++;
	pthread_mutex_unlock(&active->lock);
	return v;
}

void
active_config_release(struct active_config *active, const struct config_version *v)
{
	struct config_version *last = (struct config_version *)v;
	bool is_last;

	pthread_mutex_lock(&active->lock);
	is_last = --last->users == 0;
	pthread_mutex_unlock(&active->lock);
	if (is_last)
		active->ops->free(last);
}

static void
begin_turn(struct active_config *active)
{
	uint64_t mine;

	pthread_mutex_lock(&active->turns.lock);
	mine = active->turns.given++;
	while (active->turns.ended != mine)
		pthread_cond_wait(&active->turns.next, &active->turns.lock);
	pthread_mutex_unlock(&active->turns.lock);
}

static void
end_turn(struct active_config *active)
{
	pthread_mutex_lock(&active->turns.lock);
	active->turns.ended++;
	pthread_cond_broadcast(&active->turns.next);
	pthread_mutex_unlock(&active->turns.lock);
}

static const struct config_version *
running(const struct active_config *active)
{
	return active->ops->running == NULL
		       ? active->current
		       : active->ops->running(active->program, active->current);
}

const struct config_version *
active_config_running_begin(struct active_config *active)
{
	begin_turn(active);
	return running(active);
}

void
active_config_running_end(struct active_config *active)
{
	end_turn(active);
}

void
active_config_warn(const struct active_config_ops *ops, const struct config_version *v,
		   const struct config *cfg)
{
	say_doubts(cfg);
	if (ops->warn != NULL)
		ops->warn(v, cfg);
}

/* Set each of the lines "section.key=value". */
static int
set_lines(struct config *cfg, const char *lines, struct config_error *err)
{
	int rc = 0;

	while (rc == 0 && *lines != '\0') {
		size_t n = strcspn(lines, "\n");
		char *line = strndup(lines, n);

		if (line == NULL) {
			snprintf(err->text, sizeof(err->text), "out of memory");
			return -ENOMEM;
		}
		rc = config_set(cfg, line, err);
		free(line);
		lines += n + (lines[n] == '\n');
	}
	return rc;
}

/* Read the requested configuration, without comparing it with the active one. @return owned by the
 * caller, or NULL with err filled in. *cfg is owned by the caller too, and may be NULL. */
static struct config_version *
read_request(struct active_config *active, const struct active_config_request *r,
	     struct config **cfg, struct config_error *err)
{
	char path[4096];

	if (r->set == NULL && r->remove == NULL) {
		*cfg = config_open(r->path != NULL ? r->path : active->path, err);
		return *cfg == NULL ? NULL : active->ops->read(active->program, *cfg, err);
	}
	snprintf(path, sizeof(path), "%s as it runs", active->path);
	*cfg = config_open_text(path, "", 0, err);
	if (*cfg != NULL && r->remove != NULL)
		return active->ops->remove(active->program, running(active), *cfg, r->remove, err);
	if (*cfg == NULL || set_lines(*cfg, r->set, err) != 0)
		return NULL;
	return active->ops->set(active->program, running(active), *cfg, err);
}

/* Read and prepare the requested configuration. @return owned by the caller, or NULL with err. */
static struct config_version *
read_next(struct active_config *active, const struct active_config_request *r,
	  struct config_error *err)
{
	struct config *cfg = NULL;
	struct config_version *next = read_request(active, r, &cfg, err);
	const struct config_version *now = running(active);
	struct config_rows from = {0}, to = {0};
	const char *fault;
	int rc;

	if (next != NULL) {
		next->users = 1;
		active->ops->rows(now, &from);
		active->ops->rows(next, &to);
		fault = active->ops->fault == NULL ? NULL : active->ops->fault(now, next);
		rc = config_rows_refuse_fixed(cfg, &from, &to, err);
		if (rc == 0 && fault != NULL) {
			snprintf(err->text, sizeof(err->text), "%s: %s", config_path(cfg), fault);
			rc = -EINVAL;
		}
		if (rc == 0 && active->ops->prepare != NULL)
			rc = active->ops->prepare(active->program, now, next, cfg, err);
		if (rc == 0 && !r->quiet)
			active_config_warn(active->ops, next, cfg);
		if (rc == 0 && r->visit != NULL)
			config_rows_compare(&from, &to, r->visit, r->arg);
		if (rc != 0) {
			active->ops->free(next);
			next = NULL;
		}
	}
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	return next;
}

struct commit {
	struct active_config *active;
	struct config_version *next;
};

static void
commit(void *arg, uint64_t now_ns)
{
	struct commit *c = arg;
	struct active_config *active = c->active;
	struct config_version *before = active->current;

	active->ops->apply(active->program, c->next, now_ns);
	pthread_mutex_lock(&active->lock);
	active->current = c->next;
	pthread_mutex_unlock(&active->lock);
	c->next = before;
}

bool
active_config_wait(struct active_config *active, bool (*is_done)(void *program),
		   uint64_t *waited_ns)
{
	const struct timespec pause = {.tv_nsec = OWNER_LOOK_NS};
	uint64_t begin_ns = monotonic_ns();
	bool done = is_done(active->program);

	while (!done && monotonic_ns() - begin_ns < ACTIVE_CONFIG_PATIENCE_MS * NS_PER_MS &&
	       !atomic_load_explicit(active->stop, memory_order_relaxed)) {
		nanosleep(&pause, NULL);
		done = is_done(active->program);
	}
	if (waited_ns != NULL)
		*waited_ns = monotonic_ns() - begin_ns;
	return done;
}

static int
change(struct active_config *active, const struct active_config_request *r,
       struct active_config_outcome *out, struct config_error *err)
{
	struct commit c = {.active = active};
	char *path = r->path != NULL ? strdup(r->path) : NULL;
	int rc = 0;

	if (!active_config_wait(active, active->ops->is_done, NULL)) {
		snprintf(
			err->text, sizeof(err->text),
			"%s: nothing was changed: the previous change is not in force yet: try again",
			active->path);
		rc = -EBUSY;
	}
	if (rc == 0)
		c.next = read_next(active, r, err);
	if (rc == 0 && c.next == NULL)
		rc = -EINVAL;
	if (rc == 0 && r->dry_run) {
		active->ops->free(c.next);
	} else if (rc == 0) {
		rc = mailbox_call(active->mailbox, commit, &c);
		if (rc != 0)
			snprintf(err->text, sizeof(err->text), "%s: nothing was changed: %s",
				 active->path,
				 rc == -ETIMEDOUT ? "the main lcore did not respond: try again"
						  : "the program is about to end");
		/* The previous version, or the one that was not adopted. */
		active_config_release(active, c.next);
		if (rc == 0 && path != NULL) {
			free(active->path);
			active->path = path;
			path = NULL;
		}
		if (rc == 0)
			out->in_force =
				active_config_wait(active, active->ops->is_done, &out->waited_ns);
	}
	free(path);
	return rc;
}

int
active_config_change(struct active_config *active, const struct active_config_request *request,
		     struct active_config_outcome *out, struct config_error *err)
{
	int rc;

	begin_turn(active);
	rc = change(active, request, out, err);
	end_turn(active);
	return rc;
}

int
active_config_compare(struct active_config *active,
		      void (*visit)(void *arg, const struct config_change *change), void *arg,
		      struct config_error *err)
{
	struct config_rows from = {0}, to = {0};
	struct config_version *file = NULL;
	struct config *cfg;
	int rc = 0;

	begin_turn(active);
	cfg = config_open(active->path, err);
	if (cfg != NULL)
		file = active->ops->read(active->program, cfg, err);
	if (file != NULL) {
		active->ops->rows(file, &from);
		active->ops->rows(running(active), &to);
		config_rows_compare(&from, &to, visit, arg);
		active->ops->free(file);
	} else {
		rc = -EINVAL;
	}
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	end_turn(active);
	return rc;
}

/* The text of the last file read, with the values of to; NULL with err filled in. */
static char *
edited(struct active_config *active, struct config_rows *to, struct config_error *err)
{
	struct config_rows from = {0};
	struct config_version *file = NULL;
	struct config *cfg = NULL;
	char *text, *made = NULL;
	size_t size;

	if (yaml_file_is(active->path)) {
		config_error_set(err, active->path, " is not INI, so its lines cannot be edited");
		return NULL;
	}
	text = config_file_text(active->path, &size, err);
	if (text != NULL)
		cfg = config_open_text(active->path, text, size, err);
	if (cfg != NULL)
		file = active->ops->read(active->program, cfg, err);
	if (file != NULL) {
		active->ops->rows(file, &from);
		made = config_edit(cfg, text, &from, to);
		if (made == NULL)
			config_error_set(err, active->path, " out of memory");
		config_rows_free(&from);
		active->ops->free(file);
	}
	config_close(cfg);
	free(text);
	return made;
}

/* Every key of v. @return NULL: no memory. */
static char *
printed(const struct active_config *active, const struct config_version *v)
{
	char *text = NULL;
	size_t size;
	struct config_rows rows = {.out = open_memstream(&text, &size)};

	if (rows.out == NULL)
		return NULL;
	active->ops->rows(v, &rows);
	config_rows_end(&rows);
	if (fclose(rows.out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Does the text, read as a file, have the values of wanted? */
static bool
reads_as(struct active_config *active, const char *text, struct config_rows *wanted,
	 struct config_error *err)
{
	struct config_rows rows = {0};
	struct config_version *v = NULL;
	struct config *cfg = config_open_text(active->path, text, strlen(text), err);
	bool same = false;

	if (cfg != NULL)
		v = active->ops->read(active->program, cfg, err);
	if (v != NULL) {
		active->ops->rows(v, &rows);
		same = !config_rows_differ(&rows, wanted);
		if (!same)
			config_error_set(err, active->path,
					 " its sections give keys to each other, so that no line "
					 "alone can be changed");
		config_rows_free(&rows);
		active->ops->free(v);
	}
	config_close(cfg);
	return same;
}

/* For clients, which run in other folders. The file may be gone. */
static char *
absolute(const char *path)
{
	char *found = realpath(path, NULL), *folder;

	if (found != NULL || *path == '/')
		return found != NULL ? found : strdup(path);
	folder = getcwd(NULL, 0);
	if (folder != NULL && asprintf(&found, "%s/%s", folder, path) < 0)
		found = NULL;
	free(folder);
	return found;
}

int
active_config_text(struct active_config *active, struct active_config_text *out,
		   struct config_error *err)
{
	struct config_rows wanted = {0};
	const struct config_version *now;
	int rc = 0;

	*out = (struct active_config_text){0};
	begin_turn(active);
	now = running(active);
	active->ops->rows(now, &wanted);
	out->text = edited(active, &wanted, &out->why);
	out->is_edited = out->text != NULL && reads_as(active, out->text, &wanted, &out->why);
	if (!out->is_edited) {
		free(out->text);
		out->text = printed(active, now);
		snprintf(err->text, sizeof(err->text), "%s: out of memory", active->path);
		if (out->text == NULL || !reads_as(active, out->text, &wanted, err))
			rc = -EINVAL;
	}
	out->path = absolute(active->path);
	end_turn(active);
	config_rows_free(&wanted);
	if (rc != 0)
		active_config_text_free(out);
	return rc;
}

void
active_config_text_free(struct active_config_text *text)
{
	free(text->path);
	free(text->text);
	*text = (struct active_config_text){0};
}

static void
count_change(void *arg, const struct config_change *change)
{
	(void)change;
	++*(unsigned int *)arg;
}

static void
reload_for_signal(struct active_config *active, const siginfo_t *info)
{
	char by[DESK_PEER_CHARS];
	struct active_config_outcome out;
	struct config_error err;
	unsigned int n = 0;
	const struct active_config_request request = {.visit = count_change, .arg = &n};

	if (active_config_change(active, &request, &out, &err) != 0)
		say_warning("SIGHUP: nothing changes: %s", err.text);
	else if (out.in_force)
		say_answer("reload", "SIGHUP: %s: %u key%s changed; changed=%u %s", active->path, n,
			   n == 1 ? "" : "s", n, desk_peer_text(info->si_pid, info->si_uid, by));
	else
		say_warning("SIGHUP: %s: %u keys change, but are not in force on all lcores yet",
			    active->path, n);
}

static void
wait_for_signals(void *arg)
{
	struct active_config *active = arg;
	const sigset_t set = hangup();

	while (!atomic_load_explicit(active->stop, memory_order_relaxed)) {
		siginfo_t info;

		if (sigwaitinfo(&set, &info) != SIGHUP)
			continue;
		/* active_config_stop() sends this signal too. */
		if (atomic_load_explicit(active->stop, memory_order_relaxed))
			break;
		if (info.si_code == SI_KERNEL)
			atomic_store_explicit(active->stop, true, memory_order_relaxed);
		else
			reload_for_signal(active, &info);
	}
}

void
active_config_prepare(struct active_config *active, struct mailbox *mailbox, atomic_bool *stop)
{
	active->mailbox = mailbox;
	active->stop = stop;
}

int
active_config_start(struct active_config *active)
{
	int rc = control_thread_start(&active->thread, "config", wait_for_signals, active);

	active->has_thread = rc == 0;
	return rc;
}

void
active_config_stop(struct active_config *active)
{
	if (!active->has_thread)
		return;
	atomic_store_explicit(active->stop, true, memory_order_relaxed);
	/* The signal ends the thread's wait; then it sees the flag. */
	pthread_kill((pthread_t)active->thread.id.opaque_id, SIGHUP);
	control_thread_join(&active->thread);
	active->has_thread = false;
}
