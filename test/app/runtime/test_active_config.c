/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a configuration of one key, in a program whose owners may be late. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/cases.h"
#include "runtime/desk/active_config.h"

struct thing {
	uint32_t size;
	uint32_t fixed;
};

static const struct field fields[] = {
	{.name = "size",
	 .type = FIELD_U32,
	 .offset = offsetof(struct thing, size),
	 .max = 100,
	 .def = "1",
	 .live = true},
	{.name = "fixed",
	 .type = FIELD_U32,
	 .offset = offsetof(struct thing, fixed),
	 .max = 100,
	 .def = "1"},
};

struct version {
	struct config_version version;
	struct thing thing;
};

/* What the owners have, and after how many questions they come to it. */
static struct {
	uint32_t in_force;
	const struct version *asked;
	unsigned int late;
	unsigned int reads, frees;
	unsigned int applied, applied_before_user;
} program;

/* The size that a user sets while another thread sets others. */
#define OF_USER 50u

static struct config_version *
program_read(void *arg, struct config *cfg, struct config_error *err)
{
	struct version *v = calloc(1, sizeof(*v));

	(void)arg;
	program.reads++;
	if (config_read_new(cfg, "thing", fields, 2, &v->thing, err) == 0 &&
	    config_finish(cfg, err) == 0)
		return &v->version;
	free(v);
	return NULL;
}

static void
program_free(struct config_version *v)
{
	program.frees++;
	free(v);
}

static struct config_version *
program_set(void *arg, const struct config_version *now, struct config *cfg,
	    struct config_error *err)
{
	struct version *v = malloc(sizeof(*v));

	(void)arg;
	*v = *(const struct version *)now;
	if (config_read(cfg, "thing", fields, 2, &v->thing, err) == 0 &&
	    config_finish(cfg, err) == 0 &&
	    (v->thing.size != 13 ||
	     config_refuse(cfg, "thing", "size", "another number", err) == 0))
		return &v->version;
	program_free(&v->version);
	return NULL;
}

static void
program_rows(const struct config_version *v, struct config_rows *rows)
{
	config_rows_add(rows, "thing", fields, 2, &((const struct version *)v)->thing, false);
}

static void
program_apply(void *arg, const struct config_version *v, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	program.asked = (const struct version *)v;
	if (program.asked->thing.size == OF_USER)
		program.applied_before_user = program.applied;
	program.applied++;
}

static bool
program_is_done(void *arg)
{
	(void)arg;
	if (program.asked != NULL && program.late > 0) {
		program.late--;
	} else if (program.asked != NULL) {
		program.in_force = program.asked->thing.size;
		program.asked = NULL;
	}
	return program.asked == NULL;
}

static struct active_config_ops ops = {
	.read = program_read,
	.free = program_free,
	.set = program_set,
	.rows = program_rows,
	.apply = program_apply,
	.is_done = program_is_done,
};

static struct active_config active;
static struct mailbox mailbox;
static atomic_bool stop;
static pthread_t main_lcore;
static const char path[] = "thing.ini";

static void *
serve(void *arg)
{
	const struct timespec pause = {.tv_nsec = 100000};

	while (!atomic_load(&stop)) {
		mailbox_serve(&mailbox, 0);
		nanosleep(&pause, NULL);
	}
	return arg;
}

static int
setup(void **state)
{
	struct version *first = calloc(1, sizeof(*first));

	(void)state;
	memset(&program, 0, sizeof(program));
	first->thing = (struct thing){1, 1};
	program.in_force = 1;
	stop = false;
	if (mailbox_init(&mailbox) != 0 ||
	    active_config_init(&active, &ops, NULL, path, &first->version) != 0)
		return -1;
	active_config_prepare(&active, &mailbox, &stop);
	return pthread_create(&main_lcore, NULL, serve, NULL);
}

static int
teardown(void **state)
{
	(void)state;
	atomic_store(&stop, true);
	pthread_join(main_lcore, NULL);
	active_config_destroy(&active);
	mailbox_destroy(&mailbox);
	return 0;
}

static int
set(const char *text, struct active_config_outcome *out, struct config_error *err)
{
	const struct active_config_request request = {.set = text};

	return active_config_change(&active, &request, out, err);
}

TEST(a_change_is_in_force_when_the_reply_comes)
{
	struct active_config_outcome out;
	struct config_error err;

	program.late = 5;
	assert_int_equal(set("thing.size=7", &out, &err), 0);
	assert_true(out.in_force);
	assert_int_equal(program.in_force, 7);
}

