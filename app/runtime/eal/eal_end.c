/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/eal_end.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <rte_eal.h>

#include "base/numbers/units.h"
#include "runtime/eal/intr_source.h"

#ifndef EAL_END_PATIENCE_S
/* Longer than any shutdown observed, and shorter than TimeoutStopSec of share/systemd. */
#define EAL_END_PATIENCE_S 20u
#endif

/* Checks during which telemetry clients may finish reading a reply. */
#define REPLY_LOOKS 500
/*
 * After REPLY_LOOKS checks clients are disconnected. After this number, we stop waiting for them.
 */
#define CUT_OFF_LOOKS 2000
#define LOOK_NS NS_PER_MS

static struct {
	bool telemetry_rests;
	bool interrupts_rest;
	int code;       /* exit code of the program */
	char line[160]; /* for give_up(), a signal handler, which cannot format it */
} state;

/*
 * Exit in the middle of the shutdown. EAL removes the files that this leaves at the next start with
 * the same --file-prefix.
 */
static void
give_up(int signo)
{
	(void)signo;
	/*
	 * A handler may call fflush() here: the signal interrupts the thread that ends the program,
	 * which waits in EAL and not in stdio, and no other thread writes any more.
	 */
	(void)fflush(NULL);
	(void)!write(STDERR_FILENO, state.line, strlen(state.line));
	_exit(state.code);
}

/* Is fd telemetry's listening socket, or one accepted from it, which has the same name? */
static bool
is_telemetry(int fd, struct sockaddr_un *name)
{
	socklen_t size = sizeof(*name) - 1;
	char start[PATH_MAX];
	int n = snprintf(start, sizeof(start), "%s/dpdk_telemetry.", rte_eal_get_runtime_dir());

	memset(name, 0, sizeof(*name));
	return getsockname(fd, (struct sockaddr *)name, &size) == 0 &&
	       name->sun_family == AF_UNIX && strncmp(name->sun_path, start, (size_t)n) == 0;
}

static bool
listens(int fd)
{
	socklen_t size = sizeof(int);
	int listening = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening;
}

/* State of telemetry's sockets, from best to worst. */
enum sight { NO_TELEMETRY, NO_CLIENT, A_CLIENT };

static enum sight
hang_up(int fd, int how)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct sockaddr_un name;

	if (!is_telemetry(fd, &name))
		return NO_TELEMETRY;
	if (!listens(fd)) {
		(void)shutdown(fd, how);
		return A_CLIENT;
	}
	/* From now on no client can connect; telemetry soon accepts those in the queue. */
	(void)unlink(name.sun_path);
	return poll(&p, 1, 0) != 0 ? A_CLIENT : NO_CLIENT;
}

static enum sight
hang_up_all(int how)
{
	DIR *dir = opendir("/proc/self/fd");
	enum sight worst = dir == NULL ? A_CLIENT : NO_TELEMETRY;
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		enum sight seen = NO_TELEMETRY;

		if (*e->d_name >= '0' && *e->d_name <= '9')
			seen = hang_up(atoi(e->d_name), how);
		if (seen > worst)
			worst = seen;
	}
	if (dir != NULL)
		closedir(dir);
	return worst;
}

/*
 * Wait until the clients' threads have ended; the last step of each is to close its socket.
 * @return have all ended?
 */
static bool
end_telemetry(void)
{
	struct timespec t = {.tv_nsec = LOOK_NS};
	/*
	 * Number of successive checks that find no client. A single check may miss a client that
	 * telemetry is just accepting.
	 */
	int quiet = 0;

	for (int look = 0; look < CUT_OFF_LOOKS; look++) {
		enum sight seen = hang_up_all(look < REPLY_LOOKS ? SHUT_RD : SHUT_RDWR);

		quiet = seen == A_CLIENT ? 0 : quiet + 1;
		if (seen == NO_TELEMETRY || quiet == 2)
			return true;
		(void)nanosleep(&t, NULL);
	}
	return false;
}

void
eal_quiet(int code)
{
	state.code = code;
	snprintf(state.line, sizeof(state.line),
		 "%s: warning: DPDK's clean-up took more than %u s and was stopped: a process "
		 "that shares its memory may have died while it held a lock\n",
		 program_invocation_short_name, EAL_END_PATIENCE_S);
	signal(SIGALRM, give_up);
	(void)alarm(EAL_END_PATIENCE_S);
	state.telemetry_rests = end_telemetry();
}

struct job {
	void (*work)(void *arg);
	void *arg;
	sem_t done;
};

static void
work_and_stay(void *arg)
{
	struct job *job = arg;

	if (job->work != NULL)
		job->work(job->arg);
	sem_post(&job->done);
	for (;;)
		(void)poll(NULL, 0, -1);
}

void
eal_park_interrupts(void (*work)(void *arg), void *arg)
{
	static struct intr_source source;
	static struct job job;

	job = (struct job){.work = work, .arg = arg};
	sem_init(&job.done, 0, 0);
	/*
	 * By a source of our own and not by an alarm, because rte_eal_cleanup() waits for EAL's
	 * alarm source.
	 */
	if (!state.interrupts_rest && intr_source_open(&source, work_and_stay, &job) == 0) {
		while (sem_wait(&job.done) != 0 && errno == EINTR)
			;
		state.interrupts_rest = true;
	} else if (work != NULL) {
		work(arg);
	}
}

void
eal_end(void)
{
	if (!state.interrupts_rest)
		eal_park_interrupts(NULL, NULL);
	if (state.telemetry_rests && state.interrupts_rest)
		(void)rte_eal_cleanup();
	(void)alarm(0);
}
