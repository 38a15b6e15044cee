/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/commands.h"

#include <ctype.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "quenchctl/command_table.h"

#define MAX_WORDS (COMMAND_PARAMS + 4)

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

static bool
is_of(const struct command *command, const char *program)
{
	return program == NULL || command->program == NULL ||
	       strcmp(program, command->program) == 0;
}

/* May a parameter stand for this word of the command line? */
static bool
may_be(const char *param, const char *given)
{
	/*
	 * Where KEY=VALUE is expected, a word without '=' does not match: it may belong to another
	 * command.
	 */
	return strchr(param, '=') == NULL || strchr(given, '=') != NULL;
}

static bool
is_repeated(const char *param)
{
	return strstr(param, "...") != NULL;
}

/*
 * Does a word begin with the given one, or equal it? SONiC's buffer_pool is buffer-pool here.
 */
static bool
begins(const char *word, const char *given)
{
	for (; *given != '\0'; word++, given++)
		if (*word != *given && !(*word == '-' && *given == '_'))
			return false;
	return true;
}

static bool
is_word(const char *word, const char *given)
{
	return strlen(word) == strlen(given) && begins(word, given);
}

/*
 * Number of leading words that match the command. *whole: all words match, and at most an optional
 * last word is missing.
 */
static int
match(const struct command *command, int argc, char **argv, const char *params[COMMAND_PARAMS],
      bool *whole)
{
	struct words w = split(command->words);
	unsigned int n_params = 0, i = 0;
	int used;

	memset(params, 0, COMMAND_PARAMS * sizeof(*params));
	for (; i < w.n && (int)i < argc; i++) {
		if (is_param(w.word[i]) && may_be(w.word[i], argv[i]))
			params[n_params++] = argv[i];
		else if (!is_word(w.word[i], argv[i]))
			break;
	}
	used = (int)i;
	if (i == w.n && is_repeated(w.word[i - 1]))
		while (used < argc && n_params < COMMAND_PARAMS &&
		       may_be(w.word[i - 1], argv[used]))
			params[n_params++] = argv[used++];
	*whole = used == argc && (i == w.n || (i + 1 == w.n && w.word[i][0] == '['));
	return used;
}

/* Add a word to a list, unless it is in it already. */
static void
add_word(char *list, size_t size, const char *word)
{
	size_t used = strlen(list), n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
		if ((at == list || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
			return;
	snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
}

/* Print an error line that lists the words allowed in the place of the first wrong word. */
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

		if (match(c, argc, argv, params, &whole) == best && is_of(c, program))
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

/*
 * Expand word i, which may be an abbreviation: find the only word that begins with it and is
 * allowed after the words before it.
 * @return the word; NULL if there is none, or several, which `several` then lists.
 */
static const char *
full_word(int i, char **argv, const char *program, char *several, size_t size)
{
	static char found[32];
	const char *params[COMMAND_PARAMS];
	unsigned int n = 0;
	bool whole;

	*several = '\0';
	for (unsigned int k = 0; k < commands_n; k++) {
		struct words w = split(commands[k].words);
		const char *word = w.word[i];

		if (!is_of(&commands[k], program) ||
		    match(&commands[k], i, argv, params, &whole) < i || i >= (int)w.n ||
		    is_param(word) || !begins(word, argv[i]))
			continue;
		if (is_word(word, argv[i]))
			return argv[i];
		if (n > 0 && strcmp(word, found) == 0)
			continue;
		snprintf(found, sizeof(found), "%s", word);
		add_word(several, size, word);
		n++;
	}
	return n == 1 ? found : NULL;
}

/* The given words, abbreviations completed. */
struct given {
	int n;
	char *word[MAX_WORDS];
	char full[MAX_WORDS][32];
	char ambiguous[512]; /* completions of word n; "": not ambiguous */
};

static void
complete(struct given *g, int argc, char **argv, const char *program)
{
	*g = (struct given){0};
	for (; g->n < argc && g->n < MAX_WORDS; g->n++) {
		int i = g->n;
		const char *word = NULL;

		g->word[i] = argv[i];
		if (*argv[i] != '\0')
			word = full_word(i, g->word, program, g->ambiguous, sizeof(g->ambiguous));
		if (word == NULL && *g->ambiguous != '\0')
			return;
		*g->ambiguous = '\0';
		if (word == NULL || word == argv[i])
			continue;
		snprintf(g->full[i], sizeof(g->full[i]), "%s", word);
		g->word[i] = g->full[i];
	}
}

static const struct command *
find_whole(int argc, char **argv, const char *program, const char *params[COMMAND_PARAMS])
{
	for (unsigned int i = 0; i < commands_n; i++) {
		bool whole;

		match(&commands[i], argc, argv, params, &whole);
		if (whole && is_of(&commands[i], program))
			return &commands[i];
	}
	return NULL;
}

const struct command *
command_find(int argc, char **argv, const char *program, const char *params[COMMAND_PARAMS])
{
	static const char *const programs[] = {"quench-switch", "quench-nic"};
	static struct given g;
	const struct command *c = NULL;

	/*
	 * An abbreviation may be ambiguous over all commands, but unique in those of one program.
	 */
	for (unsigned int i = 0; program == NULL && c == NULL && i < 2; i++) {
		complete(&g, argc, argv, programs[i]);
		c = g.n == argc ? find_whole(argc, g.word, programs[i], params) : NULL;
	}
	if (c != NULL)
		return c;
	complete(&g, argc, argv, program);
	if (*g.ambiguous != '\0') {
		say_error("%s: may be one of: %s", argv[g.n], g.ambiguous);
		return NULL;
	}
	if (g.n == argc)
		c = find_whole(argc, g.word, program, params);
	if (c != NULL)
		return c;
	c = g.n == argc ? find_whole(argc, g.word, NULL, params) : NULL;
	if (c != NULL)
		say_error("%s %s ...: expected a %s, but this is a %s", g.word[0],
			  argc > 1 ? g.word[1] : "", c->program, program);
	else
		say_expected(g.n, g.word, program);
	return NULL;
}

static void
print_command(FILE *out, const struct command *c)
{
	fprintf(out, "  %-46s  %s%s%s%s\n", c->words, c->help, c->program != NULL ? " (" : "",
		c->program != NULL ? c->program : "", c->program != NULL ? ")" : "");
}

void
commands_print(FILE *out)
{
	for (unsigned int i = 0; i < commands_n; i++)
		print_command(out, &commands[i]);
}

int
commands_help(FILE *out, int argc, char **argv)
{
	const char *params[COMMAND_PARAMS];
	static struct given g;
	unsigned int found = 0;
	bool whole;

	complete(&g, argc, argv, NULL);
	/* An ambiguous word matches no command: its line lists the words. */
	for (int i = g.n; i < argc && i < MAX_WORDS; i++)
		g.word[i] = argv[i];
	for (unsigned int i = 0; i < commands_n && argc <= MAX_WORDS; i++) {
		const struct command *c = &commands[i];

		if (match(c, argc, g.word, params, &whole) < argc)
			continue;
		if (found++ == 0)
			fputs("usage: quenchctl [options] COMMAND\n\nCommands:\n", out);
		print_command(out, c);
		if (c->print_keys != NULL)
			c->print_keys(out);
	}
	if (found > 0)
		return 0;
	say_expected(argc, argv, NULL);
	return APP_BAD_USAGE;
}
