// SPDX-License-Identifier: BSD-3-Clause
// Pieces of the page: numbers, tiles, ports, bars, charts. What comes from a program goes into text, never into markup.
"use strict";

// Told apart on a white ground, and on a black one.
const COLOURS = {
  light: ["#0a6ebd", "#c2500f", "#158a5c", "#a63a8e", "#7a6000", "#5151c9", "#00727c", "#b02525"],
  dark: ["#58aef0", "#f08a4b", "#4cc98f", "#e07bc8", "#d3b13c", "#9c9cff", "#3fc3cf", "#ff7b72"],
};
const dark = matchMedia("(prefers-color-scheme: dark)");

// KB as in all other texts, and kb/s.
function scaled(value, unit) {
  const prefixes = ["", unit === "B" ? "K" : "k", "M", "G", "T", "P"];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i < prefixes.length - 1) {
    value /= 1000;
    i++;
  }
  return [value, prefixes[i]];
}

// Only seconds are shown in smaller units.
function scaledSeconds(value) {
  const parts = ["", "m", "\u00b5", "n"];
  let i = 0;
  while (value > 0 && value < 0.9995 && i < parts.length - 1) {
    value *= 1000;
    i++;
  }
  return [value, parts[i]];
}

function number(value, unit) {
  const [digits, prefix] = unit === "s" ? scaledSeconds(value) : scaled(value, unit);
  return (prefix === "" ? Math.round(digits * 10) / 10 : digits.toPrecision(3)) + "\u00a0" + prefix + unit;
}

// A rate in at most three digits, so that a tile's width is steady.
function rate(value) {
  return value >= 99.95 && value < 999.5 ? `${Math.round(value)}\u00a0/s` : number(value, "/s");
}

// Exact while it is short, with a narrow space before each three digits.
function count(value) {
  return value < 1e6 ? value.toLocaleString("en").replaceAll(",", "\u202f") : number(value, "");
}

// A round number, as axes and settings have them.
function round(value, unit) {
  const [digits, prefix] = unit === "s" ? scaledSeconds(value) : scaled(value, unit);
  return Number(digits.toPrecision(3)) + "\u00a0" + prefix + unit;
}

// One format on the whole page, whatever the browser's locale.
function clock(seconds) {
  return new Date(seconds * 1000).toTimeString().slice(0, 8);
}

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// Keeps the elements of a list by key, so that clicks survive a redraw.
class Keyed {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.known = new Map();
  }

  show(items, update) {
    const old = this.known;
    this.known = new Map();
    items.forEach((item, i) => {
      const e = old.get(item.key) || this.make(item);
      old.delete(item.key);
      this.known.set(item.key, e);
      if (this.parent.children[i] !== e)
        this.parent.insertBefore(e, this.parent.children[i] || null);
      update(e, item);
    });
    for (const e of old.values())
      e.remove();
  }
}

// Counters: how fast they rise, and what they are.
class Stats {
  constructor(parent) {
    this.list = new Keyed(parent, () => element("div", {class: "stat"}, element("span"), element("b"), element("small")));
  }

  show(tiles) {
    this.list.show(tiles.map(t => ({...t, key: t.label})), (tile, t) => {
      const [label, value, total] = tile.children;
      label.textContent = t.label;
      value.textContent = t.of ? number(t.value, "B") : rate(t.rate);
      total.textContent = t.of ? `of ${round(t.of, "B")}` : `${count(t.total)} in total`;
      tile.title = t.of ? `${t.value} of ${t.of} bytes` : `${t.label}: ${t.total} since the program started`;
      tile.className = `stat ${t.kind} ${t.rate > 0 ? "now" : ""}`;
    });
  }
}

function use(element, rate, most) {
  const part = most > 0 ? Math.min(1, rate / most) : 0;
  element.firstChild.style.width = part * 100 + "%";
}

// Ports of a switch or of a NIC, with their speed and its use each way.
class Ports {
  constructor(parent, choose) {
    this.list = new Keyed(parent, item => {
      const port = element("button", {class: "port", type: "button", "data-port": item.key},
        element("b"), element("small"), element("small", {class: "speed"}), element("small"), element("div", {class: "use"}, element("i")),
        element("small"), element("div", {class: "use"}, element("i")), element("small", {class: "pauses"}));
      port.addEventListener("click", () => choose(item.key));
      return port;
    });
  }

  show(ports, chosen) {
    this.list.show(ports, (port, p) => {
      const [name, device, speed, rx, rxUse, tx, txUse, pauses] = port.children;
      const shaped = p.shaped > 0 && p.shaped < p.speed ? p.shaped : 0;
      name.textContent = p.name;
      device.textContent = p.device;
      speed.textContent = (p.shutdown ? "shut down, " : p.down ? "link down, " : "") + round(p.speed, "b/s") + (shaped ? `, shaped to\u00a0${round(shaped, "b/s")}` : "");
      port.title = `${p.name}, ${p.device}: link ${round(p.speed, "b/s")}` + (shaped ? `, what it sends is shaped to ${round(shaped, "b/s")}` : "");
      rx.textContent = "in " + number(p.rx, "b/s");
      tx.textContent = "out " + number(p.tx, "b/s");
      use(rxUse, p.rx, p.speed);
      use(txUse, p.tx, shaped || p.speed);
      pauses.textContent = p.pauses > 0 ? "pauses " + rate(p.pauses) : "";
      port.classList.toggle("down", p.down);
      port.classList.toggle("shutdown", p.shutdown);
      port.classList.toggle("storm", p.storm);
      port.setAttribute("aria-pressed", String(chosen === p.key));
    });
  }
}

