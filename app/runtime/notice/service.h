/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to systemd from a unit of Type=notify: the program is ready, it is stopping, and, with
 * WatchdogSec=, all of its lcores still poll (sd_notify(3), sd_watchdog_enabled(3)). Without
 * systemd these functions do nothing.
 *
 * Invariant: WATCHDOG=1 is sent only if every lcore has polled within half of WatchdogSec=.
 */
#ifndef QUENCH_APP_RUNTIME_NOTICE_SERVICE_H
#define QUENCH_APP_RUNTIME_NOTICE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sign of life of a polling lcore. */
struct service_pulse {
	unsigned int lcore;
	_Atomic uint64_t seen_ns; /* its last beat, written by it */
	bool late;                /* reported; used by the watching lcore only */
};

struct service {
	uint64_t watchdog_ns; /* 0: the watchdog is off */
	uint64_t next_ns;     /* NEVER_NS: never */
};

/** Ask systemd whether its watchdog is on. */
void service_init(struct service *s, uint64_t now_ns);

/** Call once nodes can poll and the telemetry socket is open. */
void service_ready(void);

void service_stopping(void);

/** Called by each polling lcore. @return the time of the next call. */
uint64_t service_beat(const struct service *s, struct service_pulse *pulse, uint64_t now_ns);

/**
 * Called by the control lcore when due. An error line names an lcore that has not polled for half
 * of WatchdogSec=, and systemd gets no message until it polls again.
 * @return the time of the next call.
 */
uint64_t service_watch(struct service *s, struct service_pulse *pulses, uint16_t n,
		       uint64_t now_ns);

#endif
