/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks over the values of objects: counters, gauges, and the keys that tell objects apart, each
 * with its name and its help. One function walks each kind of object. The visitor decides what
 * becomes of a value: a row of a CSV file, a member of a JSON object, a sum, a line of a reference.
 *
 * With names_only, a walk visits every name that an object of its kind may have, reads nothing, and
 * takes NULL as the object. Then N in a name stands for a priority: rx_prioN_pause.
 */
#ifndef QUENCH_BASE_FIELD_WALK_H
#define QUENCH_BASE_FIELD_WALK_H

#include "base/field/field.h"

enum walk_kind {
	WALK_COUNTER, /* never decreases; has a sum over objects */
	WALK_GAUGE,
	WALK_PEAK,  /* a gauge: the highest value since the last clear */
	WALK_KEY,   /* tells objects apart, or is only in replies: no metric */
	WALK_PARAM, /* repeats a key of the configuration */
};

enum walk_type {
	WALK_NUMBER,
	WALK_LIMIT,      /* a number, or a text such as "never" */
	WALK_MAYBE,      /* a number, or nothing: null */
	WALK_MAYBE_REAL, /* the same */
	WALK_MAYBE_TEXT, /* a text, or null */
	WALK_SIGNED,
	WALK_REAL,
	WALK_FLAG,
	WALK_TEXT,
	WALK_OBJECT, /* an object of any keys; only with names_only */
	WALK_TEXTS,  /* a list of texts, empty so far */
	WALK_ADDED,  /* the next text of the list; not with names_only */
	WALK_NULL,   /* null in place of an object that is entered elsewhere */
};

struct walk_row {
	const char *name, *help;
	enum walk_kind kind;
	enum walk_type type;
	uint64_t number;  /* WALK_NUMBER, WALK_FLAG; WALK_SIGNED: as int64_t */
	double real;      /* WALK_REAL, WALK_MAYBE_REAL */
	const char *text; /* WALK_TEXT, WALK_MAYBE_TEXT, WALK_ADDED; WALK_LIMIT: NULL if a number */
	bool is_null;     /* WALK_NULL; WALK_MAYBE, WALK_MAYBE_REAL, WALK_MAYBE_TEXT */
	bool optional;    /* an object may lack it */
};

#define WALK_DEPTH 4
/* Room for a group and the name of a row. */
#define WALK_NAME_CHARS 128u

/* Where an object stands that is entered. */
enum walk_place {
	WALK_MEMBER, /* a member of the current one */
	WALK_ITEM,   /* in a list, which is a member */
	WALK_NAMED,  /* under any name in an object, which is a member; only with names_only */
};

/* A visitor is a struct that begins with this one. */
struct walk {
	void (*row)(struct walk *w, const struct walk_row *row);
	/* An object begins. NULL: groups tell them apart. */
	void (*enter)(struct walk *w, const char *member, enum walk_place place);
	void (*leave)(struct walk *w);
	void (*list)(struct walk *w, const char *member);
	bool names_only;
	bool optional; /* an object may lack what follows, rows and members; not what is in these */
	const char *object; /* what the rows are of, in the names of metrics: "queue" */
	char group[96];     /* prefix of names that are not unique without it: "queue3/" */
	/* by object entered: length of group, and optional, before it */
	unsigned int n, cut[WALK_DEPTH];
	bool outer_optional[WALK_DEPTH];
};

/** Enter a member that is an object; group is the prefix of its rows' names. */
void walk_enter(struct walk *w, const char *member, const char *group);
/** Announce a list, which may be empty. */
void walk_list(struct walk *w, const char *list);
/** Enter the next object of a list, without a group or with one. */
void walk_item(struct walk *w, const char *list);
void walk_enter_item(struct walk *w, const char *list, const char *group, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * Only with names_only: enter one kind of the objects that a member has under any names. Each call
 * is another kind.
 */
void walk_enter_named(struct walk *w, const char *member);
void walk_leave(struct walk *w);

void walk_number(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		 uint64_t value);
void walk_signed(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		 int64_t value);
void walk_real(struct walk *w, enum walk_kind kind, const char *name, const char *help,
	       double value);
void walk_flag(struct walk *w, enum walk_kind kind, const char *name, const char *help, bool value);
void walk_text(struct walk *w, enum walk_kind kind, const char *name, const char *help,
	       const char *value);

/** A number, or a text if that is not NULL. */
void walk_limit(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		uint64_t value, const char *text);
/** A number, or null. */
void walk_maybe(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		uint64_t value, bool is_null);
void walk_maybe_real(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		     double value, bool is_null);
/** A text; NULL: null. */
void walk_maybe_text(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		     const char *value);

/** Null in place of the object member; with names_only after the object. */
void walk_null(struct walk *w, const char *member);

/** A member that is an object of any keys. Only with names_only. */
void walk_object(struct walk *w, const char *name, const char *help);
/** A member that is a list of texts; add one to it. */
void walk_texts(struct walk *w, const char *name, const char *help);
void walk_add_text(struct walk *w, const char *list, const char *text);

/* walk_TYPE() of an expression, which is not evaluated with names_only. */
#define WALK(type, w, kind, name, help, value)                                                     \
	walk_##type(w, WALK_##kind, name, help, (w)->names_only ? 0 : (value))

/** The counters of a table; stats is NULL with names_only. Another thread may be writing them. */
void walk_counters(struct walk *w, enum walk_kind kind, const struct counter_field *fields,
		   unsigned int n, const void *stats);

/** The parameters of a table. Texts are of kind WALK_PARAM, all others of the kind given. */
void walk_fields(struct walk *w, enum walk_kind kind, const struct field *fields, unsigned int n,
		 const void *params);

#endif
