/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two configurations of one program, section by section and key by key: what a reload would change,
 * and whether it may. A configuration is a list of rows, each a section, its table and its object.
 */
#ifndef QUENCH_CTL_CONFIG_COMPARE_H
#define QUENCH_CTL_CONFIG_COMPARE_H

#include "base/names.h"
#include "ctl/config/config.h"

struct config_row {
	char section[CONFIG_MAX_NAME + 1];
	const struct field *fields;
	unsigned int n;
	const void *object; /* not owned */
	bool fixed;         /* its keys cannot change while the program runs, whatever their flag */
	bool may_go;        /* the section may come and go, whatever the flags of its keys */
};

/* Zero-initialised: none. */
struct config_rows {
	/* Not NULL: rows are not kept, but printed as they are added, which takes no memory: as
	 * sections that read back the same; those of one section in a row share it. */
	FILE *out;
	char last[CONFIG_MAX_NAME + 1]; /* section that was printed */
	struct config_row *rows;
	unsigned int n, room;
	bool no_memory;
	/* of config_rows_compare(): after it no row is added */
	struct names sections;
	unsigned int *first; /* row of each */
};

/** Add a row. When there is no memory no_memory is set. */
void config_rows_add(struct config_rows *rows, const char *section, const struct field *fields,
		     unsigned int n, const void *object, bool fixed);
/** The section of the row added last may come and go while the program runs. */
void config_rows_last_may_go(struct config_rows *rows);
void config_rows_free(struct config_rows *rows);
/** Of rows that were printed: the end of the last section. */
void config_rows_end(struct config_rows *rows);

/* One difference. */
struct config_change {
	const char *section;
	const struct field *field; /* NULL: the section itself is there in one of the two only */
	const char *from, *to;     /* values as in a file; of a section "" where it is not there */
	bool live;                 /* it may be made while the program runs */
};

/** Call visit for each difference, in the order of from, then of what only to has. Without memory
 * no_memory of either is set. */
void config_rows_compare(struct config_rows *from, struct config_rows *to,
			 void (*visit)(void *arg, const struct config_change *change), void *arg);

/** Is there a difference, of two objects of a table, of two lists? When in doubt for want of
 * memory, there is. */
bool config_objects_differ(const struct field *fields, unsigned int n, const void *a,
			   const void *b);
bool config_rows_differ(struct config_rows *a, struct config_rows *b);

/**
 * Refuse the first difference that cannot be made while the program runs.
 *
 * @param path  Of the file that is to come into force.
 * @return      0, or -EINVAL with err filled in: "file: [section] key = value: cannot change while
 *              the program runs; it is other value".
 */
int config_rows_refuse_fixed(const char *path, struct config_rows *from, struct config_rows *to,
			     struct config_error *err);

#endif
