/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/top/top.h"

#include <curses.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/top/top_view.h"

#define NS_PER_S 1000000000ull
#define RECONNECT_NS 300000000ull

struct top {
	struct client *c;
	char path[sizeof(((struct client *)0)->path)];
	/* of the program that the snapshots are of: the client's change as it reconnects */
	char program[sizeof(((struct client *)0)->program)];
	uint64_t pid;
	struct snapshot now, before;
	struct top_view view;
	double interval_s;
	unsigned int first; /* first line shown */
	bool held, gone, silent;
};

static volatile sig_atomic_t stop;

static void
on_signal(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

static int
read_program(struct top *t)
{
	struct snapshot r;
	int rc = snapshot_take(t->c, &r);

	if (rc != 0)
		return rc;
	snapshot_free(&t->before);
	t->before = t->now;
	t->now = r;
	snprintf(t->program, sizeof(t->program), "%s", t->c->program);
	t->pid = t->c->pid;
	return 0;
}

/* Free both snapshots, which belong to an earlier run. */
static void
forget(struct top *t)
{
	snapshot_free(&t->before);
	snapshot_free(&t->now);
}

/* Keys wait meanwhile, so a program that hangs gets little time. */
static void
reconnect(struct top *t)
{
	const struct client_limits limits = {.deadline_ns = monotonic_ns() + RECONNECT_NS,
					     .most_bytes = 1 << 20,
					     .most_rows = 1,
					     .cancel_fd = -1};

	client_close(t->c);
	t->c->limits = &limits;
	t->gone = client_open(t->c, t->path, NULL) != 0;
	t->c->limits = NULL;
	t->silent = t->c->silent;
	/* A program that hung may go on. */
	if (!t->gone && t->c->pid != t->pid)
		forget(t);
}

static void
build(struct top *t)
{
	unsigned long long up_s = t->now.elapsed_ns / NS_PER_S;
	const json_t *info = json_object_get(t->now.replies, "info");
	const char *version = json_string_value(json_object_get(info, "version"));

	top_view_clear(&t->view);
	t->view.columns = COLS > 0 ? (unsigned int)COLS : 0;
	if (t->gone)
		top_view_add(&t->view, TOP_ALARM,
			     "%s %s, pid %llu, %s %llu:%02llu:%02llu: last picture", t->program,
			     version != NULL ? version : "", (unsigned long long)t->pid,
			     t->silent ? "DOES NOT ANSWER after" : "PROGRAM ENDED after",
			     up_s / 3600, up_s / 60 % 60, up_s % 60);
	else
		top_view_add(&t->view, TOP_PLAIN,
			     "%s %s, pid %llu, up %llu:%02llu:%02llu, every %.3g s%s%s", t->program,
			     version != NULL ? version : "", (unsigned long long)t->pid,
			     up_s / 3600, up_s / 60 % 60, up_s % 60, t->interval_s,
			     t->held ? ", held" : "", t->view.hide_quiet ? ", idle hidden" : "");
	/* What was seen last stays until another program answers. */
	if (strcmp(t->program, "quench-switch") == 0)
		top_switch(&t->view, &t->now, &t->before);
	else
		top_nic(&t->view, &t->now, &t->before);
}

/* A line that is cut ends with ">". @return its length. */
static int
put_line(int row, const char *text)
{
	int length = (int)strlen(text);

	mvaddnstr(row, 0, text, COLS);
	if (length > COLS)
		mvaddch(row, COLS - 1, '>' | A_REVERSE);
	return length;
}

/* The keys, after the width that the lines need if the terminal has less. */
static void
put_foot(const struct top *t, int widest)
{
	int full = (int)t->view.full > widest ? (int)t->view.full : widest;
	char said[64] = "";

	if (full > COLS)
		snprintf(said, sizeof(said), "%s: widen to %d columns   ",
			 widest > COLS ? "cut at >" : "shortened", full);
	attrset(A_BOLD);
	mvaddnstr(LINES - 1, 0, said, COLS);
	attrset(A_DIM);
	addnstr(full > COLS
			? "q quit  p hold  i hide idle  +/- speed  arrows"
			: "q quit   p hold   i hide idle   +/- slower, faster   arrows, page keys scroll",
		COLS > (int)strlen(said) ? COLS - (int)strlen(said) : 0);
}

static void
draw(struct top *t)
{
	static const attr_t with_colours[] = {
		[TOP_PLAIN] = A_NORMAL,
		[TOP_HEADING] = A_REVERSE,
		[TOP_ALARM] = A_BOLD,
		[TOP_QUIET] = A_DIM,
	};
	unsigned int rows = LINES > 1 ? (unsigned int)LINES - 1 : 1;
	int widest = 0;

	if (t->first + rows > t->view.n)
		t->first = t->view.n > rows ? t->view.n - rows : 0;
	erase();
	for (unsigned int i = 0; i < rows && t->first + i < t->view.n; i++) {
		const struct top_line *line = &t->view.lines[t->first + i];
		attr_t attr = with_colours[line->style];
		int length;

		if (line->style == TOP_ALARM && has_colors())
			attr |= COLOR_PAIR(1);
		attrset(attr);
		length = put_line((int)i, line->text);
		widest = length > widest ? length : widest;
	}
	put_foot(t, widest);
	refresh();
}

/* @return false: quit. */
static bool
take_key(struct top *t, int key)
{
	unsigned int page = LINES > 2 ? (unsigned int)LINES - 2 : 1;

	switch (key) {
	case 'q':
		return false;
	case 'p':
	case ' ':
		t->held = !t->held;
		break;
	case 'i':
		t->view.hide_quiet = !t->view.hide_quiet;
		break;
	case '+':
		t->interval_s = t->interval_s < 30 ? t->interval_s * 2 : 60;
		break;
	case '-':
		t->interval_s = t->interval_s > 0.2 ? t->interval_s / 2 : 0.1;
		break;
	case KEY_DOWN:
		t->first++;
		break;
	case KEY_UP:
		t->first -= t->first > 0;
		break;
	case KEY_NPAGE:
		t->first += page;
		break;
	case KEY_PPAGE:
		t->first -= t->first > page ? page : t->first;
		break;
	default:
		break;
	}
	return true;
}

static double
clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
look(struct top *t)
{
	if (t->held)
		return;
	if (t->gone)
		reconnect(t);
	if (!t->gone)
		t->gone = read_program(t) != 0;
	t->silent = t->gone && t->c->silent;
}

/* Keys and resizes are handled immediately, between two snapshots. */
static void
loop(struct top *t)
{
	double next_s = 0;
	bool on = true;

	while (on && !stop) {
		double now_s = clock_s();

		if (now_s >= next_s) {
			look(t);
			next_s = now_s + t->interval_s;
		}
		build(t);
		draw(t);
		timeout((int)((next_s - now_s) * 1000) + 1);
		on = take_key(t, getch());
	}
}

int
command_top(const struct command *command, struct client *c, const struct ctl_options *o,
	    const char *const params[COMMAND_PARAMS])
{
	struct top t = {.c = c, .interval_s = o->watch_s > 0 ? o->watch_s : 1};
	const struct sigaction action = {.sa_handler = on_signal};

	(void)command;
	(void)params;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		say_error("top: expected a terminal (for programs: quenchctl --json --watch show "
			  "...)");
		return APP_BAD_USAGE;
	}
	snprintf(t.path, sizeof(t.path), "%s", c->path);
	c->quiet = true;
	initscr();
	/*
	 * After initscr(), which sets its own handlers. With ours the terminal is always restored.
	 */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	loop(&t);
	endwin();
	forget(&t);
	top_view_free(&t.view);
	return 0;
}
