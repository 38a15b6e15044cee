/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pdump.h>

#include "base/fixed.h"
#include "base/units.h"
#include "common/say.h"

#define DONE_POLL_NS NS_PER_MS
/* The main lcore looks at the stop flag at least this often. */
#define MAIN_SLEEP_NS (10 * NS_PER_MS)

static atomic_bool stop;

/* Slow work of a run: when each part is due. */
struct slow {
	const struct run_app *app;
	const struct tsc_clock *clock;
	uint64_t control_ns, stats_ns, end_ns;
	uint64_t last_stats_ns;
	struct run_traffic last;
};

static void
on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store_explicit(&stop, true, memory_order_relaxed);
}

/* The second signal ends a program that hangs in the first one's clean stop. */
static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A reader of the statistics that goes away is no reason to lose the final counters. */
	signal(SIGPIPE, SIG_IGN);
}

int
run_start(const struct opts *opts)
{
	catch_signals();
	if (rte_eal_init(opts->eal_argc, opts->eal_argv) < 0) {
		say_error("EAL does not start: %s", rte_strerror(rte_errno));
		return rte_errno == EINVAL ? APP_BAD_USAGE : APP_FAILED;
	}
	/* For dpdk-dumpcap, which cannot attach where there is no shared configuration. */
	if (rte_pdump_init() != 0)
		say_warning("packet capture is not available: %s", rte_strerror(rte_errno));
	return 0;
}

unsigned int
run_poll_lcore(void)
{
	unsigned int worker = rte_get_next_lcore(rte_lcore_id(), 1, 0);

	return worker < RTE_MAX_LCORE ? worker : rte_get_main_lcore();
}

/* bits/s on the wire over an interval: frames with FCS, preamble and gap. */
static double
wire_gbps(uint64_t packets, uint64_t bytes, double seconds)
{
	return (double)(bytes + packets * GAP_BYTES) * 8 / seconds / 1e9;
}

/* Standard output, unless the counters go there at the end: those are for a program. */
static FILE *
stats_file(const struct opts *opts)
{
	return opts->json != NULL && strcmp(opts->json, "-") == 0 ? stderr : stdout;
}

static void
print_stats(struct slow *s, uint64_t now_ns)
{
	FILE *out = stats_file(s->app->opts);
	struct run_traffic t;
	char text[256];
	double seconds = (double)(now_ns - s->last_stats_ns) / 1e9;
	uint64_t rx, tx;

	if (now_ns <= s->last_stats_ns)
		return;
	s->app->stats(s->app, &t, text, sizeof(text));
	rx = t.rx_packets - s->last.rx_packets;
	tx = t.tx_packets - s->last.tx_packets;
	fprintf(out, "%8.1f s  rx %10.0f pps %8.4f Gb/s  tx %10.0f pps %8.4f Gb/s  %s\n",
	       (double)now_ns / 1e9, (double)rx / seconds,
	       wire_gbps(rx, t.rx_bytes - s->last.rx_bytes, seconds), (double)tx / seconds,
	       wire_gbps(tx, t.tx_bytes - s->last.tx_bytes, seconds), text);
	/* A reader that went away has seen what it wanted; anything else is said at the end. */
	if (fflush(out) != 0 && errno == EPIPE)
		clearerr(out);
	s->last = t;
	s->last_stats_ns = now_ns;
}

static uint64_t
do_slow_work(struct slow *s, uint64_t now_ns)
{
	const struct run_app *app = s->app;

	if (now_ns >= s->control_ns)
		s->control_ns = app->node->ops->control(app->node, now_ns);
	if (now_ns >= s->stats_ns) {
		print_stats(s, now_ns);
		/* On the grid, so that lines do not drift; a late line skips what it missed. */
		s->stats_ns += (now_ns - s->stats_ns) / app->opts->stats_interval_ns *
				       app->opts->stats_interval_ns +
			       app->opts->stats_interval_ns;
	}
	if (now_ns >= s->end_ns)
		atomic_store_explicit(&stop, true, memory_order_relaxed);
	return min_u64(s->control_ns, min_u64(s->stats_ns, s->end_ns));
}

/* Slow hook of a loop that has a lcore of its own. */
static uint64_t
check_done(void *arg, uint64_t now_ns)
{
	const struct slow *s = arg;

	if (s->app->done != NULL && s->app->done(s->app->node))
		atomic_store_explicit(&stop, true, memory_order_relaxed);
	return s->app->done != NULL ? now_ns + DONE_POLL_NS : NEVER_NS;
}

/* Slow hook of a loop that is alone. */
static uint64_t
check_done_and_work(void *arg, uint64_t now_ns)
{
	uint64_t done_ns = check_done(arg, now_ns);
	uint64_t work_ns = do_slow_work(arg, now_ns);

	return min_u64(done_ns, work_ns);
}

static int
poll_on_worker(void *loop)
{
	poll_loop_run(loop);
	return 0;
}

static int
run_beside_worker(struct poll_loop *loop, struct slow *s)
{
	unsigned int worker = run_poll_lcore();
	int rc = rte_eal_remote_launch(poll_on_worker, loop, worker);

	if (rc != 0) {
		say_error("lcore %u does not start: %s", worker, rte_strerror(-rc));
		return APP_FAILED;
	}
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t now_ns = tsc_clock_now(s->clock);
		uint64_t next_ns = do_slow_work(s, now_ns);
		struct timespec t = {
			.tv_nsec = (long)min_u64(sub_sat(next_ns, now_ns), MAIN_SLEEP_NS),
		};

		(void)nanosleep(&t, NULL);
	}
	rte_eal_wait_lcore(worker);
	return 0;
}

int
run_node(const struct run_app *app, struct run_result *result)
{
	struct poll_loop *loop = &result->loop;
	struct tsc_clock clock;
	struct slow s = {
		.app = app,
		.clock = &clock,
		.stats_ns =
			app->opts->stats_interval_ns > 0 ? app->opts->stats_interval_ns : NEVER_NS,
		.end_ns = app->opts->duration_ns,
	};
	int rc = 0;

	tsc_clock_init(&clock, rte_get_tsc_hz());
	poll_loop_init(loop, app->node, app->ethdevs, app->n_ports, &clock, &stop);
	loop->idle_sleep_ns = app->opts->idle_sleep_ns;
	loop->slow_arg = &s;
	loop->slow_next_ns = 0;
	if (rte_lcore_count() > 2)
		say_warning("a node has one polling lcore: %u of the %u lcores stay idle",
			    rte_lcore_count() - 2, rte_lcore_count());
	if (rte_lcore_count() > 1) {
		loop->slow = check_done;
		rc = run_beside_worker(loop, &s);
	} else {
		loop->slow = check_done_and_work;
		poll_loop_run(loop);
	}
	result->elapsed_ns = tsc_clock_now(&clock);
	/* The last line, unless the one before it has just been printed. */
	if (s.stats_ns != NEVER_NS &&
	    result->elapsed_ns - s.last_stats_ns > app->opts->stats_interval_ns / 10)
		print_stats(&s, result->elapsed_ns);
	return rc;
}
