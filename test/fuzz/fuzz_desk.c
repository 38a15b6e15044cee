/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of a client of the front desk. Each is answered with one line of JSON that has a result or
 * an error, but for a notification; a number that a method reads is in its range.
 */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/desk/desk.h"
#include "fuzz/fuzz.h"

#define LEAST 3u
#define MOST (UINT64_MAX / 4)

static json_t *
params_back(struct desk_call *call)
{
	char digits[DESK_DIGITS], *words = desk_words(call, "words", '\n');
	const char *word = desk_word(call, "word", digits);
	uint64_t n = LEAST;
	json_t *o = NULL;

	FUZZ_CHECK(words != NULL && word != NULL);
	if (desk_number(call, "number", LEAST, MOST, &n)) {
		FUZZ_CHECK(n >= LEAST && n <= MOST);
		o = json_pack("{s:s}", "word", word);
	} else {
		/* A refusal says what is wrong and what would be right, in printable ASCII. */
		FUZZ_CHECK(call->error[0] != '\0' && call->expected[0] != '\0');
		for (const char *c = call->error; *c != '\0'; c++)
			FUZZ_CHECK(*c >= ' ' && *c <= '~');
	}
	free(words);
	return o;
}

static bool
row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	(void)call;
	(void)arg;
	w->object = "row";
	walk_number(w, WALK_COUNTER, "i", "number of the row", i);
	walk_number(w, WALK_GAUGE, "a", "1", 1);
	return true;
}

static void
row_result(struct walk *w)
{
	desk_list_result(w, row);
}

static void
word_result(struct walk *w)
{
	walk_text(w, WALK_KEY, "word", "the word", NULL);
}

static json_t *
list(struct desk_call *call)
{
	return desk_list_reply(call, &(struct desk_list){.first = 1, .end = 9, .row = row});
}

static const struct desk_param all_params[] = {
	{"word", DESK_WORD, true, "a word"},
	{"number", DESK_NUMBER, false, "a number"},
	{"words", DESK_WORDS, false, "words"},
	{0},
};
static const struct desk_param list_params[] = {DESK_LIST_PARAMS, DESK_COLUMNS_PARAM, {0}};

static const struct desk_method methods[] = {
	{"p", all_params, "Returns its parameters", params_back, word_result},
	{"l", list_params, "Returns rows", list, row_result},
};

static void
check_reply(const json_t *reply)
{
	FUZZ_CHECK(json_object_get(reply, "id") != NULL);
	FUZZ_CHECK((json_object_get(reply, "result") == NULL) !=
		   (json_object_get(reply, "error") == NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct desk desk = {
		.name = "fuzz", .methods = methods, .n_methods = ARRAY_LEN(methods)};
	static const struct desk_peer peer = {.access = DESK_OWN};
	char *text = malloc(len + 1), *line;
	json_t *reply, *one;
	size_t n, i;

	/* Of just this size, so that reading beyond it is found. */
	memcpy(text, data, len);
	line = desk_answer(&desk, &peer, text, len);
	free(text);
	if (line == NULL)
		return 0;
	n = strlen(line);
	FUZZ_CHECK(n > 0 && line[n - 1] == '\n' && memchr(line, '\n', n - 1) == NULL);
	reply = json_loads(line, 0, NULL);
	FUZZ_CHECK(reply != NULL);
	if (json_is_array(reply)) {
		json_array_foreach (reply, i, one)
			check_reply(one);
	} else {
		check_reply(reply);
	}
	json_decref(reply);
	free(line);
	return 0;
}
