/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_SIZE (CONFIG_MAX_NAME + 1)

/* One kind of section that exists for all ports and for single ones. */
struct kind {
	const char *word;
	const struct field *fields;
	const unsigned int *n;
	size_t offset; /* of its [SW_MAX_PORTS][TM_CLASSES] in struct sw_params */
	size_t size;   /* of one object */
};

static const struct kind kinds[] = {
	{"pg", sw_pg_fields, &sw_pg_fields_n, offsetof(struct sw_params, pgs),
	 sizeof(struct sw_pg_params)},
	{"queue", sw_queue_fields, &sw_queue_fields_n, offsetof(struct sw_params, queues),
	 sizeof(struct sw_queue_params)},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *
object_at(const struct kind *kind, struct sw_params *params, unsigned int port, unsigned int index)
{
	return (char *)params + kind->offset + (port * TM_CLASSES + index) * kind->size;
}

static const void *
object_of(const struct kind *kind, const struct sw_params *params, unsigned int port,
	  unsigned int index)
{
	return (const char *)params + kind->offset + (port * TM_CLASSES + index) * kind->size;
}

/* A number without leading zeros below bound, up to end. @return it, or -1. */
static int
number_to(const char *text, char end, int bound)
{
	size_t n = strspn(text, "0123456789");
	int number = atoi(text);

	if (n == 0 || n > 2 || text[n] != end || (n == 2 && text[0] == '0') || number >= bound)
		return -1;
	return number;
}

/* "queue 3": port -1; "queue 0|3": both. @return false: neither. */
static bool
parse_place(const char *section, const char *word, int *port, int *index)
{
	const char *text = section + strlen(word) + 1;
	const char *bar = strchr(text, '|');

	if (section[strlen(word)] == '\0')
		return false;
	*port = bar != NULL ? number_to(text, '|', SW_MAX_PORTS) : -1;
	*index = number_to(bar != NULL ? bar + 1 : text, '\0', TM_CLASSES);
	return *index >= 0 && (bar == NULL || *port >= 0);
}

static bool
is_class_profile(const char *name)
{
	return strcmp(name, "lossless") == 0 || strcmp(name, "lossy") == 0 ||
	       strcmp(name, "egress_lossless") == 0 || strcmp(name, "egress_lossy") == 0;
}

/* The NAME of "wred NAME", or NULL after an error: too long, or a word with a meaning. */
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

static int
read_wred_profiles(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = 0;

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, "wred", s));) {
		struct sw_wred_profile *profile = &out->wred_profiles[out->n_wred_profiles];
		const char *name;

		if (strcmp(s, "wred") == 0)
			continue;
		if (out->n_wred_profiles == SW_MAX_WRED_PROFILES)
			return config_refuse(cfg, s, NULL, "at most 32 profiles", err);
		name = profile_name(cfg, s, "wred", err);
		if (name == NULL)
			return -EINVAL;
		snprintf(profile->name, sizeof(profile->name), "%s", name);
		rc = config_read_new(cfg, s, wred_fields, wred_fields_n, &profile->params, err);
		out->n_wred_profiles++;
	}
	return rc;
}

static int
read_buffer_profiles(struct config *cfg, struct mmu_params *out, struct config_error *err)
{
	static const char word[] = "buffer_profile";
	int rc = 0;

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, word, s));) {
		const char *name;

		if (strcmp(s, word) == 0 || is_class_profile(s + sizeof(word)))
			continue;
		if (out->n_profiles == MMU_MAX_PROFILES)
			return config_refuse(cfg, s, NULL, "at most 32 profiles", err);
		name = profile_name(cfg, s, word, err);
		if (name == NULL)
			return -EINVAL;
		snprintf(out->profile_names[out->n_profiles], MMU_PROFILE_NAME + 1, "%s", name);
		rc = config_read_new(cfg, s, buffer_profile_named_fields,
				     buffer_profile_named_fields_n, &out->profiles[out->n_profiles],
				     err);
		out->n_profiles++;
	}
	return rc;
}

static int
read_tcs(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = 0;

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, "tc", s));) {
		int port, index;

		if (!parse_place(s, "tc", &port, &index) || port >= 0)
			return config_refuse(cfg, s, NULL, "[tc N], N from 0 to 7", err);
		rc = config_read_new(cfg, s, sw_tc_fields, sw_tc_fields_n, &out->tcs[index], err);
	}
	return rc;
}

