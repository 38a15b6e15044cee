/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON Schemas (draft 2020-12) of objects that a walk fills in (base/field/walk.h), from its names:
 * type, meaning and unit of each member, and in $comment what kind of value it is. An object has no
 * other members.
 */
#ifndef QUENCH_CTL_OUTPUT_JSON_SCHEMA_H
#define QUENCH_CTL_OUTPUT_JSON_SCHEMA_H

#include <jansson.h>
#include <stdio.h>

#include "base/field/walk.h"

/* Visits all names; called with names_only. */
typedef void walk_names(struct walk *w);

/**
 * @param any_columns  The rows of lists may lack any of their members.
 * @return             New object, owned by the caller.
 */
json_t *json_schema(walk_names *names, bool any_columns);

/** Print the schema as a document with a title. */
void json_schema_print(FILE *out, const char *title, walk_names *names);

#endif
