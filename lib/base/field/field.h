/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that describe a struct: one row for each member, with name, unit, range, default and help.
 *
 * Config files, --check-config, counters in JSON and telemetry, and the parameter reference in doc/
 * are loops over such a table. The name of a row is the INI key, the JSON key and the struct
 * member. Functions take a table and its number of rows; names and aliases are unique within a
 * table.
 *
 * Invariants (tested): field_parse() reads the output of field_format() back to the same bytes; a
 * value that is refused leaves the object unchanged; no value outside [min, max] is ever stored.
 */
#ifndef QUENCH_BASE_FIELD_FIELD_H
#define QUENCH_BASE_FIELD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_BOOL, /* bool: on | off | yes | no | true | false | 1 | 0 */
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_U64, /* with max UINT64_MAX, in UNIT_NS and UNIT_US: "never" stands for UINT64_MAX; in
		    * UNIT_BYTES, "auto" */
	FIELD_I8,
	FIELD_ENUM, /* int: index into choices */
	FIELD_MAC,  /* uint8_t[6]; min 1: a station's address, neither zero nor a group */
	FIELD_IP,   /* struct field_ip; max 4 or 6: only that version; min 0: also "none" */
	FIELD_STR,  /* char[max + 1]; at least min characters */
	/* const char *: a long FIELD_STR, on the heap; NULL: "". Who owns the object frees it */
	FIELD_TEXT,
	FIELD_SET8, /* uint8_t bit mask, written "3,4" or "3-4" or "none" */
	/*
	 * uint8_t[map_keys], written "26:3, 24:3, 48:7, *:0" with ranges "0-7:1". * stands for
	 * every key that is not named; without it, every key must be named, except in a change.
	 * Keys are [0, map_keys), at most 256; values are [min, max].
	 */
	FIELD_MAP,
};

/*
 * The unit of a stored number. A number without a suffix is in that unit. A number may have
 * decimals and a suffix of the same kind; the conversion must give a whole number.
 */
enum field_unit {
	UNIT_NONE,  /* also hexadecimal: 0x1f */
	UNIT_NS,    /* ns us ms s */
	UNIT_US,    /* ns us ms s */
	UNIT_BYTES, /* B KB MB GB (powers of 1000), KiB MiB GiB */
	UNIT_BPS,   /* bits per second, powers of 1000: K M G T, alone or before bps or bit/s */
	UNIT_PPM,   /* ppm or % */
	UNIT_PCT,   /* % */
	UNIT_1024,  /* parts of 1024; also a fraction such as 1/256 */
};

/** An IPv4 or IPv6 address in network order; IPv4 in the first four bytes. version 0: not set. */
struct field_ip {
	uint8_t version;
	uint8_t addr[16];
};

/* Room for an address as text, with its final zero. */
#define FIELD_IP_CHARS 46u
/* "02:00:00:00:00:01" and its end. */
#define FIELD_MAC_CHARS 18u

/**
 * Another name for the same member: a paper symbol or a vendor's spelling. A number N without a
 * suffix is stored as N * scale under the alias (scale 0 means 1); scale does not apply to a number
 * with a suffix, or to a fraction. one_minus: the alias is the weight of the new sample, and the
 * member holds the weight of the old value, so full scale - N is stored. Full scale is
 * unit_full_scale(), or max if that is 0. Example: DCQCN's g = 1/256 is stored as 1020, the weight
 * of the old alpha in 1/1024.
 */
struct field_alias {
	const char *name;
	uint64_t scale;
	bool one_minus;
};

#define FIELD_ALIASES 4

struct field {
	const char *name;
	const char *help; /* one line, no full stop */
	enum field_type type;
	enum field_unit unit;
	size_t offset;
	int64_t min;
	uint64_t max;               /* numbers: highest value; texts: most characters */
	const char *def;            /* as written in a file; NULL: the key is required */
	const char *const *choices; /* FIELD_ENUM: NULL-terminated words */
	uint16_t map_keys;          /* FIELD_MAP: number of keys */
	bool live;                  /* may change at run time */
	/*
	 * FIELD_SET8, FIELD_MAP: also the word "default". A bool follows the value: whether the
	 * value is the object's own. Zeros are "default".
	 */
	bool or_default;
	/* A number from 1 on, below this and without a unit, is probably a mistake. 0: that of the
	 * unit: 64 bytes, 1000 bit/s, no time or share. */
	uint64_t least_bare;
	struct field_alias aliases[FIELD_ALIASES];
};

