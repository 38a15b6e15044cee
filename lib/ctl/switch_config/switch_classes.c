/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_classes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config/config_compare.h"
#include "ctl/switch_config/switch_class_kinds.h"
#include "ctl/switch_config/switch_classes_rows.h"
#include "switch/params/port_names.h"

static void *
of_every_port(const struct switch_class_kind *kind, struct sw_params *params, unsigned int index)
{
	return (char *)params + kind->every + index * kind->size;
}

/* port: of a row in use. */
static void *
object_at(const struct switch_class_kind *kind, struct sw_params *params, unsigned int port,
	  unsigned int index)
{
	assert(port < params->n_rows);
	return (char *)params + kind->offset + (port * TM_CLASSES + index) * kind->size;
}

/* "queue", or "switch T4 queue". @return text. */
static const char *
word_of(const char *of, const char *word, char text[SWITCH_SECTION_SIZE])
{
	snprintf(text, SWITCH_SECTION_SIZE, "%s%s%s", of != NULL ? of : "", of != NULL ? " " : "",
		 word);
	return text;
}

/* Parse the number before end: below bound, no leading zeros. @return it, or -1. */
static int
number_to(const char *text, char end, int bound)
{
	size_t n = strspn(text, "0123456789");
	int number = atoi(text);

	if (n == 0 || n > 3 || text[n] != end || (n > 1 && text[0] == '0') || number >= bound)
		return -1;
	return number;
}

/* The port before the bar of "Ethernet1/1|3": a number, or the name of a port that has one. */
static int
port_to(const char *text, const char *bar, const struct sw_params *params)
{
	char name[SW_PORT_NAME_CHARS + 1];
	int number = number_to(text, '|', SW_MAX_PORTS);

	if (number >= 0 || bar - text > SW_PORT_NAME_CHARS)
		return number;
	snprintf(name, sizeof(name), "%.*s", (int)(bar - text), text);
	return sw_port_name_is_valid(name) ? sw_port_find(params, name) : -1;
}

/* "queue 3": port -1; "queue 0|3" or "queue NAME|3": both. @return false: neither. */
static bool
parse_place(const char *section, const char *word, const struct sw_params *params, int *port,
	    int *index)
{
	const char *text = section + strlen(word) + 1;
	const char *bar = strchr(text, '|');

	if (section[strlen(word)] == '\0')
		return false;
	*port = bar != NULL ? port_to(text, bar, params) : -1;
	*index = number_to(bar != NULL ? bar + 1 : text, '\0', TM_CLASSES);
	return *index >= 0 && (bar == NULL || *port >= 0);
}

/* Is it a section of sw_sections[]? */
static bool
is_class_profile(const char *section)
{
	for (unsigned int i = 0; i < sw_sections_n; i++)
		if (strcmp(section, sw_sections[i].name) == 0)
			return true;
	return false;
}

/* The NAME of "wred NAME", or NULL after an error: too long, or a reserved word. */
static const char *
profile_name(const struct config *cfg, const char *section, const char *word,
	     struct config_error *err)
{
	const char *name = section + strlen(word) + 1;

	if (strlen(name) <= SW_PROFILE_NAME && strcmp(name, SW_PROFILE_DEFAULT) != 0 &&
	    strcmp(name, SW_PROFILE_NONE) != 0)
		return name;
	config_refuse(cfg, section, NULL,
		      "a name of at most 40 characters, neither default nor none", err);
	return NULL;
}

/* Index of the profile with that name, or the number of profiles if there is none. */
static unsigned int
find_profile(const struct switch_profile_kind *kind, const struct sw_params *params,
	     const char *name)
{
	unsigned int i = 0;

	while (i < switch_profile_count(kind, params) &&
	       strcmp(switch_profile_name(kind, params, i), name) != 0)
		i++;
	return i;
}

/* Read a section into the profile of that name, or into a new one. */
static int
read_profile(struct config *cfg, const struct switch_profile_kind *kind, const char *section,
	     struct sw_params *out, struct config_error *err)
{
	const char *name = profile_name(cfg, section, kind->word, err);
	unsigned int i = name == NULL ? 0 : find_profile(kind, out, name);
	void *object = (void *)(uintptr_t)switch_profile_object(kind, out, i);

