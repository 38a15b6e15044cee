# SPDX-License-Identifier: BSD-3-Clause
"""The fabric as an SVG drawing: switches by their distance from the hosts, links and hosts coloured by load."""
import re
from html import escape

from .html import rate_unit

# Grey for idle, then ColorBrewer's YlOrRd: lightness falls with load.
SCALE = ((0.0, (225, 228, 232)), (0.25, (254, 217, 118)), (0.6, (253, 141, 60)), (0.85, (227, 26, 28)), (1.0, (128, 0, 38)))
# On a dark ground: idle is near the ground, and lightness rises with load.
DARK_SCALE = ((0.0, (57, 66, 76)), (0.25, (124, 92, 44)), (0.6, (226, 124, 44)), (0.85, (255, 140, 116)), (1.0, (255, 214, 206)))
BOX, GAP = 24, 6  # of a host, and between groups
ROW_HEIGHT = 120
SWITCH_WIDTH, SWITCH_HEIGHT = 58, 24
LEAST_SCALE = 0.79  # on a narrow screen, where text is larger


def on_scale(load, scale):
    load = min(max(load, 0), 1)
    low, a, high, b = next((low, a, high, b) for (low, a), (high, b) in zip(scale, scale[1:]) if load <= high)
    part = (load - low) / (high - low)
    return "#" + "".join(f"{round(x + (y - x) * part):02x}" for x, y in zip(a, b))


def loaded(load):
    """The colours of a shape; the style sheet takes that of the ground."""
    return f'style="--light: {on_scale(load, SCALE)}; --dark: {on_scale(load, DARK_SCALE)}"'


def is_host(name):
    return re.fullmatch(r"h\d+", name) is not None


class Graph:
    """From results.json: ports by switch, hosts by switch, and each link between switches once."""

    def __init__(self, ports):
        self.switches, self.hosts, self.links = {}, {}, []
        for port in ports:
            self.switches.setdefault(port["node"], []).append(port)
        by_end = {(p["node"], p["port"]): p for p in ports}
        for p in ports:
            if is_host(p["peer"]):
                self.hosts.setdefault(p["node"], []).append(p)
            elif (p["node"], p["port"]) < (p["peer"], p["peer_port"]):
                self.links.append((p, by_end[p["peer"], p["peer_port"]]))
        self.stage = self.stages()

    def stages(self):
        """Number of links from each switch to the nearest host."""
        stage = {name: 0 for name in self.switches if name in self.hosts} or dict.fromkeys(self.switches, 0)
        edge = list(stage)
        while edge:
            reached = {p["peer"]: stage[name] + 1 for name in edge for p in self.switches[name] if p["peer"] in self.switches and p["peer"] not in stage}
            stage |= reached
            edge = list(reached)
        return stage


def hosts_a_row(graph):
    """With many switches that have hosts, each has little room."""
    return 8 if len(graph.hosts) <= 4 else 4 if len(graph.hosts) <= 8 else 3


def group_width(graph, name):
    return max(SWITCH_WIDTH, min(len(graph.hosts.get(name, [])), hosts_a_row(graph)) * BOX) + 2 * GAP


def place(graph):
    """Centres of the switches {switch: (x, y)}, and width and height of the area with switches."""
    top = max(graph.stage.values())
    leaves = [name for name in graph.switches if graph.stage[name] == 0]
    in_a_row = any(graph.stage[p["node"]] == graph.stage[q["node"]] for p, q in graph.links)
    head = SWITCH_HEIGHT + (50 if in_a_row else 0)  # room for curved links
    at, x = {}, GAP
    for name in leaves:
        width = group_width(graph, name) + (40 if in_a_row else 0)
        at[name] = (x + width / 2, top * ROW_HEIGHT + head)
        x += width
    widest = max(sum(1 for s in graph.stage.values() if s == stage) for stage in range(top + 1))
    width = max(x + GAP, widest * (SWITCH_WIDTH + GAP), 320)
    for name in leaves:
        at[name] = (at[name][0] + (width - x - GAP) / 2, at[name][1])
    for stage in range(1, top + 1):
        names = [name for name in graph.switches if graph.stage[name] == stage]
        for i, name in enumerate(names):
            at[name] = (width * (i + 0.5) / len(names), (top - stage) * ROW_HEIGHT + head)
    return at, width, top * ROW_HEIGHT + head + SWITCH_HEIGHT


def tip(text):
    return f"<title>{escape(text)}</title>"


def speed(port):
    unit = rate_unit(port["link_speed_bps"])
    return f"{port['link_speed_bps'] / unit.bps:g}{unit.name[0].upper()}"


def load_text(port, key="link_use"):
    return f"{port[key] * 100:.1f} % of {speed(port)}"


