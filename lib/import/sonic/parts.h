/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of an importer that turns a config_db.json into a switch. Private to lib/import. */
#ifndef QUENCH_IMPORT_SONIC_PARTS_H
#define QUENCH_IMPORT_SONIC_PARTS_H

#include "import/sonic/tables.h"

/* Call in this order. Each returns 0, or -EINVAL after a refusal. */
int sonic_ports(struct sonic *s);
int sonic_maps(struct sonic *s);
int sonic_queues(struct sonic *s);
int sonic_buffers(struct sonic *s);
int sonic_watchdog(struct sonic *s);
/** VLANs, port-channels, and the ports in them. */
int sonic_members(struct sonic *s);
/** Addresses and static routes. */
int sonic_addresses(struct sonic *s);

#endif
