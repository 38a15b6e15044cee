/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page shows of one program, made from two snapshots of it. */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_PICTURE_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_PICTURE_H

#include <jansson.h>

#include "quenchctl/top/snapshot.h"

/**
 * Make the picture of a program.
 *
 * {"version", "tiles", "ports", "bars", "storms", "charts"}:
 * - a tile has "label" and either "rate" (a second) and "total", or "value" and "of" (bytes), and
 *   "kind": "drop", "pause" or "plain";
 * - a port has "key", "name", "device", "rx" and "tx" (b/s on the wire, with preamble and gap),
 *   "speed" and "shaped" (b/s), "pauses" (a second), "down" and "storm";
 * - a bar has "key", "port" (the key of its port), "value", "unit", "alarm", "marks" ("name",
 *   "kind" and "at") and, of a flow, "full", the speed of the link. The key of a queue or group
 *   is the name of its series in the chart "depth";
 * - charts has a value for each series of "rates" (b/s), "depth" (bytes), "rtt" (s) and "signals"
 *   (a second), for web_history_add(). rtt is a mean over the samples between the snapshots.
 *
 * @param program  "quench-switch" or "quench-nic".
 * @param before   May be empty: then rates are 0.
 * @return         Owned by the caller; NULL without memory.
 */
json_t *web_picture(const char *program, const struct snapshot *now, const struct snapshot *before);

/* Of a port in words, with its end. */
#define WEB_PORT_CHARS 48

/** The name of a row's port, or "port 3". @return text. */
const char *web_port(const json_t *row, char text[WEB_PORT_CHARS]);

#endif
