/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/commands.h"

#include <ctype.h>
#include <string.h>

#include "common/say.h"

#define MAX_WORDS 8

struct words {
	unsigned int n;
	char word[MAX_WORDS][32];
};

static struct words
split(const char *text)
{
	struct words w = {0};

	while (*text != '\0' && w.n < MAX_WORDS) {
		size_t n = strcspn(text, " ");

		snprintf(w.word[w.n++], sizeof(w.word[0]), "%.*s", (int)n, text);
		text += n + (text[n] == ' ');
	}
	return w;
}

static bool
is_param(const char *word)
{
	return isupper((unsigned char)word[*word == '[']);
}

/* How many of the words given are the command's; all of them and none missing: *whole. */
static int
match(const struct command *command, int argc, char **argv, const char *params[COMMAND_PARAMS],
      bool *whole)
{
	struct words w = split(command->words);
	unsigned int n_params = 0, i = 0;

	memset(params, 0, COMMAND_PARAMS * sizeof(*params));
	for (; i < w.n && (int)i < argc; i++) {
		/* One that is not of the form may be a word of another command. */
		if (is_param(w.word[i]) &&
		    (strchr(w.word[i], '=') == NULL || strchr(argv[i], '=') != NULL))
			params[n_params++] = argv[i];
		else if (strcmp(w.word[i], argv[i]) != 0)
			break;
	}
	*whole = (int)i == argc && (i == w.n || (i + 1 == w.n && w.word[i][0] == '['));
	return (int)i;
}

/* Add a word to a list, unless it is there. */
static void
add_word(char *list, size_t size, const char *word)
{
	size_t used = strlen(list), n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
		if ((at == list || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
			return;
	snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
}

/* The words that may stand where the given ones cease to be right. */
static void
say_expected(int argc, char **argv, const char *program)
{
	const char *params[COMMAND_PARAMS];
	char given[256] = "", expected[512] = "";
	size_t right = 0;
	int best = 0;
	bool whole;

	for (unsigned int i = 0; i < commands_n; i++) {
		int n = match(&commands[i], argc, argv, params, &whole);

		best = n > best ? n : best;
	}
	for (unsigned int i = 0; i < commands_n; i++) {
		const struct command *c = &commands[i];
		struct words w = split(c->words);

		if (match(c, argc, argv, params, &whole) == best &&
		    (program == NULL || c->program == NULL || strcmp(program, c->program) == 0))
			add_word(expected, sizeof(expected),
				 (unsigned int)best < w.n ? w.word[best] : "nothing more");
	}
	for (int i = 0; i < argc && i <= best; i++) {
		size_t used = strlen(given);

		snprintf(given + used, sizeof(given) - used, "%s%s", i == 0 ? "" : " ", argv[i]);
		if (i + 1 == best)
			right = strlen(given);
	}
	if (best == 0)
		say_error("%s: expected one of: %s", argc == 0 ? "no command" : given, expected);
	else
		say_error("%s: expected after \"%.*s\" one of: %s", given, (int)right, given,
			  expected);
}

const struct command *
command_find(int argc, char **argv, const char *program, const char *params[COMMAND_PARAMS])
{
	const char *other = NULL;

	for (unsigned int i = 0; i < commands_n; i++) {
		const struct command *c = &commands[i];
		bool whole;

		match(c, argc, argv, params, &whole);
		if (whole &&
		    (program == NULL || c->program == NULL || strcmp(program, c->program) == 0))
			return c;
		if (whole)
			other = c->program;
	}
	if (other != NULL)
		say_error("%s %s ...: expected a %s, but this is a %s", argv[0],
			  argc > 1 ? argv[1] : "", other, program);
	else
		say_expected(argc, argv, program);
	return NULL;
}

void
commands_print(FILE *out)
{
	for (unsigned int i = 0; i < commands_n; i++)
		fprintf(out, "  %-46s %s%s%s%s\n", commands[i].words, commands[i].help,
			commands[i].program != NULL ? " (" : "",
			commands[i].program != NULL ? commands[i].program : "",
			commands[i].program != NULL ? ")" : "");
}
