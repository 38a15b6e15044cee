/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/intr_gate.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/units.h"

/* Interval between checks of the pollers that have not seen the gate shut yet. */
#define POLLER_LOOK_NS (20 * NS_PER_US)
/* Without /proc the gate sees no events, and releases the interrupt thread after this time. */
#define BLIND_WAIT_MS 10

/* Does epoll descriptor fd wait for target? The kernel lists targets in /proc. */
static bool
waits_for(int fd, int target)
{
	char path[64], line[128];
	bool found = false;
	FILE *f;
	int tfd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "tfd: %d", &tfd) == 1 && tfd == target;
	if (f != NULL)
		fclose(f);
	return found;
}

static bool
is_epoll(const char *name)
{
	static const char epoll[] = "anon_inode:[eventpoll]";
	char path[300], target[sizeof(epoll)];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", name);
	n = readlink(path, target, sizeof(target));
	return n == sizeof(epoll) - 1 && memcmp(target, epoll, sizeof(epoll) - 1) == 0;
}

/* EAL creates a new epoll descriptor whenever its sources change, but not during a callback.
 * @return -1: not found. */
static int
find_epoll(const struct intr_gate *gate)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	int fd = -1;

	while (dir != NULL && fd < 0 && (e = readdir(dir)) != NULL)
		if (is_epoll(e->d_name) && waits_for(atoi(e->d_name), gate->source.fd))
			fd = atoi(e->d_name);
	if (dir != NULL)
		closedir(dir);
	return fd;
}

/* @return true: EAL's interrupt thread has something to do. */
static bool
wait_for_events(int epoll_fd, int timeout_ms)
{
	struct pollfd p = {.fd = epoll_fd, .events = POLLIN};

	/* A signal also ends poll(); the extra check is harmless. */
	return poll(&p, 1, timeout_ms) != 0;
}

static void
shut(struct intr_gate *gate)
{
	uint64_t epoch = atomic_fetch_add(&gate->epoch, 1) + 1;

	for (uint16_t i = 0; i < gate->n_pollers; i++) {
		uint64_t seen;

		while ((seen = atomic_load(&gate->pollers[i].seen)) != epoch &&
		       seen != INTR_GATE_OFFLINE)
			(void)nanosleep(&(struct timespec){.tv_nsec = POLLER_LOOK_NS}, NULL);
	}
}

static bool
is_closing(const struct intr_gate *gate)
{
	return atomic_load_explicit(&gate->closing, memory_order_acquire);
}

/* Runs on the interrupt thread. The epoll descriptor includes our source, so closing the gate is an
 * event. */
static void
wait_in_gate(void *arg)
{
	struct intr_gate *gate = arg;
	int epoll_fd;

	intr_source_lower(&gate->source);
	epoll_fd = find_epoll(gate);
	/*
	 * EAL handles the other events of this wake-up after this callback. Keep the gate shut
	 * until it has done so.
	 */
	if (!is_closing(gate) && (epoll_fd < 0 || !wait_for_events(epoll_fd, 0))) {
		atomic_fetch_add(&gate->epoch, 1);
		(void)wait_for_events(epoll_fd, epoll_fd < 0 ? BLIND_WAIT_MS : -1);
		shut(gate);
	}
	/* EAL calls this callback again together with the pending events, or after them. */
	if (!is_closing(gate))
		intr_source_raise(&gate->source);
}

struct intr_gate *
intr_gate_open(uint16_t n_pollers)
{
	struct intr_gate *gate = calloc(1, sizeof(*gate));
	int rc;

	if (gate == NULL)
		return NULL;
	gate->epoch = 1;
	gate->n_pollers = n_pollers;
	gate->pollers = aligned_alloc(RTE_CACHE_LINE_SIZE, n_pollers * sizeof(*gate->pollers));
	for (uint16_t i = 0; gate->pollers != NULL && i < n_pollers; i++)
		gate->pollers[i].seen = INTR_GATE_OFFLINE;
	rc = gate->pollers == NULL ? -ENOMEM : intr_source_open(&gate->source, wait_in_gate, gate);
	if (rc == 0)
		return gate;
	free(gate->pollers);
	free(gate);
	errno = -rc;
	return NULL;
}

void
intr_gate_close(struct intr_gate *gate)
{
	if (gate == NULL)
		return;
	atomic_store_explicit(&gate->closing, true, memory_order_release);
	intr_source_raise(&gate->source);
	intr_source_close(&gate->source);
	free(gate->pollers);
	free(gate);
}

void
intr_gate_join(struct intr_gate *gate, uint16_t poller)
{
	/* Sequentially consistent, as in shut(): either shut() sees us, or we see the gate shut. */
	atomic_store(&gate->pollers[poller].seen, atomic_load(&gate->epoch));
	atomic_thread_fence(memory_order_seq_cst);
}

void
intr_gate_leave(struct intr_gate *gate, uint16_t poller)
{
	atomic_store_explicit(&gate->pollers[poller].seen, INTR_GATE_OFFLINE, memory_order_release);
}
