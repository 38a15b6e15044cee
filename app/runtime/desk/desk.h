/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front desk of a program: a Unix socket that answers JSON-RPC 2.0, one text a line
 * (doc/interface.md lists the methods). One thread serves all clients; it runs beside the lcores.
 *
 * A reply itself reads only counters (single writer, relaxed) and constant data; all other reads
 * and all changes are work for the main lcore (desk_on_main()).
 *
 * Invariant: after desk_close() no reply runs.
 */
#ifndef QUENCH_APP_RUNTIME_DESK_DESK_H
#define QUENCH_APP_RUNTIME_DESK_DESK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field/walk.h"
#include "runtime/desk/active_config.h"
#include "runtime/desk/desk_socket.h"

/* Longest line that says what is wrong. */
#define DESK_ERROR_CHARS 1279
/* Longest text that says what was expected. */
#define DESK_EXPECTED_CHARS 255

struct run_app;
struct run_result;
struct tsc_clock;
struct desk;

/* Types of parameters. */
enum desk_type {
	DESK_NUMBER, /* an integer of at least 0 */
	DESK_WORD,   /* a text, or an integer that stands for its digits: a port, a QP */
	DESK_WORDS,  /* a list of texts without line ends */
	DESK_FLAG,   /* true or false */
};

struct desk_param {
	const char *name; /* NULL: end of the list */
	enum desk_type type;
	bool required;
	const char *help;
};

/* One request. */
struct desk_call {
	const struct desk *desk;
	const struct desk_method *method;
	const struct desk_peer *peer;
	const struct config_version *version; /* of desk->active: active when the call arrived */
	const json_t *params;                 /* an object, checked against the method's list */
	enum desk_error code;
	char error[DESK_ERROR_CHARS + 1];       /* what is wrong */
	char expected[DESK_EXPECTED_CHARS + 1]; /* what was expected; "": error says it */
};

/* @return the result, owned by the caller, or NULL with code, error and expected filled in. */
typedef json_t *desk_reply(struct desk_call *call);

/* Walks over the names of a result. */
typedef void desk_result(struct walk *w);

struct desk_method {
	const char *name;
	const struct desk_param *params; /* NULL: none */
	/* Begins with "Returns", with "Sets" if it needs DESK_CHANGE, or "Captures": DESK_OWN. */
	const char *help;
	desk_reply *reply;
	desk_result *result;
};

struct desk {
	/* set by the program */
	const struct desk_method *methods;
	unsigned int n_methods;
	const char *name; /* of the program */
	const void *program;
	struct active_config *active; /* configurations of the program; NULL: they cannot change */
	/* set by run_node() */
	struct desk_groups groups;
	bool failed; /* the socket's file stays when the desk closes */
	atomic_bool *stop;
	const struct run_app *app;
	const struct run_result *result;
	const struct tsc_clock *clock;
	struct mailbox mailbox;
	struct desk_socket *socket;
};

/** Answer requests from now on. Only one may be open. @return 0, or -errno after an error line. */
int desk_open(struct desk *desk);

/** On the main lcore: stop answering, and wait for the reply in progress. */
void desk_close(struct desk *desk);

/**
 * Answer one text of a peer: a request, or a batch of them.
 *
 * @return  The line of the reply with its line end, for free(); NULL: the text was a notification
 *          and has no reply, or memory is lacking.
 */
char *desk_answer(const struct desk *desk, const struct desk_peer *peer, const char *text,
		  size_t n);

/** Time since the start of the run. */
uint64_t desk_now_ns(const struct desk_call *call);

/** Have the main lcore do the work, and wait. @return false: not done; the reason is in call. */
bool desk_on_main(struct desk_call *call, void (*work)(void *arg, uint64_t now_ns), void *arg);

/** Fill in the error and the expectation. @return NULL, for the reply. */
json_t *desk_refuse(struct desk_call *call, const char *expected, const char *error, ...)
	__attribute__((format(printf, 3, 4)));

/** The same for a parameter, in words such as "PORT = 7". @return NULL, for the reply. */
json_t *desk_refuse_param(struct desk_call *call, const char *expected, const char *error, ...)
	__attribute__((format(printf, 3, 4)));

/** Fill in a complete line that says both. @return NULL, for the reply. */
json_t *desk_refuse_line(struct desk_call *call, const char *line);

/** Replace what is not printable ASCII: lines quote the client's bytes, but JSON must be UTF-8. */
void desk_make_plain(char *text);

/**
 * Read parameter name, a number in [min, max]. A missing one that is not required leaves value
 * unchanged. @return false: refused, with the reason in call.
 */
bool desk_number(struct desk_call *call, const char *name, uint64_t min, uint64_t max,
		 uint64_t *value);

/** Parameter name, a flag; false if it is missing. */
bool desk_flag(const struct desk_call *call, const char *name);

#define DESK_DIGITS 21
/** Parameter name, a word; digits has room for an integer. @return NULL: missing. */
const char *desk_word(const struct desk_call *call, const char *name, char digits[DESK_DIGITS]);

/**
 * The texts of parameter name, joined by a character. @return owned by the caller; "" if it is
 * missing; NULL: no memory, with the reason in call.
 */
char *desk_words(struct desk_call *call, const char *name, char between);

/* @param call  NULL with names_only. @return false: no row has this number. */
typedef bool desk_row(struct walk *w, struct desk_call *call, void *arg, uint64_t number);

/* A list of rows with numbers from first to end - 1; some numbers may have no row. */
struct desk_list {
	uint64_t first, end;
	desk_row *row; /* called in ascending order */
	void *arg;
};

/* Parameters of a list that may be read in part. */
#define DESK_LIST_PARAMS                                                                           \
	{"first", DESK_NUMBER, false, "number of the first row, counted from 0"},                  \
	{                                                                                          \
		"count", DESK_NUMBER, false, "most rows, at least 1"                               \
	}
#define DESK_COLUMNS_PARAM                                                                         \
	{                                                                                          \
		"columns", DESK_WORDS, false, "keys of the rows; all without it"                   \
	}

/**
 * Set "rows" of o: those that parameters first, count and columns select, if the method has them.
 *
 * @param o  The rest of the result; takes ownership.
 * @return   o, or NULL: refused, with the reason in call.
 */
json_t *desk_list_add(struct desk_call *call, const struct desk_list *list, json_t *o);

/** The same, to an object with the total number of rows, which is end. */
json_t *desk_list_reply(struct desk_call *call, const struct desk_list *list);
/** The names of the rows of desk_list_add(); of the result of desk_list_reply(). */
void desk_rows_result(struct walk *w, desk_row *row);
void desk_list_result(struct walk *w, desk_row *row);

#endif
