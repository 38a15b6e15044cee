/* SPDX-License-Identifier: BSD-3-Clause */
/* What the switch's program does beside the data path: links to the node, its events to a
 * person. */
#ifndef QUENCH_APP_QUENCH_SWITCH_WATCH_H
#define QUENCH_APP_QUENCH_SWITCH_WATCH_H

#include <stdint.h>

struct port_link;
struct run_app;

/** For struct run_app. */
void switch_watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns);

#endif
