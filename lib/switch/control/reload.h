/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other params while frames pass. All members whose fields are live may differ from what is in
 * force; the others must not. No frame is dropped for it: what waits stays where it is, under the
 * new limits; lossless groups above a limit that shrank pause their senders; frames of a class that
 * goes to another queue from now on may pass those that wait in the old one.
 */
#ifndef QUENCH_SWITCH_CONTROL_RELOAD_H
#define QUENCH_SWITCH_CONTROL_RELOAD_H

#include <stdint.h>

struct node;
struct sw;
struct sw_forwarding;
struct sw_params;

/** A rule between what is in force and what is to be, that no flag of a field can say; or NULL. */
const char *sw_reload_fault(const struct sw_params *now, const struct sw_params *next);

/** Fill in what was changed by sw_set_..() and by the watchdog: what a reload would change. */
void sw_running_params(const struct node *node, struct sw_params *params);

/**
 * Called where control() is. The owners put it in force in their next rx() or tx(), each between
 * two bursts and its part at once; what they knew by sw_set_..() is replaced.
 *
 * @param params  Those that were prepared; must outlive sw_reload_is_done().
 * @param next    Of sw_reload_prepare(); taken.
 */
void sw_reload(struct node *node, const struct sw_params *params, struct sw_forwarding *next,
	       uint64_t now_ns);

/** Put what was asked for in force, between two frames; by the owner. */
void sw_do_reload(struct sw *sw, uint64_t now_ns);

#endif
