/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/capture/capture.h"
#include "runtime/eal/eal_start.h"
#include "runtime/device/device_claim.h"
#include "runtime/device/kernel_interface.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_removal.h"
#include "runtime/device/port_stop.h"
#include "runtime/notice/listener.h"
#include "runtime/notice/scaled.h"
#include "runtime/notice/say.h"
#include "runtime/poll/poll_watch.h"
#include "runtime/notice/service.h"
#include "runtime/desk/desk.h"

#define DONE_POLL_NS NS_PER_MS
/* The main lcore looks at the stop flag at least this often. */
#define MAIN_SLEEP_NS (10 * NS_PER_MS)

/*
 * Interval between checks of the links. A check costs a system call in some drivers. With a single
 * lcore polling waits for the check, so checks are rarer.
 */
#define LINK_LOOK_NS (10 * NS_PER_MS)
#define LINK_LOOK_ALONE_NS (100 * NS_PER_MS)

static atomic_bool asked; /* to stop */
static atomic_bool stop;  /* the loops, now */
/* Ports whose devices were removed. The control thread writes it. */
static _Atomic uint64_t removed;
static struct tsc_moment began; /* run_start() */

/* Slow work of a run: when each part is due. */
struct slow {
	const struct run_app *app;
	const struct tsc_clock *clock;
	uint64_t control_ns, stats_ns, link_ns, late_ns, done_ns, end_ns;
	uint64_t last_stats_ns;
	struct run_traffic last;
	uint16_t n_workers;
	struct worker *workers;
	struct port_link *links;
	struct run_result *result;
	uint64_t closed;        /* ports whose devices were removed and closed */
	struct intr_gate *gate; /* NULL: no device needs it */
	struct service service;
	struct service_pulse *pulses; /* of each worker */
};

/* One polling lcore. */
struct worker {
	struct slow *slow;
	struct poll_loop *loop;
	struct service_pulse *pulse;
	struct poll_watch watch;
};

static void
on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store_explicit(&asked, true, memory_order_relaxed);
}

/* A second signal ends a program that hangs in the clean stop after the first one. */
static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Keep the final counters even if the reader of the statistics goes away. */
	signal(SIGPIPE, SIG_IGN);
}

static bool
asks_for_hugepages(const struct opts *opts)
{
	for (int i = 1; i < opts->eal_argc; i++)
		if (strcmp(opts->eal_argv[i], "--no-huge") == 0)
			return false;
	return true;
}

/* Do EAL's options choose lcores? (Which ones, only EAL knows.) */
static bool
names_lcores(const struct opts *opts)
{
	for (int i = 1; i < opts->eal_argc; i++)
		if (strncmp(opts->eal_argv[i], "-l", 2) == 0 ||
		    strncmp(opts->eal_argv[i], "-c", 2) == 0 ||
		    strncmp(opts->eal_argv[i], "--lcores", 8) == 0)
			return true;
	return false;
}

/* A --vdev option with the slots of kernel_interface_fit(), to be freed; NULL: unchanged. */
static char *
fitted(const char *option, bool is_device, uint32_t largest_frame)
{
	static const char vdev[] = "--vdev=";
	size_t length = strncmp(option, vdev, strlen(vdev)) == 0 ? strlen(vdev) : 0;
	char *device, *whole = NULL;

	if (!is_device && length == 0)
		return NULL;
	device = kernel_interface_fit(option + length, largest_frame);
	if (device == NULL || length == 0)
		return device;
	if (asprintf(&whole, "%s%s", vdev, device) < 0)
		whole = NULL;
	free(device);
	return whole;
}

/* eal_init() with devices that have room for the largest frame. EAL copies its options. */
static int
init(const struct opts *opts, uint32_t largest_frame)
{
	size_t n = (size_t)opts->eal_argc;
	char **made = calloc(n, sizeof(*made)), **argv = calloc(n + 1, sizeof(*argv));
	int rc = -1;

	rte_errno = ENOMEM;
	for (size_t i = 0; made != NULL && argv != NULL && i < n; i++) {
		bool is_device = i > 0 && strcmp(opts->eal_argv[i - 1], "--vdev") == 0;

		made[i] = fitted(opts->eal_argv[i], is_device, largest_frame);
		argv[i] = made[i] != NULL ? made[i] : opts->eal_argv[i];
	}
	if (made != NULL && argv != NULL)
		rc = eal_init(opts->eal_argc, argv);
	for (size_t i = 0; made != NULL && i < n; i++)
		free(made[i]);
	free(made);
	free(argv);
	return rc;
}

