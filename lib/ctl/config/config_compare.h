/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two configurations of one program, section by section and key by key: the differences
 * that a reload would make, and whether it may make them. A configuration is a list of rows, each a
 * section, its table and its object.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_COMPARE_H
#define QUENCH_CTL_CONFIG_CONFIG_COMPARE_H

#include "base/sets/names.h"
#include "ctl/config/config.h"

struct config_row {
	char section[CONFIG_MAX_NAME + 1];
	const struct field *fields;
	unsigned int n;
	const void *object; /* not owned */
	bool fixed;         /* its keys cannot change while the program runs, whatever their flag */
	bool removable;     /* the section may be added or removed, whatever its keys' flags */
};

/* Zero-initialised: none. */
struct config_rows {
	/*
	 * If not NULL: rows are printed when they are added, and not stored. The output is sections
	 * that can be read again. Adjacent rows of one section share a heading.
	 */
	FILE *out;
	char last[CONFIG_MAX_NAME + 1]; /* section that was printed */
	struct config_row *rows;
	unsigned int n, capacity;
	bool no_memory;
	/* index built by config_rows_compare(): add no rows after that call */
	struct names sections;
	unsigned int *first; /* first row of each section */
};

/** Add a row. Sets no_memory if it cannot allocate. */
void config_rows_add(struct config_rows *rows, const char *section, const struct field *fields,
		     unsigned int n, const void *object, bool fixed);
/** Allow the section of the last row to be added or removed while the program runs. */
void config_rows_last_is_removable(struct config_rows *rows);
void config_rows_free(struct config_rows *rows);
/** End the last section, after rows that were printed. */
void config_rows_end(struct config_rows *rows);

/* One difference. */
struct config_change {
	const char *section;
	const struct field *field; /* NULL: only one of the two has the section */
	const char *from, *to;     /* values as in a file; for a section: "" where it is absent */
	bool live;                 /* the program can make this change while it runs */
};

/**
 * Call visit for each difference: first those of the rows in `from`, in their order, then the rows
 * that only `to` has. If it cannot allocate memory, it sets no_memory of one of them.
 */
void config_rows_compare(struct config_rows *from, struct config_rows *to,
			 void (*visit)(void *arg, const struct config_change *change), void *arg);

/** Do two objects of a table, or two lists of rows, differ? True also if there is no memory to
 * compare them. */
bool config_objects_differ(const struct field *fields, unsigned int n, const void *a,
			   const void *b);
bool config_rows_differ(struct config_rows *a, struct config_rows *b);

/**
 * Refuse a difference that cannot be made while the program runs: the first one that the new
 * configuration gives, or the first one of all. A value that only follows from a given key, such as
 * ack_every from cc, is not blamed in place of that key.
 *
 * @param cfg  The new configuration, which has been read.
 * @return     0, or -EINVAL or -ENOMEM with err filled in: "file: [section] key = value: cannot
 *             change while the program runs; it is other value", or a line about the section.
 */
int config_rows_refuse_fixed(const struct config *cfg, struct config_rows *from,
			     struct config_rows *to, struct config_error *err);

#endif
