/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of SONiC's config_db.json, and what is taken out of them for a switch. Private to
 * lib/import.
 *
 * What is read of the tables is taken out of them: what is still there in the end is lost, and
 * sonic_report() names it. A reference is a name or "[TABLE|name]", as older releases wrote it.
 */
#ifndef QUENCH_IMPORT_SONIC_TABLES_H
#define QUENCH_IMPORT_SONIC_TABLES_H

#include <jansson.h>

#include "import/import_log.h"

#define SONIC_TEXT 128

struct sonic {
	json_t *root;
	struct import_switch *out;
	struct import_log *log;
	uint8_t pfc_enable[SW_MAX_PORTS];
	bool has_pfc_enable[SW_MAX_PORTS];
	bool has_profile[SW_MAX_PORTS][TM_CLASSES]; /* of a priority group */
};

/* The ports and the numbers that a key such as "Ethernet0,Ethernet4|3-4" is about. */
struct sonic_place {
	uint64_t ports;
	uint8_t indices; /* 0: the key has none */
};

/** An entry of a table, or NULL. */
json_t *sonic_entry(const struct sonic *s, const char *table, const char *key);

/**
 * Take a field out of an entry.
 *
 * @return 1: text has its value; 0: there is none; or -EINVAL after a refusal.
 */
int sonic_take(struct sonic *s, const char *table, const char *key, const char *field,
	       char text[SONIC_TEXT]);

/** The same of a whole number in [min, max]. */
int sonic_take_number(struct sonic *s, const char *table, const char *key, const char *field,
		      int64_t min, uint64_t max, int64_t *out);

/** The same of a reference to an entry of another table; text has the bare name. */
int sonic_take_reference(struct sonic *s, const char *table, const char *key, const char *field,
			 const char *to, char text[SONIC_TEXT]);

/** The same of "3,4" as a mask. */
int sonic_take_set(struct sonic *s, const char *table, const char *key, const char *field,
		   uint8_t *mask);

/**
 * What a key is about. @return 1; 0: ports or numbers that there are not here (say so and leave the
 * entry); or -EINVAL after a refusal.
 */
int sonic_place(struct sonic *s, const char *table, const char *key, struct sonic_place *place);

/** Refuse because of a value. @return -EINVAL. */
int sonic_refuse(struct sonic *s, const char *table, const char *key, const char *field,
		 const char *value, const char *expected);

/** Take an entry out, as it has a reason of its own to be lost. */
void sonic_lose(struct sonic *s, const char *table, const char *key, const char *field,
		const char *value, const char *why);

/** All that is left goes to the lost list. */
void sonic_report(struct sonic *s);

#endif