/* The device of EAL option i, or NULL. */
static const char *
vdev_of(const struct opts *opts, int i)
{
	static const char vdev[] = "--vdev=";

	if (strncmp(opts->eal_argv[i], vdev, strlen(vdev)) == 0)
		return opts->eal_argv[i] + strlen(vdev);
	return i > 1 && strcmp(opts->eal_argv[i - 1], "--vdev") == 0 ? opts->eal_argv[i] : NULL;
}

static int
claim_devices(const struct opts *opts)
{
	for (int i = 1; i < opts->eal_argc; i++) {
		const char *device = vdev_of(opts, i);

		if (device != NULL && device_claim(device) != 0)
			return APP_FAILED;
	}
	return 0;
}

/* Does a program with a desk have this --file-prefix, which EAL gives to one program only? */
static bool
is_prefix_taken(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const char *dir = rte_eal_get_runtime_dir(), *name = strrchr(dir, '/');
	struct listener other;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" DESK_SOCKET_NAME, dir);
	if (name == NULL || !listener_find(&addr, sizeof(addr), &other))
		return false;
	say_error("--file-prefix %s is in use by %s (pid %d): expected another name", name + 1,
		  other.program, other.pid);
	return true;
}

int
run_start(const struct opts *opts, uint32_t largest_frame)
{
	began = tsc_moment_now();
	catch_signals();
	if (claim_devices(opts) != 0)
		return APP_FAILED;
	if (!eal_has_files(names_lcores(opts) ? 1 : 0))
		return APP_FAILED;
	if (init(opts, largest_frame) < 0) {
		int error = rte_errno;

		if (is_prefix_taken())
			return APP_FAILED;
		say_error("EAL does not start: %s%s", rte_strerror(error),
			  asks_for_hugepages(opts) ? "; if there are no hugepages: --no-huge "
						     "--no-shconf -m 256"
						   : "");
		return error == EINVAL ? APP_BAD_USAGE : APP_FAILED;
	}
	return 0;
}

int
run_make_key(struct half_sip_key *key)
{
	if (getrandom(key, sizeof(*key), 0) == (ssize_t)sizeof(*key))
		return 0;
	say_error("getrandom: expected %zu random bytes from the kernel: %s", sizeof(*key),
		  strerror(errno));
	return APP_FAILED;
}

uint16_t
run_poll_lcores(void)
{
	unsigned int n = rte_lcore_count();

	return (uint16_t)(n > 1 ? n - 1 : 1);
}

unsigned int
run_poll_lcore(uint16_t i)
{
	unsigned int lcore = rte_get_next_lcore(-1u, 1, 0);

	if (lcore >= RTE_MAX_LCORE)
		return rte_get_main_lcore();
	while (i-- > 0)
		lcore = rte_get_next_lcore(lcore, 1, 0);
	return lcore;
}

/* Frames a second, and their rate on the wire: with FCS, preamble and gap. */
static void
print_rates(FILE *out, const char *way, uint64_t packets, uint64_t bytes, double seconds)
{
	double bits = (double)(bytes + packets * GAP_BYTES) * 8;
	char pps[SCALED_CHARS], bps[SCALED_CHARS];

	fprintf(out, " %s %9s %9s", way, scaled(pps, (double)packets / seconds, "pps"),
		scaled(bps, bits / seconds, "b/s"));
}

/* Standard output, unless the JSON goes there. */
FILE *
run_stats_file(const struct opts *opts)
{
	return opts->json != NULL && strcmp(opts->json, "-") == 0 ? stderr : stdout;
}

static void
print_stats(struct slow *s, uint64_t now_ns)
{
	FILE *out = run_stats_file(s->app->opts);
	struct run_traffic t;
	char text[256];
	double seconds = (double)(now_ns - s->last_stats_ns) / 1e9;
	uint64_t rx, tx;

	if (now_ns <= s->last_stats_ns)
		return;
	s->app->stats(s->app, &t, text, sizeof(text));
	rx = t.rx_packets - s->last.rx_packets;
	tx = t.tx_packets - s->last.tx_packets;
	fprintf(out, "%8.1f s", (double)now_ns / 1e9);
	print_rates(out, "rx", rx, t.rx_bytes - s->last.rx_bytes, seconds);
	print_rates(out, "tx", tx, t.tx_bytes - s->last.tx_bytes, seconds);
	fprintf(out, " %s\n", text);
	if (s->app->sample != NULL)
		s->app->sample(s->app, out, now_ns);
	/* Ignore that the reader went away; say_end() reports other errors. */
	if (fflush(out) != 0 && errno == EPIPE)
		clearerr(out);
	s->last = t;
	s->last_stats_ns = now_ns;
}

