/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate between EAL's interrupt thread and pollers, with an interrupt callback that must meet
 * none in a burst. */

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "runtime/eal/intr_gate.h"
#include "runtime/eal/intr_source.h"

#define POLLERS 3
#define INTERRUPTS 200

static struct {
	struct intr_gate *gate;
	atomic_bool stop;
	atomic_uint in_burst;
	atomic_uint bursts[POLLERS];
	sem_t interrupted;
	struct intr_source source;
	unsigned int interrupts, met; /* of the interrupt thread until the semaphore is posted */
} t;

static void *
poll_until_stop(void *arg)
{
	uint16_t poller = (uint16_t)(uintptr_t)arg;

	intr_gate_join(t.gate, poller);
	while (!atomic_load(&t.stop)) {
		if (!intr_gate_pass(t.gate, poller)) {
			sched_yield();
			continue;
		}
		atomic_fetch_add(&t.in_burst, 1);
		/* A burst takes a while, and may lose its CPU. */
		sched_yield();
		atomic_fetch_sub(&t.in_burst, 1);
		atomic_fetch_add(&t.bursts[poller], 1);
	}
	intr_gate_leave(t.gate, poller);
	return NULL;
}

/* What net_memif's callback does when a peer goes. */
static void
on_interrupt(void *arg)
{
	(void)arg;
	intr_source_lower(&t.source);
	t.interrupts++;
	for (int i = 0; i < 10; i++) {
		t.met += atomic_load(&t.in_burst) != 0;
		sched_yield();
	}
	sem_post(&t.interrupted);
}

static int
bursts_of_each(unsigned int n)
{
	for (int i = 0; i < POLLERS; i++)
		if (atomic_load(&t.bursts[i]) < n)
			return 0;
	return 1;
}

static void
start(pthread_t *threads)
{
	atomic_store(&t.stop, false);
	for (int i = 0; i < POLLERS; i++)
		atomic_store(&t.bursts[i], 0);
	t.gate = intr_gate_open(POLLERS);
	assert_non_null(t.gate);
	for (uintptr_t i = 0; i < POLLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, poll_until_stop, (void *)i), 0);
}

static void
stop(const pthread_t *threads)
{
	atomic_store(&t.stop, true);
	for (int i = 0; i < POLLERS; i++)
		pthread_join(threads[i], NULL);
	intr_gate_close(t.gate);
}

TEST(no_interrupt_meets_a_poller_in_a_burst)
{
	pthread_t threads[POLLERS];

	start(threads);
	sem_init(&t.interrupted, 0, 0);
	t.interrupts = t.met = 0;
	/* The first interrupt comes by itself; each of the others finds pollers at work. */
	assert_int_equal(intr_source_open(&t.source, on_interrupt, NULL), 0);
	for (unsigned int i = 1; i < INTERRUPTS; i++) {
		sem_wait(&t.interrupted);
		while (!bursts_of_each(i))
			sched_yield();
		intr_source_raise(&t.source);
	}
	sem_wait(&t.interrupted);
	stop(threads);
	intr_source_close(&t.source);
	assert_int_equal(t.interrupts, INTERRUPTS);
	assert_int_equal(t.met, 0);
}

TEST(pollers_go_on_after_each_gate)
{
	for (int i = 0; i < 10; i++) {
		pthread_t threads[POLLERS];

		start(threads);
		while (!bursts_of_each(10))
			sched_yield();
		stop(threads);
	}
}

TEST(a_gate_without_pollers_lets_interrupts_through)
{
	struct intr_gate *gate = intr_gate_open(POLLERS);

	sem_init(&t.interrupted, 0, 0);
	assert_non_null(gate);
	assert_int_equal(intr_source_open(&t.source, on_interrupt, NULL), 0);
	sem_wait(&t.interrupted);
	intr_gate_close(gate);
	intr_source_close(&t.source);
}

TEST_MAIN(.begin = start_eal)
