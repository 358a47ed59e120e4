// Lines with bands over time, as SVG.  Used for strengths and for two items head to head.
// Forecasts are dashed; where an item was not being compared its line is faint.

const CHART = { high: 300, left: 46, top: 12, bottom: 34 };

// series: [{ label, tone, at: t -> {chance, low, high}, there: t -> bool }]; length: number of
// times, forecasts included.  Reads values under the pointer, or under the arrow keys.
// Returns a function that moves the line at the time shown.
function drawChart(host, { series, length, label }) {
  const width = Math.max(280, host.clientWidth);
  const gutter = width > 620 && series.length > 1 ? 150 : 18;
  const labels = [...times, ...content.future].slice(0, length);
  const reach = chartRange(series, length);
  const place = (t) => content.places[t] / (content.places[length - 1] || 1);
  const x = (t) => CHART.left + (width - CHART.left - gutter) * place(t);
  const y = (share) =>
    CHART.top + ((CHART.high - CHART.top - CHART.bottom) * (reach.high - share)) / (reach.high - reach.low);
  const scale = { x, y, width, gutter, labels, length, reach };

  const picture = svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${CHART.high}`, width, height: CHART.high,
    role: "img", tabindex: 0, "aria-label": `${label} Arrow keys read the values.`,
  });
  picture.append(...chartFrame(scale));
  const drawn = series.map((one) => chartLine(one, scale));
  picture.append(...drawn.map(([band]) => band), ...drawn.map(([, course]) => course));
  if (gutter > 100) picture.append(...chartEndLabels(series, scale));
  const now = svg("path", { class: "now" });
  const markNow = () => now.setAttribute("d", `M${x(state.time)} ${CHART.top}V${CHART.high - CHART.bottom}`);
  markNow();
  picture.append(now);
  readChart(picture, series, scale);
  host.replaceChildren(picture);
  return markNow;
}

// The tenths between which all bands lie, and a half.
function chartRange(series, length) {
  let low = 0.5;
  let high = 0.5;
  for (const one of series) {
    for (let t = 0; t < length; t += 1) {
      const { low: bottom, high: top } = one.at(t);
      if (Number.isNaN(bottom) || Number.isNaN(top)) continue;
      low = Math.min(low, bottom);
      high = Math.max(high, top);
    }
  }
  low = Math.floor(10 * low + 1e-6) / 10;
  high = Math.ceil(10 * high - 1e-6) / 10;
  return { low: high - low < 0.2 ? Math.max(0, low - 0.1) : low, high: high - low < 0.2 ? Math.min(1, high + 0.1) : high };
}

function chartFrame({ x, y, width, gutter, labels, length, reach }) {
  const parts = [];
  for (let tenth = Math.round(10 * reach.low); tenth <= Math.round(10 * reach.high); tenth += 1) {
    const level = y(tenth / 10);
    const unit = tenth === Math.round(10 * reach.high) ? "\u00a0%" : "";
    parts.push(svg("path", { class: tenth === 5 ? "grid half" : "grid", d: `M${CHART.left} ${level}H${width - gutter}` }));
    parts.push(svg("text", { class: "tick", x: CHART.left - 8, y: level, dy: 4, "text-anchor": "end", text: `${10 * tenth}${unit}` }));
  }
  let last = -Infinity;
  for (let t = 0; t < length; t += 1) {
    if (x(t) - last < 90 || x(t) > width - 30) continue;
    last = x(t);
    parts.push(svg("text", { class: "tick", x: last, y: CHART.high - 10, "text-anchor": "middle", text: short(labels[t], 16) }));
  }
  if (length > nTimes) {
    const from = x(nTimes - 1);
    parts.push(svg("rect", { class: "ahead", x: from, y: CHART.top, width: x(length - 1) - from, height: CHART.high - CHART.top - CHART.bottom }));
    if (x(length - 1) - from > 60) parts.push(svg("text", { class: "tick", x: from + 6, y: CHART.top + 14, text: "forecast" }));
  }
  return parts;
}

// The band of a series, then its line in pieces: seen, faint, forecast.
function chartLine(one, { x, y, length }) {
  const known = [];
  for (let t = 0; t < length; t += 1) {
    const value = one.at(t);
    if (!Number.isNaN(value.chance)) known.push({ t, ...value });
  }
  const band = svg("g", { class: one.tone });
  const group = svg("g", { class: one.tone });
  if (!known.length) return [band, group];
  const top = known.map(({ t, high }) => `${x(t)} ${y(high)}`);
  const bottom = known.map(({ t, low }) => `${x(t)} ${y(low)}`).reverse();
  band.append(svg("path", { class: "band", d: `M${[...top, ...bottom].join("L")}Z` }));
  for (let k = 1; k < known.length; k += 1) {
    const [from, to] = [known[k - 1], known[k]];
    const kind = to.t >= nTimes ? "course forecast" : one.there(from.t) && one.there(to.t) ? "course" : "course faint";
    const before = group.lastChild;
    const step = `L${x(to.t)} ${y(to.chance)}`;
    if (before && before.getAttribute("class") === kind) before.setAttribute("d", before.getAttribute("d") + step);
    else group.append(svg("path", { class: kind, d: `M${x(from.t)} ${y(from.chance)}${step}` }));
  }
  return [band, group];
}

// Names beside the ends of their lines, moved apart where they would touch.
function chartEndLabels(series, { x, y, length }) {
  const ends = series
    .map((one) => ({ one, level: y(one.at(length - 1).chance) }))
    .filter(({ level }) => !Number.isNaN(level))
    .sort((a, b) => a.level - b.level);
  let last = -Infinity;
  for (const end of ends) last = end.spot = Math.max(end.level, last + 15);
  // Push back up what has fallen below the frame.
  let floor = CHART.high - CHART.bottom;
  for (const end of [...ends].reverse()) floor = (end.spot = Math.min(end.spot, floor)) - 15;
  const right = x(length - 1);
  return ends.map(({ one, level, spot }) =>
    svg("g", { class: one.tone },
      svg("path", { class: "tie", d: `M${right + 3} ${level}L${right + 14} ${spot}` }),
      svg("text", { class: "label", x: right + 18, y: spot, dy: 4, text: short(one.label, 18) })));
}

// A chance on a line from never to always, with its interval: where there are no times.
function drawRange(host, { chance, low, high }) {
  const width = limit(host.clientWidth, 280, 560);
  const x = (share) => 20 + (width - 40) * share;
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("path", { class: share === 0.5 ? "grid half" : "grid", d: `M${x(share)} 6V34` }),
    svg("text", { class: "tick", x: x(share), y: 52, "text-anchor": "middle", text: percent(share) }),
  ]);
  host.replaceChildren(svg("svg", { class: "chart range", viewBox: `0 0 ${width} 60`, width, height: 60, "aria-hidden": "true" },
    ...ticks,
    svg("g", { class: "s0" },
      svg("path", { class: "course", d: `M${x(low)} 20H${x(high)}` }),
      svg("circle", { class: "point", cx: x(chance), cy: 20, r: 6 }))));
}

// A line under the pointer, with the values there in the tooltip.
function readChart(picture, series, { x, y, length, labels }) {
  const rule = svg("path", { class: "rule", d: "" });
  picture.append(rule);
  let at = Math.min(state.time, length - 1);
  const read = (t) => {
    at = limit(t, 0, length - 1);
    rule.setAttribute("d", `M${x(at)} ${CHART.top}V${CHART.high - CHART.bottom}`);
    const lines = series
      .map((one) => ({ one, value: one.at(at) }))
      .filter(({ value }) => !Number.isNaN(value.chance))
      .sort((a, b) => b.value.chance - a.value.chance)
      .map(({ one, value }) => [
        html("span", { class: `swatch ${one.tone}` }),
        html("bdi", { text: short(one.label, 30) }),
        ` ${estimate(value)[0]} (${estimate(value)[1]})`,
      ]);
    const forecast = at >= nTimes ? " (forecast)" : "";
    return [labels[at] + forecast, ...lines];
  };
  const nearest = (event) => {
    const box = picture.getBoundingClientRect();
    const spot = ((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
    let best = 0;
    for (let t = 1; t < length; t += 1) if (Math.abs(x(t) - spot) < Math.abs(x(best) - spot)) best = t;
    return best;
  };
  const point = (event) => showTip(event.clientX, event.clientY, read(nearest(event)));
  const clear = () => {
    rule.setAttribute("d", "");
    hideTip();
  };
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerdown", point);
  picture.addEventListener("pointerleave", clear);
  picture.addEventListener("blur", clear);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -length, End: length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const lines = read(at + step);
    const box = picture.getBoundingClientRect();
    showTip(box.left + x(at), box.top + y(0.5) - 40, lines);
    say(tipText());
  });
}