static bool
is_removed(uint16_t port)
{
	return atomic_load_explicit(&removed, memory_order_relaxed) >> port & 1;
}

/* The device's owner wants it back. First make all loops let go of it. */
static void
begin_removal(struct slow *s, uint16_t port, uint64_t now_ns)
{
	const char *device = port_name(s->app->ethdevs[port]);

	(void)port_link_saw(&s->links[port], false, now_ns);
	say_event(true, "device_removed",
		  "port %s (%s): the device was removed: the port stays down until the program is "
		  "started again; port=%u device=%s",
		  port_word(s->app->ethdevs[port], port), device, port, device);
	atomic_fetch_or_explicit(&removed, 1ull << port, memory_order_relaxed);
}

/* Close removed devices that no loop uses any more. */
static void
end_removals(struct slow *s)
{
	uint64_t free_ports = atomic_load_explicit(&removed, memory_order_relaxed) & ~s->closed;

	for (uint16_t i = 0; i < s->n_workers; i++)
		free_ports &=
			atomic_load_explicit(&s->result->loops[i].let_go, memory_order_acquire);
	s->closed |= free_ports;
	for (; free_ports != 0; free_ports &= free_ports - 1)
		port_removal_close(s->app->ethdevs[__builtin_ctzll(free_ports)]);
}

static void
look_at_removals(struct slow *s, uint64_t now_ns)
{
	uint16_t n = s->app->n_ports;

	for (uint16_t i = 0; i < n; i++)
		if (!is_removed(i) && port_removal_requested(s->app->ethdevs[i]))
			begin_removal(s, i, now_ns);
	end_removals(s);
	if (__builtin_popcountll(s->closed) < n || s->result->no_device_left)
		return;
	s->result->no_device_left = true;
	say_error("no device is left");
	atomic_store_explicit(&stop, true, memory_order_relaxed);
}

static void
look_at_links(struct slow *s, uint64_t now_ns)
{
	const struct run_app *app = s->app;

	look_at_removals(s, now_ns);
	for (uint16_t i = 0; i < app->n_ports; i++)
		if (is_removed(i))
			(void)port_link_saw(&s->links[i], false, now_ns);
		else
			port_link_look(&s->links[i], i, app->ethdevs[i], app->waits_for_link,
				       now_ns);
	s->link_ns = now_ns + (rte_lcore_count() > 1 ? LINK_LOOK_NS : LINK_LOOK_ALONE_NS);
}

static void
look_at_late_polls(struct slow *s, uint64_t now_ns)
{
	uint64_t burst_ns = s->app->shaper_burst_ns(s->app);

	for (uint16_t i = 0; i < s->n_workers; i++) {
		struct worker *w = &s->workers[i];
		unsigned int lost_pct = poll_watch_look(&w->watch, &w->loop->gap, now_ns);

		if (lost_pct > 0)
			poll_watch_say(&w->loop->gap, w->pulse->lcore, lost_pct);
		__atomic_store_n(&w->loop->gap.burst_ns, burst_ns, __ATOMIC_RELAXED);
	}
	s->late_ns = now_ns + POLL_WATCH_NS;
}

/* @return when the desk wants to be served again. */
static uint64_t
serve_desk(struct slow *s, uint64_t now_ns)
{
	if (s->app->desk == NULL)
		return NEVER_NS;
	/* A change may make control work due. */
	if (mailbox_serve(&s->app->desk->mailbox, now_ns))
		s->control_ns = now_ns;
	return now_ns + MAIN_SLEEP_NS;
}

/*
 * Runs on the thread that applies configuration changes, so that no change comes between this check
 * and the stop.
 */
static void
look_whether_done(struct slow *s, uint64_t now_ns)
{
	if (s->app->done(s->app))
		atomic_store_explicit(&asked, true, memory_order_relaxed);
	s->done_ns = now_ns + DONE_POLL_NS;
}

