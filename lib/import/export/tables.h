/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of config_db.json that an export writes. Private to lib/import. */
#ifndef QUENCH_IMPORT_EXPORT_TABLES_H
#define QUENCH_IMPORT_EXPORT_TABLES_H

#include <jansson.h>

#include "import/conversion/import_log.h"

#define EXPORT_NAME (IMPORT_PORT_NAME + 1) /* of a port, with its end */

struct export_tables {
	json_t *root;
	const struct sw_params *sw; /* in SONiC's form: export_form() */
	const struct sw_params *given;
	uint32_t default_burst_bytes;
};

/** Add an entry without fields, if there is none of this key. @return the entry. */
json_t *export_entry(struct export_tables *t, const char *table, const char *key);

/** Set a field of an entry. */
__attribute__((format(printf, 5, 6))) void export_set(struct export_tables *t, const char *table,
						      const char *key, const char *field,
						      const char *format, ...);

/** VLANs, addresses and routes. */
void export_network(struct export_tables *t);

#endif
