/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of quench-switch outside the data path: passes link states to the node, and prints its
 * events.
 */
#ifndef QUENCH_APP_QUENCH_SWITCH_NODES_WATCH_H
#define QUENCH_APP_QUENCH_SWITCH_NODES_WATCH_H

#include <stdint.h>

struct port_link;
struct run_app;

/** For struct run_app. */
void switch_watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns);

#endif