// Bars: a queue with its thresholds, a group with its limit, a flow with its link's speed.
class Bars {
  constructor(parent) {
    this.list = new Keyed(parent, () => element("div", {class: "bar"}, element("span"),
      element("div", {class: "track"}), element("output")));
  }

  show(bars) {
    this.list.show(bars, (row, b) => {
      const [name, track, value] = row.children;
      const most = b.full || Math.max(...b.marks.map(m => m.at)) * 1.25;
      const scale = Math.max(most, b.value, 1);
      name.textContent = b.key;
      // Bars of a list have different ends. That of a queue or a group is no limit, so its last mark is told instead.
      const last = b.marks.reduce((most, m) => m.at >= most.at ? m : most, b.marks[0]);
      value.textContent = number(b.value, b.unit) + (b.full ? ` of ${round(b.full, b.unit)}` : `, ${last.name} ${round(last.at, b.unit)}`);
      row.title = [b.key, ...b.marks.map(m => m.name + " " + round(m.at, b.unit))].join(", ");
      if (track.children.length !== b.marks.length + 1)
        track.replaceChildren(element("div", {class: "fill"}), ...b.marks.map(() => element("div")));
      track.firstChild.style.width = Math.min(100, b.value / scale * 100) + "%";
      track.firstChild.classList.toggle("headroom", b.alarm);
      // A flow's one mark is its cap; above a queue's Kmax each packet is marked.
      track.firstChild.classList.toggle("over", !b.full && b.marks.some(m => m.kind === "wred") && b.value > Math.max(...b.marks.map(m => m.at)));
      b.marks.forEach((m, i) => {
        track.children[i + 1].className = "mark " + m.kind;
        track.children[i + 1].style.left = Math.min(99, m.at / scale * 100) + "%";
      });
    });
  }
}

// The last minutes of a program's series, which may begin and end.
class History {
  constructor() {
    this.times = [];
    this.charts = {};
  }

  series(chart) {
    return this.charts[chart] || (this.charts[chart] = new Map());
  }

  // new points: {at_ms: [...], charts: {chart: {series: [...]}}}
  add(points, seconds) {
    const before = this.times.length, n = points.at_ms.length;
    this.times.push(...points.at_ms.map(t => t / 1000));
    for (const [chart, lists] of Object.entries(points.charts))
      for (const [name, list] of Object.entries(lists)) {
        if (!this.series(chart).has(name))
          this.series(chart).set(name, Array(before).fill(null));
        this.series(chart).get(name).push(...list);
      }
    for (const chart of Object.values(this.charts))
      for (const list of chart.values())
        while (list.length < before + n)
          list.push(null);
    this.forget(this.end() - seconds);
  }

  forget(time) {
    const old = this.times.findIndex(t => t >= time);
    if (old <= 0)
      return;
    this.times.splice(0, old);
    for (const chart of Object.values(this.charts))
      for (const [name, list] of chart) {
        list.splice(0, old);
        if (list.every(v => v === null))
          chart.delete(name);
      }
  }

  end() {
    return this.times.length > 0 ? this.times[this.times.length - 1] : 0;
  }
}

// A chart of some series of a history. Horizontal lines are settings, such as a threshold.
class Chart {
  constructor(parent, unit, seconds) {
    this.parent = parent;
    this.unit = unit;
    this.seconds = seconds;
    this.lines = [];
    this.plot = null;
    this.key = null;
    this.none = element("div", {class: "none"});
    this.left = element("div", {class: "left"});
    parent.append(this.none);
    parent.after(this.left);
    new ResizeObserver(() => this.plot && this.plot.setSize(this.size())).observe(parent);
    dark.addEventListener("change", () => { this.key = null; });
  }

  size() {
    return {width: Math.max(200, this.parent.clientWidth), height: 190};
  }

  // end: time at the right edge. lines: [{name, kind, at}]. left: number of series that are not among the names
  draw(times, series, names, end, lines, none, left) {
    const key = names.join("\n");
    const data = [times, ...names.map(n => series.get(n))];
    this.end = end;
    this.lines = lines;
    this.none.textContent = names.length === 0 ? none : "";
    this.left.textContent = names.length > 0 && left > 0 ? `${left} with lower peaks ${left === 1 ? "is" : "are"} not drawn.` : "";
    this.parent.classList.toggle("empty", names.length === 0);
    this.parent.parentElement.classList.toggle("without", names.length === 0);
    if (key !== this.key) {
      this.key = key;
      this.make(names, data);
    } else {
      this.plot.setData(data);
    }
    // Without a cursor the legend shows the newest values, which a program that has ended had a while ago.
    if (!(this.plot.cursor.left >= 0))
      this.plot.setLegend({idx: this.newest(data)});
  }

