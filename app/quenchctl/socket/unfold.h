/* SPDX-License-Identifier: BSD-3-Clause */
/* The reverse of ctl/output/telemetry.h in lib: turns a telemetry reply into its object. */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_UNFOLD_H
#define QUENCH_APP_QUENCHCTL_SOCKET_UNFOLD_H

#include <jansson.h>

/**
 * "a/b" becomes member b of an object a. A list "a/b" becomes member b of each object of a list a;
 * a list without a prefix, of a list "rows". Fractions become numbers; switches stay 0 and 1.
 *
 * @return a new object; {} for a reply that is not an object.
 */
json_t *unfold(const json_t *reply);

#endif