	if (name == NULL)
		return -EINVAL;
	if (i < switch_profile_count(kind, out))
		return config_read(cfg, section, kind->fields, *kind->n, object, err);
	if (i == kind->most)
		return config_refuse(cfg, section, NULL, "at most 32 profiles", err);
	snprintf((char *)(uintptr_t)switch_profile_name(kind, out, i), SW_PROFILE_NAME + 1, "%s",
		 name);
	++*((uint8_t *)out + kind->count);
	return config_read_new(cfg, section, kind->fields, *kind->n, object, err);
}

static int
read_profiles(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = 0;

	for (unsigned int k = 0; k < SWITCH_PROFILE_KINDS; k++) {
		const struct switch_profile_kind *kind = &switch_profile_kinds[k];

		for (const char *s = NULL; rc == 0 && (s = config_next(cfg, kind->word, s));)
			if (strcmp(s, kind->word) != 0 && !is_class_profile(s))
				rc = read_profile(cfg, kind, s, out, err);
	}
	return rc;
}

static int
read_tcs(struct config *cfg, const char *of, struct sw_params *out, struct config_error *err)
{
	char word[SWITCH_SECTION_SIZE];
	int rc = 0;

	word_of(of, "tc", word);
	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, word, s));) {
		int port, index;

		if (!parse_place(s, word, out, &port, &index) || port >= 0)
			return config_refuse(cfg, s, NULL, "[tc N], N from 0 to 7", err);
		rc = config_read_new(cfg, s, sw_tc_fields, sw_tc_fields_n, &out->tcs[index], err);
	}
	return rc;
}

/* Refuse names of unknown profiles. Do it here, where the section is known. */
static int
check_names(const struct config *cfg, const char *section, const struct switch_class_kind *kind,
	    const struct sw_params *params, const void *object, struct config_error *err)
{
	for (unsigned int i = 0; i < *kind->n; i++) {
		const struct field *f = &kind->fields[i];
		bool wred = strcmp(f->name, "wred_profile") == 0;
		const struct switch_profile_kind *profiles = &switch_profile_kinds[wred ? 0 : 1];
		const char *name = (const char *)object + f->offset;

		if (f->type != FIELD_STR || strcmp(name, SW_PROFILE_DEFAULT) == 0 ||
		    (wred && strcmp(name, SW_PROFILE_NONE) == 0) ||
		    find_profile(profiles, params, name) < switch_profile_count(profiles, params))
			continue;
		return config_refuse(cfg, section, f->name,
				     wred ? "default, none, or the NAME of a [wred NAME]"
					  : "default, or the NAME of a [buffer_profile NAME] other "
					    "than those of the classes",
				     err);
	}
	return 0;
}

static int
read_places(struct config *cfg, const struct switch_class_kind *kind, bool of_ports,
	    struct sw_params *out, struct config_error *err)
{
	int rc = 0;

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, kind->word, s));) {
		int port, index;
		void *object;

		if (!parse_place(s, kind->word, out, &port, &index))
			return config_refuse(cfg, s, NULL,
					     "N or PORT|N after the word, N from 0 to 7", err);
		if ((port >= 0) != of_ports)
			continue;
		if (of_ports)
			sw_params_use_rows(out, (uint16_t)(port + 1));
		object = of_ports ? object_at(kind, out, (unsigned int)port, (unsigned int)index)
				  : of_every_port(kind, out, (unsigned int)index);
		rc = config_read(cfg, s, kind->fields, *kind->n, object, err);
		if (rc == 0)
			rc = check_names(cfg, s, kind, out, object, err);
	}
	return rc;
}

/* The sections of every port. */
static int
read_every(struct config *cfg, const struct switch_class_kind *kind, struct sw_params *out,
	   struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < TM_CLASSES; i++)
		rc = field_defaults(kind->fields, *kind->n, of_every_port(kind, out, i));
	return rc == 0 ? read_places(cfg, kind, false, out, err) : rc;
}

/* Read the keys that the object has as every port has them. */
static int
read_keys_of_every_port(struct config *cfg, const struct switch_class_kind *kind, const char *s,
			const void *every, void *object, struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < *kind->n; i++)
		if (!config_objects_differ(&kind->fields[i], 1, object, every))
			rc = config_read(cfg, s, &kind->fields[i], 1, object, err);
	return rc;
}

