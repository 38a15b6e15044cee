/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations as YAML and JSON: taken as the INI of the same sections and keys, or refused. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "ctl/ini/file.h"
#include "ctl/yaml/yaml_file.h"
#include "unit/cases.h"

/* The store as INI, with the lines of sections and keys. @return owned by the caller */
static char *
written(const struct config_store *store)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < store->names.n; i++) {
		const struct config_part *part = store->parts[i];

		fprintf(out, "[%s] %u\n", part->name, part->line);
		for (unsigned int k = 0; k < part->n; k++)
			fprintf(out, "%s = %s %u\n", part->entries[k].name, part->entries[k].value,
				part->entries[k].line);
	}
	fclose(out);
	return text;
}

static int
parse(const char *path, const char *text, struct config_store *store, struct config_error *err)
{
	char *copy = strdup(text);
	int rc = yaml_file_parse(path, copy, strlen(copy), store, err);

	free(copy);
	return rc;
}

static void
assert_taken(const char *path, const char *text, const char *expected)
{
	struct config_store store = {0};
	struct config_error err = {""};
	int rc = parse(path, text, &store, &err);
	char *got = written(&store);

	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
	assert_string_equal(got, expected);
	free(got);
	config_store_free(&store);
}

TEST(sections_and_keys_are_those_of_an_ini_file)
{
	static const char expected[] = "[port 0] 1\nname = leaf 2\nrate = 100G 3\n[lldp] 4\n";

	assert_taken("x.yaml", "port 0:\n  name: leaf\n  rate: 100G # fast\nlldp:\n", expected);
	assert_taken("x.yml", "\"port  0\":\n  name: 'leaf'\n  rate: \" 100G \"\nlldp: {}\n",
		     expected);
	assert_taken("x.yaml", "---\nport 0: {name: leaf,\n rate: 100G}\nlldp:\n...\n",
		     "[port 0] 2\nname = leaf 2\nrate = 100G 3\n[lldp] 4\n");
	assert_taken("x.json",
		     "{\"port 0\":\n\t{\"name\": \"leaf\",\n\t\"rate\": \"100G\"},\n\"lldp\": {}}",
		     expected);
	assert_taken("x.json", "{\"a\": {\"n\": -7, \"x\": 2.5e3, \"s\": \"a\\/b\"}}",
		     "[a] 1\nn = -7 1\nx = 2.5e3 1\ns = a/b 1\n");
	assert_taken("x.yaml", "pg 3|0:\n  on: off\n  empty:\n  yes: no\n",
		     "[pg 3|0] 1\non = off 2\nempty =  3\nyes = no 4\n");
	assert_taken("x.yaml", "", "");
	assert_taken("x.yaml", "# nothing\n", "");
}

TEST(what_is_not_a_mapping_of_mappings_has_its_error_line)
{
	static const struct {
		const char *path, *text, *error;
	} rows[] = {
		{"x.yaml", "- a\n", "x.yaml:1: expected a mapping of sections, found a list"},
		{"x.yaml", "word\n", "x.yaml:1: expected a mapping of sections, found a text"},
		{"x.yaml", "a: 5\n", "x.yaml:1: [a]: expected a mapping of keys, found a text"},
		{"x.yaml", "a:\n  - b\n",
		 "x.yaml:2: [a]: expected a mapping of keys, found a list"},
		{"x.yaml", "a:\n  b: [1, 2]\n",
		 "x.yaml:2: [a] b: expected a text or a number, found a list"},
		{"x.yaml", "a:\n  b:\n    c: 1\n",
		 "x.yaml:3: [a] b: expected a text or a number, found a mapping"},
		{"x.yaml", "a: &k\n  b: 1\nc: *k\n",
		 "x.yaml:3: [c]: expected a mapping of keys, found an alias"},
		{"x.yaml", "a:\n  b: !!int 5\n", "x.yaml:2: [a] b: expected no tag"},
		{"x.yaml", "[a]: 1\n", "x.yaml:1: expected the name of a section, found a list"},
		{"x.yaml", "a:\n  ? {b: c}\n  : 1\n",
		 "x.yaml:2: [a]: expected the name of a key, found a mapping"},
		{"x.yaml", "a: {b: 1}\n---\nc: {}\n", "x.yaml:3: expected one document"},
		{"x.yaml", "a: {b: 1\n",
		 "x.yaml:2: expected YAML: did not find expected ',' or '}'"},
		{"x.yaml", "a:\n\tb: 1\n",
		 "x.yaml:2: expected YAML: found character that cannot start any token"},
		{"x.yaml", "a:\n  b: 1\na:\n  c: 2\n", "x.yaml:3: section [a] comes twice"},
		{"x.yaml", "a:\n  b: 1\n  b: 2\n", "x.yaml:3: b comes twice in [a]"},
		{"x.yaml", "a:\n  b c: 1\n", "x.yaml:2: expected a key of one word"},
		{"x.yaml", "a:\n  b=c: 1\n", "x.yaml:2: expected a key of one word"},
		{"x.yaml", "'': {}\n", "x.yaml:1: expected the name of a section"},
		{"x.yaml", "'a]': {}\n",
		 "x.yaml:1: expected a section name of printable ASCII without ']' and comments"},
		{"x.yaml", "a:\n  b: 'c #d'\n",
		 "x.yaml:2: [a] b: expected one line of printable ASCII, without '#' and ';' at its "
		 "start or after a blank"},
		{"x.yaml", "a:\n  b: |\n    c\n    d\n",
		 "x.yaml:2: [a] b: expected one line of printable ASCII, without '#' and ';' at its "
		 "start or after a blank"},
		{"x.yaml", "a:\n  b: 55\xc2\xb5s\n",
		 "x.yaml:2: [a] b: expected one line of printable ASCII, without '#' and ';' at its "
		 "start or after a blank"},
		{"x.yaml", "a:\n  b: \"c\\0d\"\n", "x.yaml:2: expected text, found a zero byte"},
		{"x.json", "a: {b: 1}\n", "x.json:1: expected JSON: '[' or '{' expected near 'a'"},
		{"x.json", "[]", "x.json:1: expected a mapping of sections, found a list"},
		{"x.json", "{\"a\":\n{\"b\": [1]}}",
		 "x.json:2: [a] b: expected a text or a number, found a list"},
		{"x.json", "{\"a\": {\"b\": 1},\n\"a\": {}}", "x.json:2: section [a] comes twice"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_store store = {0};
		struct config_error err = {""};

		assert_int_not_equal(parse(rows[i].path, rows[i].text, &store, &err), 0);
		assert_string_equal(err.text, rows[i].error);
		config_store_free(&store);
	}
}

TEST(the_end_of_the_name_says_which_format_it_is)
{
	assert_true(yaml_file_is("a/b.yaml") && yaml_file_is("b.yml") && yaml_file_is("b.json"));
	assert_false(yaml_file_is("b.ini") || yaml_file_is("b.yaml.ini") || yaml_file_is(".json") ||
		     yaml_file_is("json"));
}

TEST_MAIN()
