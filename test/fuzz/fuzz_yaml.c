/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a configuration in YAML, and in JSON: refused with one line, or taken; and what was
 * taken, written as INI, has the same sections and keys.
 */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "ctl/ini/file.h"
#include "ctl/yaml/yaml_file.h"
#include "fuzz/fuzz.h"

/* For free(). */
static char *
written(const struct config_store *store, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	for (uint32_t i = 0; i < store->names.n; i++) {
		fprintf(out, "[%s]\n", store->parts[i]->name);
		for (unsigned int k = 0; k < store->parts[i]->n; k++)
			fprintf(out, "%s = %s\n", store->parts[i]->entries[k].name,
				store->parts[i]->entries[k].value);
	}
	fclose(out);
	return text;
}

static void
check_same(const struct config_store *store)
{
	struct config_store again = {0};
	struct config_error err = {""};
	size_t size, size_again;
	char *text = written(store, &size), *text_again;

	FUZZ_CHECK(config_file_parse("x.ini", text, size, &again, &err) == 0);
	text_again = written(&again, &size_again);
	FUZZ_CHECK(strcmp(text, text_again) == 0);
	free(text);
	free(text_again);
	config_store_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const paths[] = {"x.yaml", "x.json"};

	for (unsigned int i = 0; i < ARRAY_LEN(paths); i++) {
		struct config_store store = {0};
		struct config_error err = {""};
		char *text = malloc(len + 1);
		int rc;

		FUZZ_CHECK(text != NULL);
		memcpy(text, data, len);
		text[len] = '\0'; /* as config_file_text() has it */
		rc = yaml_file_parse(paths[i], text, len, &store, &err);
		free(text);
		if (rc == 0) {
			check_same(&store);
		} else {
			FUZZ_CHECK(strncmp(err.text, paths[i], strlen(paths[i])) == 0);
			FUZZ_CHECK(strchr(err.text, '\n') == NULL);
			FUZZ_CHECK(strlen(err.text) <
				   sizeof(err.text) - 1); /* nothing was cut off */
		}
		config_store_free(&store);
	}
	return 0;
}
