// SPDX-License-Identifier: BSD-3-Clause
// Asks the server twice a second for what is new of each program, and shows it.
"use strict";

const MOST_LINES = 8; // as many as there are colours
const LEAST_LINES = 3, LINE_PX = 90; // depths go up and down all the time: many lines cover each other in a narrow chart
const MOST_BARS = 12; // with more, idle bars are left out
const MOST_STORMS = 6;
const MOST_EVENTS = 100;

const byId = id => document.getElementById(id);
const views = new Map(); // by the program's name
let held = false, last = null;

const WORDS = {
  "quench-switch": {bars: "Queues and priority groups", rates: "Rates of ports", depth: "Depth of queues and groups",
    marks: "ECN marks", pauses: "Pauses, both ways", none: {rates: "no traffic", depth: "all queues empty", marks: "no marks", pauses: "no pauses"}},
  "quench-nic": {bars: "Rates of flows, beside the link's speed", rates: "Rates of flows", depth: "Round-trip time, mean of half a second",
    marks: "CNPs", pauses: "Pauses, packets sent again", none: {rates: "no traffic", rtt: "no round trip", marks: "no CNPs", pauses: "neither"}},
};

// A program: the switch, or a NIC.
class View {
  constructor(program, seconds) {
    this.root = byId("program").content.firstElementChild.cloneNode(true);
    this.root.dataset.name = program.name;
    this.seconds = seconds;
    this.chosen = null;
    this.busy = new Map(); // time when a bar was last above 0
    this.history = new History();
    this.isSwitch = program.program === "quench-switch";
    const words = WORDS[program.program];
    for (const name of ["bars", "rates", "depth", "marks", "pauses"])
      this.find(`.${name}-title`).textContent = words[name];
    this.none = words.none;
    this.find("h2").textContent = program.name;
    this.find(".keys.of-switch").hidden = !this.isSwitch;
    this.control = new Control(this.find(".control"), program);
    this.stats = new Stats(this.find(".stats"));
    this.ports = new Ports(this.find(".ports"), key => { this.chosen = this.chosen === key ? null : key; this.redraw(); });
    this.bars = new Bars(this.find(".bars"));
    byId("programs").append(this.root);
    this.charts = {
      rates: new Chart(this.find(".rates"), "b/s", seconds),
      [this.isSwitch ? "depth" : "rtt"]: new Chart(this.find(".depth"), this.isSwitch ? "B" : "s", seconds),
      marks: new Chart(this.find(".marks"), "/s", seconds),
      pauses: new Chart(this.find(".chart.pauses"), "/s", seconds),
    };
  }

  find(css) {
    return this.root.querySelector(css);
  }

  take(program) {
    this.program = program;
    this.history.add(program.history, this.seconds);
    this.seeBusy(program.history);
    if (program.picture)
      for (const b of program.picture.bars)
        if (b.value > 0)
          this.busy.set(b.key, this.history.end());
  }

  // From the history, since most of it is from before the page was opened. A bar has the key of its series.
  seeBusy({at_ms, charts}) {
    for (const [name, list] of Object.entries(charts[this.isSwitch ? "depth" : "rates"] || {})) {
      const last = list.findLastIndex(value => value > 0);
      if (last >= 0)
        this.busy.set(name, at_ms[last] / 1000);
    }
  }

  // Since when a bar that is not shown is idle, as far as the history tells.
  idleSince() {
    const {times} = this.history;
    return times.length === 0 || this.history.end() - times[0] > this.seconds - 2 ? "in the last two minutes" : `since ${clock(times[0])}`;
  }

  // With many series, those with the highest values, unless a port is chosen. Lines at 0 are no picture, but that a port is idle is.
  wanted(chart) {
    const series = this.history.series(chart);
    const highest = [...series].map(([name, list]) => [name, Math.max(0, ...list)])
      .filter(([name]) => this.chosen === null || !this.isSwitch || name === this.chosen || name.startsWith(this.chosen + " "));
    if (highest.every(m => m[1] === 0))
      return [];
    if (this.chosen !== null && this.isSwitch)
      return highest.map(m => m[0]);
    const most = new Set(highest.filter(m => chart === "rates" && highest.length <= MOST_LINES || m[1] > 0)
      .sort((a, b) => b[1] - a[1]).slice(0, this.mostLines(chart)).map(m => m[0]));
    return [...series.keys()].filter(name => most.has(name));
  }

  mostLines(chart) {
    return chart === "depth" ?
      Math.min(MOST_LINES, Math.max(LEAST_LINES, Math.floor(this.charts[chart].size().width / LINE_PX))) : MOST_LINES;
  }

  // How many series with values wanted() leaves out.
  leftOut(chart, names) {
    return this.chosen !== null && this.isSwitch ? 0 :
      [...this.history.series(chart)].filter(([name, list]) => !names.includes(name) && Math.max(0, ...list) > 0).length;
  }

  shownBars(bars) {
    if (this.chosen !== null && this.isSwitch)
      return bars.filter(b => b.port === this.chosen);
    return bars.length <= MOST_BARS ? bars : bars.filter(b => this.history.end() - (this.busy.get(b.key) || 0) < this.seconds);
  }

  // The thresholds of what a chart shows, each once. XON is below XOFF and would only add a line, as would the limit of a lossy group.
  lines(chart, names) {
    const lines = new Map(), bars = this.program.picture.bars.filter(b => chart === "depth" && names.includes(b.key));
    const busy = bars.filter(b => this.busy.has(b.key));
    for (const b of busy.length > 0 ? busy : bars)
      for (const m of b.marks)
        if (m.kind !== "xon" && m.kind !== "limit")
          lines.set(`${m.name} ${m.at}`, m);
    return [...lines.values()].sort((a, b) => a.at - b.at).slice(0, 8);
  }

