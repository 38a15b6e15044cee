// SPDX-License-Identifier: BSD-3-Clause
// Pieces of the page: numbers, tiles, bars, charts. What comes from the program goes into text, never into markup.
"use strict";

const COLOURS = ["#0a6ebd", "#d1571a", "#1a9e6c", "#b3479a", "#8a6d00", "#5b5bd6", "#00838f", "#c62828"];

function number(value, unit) {
  const prefixes = ["", "K", "M", "G", "T", "P"];
  let i = 0;
  // Only seconds are shown in smaller units.
  if (unit === "s" && value > 0 && value < 0.9995) {
    const parts = ["m", "\u00b5", "n"];
    while (value < 0.9995 && i < parts.length) {
      value *= 1000;
      i++;
    }
    return value.toPrecision(3) + " " + parts[i - 1] + "s";
  }
  while (Math.abs(value) >= 999.5 && i < prefixes.length - 1) {
    value /= 1000;
    i++;
  }
  return (i === 0 ? Math.round(value * 10) / 10 : value.toPrecision(3)) + " " + prefixes[i] + (unit || "");
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

// Keeps the elements of a list by key, so that clicks and transitions survive a redraw.
class Keyed {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.known = new Map();
  }

  show(items, update) {
    const old = this.known;
    this.known = new Map();
    for (const item of items) {
      const e = old.get(item.key) || this.make(item);
      old.delete(item.key);
      this.known.set(item.key, e);
      if (!e.isConnected)
        this.parent.append(e);
      update(e, item);
    }
    for (const e of old.values())
      e.remove();
  }
}

// Ports of a switch or of a NIC, with the use of the link each way.
class Tiles {
  constructor(parent, choose) {
    this.list = new Keyed(parent, item => {
      const tile = element("button", {class: "tile", type: "button", "data-port": item.key},
        element("b"), element("small"), element("meter", {min: 0, max: 1, "aria-label": "in"}), element("small"),
        element("meter", {min: 0, max: 1, "aria-label": "out"}), element("small", {class: "pauses"}));
      tile.addEventListener("click", () => choose(item.key));
      return tile;
    });
  }

  show(ports, chosen) {
    this.list.show(ports, (tile, p) => {
      const [name, rx, rxUse, tx, txUse, pauses] = tile.children;
      name.textContent = p.name;
      tile.title = `${p.name}, ${number(p.speed, "b/s")}`;
      rx.textContent = p.down ? "link down" : "in " + number(p.rx, "b/s");
      tx.textContent = "out " + number(p.tx, "b/s");
      rxUse.value = p.speed > 0 ? p.rx / p.speed : 0;
      txUse.value = p.speed > 0 ? p.tx / p.speed : 0;
      pauses.textContent = p.pauses > 0 ? "pauses " + number(p.pauses, "/s") : "";
      tile.classList.toggle("down", p.down);
      tile.classList.toggle("storm", p.storm);
      tile.setAttribute("aria-pressed", String(chosen === p.key));
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
      name.textContent = b.name;
      value.textContent = number(b.value, b.unit);
      row.title = [b.name, ...b.marks.map(m => m.name + " " + number(m.at, b.unit))].join(", ");
      if (track.children.length !== b.marks.length + 1)
        track.replaceChildren(element("div", {class: "fill"}), ...b.marks.map(m => element("div", {class: "mark " + m.kind})));
      track.firstChild.style.width = Math.min(100, b.value / scale * 100) + "%";
      track.firstChild.classList.toggle("headroom", b.alarm);
      b.marks.forEach((m, i) => { track.children[i + 1].style.left = m.at / scale * 100 + "%"; });
    });
  }
}

// The last minutes of several series, which may begin and end.
class Chart {
  constructor(parent, unit, seconds) {
    this.parent = parent;
    this.unit = unit;
    this.seconds = seconds;
    this.times = [];
    this.series = new Map();
    this.plot = null;
    this.dirty = true;
    new ResizeObserver(() => this.plot && this.plot.setSize(this.size())).observe(parent);
  }

  size() {
    return {width: Math.max(200, this.parent.clientWidth), height: 200};
  }

  // values: {name: number}; null, a gap, if there was no answer.
  add(time, values) {
    this.times.push(time);
    for (const [name, value] of Object.entries(values)) {
      if (!this.series.has(name)) {
        this.series.set(name, Array(this.times.length - 1).fill(null));
        this.dirty = true;
      }
      this.series.get(name).push(value);
    }
    for (const list of this.series.values())
      if (list.length < this.times.length)
        list.push(null);
    while (this.times.length > 0 && this.times[0] < time - this.seconds) {
      this.times.shift();
      for (const list of this.series.values())
        list.shift();
    }
    for (const [name, list] of this.series)
      if (list.every(v => v === null)) {
        this.series.delete(name);
        this.dirty = true;
      }
  }

  // wanted(name): is the series shown?
  draw(wanted) {
    const names = [...this.series.keys()].filter(wanted);
    const key = names.join("\n");
    const data = [this.times, ...names.map(n => this.series.get(n))];
    if (this.dirty || key !== this.key) {
      this.key = key;
      this.dirty = false;
      this.make(names, data);
    } else {
      this.plot.setData(data);
    }
    // Without a cursor the legend shows the newest values.
    if (!(this.plot.cursor.left >= 0))
      this.plot.setLegend({idx: this.times.length - 1});
  }

  make(names, data) {
    const ink = getComputedStyle(document.body).color;
    const axis = {stroke: ink, grid: {stroke: "#8883", width: 1}, ticks: {stroke: "#8883", width: 1}};
    if (this.plot)
      this.plot.destroy();
    this.plot = new uPlot({
      ...this.size(),
      legend: {live: true},
      scales: {x: {range: (_, low, high) => [high - this.seconds, high]}, y: {range: (_, low, high) => [Math.min(0, low || 0), high > 0 ? high * 1.05 : 1]}},
      axes: [{...axis, space: 80, size: 32, values: (_, ticks) => ticks.map(clock)}, {...axis, size: 82, values: (_, ticks) => ticks.map(t => number(t, this.unit))}],
      series: [{label: "at", value: (_, t) => t === null ? "" : clock(t)}, ...names.map((name, i) => ({
        label: name, stroke: COLOURS[i % COLOURS.length], width: 1.5, spanGaps: false,
        value: (_, v) => v === null ? "" : number(v, this.unit)}))],
    }, data, this.parent);
  }

  clear() {
    this.times = [];
    this.series.clear();
    this.dirty = true;
  }
}
