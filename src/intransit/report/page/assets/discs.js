// Ways of countering: items as points around a centre, which move with time.
// Each is favoured over those anticlockwise of it; pointing at one shows whom.

const DISC = { wide: 340, high: 300, radius: 125, senseBox: [236, 30, 312, 72] };
const MOST_DISC_LABELS = 16;

function startDiscs() {
  document.querySelectorAll("[data-disc]").forEach((host) => {
    const points = unpack(content.discs[Number(host.dataset.disc)].points);
    const spot = (t, i) => {
      const at = 2 * (t * nItems + i);
      return [2 * points[at] - 1, 2 * points[at + 1] - 1];
    };
    startDisc(host, spot);
  });
}

function startDisc(host, spot) {
  const layers = { dots: svg("g"), labels: svg("g"), links: svg("g") };
  // The frame of the still picture stays; its points and names are drawn anew.
  const picture = host.querySelector("svg");
  picture.querySelectorAll(".dot, .label").forEach((part) => part.remove());
  picture.append(layers.links, layers.labels, layers.dots);

  const view = { spot, picture, layers, marked: null };
  const dots = names.map((_, i) => {
    const dot = svg("circle", { class: "dot", r: 4.5, tabindex: -1 });
    dot.addEventListener("pointerenter", (event) => pointAt(view, i, event.clientX, event.clientY));
    dot.addEventListener("pointerdown", (event) => pointAt(view, i, event.clientX, event.clientY));
    dot.addEventListener("pointerleave", () => pointAt(view, null));
    return dot;
  });
  layers.dots.append(...dots);
  const draw = () => {
    names.forEach((_, i) => {
      const [x, y] = discPlace(spot(state.time, i));
      dots[i].style.transform = `translate(${x}px, ${y}px)`;
      dots[i].classList.toggle("faint", !present(state.time, i));
    });
    layers.labels.replaceChildren(...discLabels(view));
    layers.links.replaceChildren();
    host.dataset.drawn = String(state.time);
  };
  when(["time"], draw);
  draw();
  readDisc(view);
}

// From a share of the circle, y upwards, to the picture.
function discPlace([across, up]) {
  return [DISC.wide / 2 + DISC.radius * across, DISC.high / 2 - DISC.radius * up];
}

// By how much one point is favoured over another: twice the area between them, with its sign.
function favour([a, b], [c, d]) {
  return a * d - b * c;
}

// Names of the farthest points, off other names and points.
function discLabels({ spot }) {
  const places = names.map((_, i) => discPlace(spot(state.time, i)));
  const far = (i) => Math.hypot(...spot(state.time, i));
  const order = names.map((_, i) => i).filter((i) => present(state.time, i)).sort((a, b) => far(b) - far(a) || a - b);
  const dots = places.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const taken = [DISC.senseBox];
  const labels = [];
  for (const i of order) {
    if (labels.length === MOST_DISC_LABELS) break;
    const text = short(names[i], 16);
    const others = [...taken, ...dots.filter((_, k) => k !== i)];
    const free = beside(...places[i], 6.1 * Array.from(text).length).find(({ box }) =>
      box[0] >= 0 && box[2] <= DISC.wide && box[1] >= 0 && box[3] <= DISC.high && !others.some((other) => touch(box, other)));
    if (!free) continue;
    taken.push(free.box);
    labels.push(svg("text", { class: "label", x: free.x, y: free.y, dy: 4, "text-anchor": free.anchor, text }));
  }
  return labels;
}

// Where a label may stand: outwards, inwards, above, below; with the box it fills.
function beside(x, y, width) {
  const right = { x: x + 9, y, anchor: "start", box: [x + 9, y - 7, x + 9 + width, y + 7] };
  const left = { x: x - 9, y, anchor: "end", box: [x - 9 - width, y - 7, x - 9, y + 7] };
  const above = { x, y: y - 13, anchor: "middle", box: [x - width / 2, y - 20, x + width / 2, y - 6] };
  const below = { x, y: y + 13, anchor: "middle", box: [x - width / 2, y + 6, x + width / 2, y + 20] };
  return x >= DISC.wide / 2 ? [right, left, above, below] : [left, right, above, below];
}

// Show whom an item counters in this picture, and who counters it.
function pointAt(view, item, clientX, clientY) {
  const { layers, spot } = view;
  view.marked = item;
  const dots = [...layers.dots.childNodes];
  dots.forEach((dot) => dot.classList.remove("marked", "beaten", "beating"));
  layers.links.replaceChildren();
  layers.labels.classList.toggle("dimmed", item !== null);
  if (item === null) {
    hideTip();
    return;
  }
  const here = spot(state.time, item);
  const edges = names
    .map((_, other) => ({ other, size: favour(here, spot(state.time, other)) }))
    .filter(({ other, size }) => other !== item && Math.abs(size) > 0.02 && present(state.time, other))
    .sort((a, b) => b.size - a.size);
  dots[item].classList.add("marked");
  for (const { other, size } of edges) {
    dots[other].classList.add(size > 0 ? "beaten" : "beating");
    if (size <= 0) continue;
    const [[x, y], [u, v]] = [here, spot(state.time, other)].map(discPlace);
    layers.links.append(svg("path", { class: "link", d: `M${x} ${y}L${u} ${v}`, "stroke-opacity": limit(0.15 + size, 0.15, 0.8) }));
  }
  const list = (chosen) => chosen.slice(0, 4).map(({ other }) => short(names[other], 24)).join(", ") || "nobody";
  showTip(clientX, clientY, [
    short(names[item], 60),
    `Beyond strengths it beats most: ${list(edges.filter(({ size }) => size > 0))}`,
    `and loses most to: ${list(edges.filter(({ size }) => size < 0).reverse())}`,
  ]);
}

// The arrow keys go from point to point, anticlockwise.
function readDisc(view) {
  const { picture, spot } = view;
  picture.setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const turn = (i) => Math.atan2(spot(state.time, i)[1], spot(state.time, i)[0]);
    const around = names.map((_, i) => i).sort((a, b) => turn(a) - turn(b) || a - b);
    const before = view.marked === null ? -step : around.indexOf(view.marked);
    const item = around[(before + step + nItems) % nItems];
    const box = picture.getBoundingClientRect();
    const [x, y] = discPlace(spot(state.time, item));
    pointAt(view, item, box.left + (x * box.width) / DISC.wide, box.top + (y * box.height) / DISC.high);
    say(tipText());
  });
  picture.addEventListener("blur", () => pointAt(view, null));
}