TEST(a_late_change_is_said_to_be_late_and_the_next_one_is_not_promised)
{
	struct active_config_outcome out;
	struct config_error err;

	program.late = UINT32_MAX;
	assert_int_equal(set("thing.size=7", &out, &err), 0);
	assert_false(out.in_force);
	assert_true(out.waited_ns >= ACTIVE_CONFIG_PATIENCE_MS * 1000000ull);
	assert_int_equal(program.in_force, 1);

	assert_int_equal(set("thing.size=8", &out, &err), -EBUSY);
	assert_non_null(
		strstr(err.text, "nothing was changed: the previous change is not in force"));
	program.late = 0;
	assert_true(program_is_done(NULL));
	assert_int_equal(program.in_force, 7);
	/* The refused one has left no trace. */
	assert_int_equal(((const struct version *)active.current)->thing.size, 7);
	assert_int_equal(set("thing.size=9", &out, &err), 0);
	assert_int_equal(program.in_force, 9);
}

TEST(a_key_is_set_in_a_copy_and_nothing_is_read)
{
	struct active_config_outcome out;
	struct config_error err;

	assert_int_equal(set("thing.size=7", &out, &err), 0);
	assert_int_equal(program.reads, 0);
	assert_int_equal(program.frees, 1);
	assert_int_equal(set("thing.size=101", &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "[thing] size = 101: expected a whole number"));
	assert_int_equal(set("thing.sise=2", &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "expected a known key, such as size"));
	assert_int_equal(set("thing.fixed=2", &out, &err), -EINVAL);
	assert_non_null(
		strstr(err.text, "[thing] fixed = 2: cannot change while the program runs"));
	assert_int_equal(set("thing.size=13", &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "[thing] size = 13: expected another number"));
	/* A copy of each of them is gone. */
	assert_int_equal(program.frees, 5);
	assert_int_equal(program.in_force, 7);
	assert_int_equal(set("think.size=2", &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "[think]: expected a known section, such as [thing]"));
	assert_int_equal(program.reads, 0);
}

TEST(several_keys_change_together_or_not_at_all)
{
	struct active_config_outcome out;
	struct config_error err;

	assert_int_equal(set("thing.size=7\nthing.fixed=2\n", &out, &err), -EINVAL);
	assert_int_equal(program.in_force, 1);
	/* Of two values of a key, the later one counts. */
	assert_int_equal(set("thing.size=8\nthing.size=7\nthing.fixed=1\n", &out, &err), 0);
	assert_int_equal(program.in_force, 7);
}

static void
note_change(void *arg, const struct config_change *c)
{
	snprintf(arg, 64, "%s %s", c->from, c->to);
}

TEST(a_dry_run_says_what_would_change_and_changes_nothing)
{
	char seen[64] = "";
	const struct active_config_request request = {
		.set = "thing.size=7", .dry_run = true, .visit = note_change, .arg = seen};
	struct active_config_outcome out = {0};
	struct config_error err;

	assert_int_equal(active_config_change(&active, &request, &out, &err), 0);
	assert_string_equal(seen, "1 7");
	assert_false(out.in_force);
	assert_null(program.asked);
	assert_int_equal(program.in_force, 1);
	assert_int_equal(((const struct version *)active.current)->thing.size, 1);
	/* The copy is gone. */
	assert_int_equal(program.frees, 1);
}

#define CHANGES 20u

static void *
change_again_and_again(void *arg)
{
	struct active_config_outcome out;
	struct config_error err;

	for (unsigned int i = 0; i < CHANGES; i++)
		assert_int_equal(set(i % 2 == 0 ? "thing.size=2" : "thing.size=3", &out, &err), 0);
	return arg;
}

static void *
change_once(void *arg)
{
	struct active_config_outcome out;
	struct config_error err;

	assert_int_equal(set("thing.size=50", &out, &err), 0);
	return arg;
}

static void
wait_until_given(uint64_t turns)
{
	uint64_t given;

	do {
		sched_yield();
		pthread_mutex_lock(&active.turns.lock);
		given = active.turns.given;
		pthread_mutex_unlock(&active.turns.lock);
	} while (given < turns);
}

/* As a flood of connections does, each of which adds a flow. */
TEST(who_changes_again_and_again_keeps_nobody_waiting)
{
	pthread_t busy, user;

	active_config_running_begin(&active);
	assert_int_equal(pthread_create(&busy, NULL, change_again_and_again, NULL), 0);
	wait_until_given(2);
	assert_int_equal(pthread_create(&user, NULL, change_once, NULL), 0);
	wait_until_given(3);
	active_config_running_end(&active);
	pthread_join(busy, NULL);
	pthread_join(user, NULL);
	assert_int_equal(program.applied, CHANGES + 1);
	assert_int_equal(program.applied_before_user, 1);
}

TEST_MAIN(.before_each = setup, .after_each = teardown)
