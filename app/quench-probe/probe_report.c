/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-probe/probe_report.h"

#include <string.h>

#include "ctl/output/json.h"
#include "runtime/report/report.h"

static json_t *
line_json(const struct findings_question *q, const struct finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_string(q->id));
	json_object_set_new(o, "group", json_string(q->group));
	json_object_set_new(o, "what", json_string(q->what));
	json_object_set_new(o, "verdict", json_string(findings_verdict_word(f->verdict)));
	json_object_set_new(o, "measured", json_string(f->text));
	json_object_set_new(o, "value", f->has_value ? json_real(f->value) : json_null());
	json_object_set_new(o, "unit", json_string(q->unit));
	json_object_set_new(o, "expected", json_string(q->expected));
	json_object_set_new(o, "source", json_string(q->source));
	json_object_set_new(o, "knob", q->knob == NULL ? json_null() : json_string(q->knob));
	json_object_set_new(o, "knob_value",
			    q->knob == NULL || !f->has_value ? json_null()
							     : json_real(f->value * q->knob_scale));
	return o;
}

json_t *
probe_report(const struct node *prober, const struct prober_params *params, uint64_t elapsed_ns)
{
	json_t *o = report_program("quench-probe", elapsed_ns), *lines = json_array();
	json_t *config = json_object(), *counters = json_object();

	json_object_set_new(o, "complete",
			    json_boolean(prober_done(prober) && prober_trouble(prober) == NULL));
	json_set_fields(config, prober_fields, prober_fields_n, params);
	json_object_set_new(o, "config", config);
	json_set_counters(counters, prober_counters, prober_counters_n, prober_stats(prober));
	json_object_set_new(o, "counters", counters);
	for (unsigned int l = 0; l < FINDINGS_LINES; l++)
		json_array_append_new(
			lines, line_json(&findings_questions[l], &prober_findings(prober)->of[l]));
	json_object_set_new(o, "lines", lines);
	return o;
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