/* Start of a row: name and offset of a member, or of a member of an embedded struct. */
#define FIELD_OF(type, member) .name = #member, .offset = offsetof(type, member)
#define FIELD_IN(type, part, member) .name = #member, .offset = offsetof(type, part.member)

/** One counter of a stats struct: a uint64_t member, its name and what it counts. */
struct counter_field {
	const char *name;
	const char *help;
	size_t offset;
};

/* clang-format off */
#define COUNTER_FIELD(type, member, text) {#member, text, offsetof(type, member)}
/* clang-format on */

/* Declare a module's table of rows and their number, table_n. */
#define FIELD_TABLE(table)                                                                         \
	extern const struct field table[];                                                         \
	extern const unsigned int table##_n
#define COUNTER_TABLE(table)                                                                       \
	extern const struct counter_field table[];                                                 \
	extern const unsigned int table##_n

/* The word for the zero value of a row with or_default. */
#define FIELD_DEFAULT "default"

/* Room for any formatted value except a long text, and for any "expected" text. */
#define FIELD_TEXT_SIZE 512
/* Room for any formatted value: the longest of a file. */
#define FIELD_VALUE_SIZE 12288

/**
 * Parse text into the member of object that field describes.
 *
 * @param alias     The alias of field under which the value was given, or NULL.
 * @param expected  On failure, receives a description of the accepted values for the error line: at
 *                  most size bytes. May be NULL when size is 0.
 * @return          0, -EINVAL (malformed, or not a whole number of the unit), -ERANGE (outside
 *                  [min, max]) or -ENOMEM (FIELD_TEXT).
 */
int field_parse(const struct field *field, const struct field_alias *alias, const char *text,
		void *object, char *expected, size_t size);

/** An address as text, in `text`; "none" if it is not set. */
const char *field_ip_text(const struct field_ip *ip, char text[FIELD_IP_CHARS]);

/** A MAC address as text, in `text`. */
const char *field_mac_text(const uint8_t mac[6], char text[FIELD_MAC_CHARS]);

/** Is an address, or its absence, in the range of a FIELD_IP? */
bool field_takes_ip(const struct field *field, const struct field_ip *ip);

/**
 * Has the text, which field_parse() has accepted, a number without a unit that is probably a
 * mistake, such as 5 for 5KB?
 *
 * @param doubt  Receives what it means: "5 bytes, since no unit such as KB follows".
 */
bool field_lacks_unit(const struct field *field, const struct field_alias *alias, const char *text,
		      char *doubt, size_t size);

/**
 * As field_parse(), over a valid value: keys that a FIELD_MAP's text does not name stay. With
 * or_default, the caller has filled in those that "default" stands for.
 */
int field_parse_change(const struct field *field, const struct field_alias *alias, const char *text,
		       void *object, char *expected, size_t size);

/** With or_default: is the member's value the object's own? Otherwise true. */
bool field_is_own(const struct field *field, const void *object);

/** Write the member's value as it would stand in a file. @return as snprintf. */
int field_format(const struct field *field, const void *object, char *text, size_t size);

/** The value of a FIELD_STR or FIELD_TEXT. */
const char *field_text(const struct field *field, const void *object);

/** The value of an unsigned number member (FIELD_U8 to FIELD_U64), in its unit. */
uint64_t field_number(const struct field *field, const void *object);

/**
 * Write a number, FIELD_BOOL or FIELD_ENUM as it would stand in a file under an alias, without a
 * unit.
 * @return as snprintf.
 */
int field_format_alias(const struct field *field, const struct field_alias *alias,
		       const void *object, char *text, size_t size);

/**
 * Write a description of the accepted values: "a rate from 1M to 400G, such as 40M".
 * @return as snprintf.
 */
int field_expected(const struct field *field, const struct field_alias *alias, char *text,
		   size_t size);

/**
 * Set every member that has a default.
 * @return 0, or -EINVAL when a default does not parse (a programming error, which a test finds).
 */
int field_defaults(const struct field *fields, size_t n, void *object);

/** The row with this name or alias, or NULL. *alias is set to the alias used, or NULL. */
const struct field *field_find(const struct field *fields, size_t n, const char *name,
			       const struct field_alias **alias);

/** Name of the unit of a stored number, for the reference: "ns", "bit/s", "" for none. */
const char *field_unit_name(enum field_unit unit);

#endif
