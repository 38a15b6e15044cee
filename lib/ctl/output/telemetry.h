/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies of rte_telemetry, made from the JSON objects that reports are made of, so that a name is
 * the same in both.
 *
 * A reply of DPDK 22.11 is one dictionary of at most 256 scalars and flat arrays, in at most 16
 * KiB; it knows no fraction, no switch and no null. So an object is folded:
 *   - a member b of an object a is called "a/b";
 *   - a list of objects a becomes an array for each of their keys, "a/b", with an item for each of
 *     the objects; the list "rows" of a page has no prefix;
 *   - a switch is 0 or 1, a fraction is text with six decimals, and null, or a key that an object
 *     of the list has not, is the text "", in an array of texts.
 *
 * Long lists are paged: a page has the rows that fit into one reply, and "next", where to go on,
 * while there are more.
 */
#ifndef QUENCH_CTL_OUTPUT_TELEMETRY_H
#define QUENCH_CTL_OUTPUT_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>
#include <rte_telemetry.h>

/* Of a reply of 16 KiB, with room for the command that begins it. */
#define TELEMETRY_REPLY_BYTES 15360u

/**
 * Fill a reply with an object. After an error the reply owns nothing.
 *
 * @param lacks_memory  Set by the caller's allocator for Jansson, which says of few failures
 *                      itself.
 * @return              0, or -E2BIG, -EINVAL (our mistake), -ENOMEM.
 */
int telemetry_fold(struct rte_tel_data *reply, const json_t *object, const bool *lacks_memory);

/* Rows that are added to an object until it would not fit a reply. */
struct telemetry_page {
	json_t *object;
	json_t *rows; /* its "rows" */
	size_t bytes; /* of the reply so far */
};

/** Begin a page. object, which stays the caller's, may hold more than rows. */
void telemetry_page_begin(struct telemetry_page *p, json_t *object);

/**
 * Add a row, which is taken.
 * @return false: it does not fit, and was freed; "next" is then this row's number or place.
 */
bool telemetry_page_add(struct telemetry_page *p, json_t *row, uint64_t number);

/** Do n rows of at most row_bytes each fit for certain? */
bool telemetry_page_fits(const struct telemetry_page *p, size_t rows, size_t row_bytes);

/** Say that there is more, from there on, although all that was tried fitted. */
void telemetry_page_more(struct telemetry_page *p, uint64_t next);

#endif
