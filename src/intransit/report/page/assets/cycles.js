// The cycles as a graph: the one that was chosen in the table, or all that are listed.
// Arrows point from the favourite at the time shown, so a cycle can be seen to form and break.

const GRAPH = { widest: 560, narrowest: 300, margin: 28 };
const MOST_NODES = 24;

function startCycles() {
  const host = live("cycles");
  if (!host) return;
  const rows = [...document.querySelectorAll("#cycles tbody tr")];
  const frame = html("div", { class: "frame" });
  const words = html("p", { class: "caption", "aria-live": "polite" });
  let all = false;
  const views = [["one", "The chosen cycle"], ["all", "All that are listed"]];
  const pick = choice("What the graph shows", views, "one", (value) => {
    all = value === "all";
    draw();
  });
  host.replaceChildren(html("div", { class: "tools" }, pick), frame, words);
  rows.forEach((row, k) => chooseByRow(row, k));

  const draw = () => {
    const cycle = content.cycles[state.cycle];
    rows.forEach((row, k) => {
      row.classList.toggle("picked", k === state.cycle);
      row.querySelector(".pick").setAttribute("aria-pressed", String(k === state.cycle));
    });
    const nodes = all ? listedItems(rows.length) : cycle.items;
    const wide = limit(frame.clientWidth, GRAPH.narrowest, GRAPH.widest);
    frame.replaceChildren(drawGraph(wide, nodes, all ? listedEdges(nodes, rows.length) : [], cycleEdges(cycle), !all));
    words.textContent = dated ? `At ${times[state.time]}. An arrow that has turned is dashed.` : "";
    host.dataset.drawn = `${all ? "all" : state.cycle} ${state.time}`;
  };
  when(["cycle", "time"], draw);
  draw();
  onResize(frame, draw);
}

// A button in the row, so that the keyboard can choose too; a click anywhere does the same.
function chooseByRow(row, k) {
  const path = row.querySelector(".path");
  const button = html("button", { type: "button", class: "pick", "aria-label": `Draw cycle ${k + 1}`, text: String(k + 1) });
  path.before(button);
  row.classList.add("choosable");
  row.addEventListener("click", () => change({ cycle: k }));
}

function listedItems(n) {
  const found = new Set();
  for (const { items } of content.cycles.slice(0, n)) {
    if (new Set([...found, ...items]).size > MOST_NODES) break;
    items.forEach((item) => found.add(item));
  }
  // Around the circle in the order of structure, which keeps neighbours together.
  return [...found].sort((a, b) => (placeOf.get(a) ?? 0) - (placeOf.get(b) ?? 0));
}

function listedEdges(nodes, n) {
  const seen = new Map();
  for (const cycle of content.cycles.slice(0, n)) {
    for (const edge of cycleEdges(cycle)) {
      if (nodes.includes(edge.from) && nodes.includes(edge.to)) seen.set(JSON.stringify([edge.from, edge.to]), edge);
    }
  }
  return [...seen.values()];
}

// Edges of a cycle with the chance at the time shown, or as listed for items that are not shown.
function cycleEdges({ items, chances }) {
  return items.map((from, k) => {
    const to = items[(k + 1) % items.length];
    const [i, j] = [placeOf.get(from), placeOf.get(to)];
    const known = i !== undefined && j !== undefined;
    return { from, to, chance: known ? reading(state.time, i, j).chance : chances[k] };
  });
}

function drawGraph(wide, nodes, background, edges, readings) {
  const radius = Math.min(nodes.length > 8 ? 150 : 110, wide / 2 - 90);
  const spots = new Map(nodes.map((item, k) => {
    const angle = -Math.PI / 2 + (2 * Math.PI * k) / nodes.length;
    return [item, { x: wide / 2 + radius * Math.cos(angle), y: radius * Math.sin(angle), angle }];
  }));
  const heights = [...spots.values()].map(({ y }) => y);
  const top = Math.min(...heights) - GRAPH.margin;
  const high = Math.max(...heights) + GRAPH.margin - top;
  const here = edges.filter(({ from, to }) => spots.has(from) && spots.has(to));
  const room = Math.floor((wide / 2 - radius - 16) / 6.6);
  return svg("svg", {
    class: "graph", viewBox: `0 ${top} ${wide} ${high}`, width: wide, height: high, role: "img",
    "aria-label": edges.map(({ from, to, chance }) => `${from} beats ${to} with ${percent(chance)}`).join(", "),
  },
  ...background.map((edge) => drawEdge(wide, spots, edge, "back", false)),
  ...here.map((edge) => drawEdge(wide, spots, edge, "", readings)),
  ...nodes.flatMap((item) => drawNode(item, spots.get(item), !readings && !here.some(({ from }) => from === item), room)));
}

function drawEdge(wide, spots, { from, to, chance }, kind, withReading) {
  const turned = chance < 0.5;
  const [start, stop] = [spots.get(turned ? to : from), spots.get(turned ? from : to)];
  const length = Math.hypot(stop.x - start.x, stop.y - start.y) || 1;
  const [dx, dy] = [(stop.x - start.x) / length, (stop.y - start.y) / length];
  const tip = { x: stop.x - 12 * dx, y: stop.y - 12 * dy };
  const head = `M${tip.x + 6 * dx} ${tip.y + 6 * dy}L${tip.x - 5 * dx - 5 * dy} ${tip.y - 5 * dy + 5 * dx}L${tip.x - 5 * dx + 5 * dy} ${tip.y - 5 * dy - 5 * dx}Z`;
  const group = svg("g", { class: `edge ${kind}${turned ? " turned" : ""}` },
    svg("path", { class: "shaft", d: `M${start.x + 9 * dx} ${start.y + 9 * dy}L${tip.x} ${tip.y}`, "stroke-width": 1.2 + 8 * Math.abs(chance - 0.5) }),
    svg("path", { class: "head", d: head }));
  if (withReading) {
    // Towards the centre, whichever way the arrow points.
    const [x, y] = [(start.x + stop.x) / 2, (start.y + stop.y) / 2];
    const inwards = Math.hypot(wide / 2 - x, y) || 1;
    group.append(svg("text", {
      class: "reading", x: x + (20 * (wide / 2 - x)) / inwards, y: y - (16 * y) / inwards,
      dy: 4, "text-anchor": "middle", text: percent(turned ? 1 - chance : chance),
    }));
  }
  return group;
}

function drawNode(item, { x, y, angle }, faint, room) {
  const side = Math.cos(angle);
  const anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
  const shift = anchor === "middle" ? 0 : 12 * Math.sign(side);
  const drop = anchor === "middle" ? 4 + 17 * Math.sin(angle) : 4;
  const kind = faint ? " faint" : "";
  return [
    svg("circle", { class: `node${kind}`, cx: x, cy: y, r: 6 }),
    svg("text", { class: `label${kind}`, x: x + shift, y: y + drop, "text-anchor": anchor, text: short(item, anchor === "middle" ? 28 : room) }),
  ];
}
