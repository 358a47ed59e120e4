// The matrix as a heat map: a canvas for the cells, ordinary text for the names.

const N_HEAT = 21;

function startMatrix() {
  const host = live("matrix");
  const legend = host.querySelector(".legends");
  const canvas = html("canvas", {
    tabindex: 0, role: "application", "aria-roledescription": "heat map",
    "aria-label": "Chance that the row beats the column. Arrow keys move from cell to cell, Enter compares the two head to head.",
  });
  const rows = html("div", { class: "row-names", "aria-hidden": "true" });
  const columns = html("div", { class: "column-names", "aria-hidden": "true" });
  const cursor = html("div", { class: "cursor", hidden: true });
  const cells = html("div", { class: "cells" }, canvas, cursor);
  const map = html("div", { class: "map" }, html("div", { class: "corner" }), columns, rows, cells);
  const box = html("div", { class: "scroll map-box" }, map);
  const orders = [["structure", "Structure"], ["strength", "Strength"], ["name", "Name"]];
  const tools = html("div", { class: "tools" },
    html("span", { class: "caption", text: "Order by" }),
    choice("Order of the matrix", orders, state.order, (order) => change({ order })));
  host.replaceChildren(tools, box, legend);

  const view = { order: [], side: 0, box, canvas, rows, columns, cursor, at: null };
  const draw = () => drawMatrix(view);
  when(["order", "theme"], draw);
  when(["time"], () => (state.order === "strength" ? draw() : paintCells(view)));
  draw();
  onResize(box, draw);
  readMatrix(view);
}

// The items in the order that was chosen; by strength, it is that of the time shown.
function matrixOrder() {
  if (state.order === "name") return byName();
  if (state.order === "strength") return byStrength(state.time);
  return names.map((_, place) => place);
}

