/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What systemd is told by a unit of Type=notify: that the program is ready, that it stops, and,
 * with WatchdogSec=, that all of its lcores still poll (sd_notify(3), sd_watchdog_enabled(3)).
 * Without systemd none of it does anything.
 */
#ifndef QUENCH_APP_RUNTIME_NOTICE_SERVICE_H
#define QUENCH_APP_RUNTIME_NOTICE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a polling lcore. */
struct service_pulse {
	unsigned int lcore;
	_Atomic uint64_t seen_ns; /* when it last polled, written by it */
	bool late;                /* it has been said; the watcher's */
};

struct service {
	uint64_t watchdog_ns; /* 0: nobody watches */
	uint64_t next_ns;     /* NEVER_NS: not again */
};

/** Ask systemd whether it watches. */
void service_init(struct service *s, uint64_t now_ns);

/** Nodes poll, and the telemetry socket is open. */
void service_ready(void);

void service_stopping(void);

/** Called by each polling lcore. @return when it wants to be called again. */
uint64_t service_beat(const struct service *s, struct service_pulse *pulse, uint64_t now_ns);

/**
 * Called by the lcore that does control work, when due: one that has not polled for half of
 * WatchdogSec= is named, and systemd hears nothing more until it does. @return when it wants to be
 * called again.
 */
uint64_t service_watch(struct service *s, struct service_pulse *pulses, uint16_t n,
		       uint64_t now_ns);

#endif
