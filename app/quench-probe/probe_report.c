/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-probe/probe_report.h"

#include <string.h>

#include "ctl/output/json.h"
#include "runtime/report/report.h"

static void
walk_line(struct walk *w, const struct findings_question *q, const struct finding *f)
{
	w->object = "line";
	walk_text(w, WALK_KEY, "id", "name of the line", q->id);
	walk_text(w, WALK_KEY, "group", "part of the report that has the line", q->group);
	walk_text(w, WALK_KEY, "what", "what the line is about", q->what);
	walk_text(w, WALK_KEY, "verdict", "a verdict, as doc/probe.md lists them",
		  findings_verdict_word(f->verdict));
	walk_text(w, WALK_KEY, "measured", "what was measured, in words", f->text);
	walk_maybe_real(w, WALK_GAUGE, "value", "the value, in its unit; null: none", f->value,
			!f->has_value);
	walk_text(w, WALK_KEY, "unit", "unit of the value; empty: none", q->unit);
	walk_text(w, WALK_KEY, "expected", "what the source says", q->expected);
	walk_text(w, WALK_KEY, "source", "the standard, the paper or the adapter", q->source);
	walk_maybe_text(w, WALK_KEY, "knob", "the adapter's name of the parameter; null: none",
			q->knob);
	walk_maybe_real(w, WALK_GAUGE, "knob_value", "the value in the unit of the knob",
			f->value * q->knob_scale, q->knob == NULL || !f->has_value);
}

/* All is NULL with names_only. */
static void
walk_report(struct walk *w, const struct node *prober, const struct prober_params *params,
	    uint64_t elapsed_ns)
{
	static const struct finding none;

	report_walk_program(w, "quench-probe", elapsed_ns);
	WALK(flag, w, KEY, "complete", "false: the run was stopped, or found no NIC",
	     prober_done(prober) && prober_trouble(prober) == NULL);
	walk_enter(w, "config", "");
	walk_fields(w, WALK_PARAM, prober_fields, prober_fields_n, params);
	walk_leave(w);
	walk_enter(w, "counters", "");
	w->object = "prober";
	walk_counters(w, WALK_COUNTER, prober_counters, prober_counters_n,
		      w->names_only ? NULL : prober_stats(prober));
	walk_leave(w);
	walk_list(w, "lines");
	for (unsigned int l = 0; l < (w->names_only ? 1 : FINDINGS_LINES); l++) {
		walk_item(w, "lines");
		walk_line(w, &findings_questions[l],
			  w->names_only ? &none : &prober_findings(prober)->of[l]);
		walk_leave(w);
	}
}

json_t *
probe_report(const struct node *prober, const struct prober_params *params, uint64_t elapsed_ns)
{
	struct json_walk j = json_walk(json_object());

	walk_report(&j.walk, prober, params, elapsed_ns);
	return j.at;
}

void
probe_report_names(struct walk *w)
{
	walk_report(w, NULL, NULL, 0);
}

void
probe_print(FILE *out, const struct node *prober)
{
	const char *group = "";

	for (unsigned int l = 0; l < FINDINGS_LINES; l++) {
		const struct findings_question *q = &findings_questions[l];
		const struct finding *f = &prober_findings(prober)->of[l];

		if (f->verdict == VERDICT_NOT_RUN && f->text[0] == '\0')
			continue;
		if (strcmp(group, q->group) != 0)
			fprintf(out, "%s\n", q->group);
		group = q->group;
		fprintf(out, "  %-9s  %s: %s", findings_verdict_word(f->verdict), q->what, f->text);
		if (q->knob != NULL && f->has_value)
			fprintf(out, " (%s = %.0f)", q->knob, f->value * q->knob_scale);
		fputc('\n', out);
	}
}
