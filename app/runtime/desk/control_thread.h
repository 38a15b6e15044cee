/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread on the CPUs without lcores, for work that waits. */
#ifndef QUENCH_APP_RUNTIME_DESK_CONTROL_THREAD_H
#define QUENCH_APP_RUNTIME_DESK_CONTROL_THREAD_H

#include <rte_thread.h>

/* Must stay where it is while the thread runs. */
struct control_thread {
	rte_thread_t id;
	void (*run)(void *arg);
	void *arg;
};

/** @param name  At most 15 characters. @return 0 or -errno. */
int control_thread_start(struct control_thread *t, const char *name, void (*run)(void *arg),
			 void *arg);
void control_thread_join(struct control_thread *t);

#endif