static uint64_t
do_slow_work(struct slow *s, uint64_t now_ns)
{
	const struct run_app *app = s->app;
	uint64_t serve_ns = serve_desk(s, now_ns);
	uint64_t service_ns = service_watch(&s->service, s->pulses, s->n_workers, now_ns);
	bool controlled = now_ns >= s->control_ns, looked = now_ns >= s->link_ns;

	if (controlled)
		s->control_ns = app->node->ops->control(app->node, now_ns);
	if (looked)
		look_at_links(s, now_ns);
	if (app->watch != NULL && (controlled || looked))
		app->watch(app, looked ? s->links : NULL, now_ns);
	if (now_ns >= s->late_ns)
		look_at_late_polls(s, now_ns);
	if (now_ns >= s->stats_ns) {
		print_stats(s, now_ns);
		/*
		 * Keep the times of lines multiples of the interval; skip lines that were missed.
		 */
		s->stats_ns += (now_ns - s->stats_ns) / app->opts->stats_interval_ns *
				       app->opts->stats_interval_ns +
			       app->opts->stats_interval_ns;
	}
	if (now_ns >= s->done_ns)
		look_whether_done(s, now_ns);
	if (now_ns >= s->end_ns)
		atomic_store_explicit(&asked, true, memory_order_relaxed);
	if (atomic_load_explicit(&asked, memory_order_relaxed) &&
	    (app->leave == NULL || !app->leave(app, now_ns)))
		atomic_store_explicit(&stop, true, memory_order_relaxed);
	return min_u64(min_u64(min_u64(s->control_ns, s->link_ns), min_u64(serve_ns, service_ns)),
		       min_u64(min_u64(s->stats_ns, s->done_ns), min_u64(s->late_ns, s->end_ns)));
}

/* Slow hook of a loop on a worker lcore. */
static uint64_t
beside_main(void *arg, uint64_t now_ns)
{
	struct worker *w = arg;

	return service_beat(&w->slow->service, w->pulse, now_ns);
}

/* Slow hook of the only loop, which is on the main lcore. */
static uint64_t
as_main(void *arg, uint64_t now_ns)
{
	struct worker *w = arg;
	uint64_t next_ns = beside_main(w, now_ns);

	return min_u64(next_ns, do_slow_work(w->slow, now_ns));
}

static int
poll_on_worker(void *loop)
{
	poll_loop_run(loop);
	return 0;
}

static void
work_until_stop(struct slow *s)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t now_ns = tsc_clock_now(s->clock);
		uint64_t next_ns = do_slow_work(s, now_ns);
		struct timespec t = {
			.tv_nsec = (long)min_u64(sub_sat(next_ns, now_ns), MAIN_SLEEP_NS),
		};

		(void)nanosleep(&t, NULL);
	}
}

static int
run_beside_workers(struct slow *s, uint16_t n)
{
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < n; i++) {
		rc = rte_eal_remote_launch(poll_on_worker, s->workers[i].loop, run_poll_lcore(i));
		if (rc != 0) {
			say_error("lcore %u does not start: %s", run_poll_lcore(i),
				  rte_strerror(-rc));
			atomic_store_explicit(&stop, true, memory_order_relaxed);
		}
	}
	work_until_stop(s);
	rte_eal_mp_wait_lcore();
	return rc != 0 ? APP_FAILED : 0;
}

static void
init_worker(struct slow *s, struct run_result *result, uint16_t i)
{
	const struct run_app *app = s->app;
	struct worker *w = &s->workers[i];
	struct node *node = app->n_nodes == 0 ? app->node : app->nodes[i];
	char name[IF_NAMESIZE];

	*w = (struct worker){
		.slow = s,
		.loop = &result->loops[i],
		.pulse = &s->pulses[i],
	};
	w->pulse->lcore = run_poll_lcore(i);
	poll_loop_init(w->loop, node, app->ethdevs, app->n_ports, s->clock, &stop);
	if (app->queues != NULL)
		poll_loop_use_queues(w->loop, &app->queues[i]);
	if (app->node_ports != NULL)
		poll_loop_use_ports(w->loop, app->node_ports[i]);
	for (uint16_t p = 0; p < app->n_ports; p++) {
		w->loop->ports[p].link = app->waits_for_link ? &s->links[p] : NULL;
		if (kernel_interface_name(app->ethdevs[p], name))
			w->loop->ports[p].limit = &s->links[p];
		w->loop->ports[p].gated = port_is_memif(app->ethdevs[p]);
	}
	if (app->shaper_burst_ns != NULL)
		w->loop->gap.burst_ns = app->shaper_burst_ns(app);
	w->loop->removed = &removed;
	w->loop->gate = s->gate;
	w->loop->gate_poller = i;
	w->loop->pace = result->paces == NULL ? NULL : &result->paces[i];
	w->loop->idle_sleep_ns = app->opts->idle_sleep_ns;
	w->loop->slow_arg = w;
	w->loop->slow_next_ns = 0;
	w->loop->slow = rte_lcore_count() > 1 ? beside_main : as_main;
}

