// Strength over time of the items that were chosen, with bands.

const MOST_CHOSEN = 8;

function startStrengths() {
  const host = live("strengths");
  if (!host || !dated) return;
  const chips = html("div", { class: "chips", role: "group", "aria-label": "Items shown" });
  const add = itemSelect("Add an item", (value) => {
    if (value !== "") addItem(Number(value));
    add.value = "";
  }, "Add an item …");
  const leaders = byStrength(nTimes - 1).filter((i) => present(nTimes - 1, i)).slice(0, 6);
  const reset = html("button", { type: "button", class: "plain", text: "The strongest", onclick: () => change({ chosen: leaders }) });
  const frame = html("div", { class: "frame" });
  host.replaceChildren(html("div", { class: "tools" }, add, reset), chips, frame);

  // A colour stays with its item as long as the item is shown.
  const tones = new Map();
  let markNow;
  const draw = () => {
    settleTones(tones);
    chips.replaceChildren(...state.chosen.map((i) => chip(i, tones.get(i), frame)));
    markNow = drawChart(frame, {
      label: "Strength over time of the chosen items.",
      length: nTimes,
      series: state.chosen.map((i) => ({
        label: names[i],
        tone: `s${tones.get(i)}`,
        at: (t) => strength(t, i),
        there: (t) => present(t, i),
      })),
    });
    host.dataset.drawn = state.chosen.join(" ");
  };
  when(["chosen"], draw);
  when(["time"], () => markNow());
  draw();
  onResize(frame, draw);
}

function settleTones(tones) {
  for (const i of [...tones.keys()]) if (!state.chosen.includes(i)) tones.delete(i);
  const used = new Set(tones.values());
  for (const i of state.chosen) {
    if (tones.has(i)) continue;
    let tone = 0;
    while (used.has(tone)) tone += 1;
    used.add(tone);
    tones.set(i, tone);
  }
}

// The newest item takes the place of the oldest when there is no room.
function addItem(i) {
  if (state.chosen.includes(i)) return;
  change({ chosen: [...state.chosen.slice(-(MOST_CHOSEN - 1)), i] });
}

// Pointing at a chip brings out its line, a click takes it away.
function chip(i, tone, frame) {
  const remove = () => change({ chosen: state.chosen.filter((other) => other !== i) });
  const bringOut = (only) => frame.querySelectorAll("g").forEach((line) =>
    line.classList.toggle("dimmed", only && !line.classList.contains(`s${tone}`)));
  return html("button", {
    type: "button", class: `chip s${tone}`, title: names[i], onclick: remove,
    onpointerenter: () => bringOut(true), onpointerleave: () => bringOut(false),
    onfocus: () => bringOut(true), onblur: () => bringOut(false),
    "aria-label": `Remove ${short(names[i], 60)}`,
  }, html("span", { class: "swatch" }), html("bdi", { class: "name", text: names[i] }), html("span", { class: "cross", text: "×", "aria-hidden": "true" }));
}
