/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes replies of rte_telemetry from the JSON objects of the reports, so that both have the same
 * names.
 *
 * A reply of DPDK 22.11 is one dictionary of at most 256 scalars and flat arrays, in at most 16
 * KiB, without fractions, booleans and null. So an object is folded:
 *   - a member b of an object a is called "a/b";
 *   - a list a of objects becomes one array for each of their keys, "a/b", with one item per
 *     object; for the list "rows" of a page the name is "b", without a prefix;
 *   - a boolean is 0 or 1, and a fraction is text with six decimals; null, or a key that an object
 *     of the list lacks, is the text "", in an array of texts.
 *
 * Long lists are paged: a page has the rows that fit into one reply and, if more follow, "next",
 * the number to continue from.
 */
#ifndef QUENCH_CTL_OUTPUT_TELEMETRY_H
#define QUENCH_CTL_OUTPUT_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>
#include <rte_telemetry.h>

/* DPDK's 16 KiB, less room for the command at the beginning of the reply. */
#define TELEMETRY_REPLY_BYTES 15360u

/**
 * Fill a reply with an object. After an error the reply owns nothing.
 *
 * @param lacks_memory  Set by the caller's allocator for Jansson when an allocation fails, since
 *                      Jansson itself does not report all failures.
 * @return              0, or -E2BIG, -EINVAL (our mistake), -ENOMEM.
 */
int telemetry_fold(struct rte_tel_data *reply, const json_t *object, const bool *lacks_memory);

/* A page: rows are added to an object as long as it fits a reply. */
struct telemetry_page {
	json_t *object;
	json_t *rows; /* its "rows" */
	size_t bytes; /* of the reply so far */
};

/** Begin a page. The caller still owns object, which may hold other members. */
void telemetry_page_begin(struct telemetry_page *p, json_t *object);

/**
 * Add a row; takes ownership of it.
 * @return false: it does not fit and was freed; "next" is then `number`, that of this row.
 */
bool telemetry_page_add(struct telemetry_page *p, json_t *row, uint64_t number);

/** Is there room for n more rows of at most row_bytes each? */
bool telemetry_page_fits(const struct telemetry_page *p, size_t rows, size_t row_bytes);

/**
 * Set "next" although all rows so far have fitted, because more rows follow, from that number on.
 */
void telemetry_page_more(struct telemetry_page *p, uint64_t next);

#endif