static int
begin_desk(const struct run_app *app, const struct run_result *result,
	   const struct tsc_clock *clock)
{
	int rc;

	if (app->desk == NULL)
		return 0;
	app->desk->groups = app->opts->groups;
	app->desk->app = app;
	app->desk->result = result;
	app->desk->clock = clock;
	app->desk->stop = &stop;
	captures_open();
	rc = desk_open(app->desk);
	return rc != 0 ? APP_FAILED : 0;
}

/* Create a gate if a device needs one. @return 0, or APP_FAILED after an error line. */
static int
open_gate(struct slow *s)
{
	bool needed = false;

	for (uint16_t p = 0; p < s->app->n_ports; p++)
		needed |= port_is_memif(s->app->ethdevs[p]);
	if (!needed)
		return 0;
	s->gate = intr_gate_open(s->n_workers);
	if (s->gate != NULL)
		return 0;
	say_error("memif devices cannot be protected from EAL's interrupt thread: %s",
		  strerror(errno));
	return APP_FAILED;
}

static void
free_slow(struct slow *s)
{
	intr_gate_close(s->gate);
	free(s->workers);
	free(s->pulses);
}

int
run_node(const struct run_app *app, struct run_result *result)
{
	struct tsc_clock clock;
	uint16_t n = app->n_nodes == 0 ? 1 : app->n_nodes;
	struct slow s = {
		.app = app,
		.clock = &clock,
		.result = result,
		.stats_ns =
			app->opts->stats_interval_ns > 0 ? app->opts->stats_interval_ns : NEVER_NS,
		.late_ns = app->shaper_burst_ns != NULL ? POLL_WATCH_NS : NEVER_NS,
		.done_ns = app->done != NULL ? 0 : NEVER_NS,
		.end_ns = app->opts->duration_ns,
		.n_workers = n,
		.workers = calloc(n, sizeof(*s.workers)),
		.pulses = calloc(n, sizeof(*s.pulses)),
	};
	int rc;

	result->n_loops = n;
	result->loops = calloc(n, sizeof(*result->loops));
	if (app->measure_pacing)
		result->paces = calloc(n, sizeof(*result->paces));
	result->links = s.links = calloc(app->n_ports, sizeof(*s.links));
	if (s.workers == NULL || s.pulses == NULL || result->loops == NULL || s.links == NULL ||
	    (app->measure_pacing && result->paces == NULL)) {
		free_slow(&s);
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	rc = open_gate(&s);
	if (rc != 0) {
		free_slow(&s);
		return rc;
	}
	tsc_clock_init(&clock, tsc_hz_since(&began));
	if (app->set_epoch != NULL)
		app->set_epoch(app, tsc_clock_ns(&clock, clock.start_cycles));
	service_init(&s.service, 0);
	for (uint16_t i = 0; i < n; i++)
		init_worker(&s, result, i);
	if (run_poll_lcores() > n)
		say_warning("%u of the %u lcores stay idle: the program uses %u",
			    run_poll_lcores() - n, rte_lcore_count(), n + 1);
	rc = begin_desk(app, result, &clock);
	if (rc != 0) {
		free_slow(&s);
		return rc;
	}
	/* The first frames already find the MTUs and links; the first slow work tells the node. */
	look_at_links(&s, tsc_clock_now(&clock));
	s.link_ns = 0;
	if (app->started != NULL)
		app->started(app);
	service_ready();
	if (rte_lcore_count() > 1)
		rc = run_beside_workers(&s, n);
	else
		poll_loop_run(&result->loops[0]);
	service_stopping();
	if (app->desk != NULL) {
		app->desk->failed = rc != 0 || result->no_device_left;
		desk_close(app->desk);
	}
	captures_close();
	result->elapsed_ns = tsc_clock_now(&clock);
	look_at_links(&s, result->elapsed_ns);
	/* A last line, unless one was just printed; CSV files always get their last rows. */
	if (s.stats_ns != NEVER_NS &&
	    (app->opts->csv != NULL ||
	     result->elapsed_ns - s.last_stats_ns > app->opts->stats_interval_ns / 10))
		print_stats(&s, result->elapsed_ns);
	free_slow(&s);
	return rc;
}