  // Without a cursor, a series that has no value right now shows its last one.
  legend(plot, value, series) {
    const list = plot.data[series], known = v => v !== null && v !== undefined;
    const v = known(value) || plot.cursor.left >= 0 ? value : list && list.findLast(known);
    return !known(v) ? "\u2013" : this.unit === "/s" ? rate(v) : number(v, this.unit);
  }

  // Values without neighbours, which no line joins.
  alone(plot, series) {
    const list = plot.data[series], none = i => list[i] === null || list[i] === undefined;
    return list.map((_, i) => i).filter(i => !none(i) && none(i - 1) && none(i + 1));
  }

  // Joins neighbours. uPlot's own lines are clipped at whole pixels beside gaps, which hides those of a few samples.
  joined(plot, series, first, last) {
    const path = new Path2D(), list = plot.data[series];
    let joins = false;
    for (let i = first; i <= last; i++) {
      const v = list[i], known = v !== null && v !== undefined;
      if (known)
        path[joins ? "lineTo" : "moveTo"](plot.valToPos(plot.data[0][i], "x", true), plot.valToPos(v, "y", true));
      joins = known;
    }
    return {stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 1};
  }

  newest(data) {
    let i = data[0].length - 1;
    while (i > 0 && data.slice(1).every(list => list[i] === null))
      i--;
    return i;
  }

  // Thresholds for marking are always in the picture; XOFF is far above them, and only once the queue comes near.
  highest(high) {
    const marking = this.lines.filter(l => l.kind === "wred").map(l => l.at);
    const most = Math.max(high > 0 ? high : 0, ...marking);
    const near = this.lines.filter(l => l.kind !== "wred" && l.at < 2 * most).map(l => l.at);
    return Math.max(most, ...near) * 1.1 || 1;
  }

  drawLines(plot) {
    const {ctx, bbox} = plot, ratio = devicePixelRatio, style = getComputedStyle(document.body);
    const colours = {wred: style.getPropertyValue("--room"), xoff: style.getPropertyValue("--alarm"), xon: style.getPropertyValue("--xon")};
    const ground = style.getPropertyValue("--ground"), taken = []; // labels do not overlap
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    for (const line of this.lines) {
      const inside = line.at <= plot.scales.y.max, text = (inside ? "" : "\u2191 ") + `${line.name} ${round(line.at, this.unit)}`;
      const y = inside ? plot.valToPos(line.at, "y", true) : bbox.top;
      let label = y + (inside ? -3 : 11) * ratio;
      ctx.fillStyle = ctx.strokeStyle = colours[line.kind];
      if (inside) {
        ctx.lineWidth = ratio;
        ctx.setLineDash([5 * ratio, 4 * ratio]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
      }
      if (label < bbox.top + 11 * ratio)
        label = bbox.top + 11 * ratio;
      const width = ctx.measureText(text).width;
      let left = bbox.left + 4 * ratio;
      for (const t of taken)
        if (Math.abs(t.label - label) < 12 * ratio)
          left = Math.max(left, t.right + 10 * ratio);
      taken.push({label, right: left + width});
      // A halo, so that no line strikes the label through.
      ctx.setLineDash([]);
      ctx.strokeStyle = ground;
      ctx.lineWidth = 4 * ratio;
      ctx.strokeText(text, left, label);
      ctx.fillText(text, left, label);
    }
    ctx.restore();
  }

  make(names, data) {
    const ink = getComputedStyle(document.body).color, colours = COLOURS[dark.matches ? "dark" : "light"];
    const axis = {stroke: ink, font: "11px system-ui, sans-serif", grid: {stroke: "#8883", width: 1}, ticks: {stroke: "#8883", width: 1, size: 4}};
    if (this.plot)
      this.plot.destroy();
    this.plot = new uPlot({
      ...this.size(),
      legend: {live: true, show: names.length > 0},
      cursor: {sync: {key: "time"}, y: false},
      hooks: {draw: [plot => this.drawLines(plot)]},
      scales: {x: {range: () => [this.end - this.seconds, this.end]}, y: {range: (_, low, high) => [0, this.highest(high)]}},
      axes: [{...axis, space: 70, size: 26, values: (_, ticks) => ticks.map(clock)},
        {...axis, space: 30, size: 66, values: (_, ticks) => ticks.map(t => round(t, this.unit))}],
      series: [{label: "at", value: (_, t) => t === null ? "" : clock(t)}, ...names.map((name, i) => ({
        // What enters at one port leaves at another: a dashed line leaves the one below it visible.
        label: name, stroke: colours[i % colours.length], width: 1.5, dash: name.endsWith(" out") ? [5, 5] : [], paths: (plot, s, first, last) => this.joined(plot, s, first, last),
        points: {show: true, size: 5, fill: colours[i % colours.length], filter: (plot, s) => this.alone(plot, s)},
        value: (plot, v, s) => this.legend(plot, v, s)}))],
    }, data, this.parent);
  }
}