/* Names have to be those of sections: said here, where the section is known. */
static int
check_names(const struct config *cfg, const char *section, const struct kind *kind,
	    const void *object, struct config_error *err)
{
	for (unsigned int i = 0; i < *kind->n; i++) {
		const struct field *f = &kind->fields[i];
		bool wred = strcmp(f->name, "wred_profile") == 0;
		const char *name = (const char *)object + f->offset;
		char profile[SECTION_SIZE + SW_PROFILE_NAME];

		if (f->type != FIELD_STR || strcmp(name, SW_PROFILE_DEFAULT) == 0 ||
		    (wred && strcmp(name, SW_PROFILE_NONE) == 0))
			continue;
		snprintf(profile, sizeof(profile), "%s %s", wred ? "wred" : "buffer_profile", name);
		if (!config_has(cfg, profile) || (!wred && is_class_profile(name)))
			return config_refuse(cfg, section, f->name,
					     wred ? "default, none, or the NAME of a [wred NAME]"
						  : "default, or the NAME of a [buffer_profile "
						    "NAME] other than those of the classes",
					     err);
	}
	return 0;
}

static int
read_places(struct config *cfg, const struct kind *kind, bool of_ports, struct sw_params *out,
	    struct config_error *err)
{
	int rc = 0;

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, kind->word, s));) {
		int port, index;

		if (!parse_place(s, kind->word, &port, &index))
			return config_refuse(cfg, s, NULL,
					     "N or PORT|N after the word, N from 0 to 7", err);
		if ((port >= 0) != of_ports)
			continue;
		if (!of_ports)
			port = 0;
		rc = config_read(cfg, s, kind->fields, *kind->n,
				 object_at(kind, out, (unsigned int)port, (unsigned int)index),
				 err);
		if (rc == 0)
			rc = check_names(
				cfg, s, kind,
				object_at(kind, out, (unsigned int)port, (unsigned int)index), err);
	}
	return rc;
}

static int
read_kind(struct config *cfg, const struct kind *kind, struct sw_params *out,
	  struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < TM_CLASSES; i++)
		rc = field_defaults(kind->fields, *kind->n, object_at(kind, out, 0, i));
	if (rc == 0)
		rc = read_places(cfg, kind, false, out, err);
	for (unsigned int port = 1; port < SW_MAX_PORTS; port++)
		memcpy(object_at(kind, out, port, 0), object_at(kind, out, 0, 0),
		       TM_CLASSES * kind->size);
	return rc == 0 ? read_places(cfg, kind, true, out, err) : rc;
}

int
switch_classes_read(struct config *cfg, struct sw_params *out, struct config_error *err)
{
	int rc = read_wred_profiles(cfg, out, err);

	if (rc == 0)
		rc = read_buffer_profiles(cfg, &out->mmu, err);
	if (rc == 0)
		rc = read_tcs(cfg, out, err);
	for (unsigned int i = 0; rc == 0 && i < KINDS; i++)
		rc = read_kind(cfg, &kinds[i], out, err);
	return rc;
}

int
switch_classes_check_ports(const struct config *cfg, uint16_t n_ports, struct config_error *err)
{
	for (unsigned int i = 0; i < KINDS; i++) {
		for (const char *s = NULL; (s = config_next(cfg, kinds[i].word, s));) {
			int port, index;

			if (parse_place(s, kinds[i].word, &port, &index) && port >= n_ports)
				return config_refuse(cfg, s, NULL, "a port that there is", err);
		}
	}
	return 0;
}

static void
add_row(struct switch_classes_rows *out, const char *section, const struct field *fields,
	const unsigned int *n, size_t offset)
{
	if (out->n < SWITCH_CLASSES_ROWS)
		out->rows[out->n++] = (struct config_section){section, fields, n, offset};
}

/* The file's own word for a profile's section, or NULL. */
static const char *
section_of(const struct config *cfg, const char *word, const char *name)
{
	for (const char *s = NULL; (s = config_next(cfg, word, s));) {
		if (strlen(s) > strlen(word) && strcmp(s + strlen(word) + 1, name) == 0)
			return s;
	}
	return NULL;
}