/*
 * Read a section into the objects of all ports; keys not given keep each port's values. With `of`
 * NULL, out is the active configuration, which does not record the keys of single ports. So a key
 * in which a port differs from every port is taken for its own, and keeps its value.
 */
static int
read_over_all_ports(struct config *cfg, const char *of, const struct switch_class_kind *kind,
		    const char *s, unsigned int index, struct sw_params *out,
		    struct config_error *err)
{
	void *every = of_every_port(kind, out, index);
	int rc = 0;

	for (unsigned int port = 0; rc == 0 && port < out->n_rows; port++) {
		void *object = object_at(kind, out, port, index);

		rc = of != NULL ? config_read(cfg, s, kind->fields, *kind->n, object, err)
				: read_keys_of_every_port(cfg, kind, s, every, object, err);
	}
	if (rc == 0)
		rc = config_read(cfg, s, kind->fields, *kind->n, every, err);
	return rc == 0 ? check_names(cfg, s, kind, out, every, err) : rc;
}

/* Sections of single ports override those of all ports. */
static int
read_kind_over(struct config *cfg, const char *of, const struct switch_class_kind *kind,
	       struct sw_params *out, struct config_error *err)
{
	struct switch_class_kind own = *kind;
	char word[SWITCH_SECTION_SIZE];
	int rc = 0;

	own.word = word_of(of, kind->word, word);
	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, word, s));) {
		int port, index;

		if (parse_place(s, word, out, &port, &index) && port < 0)
			rc = read_over_all_ports(cfg, of, &own, s, (unsigned int)index, out, err);
	}
	return rc == 0 ? read_places(cfg, &own, true, out, err) : rc;
}

int
switch_classes_read_over(struct config *cfg, const char *of, struct sw_params *out,
			 struct config_error *err)
{
	int rc = read_tcs(cfg, of, out, err);

	for (unsigned int i = 0; rc == 0 && i < SWITCH_CLASS_KINDS; i++)
		rc = read_kind_over(cfg, of, &switch_class_kinds[i], out, err);
	return rc;
}

int
switch_classes_set(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = read_profiles(cfg, out, err);

	return rc == 0 ? switch_classes_read_over(cfg, NULL, out, err) : rc;
}

int
switch_classes_read(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = read_profiles(cfg, out, err);

	if (rc == 0)
		rc = read_tcs(cfg, NULL, out, err);
	/* Rows begin as every port has them, so the sections of single ports come last. */
	for (unsigned int i = 0; rc == 0 && i < SWITCH_CLASS_KINDS; i++)
		rc = read_every(cfg, &switch_class_kinds[i], out, err);
	for (unsigned int i = 0; rc == 0 && i < SWITCH_CLASS_KINDS; i++)
		rc = read_places(cfg, &switch_class_kinds[i], true, out, err);
	return rc;
}

int
switch_classes_check_ports(const struct config *cfg, const char *of, const struct sw_params *params,
			   struct config_error *err)
{
	for (unsigned int i = 0; i < SWITCH_CLASS_KINDS; i++) {
		char word[SWITCH_SECTION_SIZE];

		word_of(of, switch_class_kinds[i].word, word);
		for (const char *s = NULL; (s = config_next(cfg, word, s));) {
			int port, index;

			if (parse_place(s, word, params, &port, &index) && port >= params->n_ports)
				return config_refuse(cfg, s, NULL, "an existing port", err);
		}
	}
	return 0;
}

void
switch_classes_list(const struct config *cfg, const char *of, const struct sw_params *params,
		    struct config_rows *rows)
{
	if (of == NULL)
		switch_profiles_rows(params, rows);
	for (unsigned int i = 0; i < SWITCH_CLASS_KINDS; i++) {
		const struct switch_class_kind *kind = &switch_class_kinds[i];
		char word[SWITCH_SECTION_SIZE];

		word_of(of, kind->word, word);
		for (const char *s = NULL; (s = config_next(cfg, word, s));) {
			int port, index;

			if (parse_place(s, word, params, &port, &index))
				config_rows_add(
					rows, s, kind->fields, *kind->n,
					switch_class_object(kind, params,
							    port < 0 ? 0 : (unsigned int)port,
							    (unsigned int)index),
					false);
		}
	}
}