  showState(program) {
    const up = Math.floor(program.elapsed_ns / 1e9), picture = program.picture;
    const time = [[Math.floor(up / 3600), "h"], [Math.floor(up / 60) % 60, "min"], [up % 60, "s"]];
    const state = this.find(".state");
    this.find(".facts").textContent = `${program.program} ${picture && picture.version || ""}, pid ${program.pid}, ` +
      (program.state === "ended" ? "ran" : "up") + " " + time.filter(([n], i) => n > 0 || i === 2).map(t => t.join("\u00a0")).join(" ");
    state.textContent = program.state === "live" ? held ? "held" : "live" : program.state === "ended" ?
      `ended at ${clock(program.since_ms / 1000)}: this is its last picture` : `does not answer since ${clock(program.since_ms / 1000)}`;
    state.classList.toggle("lost", program.state !== "live");
    state.classList.toggle("held", held && program.state === "live");
    this.root.classList.toggle("gone", program.state !== "live");
  }

  redraw() {
    const {program} = this, {picture} = program;
    this.showState(program);
    this.find(".control").hidden = !last.control || token === null || program.state !== "live";
    if (!picture)
      return;
    const shown = this.shownBars(picture.bars), idle = picture.bars.length - shown.length;
    this.stats.show(picture.tiles);
    this.ports.show(picture.ports, this.chosen);
    this.bars.show(shown);
    this.find(".keys.of-nic").hidden = this.isSwitch || shown.every(b => b.marks.length === 0);
    this.find(".idle").textContent = this.chosen !== null || idle === 0 ? "" : `${idle} ${idle === 1 ? "is" : "are"} not shown: idle ${this.idleSince()}.`;
    this.find(".storms").hidden = picture.storms.length === 0;
    const more = picture.storms.length - MOST_STORMS;
    this.find(".storms").textContent = picture.storms.slice(0, MOST_STORMS).join("\n") + (more > 0 ? `\nand ${more} more` : "");
    const end = program.state === "live" ? Math.max(this.history.end(), last.at_ms / 1000) : this.history.end();
    for (const [name, chart] of Object.entries(this.charts)) {
      const names = this.wanted(name);
      chart.draw(this.history.times, this.history.series(name), names, end, this.lines(name, names),
        this.history.times.length === 0 ? "nothing yet" : this.none[name] + " in the last two minutes", this.leftOut(name, names));
    }
  }
}

function showEvents(programs) {
  const events = programs.flatMap(p => p.events.map(e => ({...e, name: p.name})));
  events.sort((a, b) => b.at_ms - a.at_ms);
  byId("events").replaceChildren(...events.slice(0, MOST_EVENTS).map(e => element("li", e.alarm ? {class: "alarm"} : {},
    element("time", {datetime: new Date(e.at_ms).toISOString()}, clock(e.at_ms / 1000)), element("i", {}, e.name), e.text)));
  byId("quiet").hidden = events.length > 0;
  byId("history").hidden = programs.length === 0;
}

function showState(text, lost) {
  byId("state").textContent = text;
  byId("state").classList.toggle("lost", lost);
  byId("state").classList.toggle("held", held && !lost);
}

function inOrder(programs) {
  return programs.slice().sort((a, b) => (b.program === "quench-switch") - (a.program === "quench-switch") || a.name.localeCompare(b.name));
}

function forget(name) {
  views.get(name).root.remove();
  views.delete(name);
}

function take(data) {
  for (const p of data.programs) {
    const known = views.get(p.name);
    if (known && known.program.program !== p.program)
      forget(p.name);
    if (!views.has(p.name))
      views.set(p.name, new View(p, data.window_s));
    views.get(p.name).take(p);
  }
  for (const name of [...views.keys()])
    if (!data.programs.some(p => p.name === name))
      forget(name);
  inOrder(data.programs).forEach((p, i) => {
    const {root} = views.get(p.name);
    if (byId("programs").children[i] !== root)
      byId("programs").insertBefore(root, byId("programs").children[i]);
  });
}

function show() {
  const live = last.programs.filter(p => p.state === "live").length, n = last.programs.length;
  byId("empty").hidden = n > 0;
  byId("facts").textContent = (n === 0 ? "" : `${live} of ${n} ${n === 1 ? "program" : "programs"} live`) +
    (last.control && token === null ? "; only to be seen: its URL has no token" : "") +
    (last.left_out > 0 ? `; ${last.left_out} more run, for which the page has no place` : "");
  document.title = n === 1 ? `${last.programs[0].name} - quench` : "quench";
  for (const view of views.values())
    view.redraw();
  showEvents(last.programs);
}

async function ask() {
  try {
    const known = last === null ? 0 : last.number;
    const reply = await fetch(`data?since=${known}`, {cache: "no-store", signal: AbortSignal.timeout(8000)});
    if (!reply.ok)
      throw new Error(`quenchctl says ${reply.status}`);
    const data = await reply.json();
    if (last !== null && last.started_ms !== data.started_ms) {
      // Another server, which has a history of its own: ask for all of it.
      last = null;
      [...views.keys()].forEach(forget);
    } else {
      last = data;
      take(data);
      if (!held)
        show();
      showState(held ? "held" : "live", false);
    }
  } catch (error) {
    showState("quenchctl does not answer, trying again", true);
  }
  setTimeout(ask, last !== null ? last.every_ms : 500);
}

byId("hold").addEventListener("click", () => {
  held = !held;
  byId("hold").textContent = held ? "go on" : "hold";
  if (last !== null)
    show();
  showState(held ? "held" : "live", false);
});
ask();
