/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/control_thread.h"

#include <pthread.h>
#include <rte_lcore.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static uint32_t
begin(void *arg)
{
	struct control_thread *t = arg;

	t->run(t->arg);
	return 0;
}

static int
create(struct control_thread *t, const char *name)
{
	return rte_thread_create_control(&t->id, name, begin, t);
}

void
control_thread_join(struct control_thread *t)
{
	rte_thread_join(t->id, NULL);
}
#else
static void *
begin(void *arg)
{
	struct control_thread *t = arg;

	t->run(t->arg);
	return NULL;
}

static int
create(struct control_thread *t, const char *name)
{
	pthread_t thread;
	int rc = rte_ctrl_thread_create(&thread, name, NULL, begin, t);

	t->id.opaque_id = (uintptr_t)thread;
	return rc;
}

void
control_thread_join(struct control_thread *t)
{
	pthread_join((pthread_t)t->id.opaque_id, NULL);
}
#endif

int
control_thread_start(struct control_thread *t, const char *name, void (*run)(void *arg), void *arg)
{
	t->run = run;
	t->arg = arg;
	return create(t, name);
}
