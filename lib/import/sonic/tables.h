/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of SONiC's config_db.json. Private to lib/import.
 *
 * Reading a field removes it from its table. A reference is a name or, in older releases,
 * "[TABLE|name]".
 *
 * Invariant: sonic_report() adds every field that was not read to the log's lost list.
 */
#ifndef QUENCH_IMPORT_SONIC_TABLES_H
#define QUENCH_IMPORT_SONIC_TABLES_H

#include <jansson.h>

#include "import/conversion/import_log.h"

#define SONIC_TEXT 128

struct sonic {
	json_t *root;
	json_t *left; /* the ports that are left out, as keys */
	json_t *lost; /* lists of keys, by what sonic_lose() reports of them */
	struct import_switch *out;
	struct import_log *log;
	uint8_t pfc_enable[SW_DEVICE_PORTS];
	bool has_pfc_enable[SW_DEVICE_PORTS];
	bool has_profile[SW_DEVICE_PORTS][TM_CLASSES]; /* by priority group */
	/* Name of the port-channel whose VLANs and addresses the port has, or "": its own. */
	char channels[SW_DEVICE_PORTS][IMPORT_PORT_NAME + 1];
};

/* Ports and indices of a key such as "Ethernet0,Ethernet4|3-4". */
struct sonic_place {
	uint64_t ports;
	uint8_t indices; /* mask; 0: the key has none */
};

/** Find an entry of a table. @return NULL: none. */
json_t *sonic_entry(const struct sonic *s, const char *table, const char *key);

/**
 * Take a field out of an entry.
 *
 * @return 1: text has its value; 0: no such field; or -EINVAL after a refusal.
 */
int sonic_take(struct sonic *s, const char *table, const char *key, const char *field,
	       char text[SONIC_TEXT]);

/** The same for a whole number in [min, max]. */
int sonic_take_number(struct sonic *s, const char *table, const char *key, const char *field,
		      int64_t min, uint64_t max, int64_t *out);

/** The same for a reference to an entry of another table; text gets the bare name. */
int sonic_take_reference(struct sonic *s, const char *table, const char *key, const char *field,
			 const char *to, char text[SONIC_TEXT]);

/** The same for a list such as "3,4", as a mask. */
int sonic_take_set(struct sonic *s, const char *table, const char *key, const char *field,
		   uint8_t *mask);

/**
 * Parse the ports and indices of a key.
 * @return 1; 0: a port or index that does not exist here (already logged: skip the entry); or
 * -EINVAL after a refusal.
 */
int sonic_place(struct sonic *s, const char *table, const char *key, struct sonic_place *place);

/** The port of this name or port-channel (n characters), or -1. */
int sonic_find_port(const struct sonic *s, const char *name, size_t n);

/** Refuse the input because of a value. @return -EINVAL. */
int sonic_refuse(struct sonic *s, const char *table, const char *key, const char *field,
		 const char *value, const char *expected);

/**
 * Take a field or entry out of its table, and log it as lost, with the reason. Entries that differ
 * in their key only share a line.
 */
void sonic_lose(struct sonic *s, const char *table, const char *key, const char *field,
		const char *value, const char *why);

/** Is this name (n characters) that of a port that is left out? */
bool sonic_is_left(const struct sonic *s, const char *name, size_t n);

/** Add what was lost and all remaining fields to the log. */
void sonic_report(struct sonic *s);

#endif
