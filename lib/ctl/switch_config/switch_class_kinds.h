/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some sections exist for all ports and for single ports, such as [queue N] and [queue P|N]; others
 * are named profiles. These tables say where struct sw_params stores their objects. Private to
 * lib/ctl.
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASS_KINDS_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASS_KINDS_H

#include "ctl/ini/config_error.h"
#include "switch/sw.h"

#define SWITCH_SECTION_SIZE (CONFIG_MAX_NAME + 1)

/* One kind of sections for all ports and for single ports. */
struct switch_class_kind {
	const char *word;
	const struct field *fields;
	const unsigned int *n;
	/* in struct sw_params, of its array [TM_CLASSES] of every port and of that [][TM_CLASSES]
	 * by port */
	size_t every, offset;
	size_t size; /* of one object */
};

#define SWITCH_CLASS_KINDS 2u
extern const struct switch_class_kind switch_class_kinds[SWITCH_CLASS_KINDS];

/* One kind of named profile: [wred NAME] or [buffer_profile NAME]. */
struct switch_profile_kind {
	const char *word;
	const struct field *fields;
	const unsigned int *n;
	/* offsets in struct sw_params of the first name and object, and the steps to the next */
	size_t names, name_step, objects, object_step;
	size_t count; /* offset of a uint8_t */
	unsigned int most;
};

#define SWITCH_PROFILE_KINDS 2u
extern const struct switch_profile_kind switch_profile_kinds[SWITCH_PROFILE_KINDS];

static inline const char *
switch_profile_name(const struct switch_profile_kind *kind, const struct sw_params *params,
		    unsigned int i)
{
	return (const char *)params + kind->names + i * kind->name_step;
}

static inline const void *
switch_profile_object(const struct switch_profile_kind *kind, const struct sw_params *params,
		      unsigned int i)
{
	return (const char *)params + kind->objects + i * kind->object_step;
}

static inline unsigned int
switch_profile_count(const struct switch_profile_kind *kind, const struct sw_params *params)
{
	return *((const uint8_t *)params + kind->count);
}

static inline const void *
switch_class_of_every_port(const struct switch_class_kind *kind, const struct sw_params *params,
			   unsigned int index)
{
	return (const char *)params + kind->every + index * kind->size;
}

static inline const void *
switch_class_object(const struct switch_class_kind *kind, const struct sw_params *params,
		    unsigned int port, unsigned int index)
{
	if (port >= params->n_rows)
		return switch_class_of_every_port(kind, params, index);
	return (const char *)params + kind->offset + (port * TM_CLASSES + index) * kind->size;
}

#endif
