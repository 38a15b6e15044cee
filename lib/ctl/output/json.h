/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Additions to jansson: the values of a walk as an object, and a file that is written completely or
 * not at all.
 */
#ifndef QUENCH_CTL_OUTPUT_JSON_H
#define QUENCH_CTL_OUTPUT_JSON_H

#include <jansson.h>

#include "base/field/walk.h"

/* A visitor that sets members of an object; objects and lists that are entered become members. */
struct json_walk {
	struct walk walk;
	json_t *at, *outer[WALK_DEPTH];
};

struct json_walk json_walk(json_t *object);
/** Adds to the numbers that the object has. */
struct json_walk json_walk_sum(json_t *object);
/** Its row(), for a visitor that changes rows first. */
void json_walk_row(struct walk *w, const struct walk_row *row);

/**
 * Write a document, indented, with a newline at the end. A regular file is written under a
 * temporary name in the same folder, synced and renamed, so that path never holds half of it. A
 * device or pipe is written directly. "-" is standard output.
 *
 * @return 0, or -errno without a message.
 */
int json_write(const json_t *root, const char *path);

#endif
