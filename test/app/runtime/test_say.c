/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of events are bounded, and what is left out is counted. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "unit/cases.h"
#include "runtime/notice/say.h"

#define S 1000000000ull

TEST(ten_lines_pass_in_a_second_and_the_rest_is_counted)
{
	struct say_limit l = {0};
	unsigned int passed = 0;

	for (unsigned int i = 0; i < 1000; i++)
		passed += say_limit_passes(&l, 5 * S + i * (S / 1000));
	assert_int_equal(passed, SAY_EVENTS_PER_S);
	assert_int_equal(l.suppressed, 1000 - SAY_EVENTS_PER_S);
}

TEST(the_next_second_begins_anew)
{
	struct say_limit l = {0};

	for (unsigned int i = 0; i < 2 * SAY_EVENTS_PER_S; i++)
		say_limit_passes(&l, 0);
	assert_false(say_limit_passes(&l, S - 1));
	assert_true(say_limit_passes(&l, S));
	/* Whoever says the line says this, and takes it back. */
	assert_int_equal(l.suppressed, SAY_EVENTS_PER_S + 1);
}

TEST(an_event_does_not_use_up_anothers_lines)
{
	static const char *const names[] = {"a", "b", "c"};
	uint64_t before = say_suppressed();

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int n = 0; n < 5; n++)
			say_event(false, names[i], "line %u;", n);
	assert_int_equal(say_suppressed(), before);
	assert_int_equal(say_end(0), 0);
}

/* The lines of standard error while say_many() runs. */
static unsigned int
lines_of(void (*say_many)(void))
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO), c;
	unsigned int lines = 0;

	assert_non_null(file);
	assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	say_many();
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	while ((c = fgetc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

#define ANSWERS (3 * SAY_EVENTS_PER_S)

static void
reload_often(void)
{
	for (unsigned int n = 0; n < 100; n++)
		say_event(false, "reload", "by the front desk;");
	for (unsigned int n = 0; n < ANSWERS; n++)
		say_answer("reload", "SIGHUP;");
}

/* Its sender has no other answer: in the second of many reloads at the front desk, too. */
TEST(the_answer_to_a_signal_is_never_left_out)
{
	uint64_t before = say_suppressed();
	unsigned int lines = lines_of(reload_often);

	assert_int_equal(lines + say_suppressed() - before, 100 + ANSWERS);
	assert_true(lines >= ANSWERS + SAY_EVENTS_PER_S);
}

static void *
say_fifty(void *arg)
{
	for (unsigned int n = 0; n < 50; n++)
		say_event(false, (const char *)arg, "line %u;", n);
	return NULL;
}

static void
say_from_two_threads(void)
{
	static char first[] = "first", second[] = "second";
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, say_fifty, first), 0);
	say_fifty(second);
	pthread_join(other, NULL);
}

TEST(threads_say_events_at_the_same_time)
{
	uint64_t before = say_suppressed();
	unsigned int lines = lines_of(say_from_two_threads);

	assert_int_equal(lines + say_suppressed() - before, 100);
}

TEST_MAIN()
