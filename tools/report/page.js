/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's charts (uPlot) and its table of counters, made of the JSON in #data. Nothing is fetched. */
"use strict";
(() => {
	const doc = JSON.parse(document.getElementById("data").textContent);
	// Okabe and Ito's colours; more series than these repeat them with dashes.
	const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B5B95", "#8A6D1D"];
	const DARK = ["#4AA3E8", "#F0803C", "#2FC69A", "#E59CC4", "#F0B93A", "#9BD5F7", "#A99CD8", "#A57E32"];
	// Of words in these colours: on white, a light colour is a line, but no text.
	const WORDS = ["#0072B2", "#B85000", "#007A59", "#A8487E", "#8F6300", "#20709F", "#6B5B95", "#806519"];
	const scheme = matchMedia("(prefers-color-scheme: dark)");
	const hue = i => (scheme.matches ? DARK : LIGHT)[i % LIGHT.length];
	const wordHue = i => (scheme.matches ? DARK : WORDS)[i % WORDS.length];
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const DASHES = [[], [6, 4], [2, 3], [9, 3, 2, 3]];
	const ROOM = 0.02;  // beyond the greatest value of an axis of values
	const MOST_ROWS = 400;
	const MOST_PIECES = 200, LEAST_PIECES = 25;  // of what is seen of counts and rates
	const PIECE_PX = 3;  // a narrower piece is not seen
	const PIECE_COUNT = 4;  // of things in a piece, on average: fewer would be steps between none and one
	const MOST_START_MS = 5;
	const START_HIGHER = 1.5;  // than the measured window, for a chart of its own
	const LEAST_SENDING = 0.7;  // as in plots.py
	const START_SHARE = 0.26;  // of the width of a chart
	const START_FROM_PX = 460;  // a narrower chart has no room for two
	const MOST_LABELS = 10;
	const LABEL_SHARE = 0.35;  // of the width of a chart; longer names are in a legend, where they are not cut
	const FONT_PX = 11;
	const LEAST_WORDS_PX = 60;  // of the words of an event
	const KEY_PX = 21;  // before a label: a piece of its line, or its mark
	const MARK_PX = 7;
	const charts = [];
	let range = [0, doc.end_ms];

	// A model, and what stands for all series, have the colour of the text, so that a flow has its colour in each chart.
	const inInk = s => s.model || s.total && s.run === undefined;

	// Which values of a logarithmic axis have a label.
	function decades(u, splits) {
		const room = u.bbox.width / devicePixelRatio / Math.log10(u.scales.x.max / u.scales.x.min);  // of a decade
		const first = room < 140 ? /^1/ : /^[125]/;
		return splits.map(v => v != null && first.test(v.toExponential()) ? v : null);
	}

	/* A short line with dashes, as CSS's background: a border has no dash-dots, and dots look like dashes. */
	function shortLine(colour, dash) {
		let at = 0;
		const stops = dash.length ? dash.map((px, i) => `${i % 2 ? "transparent" : colour} ${at}px ${at += px}px`) : [`${colour} 0 100%`];
		return `repeating-linear-gradient(to right, ${stops.join(", ")}) center / 100% 2px no-repeat`;
	}

	function make(tag, attributes, ...children) {
		const element = document.createElement(tag);
		Object.entries(attributes || {}).forEach(([key, value]) => key in element ? element[key] = value : element.setAttribute(key, value));
		element.append(...children);
		return element;
	}

	const lineText = line => `${line.label} ${short(line.at)}`;
	// As fixed() of html.py.
	const grouped = value => value.toLocaleString("en", { maximumFractionDigits: 9 }).replaceAll(",", "\u202f");
	const short = value => value == null ? "–" : grouped(+value.toPrecision(4));

	/* A counter's name, which a narrow page breaks after its words alone, as breakable() of html.py. */
	function breakable(name) {
		return make("code", {}, ...name.split(/(?<=[_/])/).flatMap((word, i) => i ? [make("wbr"), word] : [word]));
	}

	function zoomTo(from, to) {
		range = [from, to];
		charts.filter(chart => chart.overTime).forEach(chart => chart.show());
		document.getElementById("zoom-range").textContent = `${short(from)} to ${short(to)} ms`;
	}

	function zoomBy(factor) {
		const middle = (range[0] + range[1]) / 2, half = (range[1] - range[0]) / 2 * factor;
		const from = Math.max(0, middle - half), to = Math.min(doc.end_ms, middle + half);
		zoomTo(from, to);
	}

	class Chart {
		constructor(place, spec, overTime) {
			this.spec = spec;
			this.overTime = overTime;
			this.smoothLast();
			this.all = spec.parts.flatMap((part, p) => part.series.map(series => ({ part: p, ...series })));
			this.recolour();
			this.startPlace = make("div");
			this.place = make("div");
			this.canvas = make("div", { className: this.marksAlone() ? "chart marks" : "chart" }, this.startPlace, this.place);
			this.figure = make("figure", { id: spec.id },
				make("h3", {}, spec.title), this.canvas, this.picker(), this.caption = make("figcaption"));
			place.append(this.figure);
			this.build();
			new ResizeObserver(() => this.fit()).observe(this.canvas);
		}

		/* Of several runs, one whose lines go up and down widely is drawn first: it would cover the others. */
		smoothLast() {
			const { parts } = this.spec;
			if (!this.overTime || parts.some(part => part.series.some(s => s.run === undefined)))
				return;
			const mean = values => values.reduce((sum, v) => sum + v, 0) / (values.length || 1);
			const rough = part => Math.max(0, ...part.series.filter(s => s.shown).map(s => mean(s.values.map((v, i) => Math.abs(v - (s.values[i - 1] ?? v))))));
			const of = new Map(parts.map(part => [part, rough(part)]));
			parts.sort((a, b) => of.get(b) - of.get(a));
		}

		/* The lowest colours that are free, so that those that are seen together differ; a series keeps its own while it is shown. */
		recolour() {
			this.all.filter(s => !s.shown).forEach(s => { s.colour = undefined; });
			// Of several runs, a colour is a run; dashes tell its series apart.
			const pairs = [...new Set(this.all.filter(s => s.shown && s.run !== undefined).map(s => s.pair))];
			this.all.filter(s => s.shown && s.run !== undefined).forEach(s => [s.colour, s.dash] = [s.run, DASHES[pairs.indexOf(s.pair) % DASHES.length]]);
			const taken = new Set(this.all.map(s => s.colour));
			let next = 0;
			this.all.filter(s => s.shown && !inInk(s) && s.colour === undefined).forEach(s => {
				// A limit has the colour of the series that it limits.
				s.colour = s.pair && this.all.find(other => other.pair === s.pair && other.colour !== undefined)?.colour;
				if (s.colour !== undefined)
					return;
				while (taken.has(next))
					next++;
				s.colour = next;
				taken.add(next);
			});
		}

		width() {
			return Math.max(280, this.canvas.clientWidth);
		}

		/* Widths of the start's chart, 0 if there is none, and of the other. */
		widths() {
			const start = this.startSeen() ? Math.round(this.width() * START_SHARE) : 0;
			return [start, this.width() - start];
		}

		fit() {
			if (this.labelled(this.series) !== this.canvas.classList.contains("labelled"))
				this.build();
			const [start, main] = this.widths();
			if (this.startPlot && this.startPlot.width !== start)
				this.startPlot.setSize({ width: start, height: this.startPlot.height });
			if (this.plot.width !== main) {
				if (this.spec.counts)
					this.plot.setData(this.data(), false);
				this.plot.setSize({ width: main, height: this.plot.height });
			}
		}

		/* The start has a chart of its own beside the measured window, where it is higher. */
		startSeen() {
			return this.startEnd > 0 && !this.silent && range[0] >= this.startEnd && this.width() >= START_FROM_PX;
		}

		/* What a chart over time shows: mostly what all show; of a chart that is 0 in the whole measured window, the time before. */
		seen() {
			return this.silent && range[0] === doc.measure_from_ms && range[1] === doc.end_ms ? [0, this.silent] : range;
		}

		/* Until when there is something to see, if that is before the measured window; 0: it is not. */
		findSilence(series) {
			const since = doc.measure_from_ms;
			if (!this.overTime || !(since > 0 && since < doc.end_ms) || series.some(s => this.highest(s, since, doc.end_ms) > 0))
				return 0;
			const last = Math.max(0, ...series.map(s => { const { ms } = this.spec.parts[s.part]; return ms[ms.findLastIndex((t, i) => s.values[i] > 0)] || 0; }));
			return Math.min(1.5 * last, since);
		}

		/* End of that start in ms; 0: it is no higher. As start_until() of plots.py. */
		findStart(series) {
			const since = doc.measure_from_ms;
			if (!this.overTime || !(since > 0 && since < doc.end_ms))
				return 0;
			const usual = Math.max(0, ...series.map(s => this.highest(s, since, doc.end_ms)));
			let end = 0;
			series.forEach(s => {
				const { ms } = this.spec.parts[s.part];
				const last = ms.findLastIndex((t, i) => t <= Math.min(since, MOST_START_MS) && s.values[i] > START_HIGHER * usual);
				if (last >= 0)
					end = Math.max(end, last >= 4 ? 2 * ms[last] : ms[Math.min(9, ms.length - 1)]);
			});
			return end <= since ? end : 0;
		}

		/* Which of many series are drawn. */
		picker() {
			const summary = make("summary"), list = make("div", { className: "series" });
			const filter = make("input", { type: "search", placeholder: "find a series", ariaLabel: `find a series of ${this.spec.title}` });
			const boxes = [...this.all].sort((a, b) => (a.run ?? 0) - (b.run ?? 0)).map(s => {
				const box = make("input", { type: "checkbox", checked: s.shown });
				box.onchange = () => { s.shown = box.checked; this.build(); count(); };
				const label = make("label", {}, box, s.label);
				list.append(label);
				return { s, box, label };
			});
			const count = () => { summary.textContent = `${this.all.filter(s => s.shown).length} of ${this.all.length} series`; };
			const set = on => {
				boxes.filter(b => !b.label.hidden).forEach(b => { b.s.shown = b.box.checked = on; });
				this.build();
				count();
			};
			filter.oninput = () => boxes.forEach(b => { b.label.hidden = !b.s.label.includes(filter.value); });
			count();
			return make("details", { className: "picker" }, summary, filter,
				make("button", { type: "button", onclick: () => set(true) }, "all of these"),
				make("button", { type: "button", onclick: () => set(false) }, "none of these"), list);
		}

		/* What stands for all is under the others, and seen at their sides where they are equal. */
		isTotal(s) {
			return s.total && s.run === undefined;
		}

		/* Marks over words, which no line joins. */
		marksAlone() {
			return Boolean(this.spec.ticks) && !this.spec.joined;
		}

		/* Where several series have one colour, their labels have keys. */
		keyRoom(series) {
			return series.some(s => s.dash?.length) ? KEY_PX : 0;
		}

		/* Each line over time, or over values side by side, has its label at its right end, where there are few and their names are short. */
		labelled(series) {
			return (this.overTime || Boolean(this.spec.ticks) && this.width() >= START_FROM_PX) && series.length + this.lines.length <= MOST_LABELS &&
				this.labelRoom(series) <= LABEL_SHARE * this.width();
		}

		labelRoom(series) {
			const ctx = make("canvas").getContext("2d");
			ctx.font = `${FONT_PX}px system-ui, sans-serif`;
			const words = [...series.map(s => s.label), ...this.lines.map(lineText)];
			return 14 + this.keyRoom(series) + Math.max(0, ...words.map(word => ctx.measureText(word).width));
		}

		/* Of the axis, for its longest number, beside which its label is. */
		yRoom(u, values) {
			return Math.max(56, 22 + 7.5 * Math.max(0, ...(values ?? []).map(v => v.length)));
		}

		options(series) {
			const steps = this.spec.steps ? uPlot.paths.stepped({ align: this.overTime ? -1 : 1 }) : undefined;
			const line = { stroke: css("--faint"), width: 1 };
			const axis = { labelSize: 20, stroke: css("--ink"), grid: line, ticks: line, values: (u, splits) => splits.map(v => v == null ? "" : grouped(v)) };
			const most = this.spec.unit.startsWith("%") ? 100 : Infinity;  // above it is room for words alone
			const unit = this.spec.x || "ms", ticks = this.spec.ticks, log = this.spec.x && !ticks && this.logarithmic();
			// From a round value on: uPlot counts a logarithmic axis' ticks from where it begins.
			const from = low => log && low > 0 ? Number(`${low.toExponential(15)[0]}e${Math.floor(Math.log10(low))}`) : low;
			const least = Math.min(...this.spec.parts.map(part => part.ms[0])), most_x = Math.max(...this.spec.parts.map(part => part.ms.at(-1)));
			const begin = low => log ? from(low) : !this.overTime && low <= least ? Math.min(low, this.spec.from) : low;
			// A curve that ends at the border would be half cut.
			const end = high => this.overTime || high < most_x ? high : log ? high * (high / least) ** ROOM : high * (1 + ROOM);
			const colourOf = s => inInk(s) ? css("--ink") : hue(s.colour);
			const dashOf = s => s.model ? [4, 2] : inInk(s) ? [] : s.dash ? s.dash : s.dashed ? [7, 4] : s.pair ? [] : DASHES[Math.floor(s.colour / LIGHT.length) % DASHES.length];
			return {
				width: this.widths()[1], height: 250, padding: [null, this.labelled(series) ? this.labelRoom(series) : null, null, null],
				scales: {
					x: { time: false, distr: log ? 3 : 1, range: (u, low, high) => ticks ? [-0.4, ticks.length - 0.6] : [begin(low), end(high)] },
					y: { range: (u, low, high) => this.heights(u, high) },
				},
				axes: [{ label: this.overTime ? "time (ms)" : unit, size: 36, ...axis, ...this.tickOptions(), ...log ? { filter: decades } : {} }, { label: this.spec.unit, size: this.yRoom, ...axis, filter: (u, splits) => splits.map(v => v <= most ? v : null) }],
				series: [{ label: unit, value: (u, v) => ticks ? ticks[Math.round(v)] ?? "–" : short(v) }, ...series.map(s => ({
					label: s.label, value: (u, v) => short(v), width: this.isTotal(s) ? 2.75 : s.model ? 1.5 : 1.25, points: this.points(s), spanGaps: true,
					stroke: colourOf(s), alpha: s.run !== undefined && series.length > 4 ? 0.7 : 1,  // lines below others stay visible
					dash: dashOf(s),
					auto: !s.dashed,  // heights() decides
					paths: this.marksAlone() ? () => null : steps,
				}))],
				// A mark of the legend is a line with the dashes of its own; of points without lines, it is full or hollow as they are.
				legend: { markers: this.marksAlone() ? {
					fill: (u, i) => series[i - 1] && !series[i - 1].dash?.length ? hue(series[i - 1].colour) : "transparent",
				} : { width: 0, fill: (u, i) => series[i - 1] ? shortLine(colourOf(series[i - 1]), dashOf(series[i - 1])) : "transparent" } },
				cursor: this.overTime ? {
					drag: { x: true, y: false, setScale: false },
					bind: { dblclick: () => () => zoomTo(0, doc.end_ms) },
					sync: { key: "time", filters: { pub: type => type === "mousemove" || type === "mouseleave" } },
				} : { drag: { x: true, y: false } },
				hooks: { setScale: [(u, key) => this.moved(u, key)], setSelect: [u => this.selected(u)], draw: [u => this.marks(u)] },
			};
		}

		/* Of a chart over words or values that are side by side. */
		tickOptions() {
			const { ticks } = this.spec;
			if (!ticks)
				return {};
			// Words that are too long for their place stand on edge.
			const long = Math.max(...ticks.map(tick => tick.length)) * 7 * ticks.length > this.widths()[1] - 70;
			return {
				splits: () => ticks.map((_, i) => i), values: (u, splits) => splits.map(i => ticks[i] ?? ""), space: 1,
				...long ? { rotate: -60, size: 36 + 6 * Math.max(...ticks.map(tick => tick.length)) } : {},
			};
		}

		/* Hollow, where a line would be dashed. */
		points(s) {
			return this.spec.ticks ? { show: true, size: MARK_PX, fill: s.dash?.length ? css("--ground") : hue(s.colour) } : { show: false };
		}

		/* From the least to the greatest of several values. */
		bars(u) {
			const ratio = devicePixelRatio;
			this.inside(u, () => this.series.filter(s => s.low).forEach(s => s.low.forEach((low, i) => {
				if (low === null || low === s.high[i])
					return;
				const x = u.valToPos(this.spec.parts[s.part].ms[i], "x", true);
				this.stroke(u.ctx, [x, u.valToPos(low, "y", true), x, u.valToPos(s.high[i], "y", true)], hue(s.colour), []);
				[low, s.high[i]].forEach(v => this.stroke(u.ctx, [x - 3 * ratio, u.valToPos(v, "y", true), x + 3 * ratio, u.valToPos(v, "y", true)], hue(s.colour), []));
			})));
		}

		/* The same chart, narrow, of the start alone. */
		startOptions(series) {
			const options = this.options(series);
			return {
				...options, width: this.widths()[0], padding: [null, 8, null, null], legend: { show: false }, cursor: { show: false },
				scales: { ...options.scales, x: { time: false, range: () => [0, this.startEnd] } },
				axes: [{ ...options.axes[0], label: "start (ms)", space: 30 }, options.axes[1]],
				hooks: { draw: [u => this.thresholds(u)] },
			};
		}

		logarithmic() {
			const values = this.spec.parts.flatMap(part => part.ms).filter(v => v > 0);
			const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), 0);
			return high > 10 * low;
		}

		/* Into how many pieces what is seen is divided. */
		pieces() {
			const wide = this.widths()[1] - this.yRoom() - (this.labelled(this.series) ? this.labelRoom(this.series) : 0);
			const most = Math.min(MOST_PIECES, Math.floor(wide / PIECE_PX));
			if (this.spec.unit !== "per ms")
				return most;
			const [begin, end] = this.seen();
			const count = s => {
				const { ms } = this.spec.parts[s.part];
				return ms.reduce((sum, t, i) => i > 0 && t > begin && t <= end ? sum + s.values[i] * (t - ms[i - 1]) : sum, 0);
			};
			return Math.min(most, Math.max(LEAST_PIECES, Math.floor(Math.max(0, ...this.series.map(count)) / PIECE_COUNT)));
		}

		/* Of series that count things, and of rates, the means over pieces of what is seen: single samples hold none, one or two, or cover each other.
		   The first time is where the first interval begins. */
		means(ms, values, most) {
			const [begin, end] = this.seen();
			const first = ms.findIndex(t => t > begin), behind = ms.findLastIndex(t => t < end) + 2;
			const from = Math.max(first, 1), n = Math.max(Math.min(behind, ms.length) - from, 0), size = Math.ceil(n / most);
			const pieces = Array.from({ length: Math.ceil(n / (size || 1)) }, (_, i) => [from + i * size, Math.min(from + (i + 1) * size, from + n)]);
			// The time at which a row's interval began is that of the row before.
			const before = at => ms[at - 1];
			const mean = (column, [a, b]) => {
				let sum = 0, known = 0;  // ms
				for (let i = a; i < b; i++) {
					if (column[i] === null)
						continue;
					sum += column[i] * (ms[i] - before(i));
					known += ms[i] - before(i);
				}
				return known > 0 ? sum / known : null;
			};
			return [[before(from), ...pieces.map(([, b]) => ms[b - 1])], ...values.map(column => pieces.map(piece => mean(column, piece)))
				.map(column => [column[0], ...column])];
		}

		samples(transform = (ms, values) => [ms, ...values]) {
			const tables = this.spec.parts.map((part, p) => transform(part.ms, this.series.filter(s => s.part === p).map(s => s.values), part))
				.filter(table => table.length > 1);
			return tables.length ? uPlot.join(tables) : [[0, doc.end_ms]];
		}

		data() {
			const most = this.spec.counts ? this.pieces() : 0;
			return this.samples(most ? (ms, values, part) => values.length && !part.series[0].model ? this.means(ms, values, most) : [ms, ...values] : undefined);
		}

		build() {
			this.recolour();
			// In the order of the parts, as uPlot.join() has them
			const series = this.series = this.all.filter(s => s.shown);
			this.lines = this.spec.lines.filter(line => line.of === null || series.some(s => s.label === line.of))
				.filter((line, i, all) => all.findIndex(other => other.at === line.at && other.label === line.label) === i);
			this.startEnd = this.findStart(series);
			this.silent = this.findSilence(series);
			const data = this.data();
			this.caption.textContent = this.spec.note + (this.silent ? " All is 0 in the measured window, so the time before it is drawn." : "");
			this.canvas.classList.toggle("labelled", this.labelled(series));
			this.plot?.destroy();
			this.plot = new uPlot(this.options(series), data, this.place);
			this.show();
		}

		/* Thresholds and limits are seen unless they would flatten what is measured; marks at 0 are whole. */
		heights(u, high) {
			const limits = this.series.filter(s => s.dashed).map(s => this.highest(s, u.scales.x.min, u.scales.x.max));
			const lines = [...this.lines.map(line => line.at), ...limits].filter(at => at <= 2.5 * (high || 0));
			const bars = this.series.flatMap(s => s.high || []);
			const above = 0.08 + 0.07 * (this.overTime ? Math.min(doc.events.length, 3) : 0);  // room for words of events
			const low = this.spec.low || 0, rise = (Math.max(high || 0, ...lines, ...bars) - low) / (1 - above) || 1;
			return [low - (this.spec.ticks ? 0.04 * rise : 0), low + rise];
		}

		/* After a time, up to another. */
		highest(s, from, to) {
			return this.spec.parts[s.part].ms.reduce((most, t, i) => t > from && t <= to ? Math.max(most, s.values[i] || 0) : most, 0);
		}

		show() {
			if (!this.overTime)
				return;
			this.startPlot?.destroy();
			this.startPlot = this.startSeen() ? new uPlot(this.startOptions(this.series), this.samples(), this.startPlace) : undefined;
			this.fit();
			this.plot.batch(() => {
				if (this.spec.counts)
					this.plot.setData(this.data(), false);
				const [min, max] = this.seen();
				this.plot.setScale("x", { min, max });
			});
		}

		moved(u, key) {
			if (key === "x")
				[this.figure.dataset.from, this.figure.dataset.to] = [u.scales.x.min, u.scales.x.max];
		}

		selected(u) {
			if (!this.overTime || u.select.width < 2)
				return;
			const [from, to] = [u.select.left, u.select.left + u.select.width].map(at => u.posToVal(at, "x"));
			u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
			zoomTo(Math.max(0, from), Math.min(doc.end_ms, to));
		}

		/* Thresholds, events, where the measured window begins, and labels of lines. */
		marks(u) {
			const { ctx, bbox } = u, ratio = devicePixelRatio, moments = this.moments(u);
			this.inside(u, () => moments.forEach(({ x }) => this.stroke(ctx, [x, bbox.top, x, bbox.top + bbox.height], css("--soft"), [2 * ratio, 3 * ratio])));
			this.thresholds(u);
			this.bars(u);
			this.inside(u, () => this.words(ctx, bbox, ratio, moments));
			ctx.save();
			ctx.font = `${FONT_PX * ratio}px system-ui, sans-serif`;
			if (this.labelled(this.series))
				this.labels(u, ctx, bbox, ratio);
			ctx.restore();
		}

		inside(u, draw) {
			const { ctx, bbox } = u;
			ctx.save();
			ctx.beginPath();
			ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
			ctx.clip();
			ctx.font = `${FONT_PX * devicePixelRatio}px system-ui, sans-serif`;
			ctx.lineWidth = devicePixelRatio;
			ctx.textBaseline = "alphabetic";
			draw();
			ctx.restore();
		}

		seenLines(u) {
			return this.lines.filter(line => line.at <= u.scales.y.max);
		}

		thresholds(u) {
			const { ctx, bbox } = u, ratio = devicePixelRatio;
			this.inside(u, () => this.seenLines(u).forEach(line => {
				const y = u.valToPos(line.at, "y", true);
				this.stroke(ctx, [bbox.left, y, bbox.left + bbox.width, y], css("--limit"), [6 * ratio, 3 * ratio]);
				if (u !== this.plot || this.labelled(this.series))
					return;
				ctx.textAlign = "right";
				ctx.fillStyle = css("--limit");
				// Under the line, where words of events would be above it.
				const taken = this.overTime ? bbox.top + (14 + 13 * Math.min(doc.events.length, 6)) * ratio : bbox.top;
				this.write(ctx, lineText(line), bbox.left + bbox.width - 4 * ratio, y + (y - 14 * ratio < taken ? 12 : -3) * ratio);
			}));
		}

		/* Where a line meets the right border: its last value, or what it has between two samples. */
		ending(u, s, values) {
			const [times] = u.data, { max } = u.scales.x, has = (t, i) => values[i] != null;
			const before = times.findLastIndex((t, i) => t <= max && has(t, i)), after = times.findIndex((t, i) => t >= max && has(t, i));
			if (before < 0 || after < 0 || before === after)
				return values[before];
			if (this.spec.steps) // a value covers the time before it
				return values[after];
			return values[before] + (values[after] - values[before]) * (max - times[before]) / (times[after] - times[before]);
		}

		/* To the right of the lines' ends, without overlap. */
		labels(u, ctx, bbox, ratio) {
			const found = this.series.map((s, i) => {
				const value = this.ending(u, s, u.data[i + 1]);
				if (value == null)
					return null;
				return value > u.scales.y.max ? null : { text: s.label, s, line: inInk(s) ? css("--ink") : hue(s.colour), colour: inInk(s) ? css("--ink") : wordHue(s.colour), y: u.valToPos(value, "y", true) };
			}).filter(label => label).concat(this.seenLines(u).map(line => ({ text: lineText(line), line: css("--limit"), colour: css("--limit"), y: u.valToPos(line.at, "y", true) })));
			const gap = 13 * ratio, low = bbox.top + 4 * ratio, high = bbox.top + bbox.height;
			found.sort((a, b) => Math.round(a.y / (2 * ratio)) - Math.round(b.y / (2 * ratio)));  // lines that cover each other keep the order of the series
			found.forEach((label, i) => { label.at = Math.max(label.y, i ? found[i - 1].at + gap : low); });
			for (let i = found.length - 1; i >= 0; i--)
				found[i].at = Math.min(found[i].at, i + 1 < found.length ? found[i + 1].at - gap : high);
			ctx.textBaseline = "middle";
			ctx.textAlign = "left";
			ctx.lineWidth = ratio;
			const x = bbox.left + bbox.width, key = this.keyRoom(this.series) * ratio;
			found.forEach(label => {
				this.stroke(ctx, [x + ratio, label.y, x + 8 * ratio, label.at], label.line, []);
				if (key && label.s)
					this.key(ctx, label, x + 12 * ratio, ratio);
				ctx.fillStyle = label.colour;
				ctx.fillText(label.text, x + 10 * ratio + key, label.at);
			});
		}

		/* A mark that is full or hollow, or a line with its dashes: what the colour does not tell. */
		key(ctx, label, x, ratio) {
			if (!this.marksAlone()) {
				this.stroke(ctx, [x, label.at, x + (KEY_PX - 5) * ratio, label.at], label.line, (label.s.dash ?? []).map(px => px * ratio));
				return;
			}
			ctx.save();
			ctx.setLineDash([]);
			ctx.strokeStyle = ctx.fillStyle = label.line;
			ctx.beginPath();
			ctx.arc(x + (KEY_PX / 2 - 2) * ratio, label.at, (MARK_PX - 1) / 2 * ratio, 0, 2 * Math.PI);
			if (!label.s.dash?.length)
				ctx.fill();
			ctx.stroke();
			ctx.restore();
		}

		/* The events that are seen, and where the measured window begins. */
		moments(u) {
			const { min, max } = u.scales.x;
			return !this.overTime ? [] : [{ at: doc.measure_from_ms, label: "measured from here" }, ...doc.events].filter(e => e.at > min && e.at < max)
				.map(e => ({ x: u.valToPos(e.at, "x", true), label: e.label }));
		}

		/* Beside the line of each moment: on a side where they end before the next line that is not near, else over that line. */
		words(ctx, bbox, ratio, moments) {
			ctx.fillStyle = css("--soft");
			moments.forEach(({ x, label }, i) => {
				const border = way => (way > 0 ? bbox.left + bbox.width - x : x - bbox.left) - 6 * ratio;
				const next = way => Math.min(border(way), ...moments.map(other => way * (other.x - x)).filter(px => px > LEAST_WORDS_PX * ratio).map(px => px - 6 * ratio));
				const wide = ctx.measureText(label).width;
				const fits = [next, border].flatMap(room => [1, -1].filter(way => wide <= room(way)));
				const way = fits[0] ?? (border(-1) > border(1) ? -1 : 1), leftwards = way < 0;
				ctx.textAlign = leftwards ? "right" : "left";
				this.write(ctx, this.fitted(ctx, label, border(way)), x + (leftwards ? -3 : 3) * ratio, bbox.top + (11 + 13 * (i % 6)) * ratio);
			});
		}

		/* As much of a text as fits, with an ellipsis if that is not all. */
		fitted(ctx, text, room) {
			if (ctx.measureText(text).width <= room)
				return text;
			let n = text.length;
			while (n > 0 && ctx.measureText(`${text.slice(0, n)}…`).width > room)
				n--;
			return n > 2 ? `${text.slice(0, n)}…` : "";
		}

		/* On a ground of its own, so that no line strikes it through. */
		write(ctx, text, x, y) {
			const colour = ctx.fillStyle, wide = ctx.measureText(text).width, high = FONT_PX * devicePixelRatio;
			ctx.fillStyle = css("--ground");
			ctx.fillRect(ctx.textAlign === "right" ? x - wide : x, y - high, wide, high * 1.25);
			ctx.fillStyle = colour;
			ctx.fillText(text, x, y);
		}

		stroke(ctx, [x1, y1, x2, y2], colour, dash) {
			ctx.strokeStyle = colour;
			ctx.setLineDash(dash);
			ctx.beginPath();
			ctx.moveTo(x1, y1);
			ctx.lineTo(x2, y2);
			ctx.stroke();
		}
	}

	/* Every counter: rows whose text has all the words. */
	function counters(place) {
		const { nodes, names, help, rows, left_out: leftOut } = doc.counters;
		const search = make("input", { type: "search", id: "find-counter", placeholder: "words, such as: s1 queue3", ariaLabel: "find counters" });
		const zeros = make("input", { type: "checkbox", id: "zero-counters" });
		const body = make("tbody"), count = make("p", { id: "counters-found" });
		const of = row => `${nodes[row[0]]}${row[1] === "" ? "" : row[1] === "all" ? ", all ports" : ` port ${row[1]}`}`;
		const show = () => {
			const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
			const total = row => nodes[row[0]].startsWith("all ");
			const found = rows.filter(row => {
				if (row[3] === 0 && !zeros.checked)
					return false;
				if (!words.length)
					return total(row);
				const text = `${of(row)} ${names[row[2]]} ${help[row[2]]}`.toLowerCase();
				return words.every(word => text.includes(word));
			});
			body.replaceChildren(...found.slice(0, MOST_ROWS).map(row => make("tr", {}, make("td", {}, of(row)), make("td", { className: "word name" }, breakable(names[row[2]])),
				make("td", {}, grouped(row[3])), make("td", { className: "word meaning" }, help[row[2]]))));
			count.textContent = `${found.length} rows${found.length > MOST_ROWS ? `, of which the first ${MOST_ROWS} are shown` : ""}` +
				`${words.length ? "" : ": sums over all nodes, and the largest of watermarks; search for a node or a counter to see each"}.` +
				`${leftOut ? ` ${leftOut} more are in counters.csv.` : ""}`;
		};
		search.oninput = zeros.onchange = show;
		place.append(make("p", {}, search, make("label", {}, zeros, "include zero counters")), count,
			make("div", { className: "wide tall" }, make("table", { id: "counters", className: "named", style: "--columns: 2" },
				make("thead", {}, make("tr", {}, ...["where", "counter", "value", "meaning"].map((head, i) => make("th", { className: i % 2 ? "word" : "" }, head)))), body)));
		show();
	}

	/* All words of the events, which a narrow chart cuts. */
	function listEvents() {
		if (!doc.events.length)
			return;
		const rows = doc.events.map(e => make("tr", {}, make("td", {}, grouped(+e.at.toPrecision(6))), make("td", {}, e.label)));
		const table = make("table", { className: "words" }, make("thead", {}, make("tr", {}, make("th", {}, "ms"), make("th", {}, "event"))), make("tbody", {}, ...rows));
		place("charts").after(make("details", {}, make("summary", {}, `${rows.length} event${rows.length > 1 ? "s" : ""}`),
			make("div", { className: `wide${rows.length > 30 ? " tall" : ""}` }, table)));
	}

	const paintRuns = () => document.querySelectorAll(".run").forEach(mark => { mark.style.background = hue(mark.dataset.run); });
	paintRuns();
	scheme.onchange = () => {
		paintRuns();
		charts.forEach(chart => chart.build());
	};
	const place = id => document.getElementById(id);
	doc.charts.forEach(spec => charts.push(new Chart(place("charts"), spec, true)));
	doc.distributions.forEach(spec => charts.push(new Chart(place("distributions"), spec, false)));
	if (doc.charts.length) {
		// The page opens with the measured window: the start of a run has other scales. If no flow sends in a long time at the end, it opens with the time before.
		const since = doc.measure_from_ms, presets = [["all", 0, doc.end_ms]];
		if (doc.sent_ms < LEAST_SENDING * doc.end_ms)
			presets.unshift(["while flows send", since < doc.sent_ms ? Math.max(since, 0) : 0, 1.05 * doc.sent_ms]);
		else if (since > 0 && since < doc.end_ms) {
			presets.unshift(["measured window", since, doc.end_ms]);
			presets.push(["start", 0, Math.min(since, MOST_START_MS)]);
		}
		place("zoom").append("Drag over a chart to zoom, double-click to see all. ",
			...presets.map(([text, from, to]) => [text, () => zoomTo(from, to)]).concat([["zoom in", () => zoomBy(0.5)], ["zoom out", () => zoomBy(2)]])
				.map(([text, onclick]) => make("button", { type: "button", onclick }, text)),
			make("output", { id: "zoom-range" }));
		zoomTo(...presets[0].slice(1));
	}
	if (doc.counters)
		counters(place("all-counters"));
	listEvents();
})();