// Colours of the theme, finer than its steps: 201 of them from the least to the greatest chance.
function heatColours() {
  const style = getComputedStyle(document.documentElement);
  const stops = [];
  for (let k = 0; k < N_HEAT; k += 1) {
    const text = style.getPropertyValue(`--h${k}`).trim();
    stops.push([1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
  }
  return Array.from({ length: 201 }, (_, k) => {
    const place = (k / 200) * (N_HEAT - 1);
    const below = Math.min(Math.floor(place), N_HEAT - 2);
    const [red, green, blue] = stops[below].map((value, channel) =>
      Math.round(value + (place - below) * (stops[below + 1][channel] - value)));
    // Black or white ink, whichever stands out from the cell.
    const light = (0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2) / 255 ** 2.2;
    return { cell: `rgb(${red},${green},${blue})`, ink: light > 0.18 ? "#14161a" : "#ffffff" };
  });
}

function heatPlace(chance) {
  if (Number.isNaN(chance)) return 100;
  return Math.round(200 * limit(0.5 + (chance - 0.5) / (2 * content.reach), 0, 1));
}

// Everything anew: for another width, order or theme.
function drawMatrix(view) {
  view.order = matrixOrder();
  const wide = view.box.clientWidth;
  const longest = Math.max(...names.map((name) => name.length));
  const margin = limit(20 + 7 * longest, 50, wide < 560 ? 92 : 150);
  // As large as the width allows, yet no larger than needed to see it all with the slider.
  const tall = Math.max(25, Math.floor((0.78 * window.innerHeight) / nItems));
  view.side = limit(Math.floor((wide - margin - 2) / nItems), 11, Math.min(42, tall));
  view.box.style.setProperty("--side", `${view.side}px`);
  view.box.style.setProperty("--margin", `${margin}px`);
  const letters = limit(view.side - 2, 9, 13);
  view.box.style.setProperty("--letters", `${letters}px`);
  const most = Math.floor((margin - 10) / (0.62 * letters)); // a letter is about so wide
  for (const labels of [view.rows, view.columns]) {
    labels.replaceChildren(...view.order.map((i) => html("span", { title: names[i] }, html("bdi", { text: short(names[i], most) }))));
  }
  view.at = null;
  view.cursor.hidden = true;
  paintCells(view);
}

function paintCells({ canvas, order, side }) {
  const dots = window.devicePixelRatio || 1;
  const size = side * nItems;
  canvas.width = canvas.height = Math.round(size * dots);
  canvas.style.width = canvas.style.height = `${size}px`;
  const pen = canvas.getContext("2d");
  pen.scale(dots, dots);
  const colours = heatColours();
  const style = getComputedStyle(document.documentElement);
  const gap = side > 16 ? 1 : 0.5;
  const [paper, soft] = ["--surface", "--soft"].map((key) => style.getPropertyValue(key));
  pen.fillStyle = paper;
  pen.fillRect(0, 0, size, size);
  pen.font = `${Math.min(12, Math.floor(side * 0.42))}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let row = 0; row < nItems; row += 1) {
    for (let column = 0; column < nItems; column += 1) {
      if (row === column) continue;
      const [i, j] = [order[row], order[column]];
      if (content.together[i] !== content.together[j]) continue; // nothing connects them
      const { chance } = reading(state.time, i, j);
      const { cell, ink } = colours[heatPlace(chance)];
      pen.globalAlpha = present(state.time, i) && present(state.time, j) ? 1 : 0.35;
      pen.fillStyle = cell;
      pen.fillRect(column * side, row * side, side - gap, side - gap);
      const hollow = record(i, j).games === 0;
      if (hollow) {
        const rim = side > 16 ? 3 : 2;
        pen.fillStyle = paper;
        pen.fillRect(column * side + rim, row * side + rim, side - gap - 2 * rim, side - gap - 2 * rim);
      }
      if (side < 25 || Number.isNaN(chance)) continue;
      pen.fillStyle = hollow ? soft : ink;
      pen.fillText((100 * chance).toFixed(0), (column + 0.5) * side, (row + 0.5) * side);
    }
  }
  pen.globalAlpha = 1;
  canvas.dataset.drawn = `${state.time} ${state.order}`;
}

// What a cell says, as lines of the tooltip.
function cellLines(i, j) {
  if (i === j) return [names[i]];
  const [chance, between] = estimate(reading(state.time, i, j));
  const lines = [
    [html("bdi", { text: short(names[i], 40) }), " beats ", html("bdi", { text: short(names[j], 40) })],
    `${chance}, 90\u00a0% interval ${between}`,
    recordWords(i, j),
  ];
  if (content.together[i] !== content.together[j]) lines.push("No chain of comparisons connects the two.");
  if (!present(state.time, i) || !present(state.time, j)) lines.push("At least one of them was not being compared at that time.");
  return lines;
}

function readMatrix(view) {
  const { canvas, cursor } = view;
  const mark = (row, column) => {
    view.at = [row, column];
    cursor.hidden = false;
    cursor.style.transform = `translate(${column * view.side}px, ${row * view.side}px)`;
    view.rows.childNodes.forEach((label, k) => label.classList.toggle("marked", k === row));
    view.columns.childNodes.forEach((label, k) => label.classList.toggle("marked", k === column));
    return cellLines(view.order[row], view.order[column]);
  };
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const [column, row] = [event.clientX - box.left, event.clientY - box.top].map((far) =>
      limit(Math.floor(far / view.side), 0, nItems - 1));
    return [row, column];
  };
  const compare = () => {
    const [first, second] = view.at.map((place) => view.order[place]);
    if (first !== second) change({ first, second });
  };
  const point = (event) => showTip(event.clientX, event.clientY, mark(...find(event)));
  const clear = () => {
    hideTip();
    cursor.hidden = true;
    labelsOf(view).forEach((label) => label.classList.remove("marked"));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("click", (event) => {
    mark(...find(event));
    compare();
  });
  canvas.addEventListener("pointerleave", clear);
  canvas.addEventListener("blur", clear);
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Enter" && view.at) compare();
    if (!steps[event.key]) return;
    event.preventDefault();
    const [row, column] = view.at || [0, 0];
    const [down, right] = view.at ? steps[event.key] : [0, 1];
    const lines = mark(limit(row + down, 0, nItems - 1), limit(column + right, 0, nItems - 1));
    const box = canvas.getBoundingClientRect();
    showTip(box.left + (view.at[1] + 1) * view.side, box.top + (view.at[0] + 1) * view.side, lines);
    say(tipText());
  });
}

function labelsOf(view) {
  return [...view.rows.childNodes, ...view.columns.childNodes];
}