def between(a, b, at):
    """Points of a link: straight, or curved upwards if another switch of the same row is between its ends."""
    (x1, y1), (x2, y2) = a, b
    if y1 != y2 or not any(y == y1 and min(x1, x2) < x < max(x1, x2) for x, y in at.values()):
        return (x1, y1), ((x1 + x2) / 2, (y1 + y2) / 2), (x2, y2)
    return (x1, y1), ((x1 + x2) / 2, y1 - min(20 + abs(x2 - x1) / 6, 70)), (x2, y2)


def link_lines(graph, at):
    """Draw each half of a link in the colour of the load sent by the node at that half."""
    width = 3 if len(graph.links) < 200 else 1.2
    for i, (p, q) in enumerate(graph.links):
        a, middle, b = between(at[p["node"]], at[q["node"]], at)
        # Parallel links side by side
        shift = 5 * sum(1 for other, _ in graph.links[:i] if (other["node"], other["peer"]) == (p["node"], p["peer"])) if len(graph.links) < 500 else 0
        for end, port in ((a, p), (b, q)):
            text = f"{port['node']} port {port['port']} to {port['peer']}: {load_text(port)}"
            yield (f'<line class="link" x1="{end[0] + shift:.1f}" y1="{end[1]:.1f}" x2="{middle[0] + shift:.1f}" y2="{middle[1]:.1f}" '
                   f'{loaded(port["link_use"])} stroke-width="{width}" data-load="{port["link_use"]:.4f}">{tip(text)}</line>')


def host_boxes(graph, at, numbered):
    """Left half: the load that the host sends. Right half: the load that it receives."""
    row = hosts_a_row(graph)
    for name, ports in graph.hosts.items():
        x0, y0 = at[name][0] - min(len(ports), row) * BOX / 2, at[name][1] + SWITCH_HEIGHT / 2 + 14
        yield f'<line x1="{at[name][0]:.1f}" y1="{at[name][1]:.1f}" x2="{at[name][0]:.1f}" y2="{y0:.1f}" stroke="#999"/>'
        for i, p in enumerate(ports):
            x, y = x0 + i % row * BOX, y0 + i // row * BOX
            sends, receives = p.get("rx_link_use", 0), p["link_use"]
            text = f"{p['peer']} on {name} port {p['port']}: sends {sends * 100:.1f} %, receives {load_text(p)}"
            half = (BOX - 2) / 2
            yield (f'<g class="host">{tip(text)}<rect x="{x:.1f}" y="{y:.1f}" width="{half}" height="{BOX - 2}" {loaded(sends)} data-load="{sends:.4f}"/>'
                   f'<rect x="{x + half:.1f}" y="{y:.1f}" width="{half}" height="{BOX - 2}" {loaded(receives)} data-load="{receives:.4f}"/>'
                   + (f'<text x="{x + half:.1f}" y="{y + BOX / 2 + 3:.1f}">{escape(p["peer"][1:])}</text>' if numbered else "") + "</g>")


def switch_boxes(graph, at):
    for name, (x, y) in at.items():
        ports = graph.switches[name]
        most = max(ports, key=lambda p: p["link_use"])
        text = f"{name}: {len(ports)} ports; most loaded: port {most['port']} to {most['peer']}, {load_text(most)}"
        yield (f'<g class="switch">{tip(text)}<rect x="{x - SWITCH_WIDTH / 2:.1f}" y="{y - SWITCH_HEIGHT / 2:.1f}" width="{SWITCH_WIDTH}" '
               f'height="{SWITCH_HEIGHT}" rx="4"/><text x="{x:.1f}" y="{y + 4:.1f}">{escape(name)}</text></g>')


def legend():
    """Beside the box of the drawing, which may be scrolled."""
    steps = "".join(f'<rect x="{i * 12}" width="12" height="12" {loaded(i / 10)}/>' for i in range(11))
    return f'<p class="loads">0 <svg width="132" height="12" role="img" aria-label="colours of loads">{steps}</svg> 100 % of the link</p>'


def draw(results):
    """@return the drawing and its legend; empty if results.json has no ports."""
    ports = results.get("ports")
    if not ports:
        return ""
    graph = Graph(ports)
    at, width, height = place(graph)
    deepest = max((-(-len(hosts) // hosts_a_row(graph)) for hosts in graph.hosts.values()), default=0)
    height += 14 + deepest * BOX + GAP
    hosts = sum(map(len, graph.hosts.values()))
    numbered = hosts <= 1024
    parts = [*link_lines(graph, at), *host_boxes(graph, at, numbered), *switch_boxes(graph, at)]
    return (f'{legend()}<div class="wide"><svg id="topology" role="img" aria-label="topology, coloured by load" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'{"" if hosts < 100 else "class=many "}style="--width: {width:.0f}px; width: {width * (1.3 if width < 600 else 1):.0f}px; max-width: 100%; min-width: {min(width, max(320, width * LEAST_SCALE)):.0f}px">{"".join(parts)}</svg></div>')
