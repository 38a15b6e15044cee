/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a file that become ports of the switch: --ports. Private to lib/import. */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_PORTS_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_PORTS_H

#include "import/conversion/import_log.h"

/* A port, or ports whose names differ in their last number. */
struct import_port_range {
	char prefix[IMPORT_PORT_NAME + 1];
	unsigned long first, last;
	bool found;
};

struct import_ports {
	bool is_given;
	bool too_many;      /* of the list are in the file */
	unsigned int count; /* the first ports of the file; 0: those of the list */
	struct import_port_range list[SW_DEVICE_PORTS];
	unsigned int n;
};

/**
 * Parse "Ethernet1/1,1/3", "Ethernet0-28" or a number of ports; NULL: the first 64.
 * @return 0, or -EINVAL after a refusal.
 */
int import_ports_parse(const char *text, struct import_ports *out, struct import_log *log);

/** Is this port one of them? @param n_before  ports that were taken before it. */
bool import_ports_want(struct import_ports *p, const char *name, unsigned int n_before);

/**
 * After all ports: refuse a list that names a port that is not in the file, or more than 64 of its
 * ports. @return as above.
 */
int import_ports_check(const struct import_ports *p, struct import_log *log);

/** Log that n ports, the first of which is this one, are left out. */
void import_ports_left(const struct import_ports *p, const char *name, unsigned int n,
		       struct import_log *log);

#endif
