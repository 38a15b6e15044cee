/* SPDX-License-Identifier: BSD-3-Clause */
/* The reverse of ctl/output/telemetry.h in lib: a reply of telemetry becomes the object it was made
 * of. */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_UNFOLD_H
#define QUENCH_APP_QUENCHCTL_SOCKET_UNFOLD_H

#include <jansson.h>

/**
 * "a/b" becomes member b of an object a; a list "a/b" member b of each object of a list a; lists
 * without a prefix those of "rows". Fractions are numbers again; switches stay 0 and 1.
 *
 * @return a new object; {} for a reply that is none.
 */
json_t *unfold(const json_t *reply);

#endif