static void
list_profiles(const struct config *cfg, const struct sw_params *params,
	      struct switch_classes_rows *out)
{
	for (unsigned int i = 0; i < params->n_wred_profiles; i++)
		add_row(out, section_of(cfg, "wred", params->wred_profiles[i].name), wred_fields,
			&wred_fields_n,
			offsetof(struct sw_params, wred_profiles) +
				i * sizeof(params->wred_profiles[0]) +
				offsetof(struct sw_wred_profile, params));
	for (unsigned int i = 0; i < params->mmu.n_profiles; i++)
		add_row(out, section_of(cfg, "buffer_profile", params->mmu.profile_names[i]),
			buffer_profile_named_fields, &buffer_profile_named_fields_n,
			offsetof(struct sw_params, mmu.profiles) +
				i * sizeof(params->mmu.profiles[0]));
}

void
switch_classes_list(const struct config *cfg, const struct sw_params *params,
		    struct switch_classes_rows *out)
{
	out->n = 0;
	list_profiles(cfg, params, out);
	for (unsigned int i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];

		for (const char *s = NULL; (s = config_next(cfg, kind->word, s));) {
			int port, index;

			if (parse_place(s, kind->word, &port, &index))
				add_row(out, s, kind->fields, kind->n,
					kind->offset + ((size_t)(port < 0 ? 0 : port) * TM_CLASSES +
							(size_t)index) *
							       kind->size);
		}
	}
}

static bool
is_untouched(const struct kind *kind, const void *object)
{
	char untouched[sizeof(struct sw_queue_params)] = {0}, zero[sizeof(untouched)] = {0};

	field_defaults(kind->fields, *kind->n, untouched);
	/* Ports that a program made up itself hold nothing. */
	return memcmp(object, untouched, kind->size) == 0 || memcmp(object, zero, kind->size) == 0;
}

/* Port 0 stands for all; a port that differs from it says so. */
static void
print_kind(FILE *out, const struct kind *kind, const struct sw_params *params)
{
	char section[SECTION_SIZE];

	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		const void *first = object_of(kind, params, 0, i);

		if (!is_untouched(kind, first)) {
			snprintf(section, sizeof(section), "%s %u", kind->word, i);
			config_print(out, section, kind->fields, *kind->n, first);
		}
		for (unsigned int port = 1; port < params->n_ports; port++) {
			const void *object = object_of(kind, params, port, i);

			if (memcmp(object, first, kind->size) == 0)
				continue;
			snprintf(section, sizeof(section), "%s %u|%u", kind->word, port, i);
			config_print(out, section, kind->fields, *kind->n, object);
		}
	}
}

void
switch_classes_print(FILE *out, const struct sw_params *params)
{
	char section[SECTION_SIZE];

	for (unsigned int i = 0; i < params->n_wred_profiles; i++) {
		snprintf(section, sizeof(section), "wred %s", params->wred_profiles[i].name);
		config_print(out, section, wred_fields, wred_fields_n,
			     &params->wred_profiles[i].params);
	}
	for (unsigned int i = 0; i < params->mmu.n_profiles; i++) {
		snprintf(section, sizeof(section), "buffer_profile %s",
			 params->mmu.profile_names[i]);
		config_print(out, section, buffer_profile_named_fields,
			     buffer_profile_named_fields_n, &params->mmu.profiles[i]);
	}
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		if (params->tcs[i].mtu_bytes == 0)
			continue;
		snprintf(section, sizeof(section), "tc %u", i);
		config_print(out, section, sw_tc_fields, sw_tc_fields_n, &params->tcs[i]);
	}
	for (unsigned int i = 0; i < KINDS; i++)
		print_kind(out, &kinds[i], params);
}

void
switch_classes_print_reference(FILE *out)
{
	config_print_reference(out, "wred NAME", wred_fields, wred_fields_n);
	config_print_reference(out, "buffer_profile NAME", buffer_profile_named_fields,
			       buffer_profile_named_fields_n);
	config_print_reference(out, "tc N", sw_tc_fields, sw_tc_fields_n);
	config_print_reference(out, "pg N, pg P|N", sw_pg_fields, sw_pg_fields_n);
	config_print_reference(out, "queue N, queue P|N", sw_queue_fields, sw_queue_fields_n);
}
