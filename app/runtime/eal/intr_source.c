/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_intr_instance_alloc() and its setters are experimental in every release so far. */
#define ALLOW_EXPERIMENTAL_API
#include "runtime/eal/intr_source.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <rte_interrupts.h>

#include "base/numbers/units.h"

#define RETRY_NS (20 * NS_PER_US)

static void
release(struct intr_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	rte_intr_instance_free(s->handle);
}

static int
register_source(struct intr_source *s)
{
	if (s->fd < 0 || s->handle == NULL)
		return -ENOMEM;
	if (rte_intr_fd_set(s->handle, s->fd) != 0 ||
	    rte_intr_type_set(s->handle, RTE_INTR_HANDLE_EXT) != 0)
		return -EINVAL;
	return rte_intr_callback_register(s->handle, s->call, s->arg);
}

int
intr_source_open(struct intr_source *s, void (*call)(void *arg), void *arg)
{
	int rc;

	*s = (struct intr_source){
		.fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC),
		/* Not in DPDK's memory, which rte_eal_cleanup() unmaps. */
		.handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE),
		.call = call,
		.arg = arg,
	};
	rc = register_source(s);
	if (rc != 0)
		release(s);
	return rc;
}

void
intr_source_close(struct intr_source *s)
{
	struct timespec t = {.tv_nsec = RETRY_NS};

	while (rte_intr_callback_unregister(s->handle, s->call, s->arg) == -EAGAIN)
		(void)nanosleep(&t, NULL);
	release(s);
}

/*
 * Operations on the eventfd fail only if they would block: then it is raised, or lowered, already.
 */
void
intr_source_raise(const struct intr_source *s)
{
	uint64_t one = 1;

	if (write(s->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

void
intr_source_lower(const struct intr_source *s)
{
	uint64_t count;

	if (read(s->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
}
