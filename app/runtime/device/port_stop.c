/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/port_stop.h"

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "runtime/device/kernel_ring.h"
#include "runtime/eal/eal_end.h"

struct job {
	int (*run)(uint16_t ethdev);
	uint16_t ethdev;
	int rc;
	sem_t done;
};

bool
port_is_memif(uint16_t ethdev)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_is_valid_port(ethdev) && rte_eth_dev_info_get(ethdev, &info) == 0 &&
	       strcmp(info.driver_name, "net_memif") == 0;
}

static void
run_job(void *arg)
{
	struct job *job = arg;

	job->rc = job->run(job->ethdev);
	sem_post(&job->done);
}

/* Run a function for a memif device on the interrupt thread, by an alarm. */
static int
run_there(int (*run)(uint16_t ethdev), uint16_t ethdev)
{
	struct job job = {.run = run, .ethdev = ethdev};

	if (!port_is_memif(ethdev))
		return run(ethdev);
	sem_init(&job.done, 0, 0);
	if (rte_eal_alarm_set(1, run_job, &job) != 0)
		run_job(&job);
	while (sem_wait(&job.done) != 0 && errno == EINTR)
		;
	sem_destroy(&job.done);
	return job.rc;
}

int
port_stop(uint16_t ethdev)
{
	kernel_ring_close(ethdev);
	return run_there(rte_eth_dev_stop, ethdev);
}

static void
close_port(uint16_t ethdev)
{
	/* A device that was removed is closed already. */
	if (!rte_eth_dev_is_valid_port(ethdev))
		return;
	kernel_ring_close(ethdev);
	(void)rte_eth_dev_stop(ethdev);
	(void)rte_eth_dev_close(ethdev);
}

struct ports {
	uint16_t n;
	uint16_t ethdevs[RTE_MAX_ETHPORTS];
};

static void
close_ports(void *arg)
{
	const struct ports *p = arg;

	for (uint16_t i = 0; i < p->n; i++)
		close_port(p->ethdevs[i]);
}

void
ports_close(const uint16_t *ethdevs, uint16_t n)
{
	struct ports memifs = {0};

	for (uint16_t i = 0; i < n; i++) {
		if (port_is_memif(ethdevs[i]))
			memifs.ethdevs[memifs.n++] = ethdevs[i];
		else
			close_port(ethdevs[i]);
	}
	eal_park_interrupts(close_ports, &memifs);
}
