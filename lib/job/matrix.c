/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/matrix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
	const char *at, *end;
	uint32_t line;
};

__attribute__((format(printf, 3, 4))) static int
refuse(struct job_fault *fault, uint32_t line, const char *format, ...)
{
	va_list args;

	fault->line = line;
	va_start(args, format);
	vsnprintf(fault->why, sizeof(fault->why), format, args);
	va_end(args);
	return -EINVAL;
}

/* Skip what separates numbers, and comments. @return false: the line has ended, which is read. */
static bool
to_number(struct text *t)
{
	while (t->at < t->end && *t->at != '\n') {
		if (*t->at == '#') {
			while (t->at < t->end && *t->at != '\n')
				t->at++;
			break;
		}
		if (*t->at != ' ' && *t->at != '\t' && *t->at != ',' && *t->at != '\r')
			return true;
		t->at++;
	}
	if (t->at < t->end)
		t->at++;
	return false;
}

static int
read_number(struct text *t, uint64_t *out, struct job_fault *fault)
{
	const char *from = t->at;
	int shown = 0;

	while (from + shown < t->end && shown < 12 && (unsigned char)from[shown] > ' ')
		shown++;
	*out = 0;
	while (t->at < t->end && *t->at >= '0' && *t->at <= '9' && *out <= JOB_MAX_BYTES)
		*out = 10 * *out + (uint64_t)(*t->at++ - '0');
	if (t->at == from || *out > JOB_MAX_BYTES ||
	    (t->at<t->end && * t->at> ' ' && *t->at != ',' && *t->at != '#'))
		return refuse(fault, t->line, "a number of bytes from 0 to %llu at \"%.*s\"",
			      (unsigned long long)JOB_MAX_BYTES, shown, from);
	return 0;
}

/* Numbers in the first line that has some. */
static uint32_t
count_first(struct text t)
{
	uint32_t n = 0;

	while (t.at < t.end && n == 0)
		while (to_number(&t)) {
			n++;
			while (t.at<t.end && * t.at> ' ' && *t.at != ',' && *t.at != '#')
				t.at++;
		}
	return n;
}

static int
read_rows(struct text *t, struct job_matrix *m, struct job_fault *fault)
{
	uint32_t rows = 0;

	for (; t->at < t->end; t->line++) {
		uint32_t n = 0;

		while (to_number(t)) {
			uint64_t bytes;

			if (read_number(t, &bytes, fault) < 0)
				return -EINVAL;
			if (rows < m->n && n < m->n)
				m->bytes[(size_t)rows * m->n + n] = n == rows ? 0 : bytes;
			n++;
		}
		rows += n > 0;
		if (n > 0 && (n != m->n || rows > m->n))
			return refuse(fault, t->line,
				      "%u lines of %u numbers, as many as in the first line", m->n,
				      m->n);
	}
	return rows == m->n ? 0
			    : refuse(fault, t->line, "%u lines, one for each column, not %u", m->n,
				     rows);
}

int
matrix_read(const char *text, size_t size, struct job_matrix *out, struct job_fault *fault)
{
	struct text t = {text, text + size, 1};
	int rc;

	*out = (struct job_matrix){.n = count_first(t)};
	if (out->n < 2 || out->n > MATRIX_MAX_RANKS)
		return refuse(fault, 1, "2 to %u numbers in a line, not %u", MATRIX_MAX_RANKS,
			      out->n);
	out->bytes = calloc((size_t)out->n * out->n, sizeof(*out->bytes));
	if (out->bytes == NULL)
		return -ENOMEM;
	rc = read_rows(&t, out, fault);
	if (rc == 0 && matrix_load(out) == 0)
		rc = refuse(fault, 1, "a number above 0 beside the diagonal");
	if (rc < 0)
		matrix_free(out);
	return rc;
}

void
matrix_free(struct job_matrix *m)
{
	free(m->bytes);
	*m = (struct job_matrix){0};
}

uint64_t
matrix_load_between(const struct job_matrix *m, uint32_t first, uint32_t end)
{
	uint64_t sent = 0, received = 0;

	for (uint32_t rank = first; rank < end; rank++)
		for (uint32_t i = 0; i < m->n; i++) {
			if (i >= first && i < end)
				continue;
			sent += m->bytes[(size_t)rank * m->n + i];
			received += m->bytes[(size_t)i * m->n + rank];
		}
	return sent > received ? sent : received;
}

uint64_t
matrix_load_of(const struct job_matrix *m, uint32_t rank)
{
	return matrix_load_between(m, rank, rank + 1);
}

uint64_t
matrix_load(const struct job_matrix *m)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t load = matrix_load_of(m, i);

		most = load > most ? load : most;
	}
	return most;
}
