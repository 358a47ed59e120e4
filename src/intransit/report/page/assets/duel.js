// Two items head to head: the chance over time with its band, the forecast, and their games.

function startDuel() {
  const host = live("duel");
  const frame = html("div", { class: "frame" });
  const chance = html("p", { class: "chance", "aria-live": "polite" });
  const facts = html("p", { class: "caption" });
  const selects = [
    itemSelect("First item", (value) => meet("first", Number(value))),
    itemSelect("Second item", (value) => meet("second", Number(value))),
  ];
  const swap = html("button", {
    type: "button", class: "plain", text: "⇄", "aria-label": "Swap the two", title: "Swap the two",
    onclick: () => change({ first: state.second, second: state.first }),
  });
  host.replaceChildren(
    html("div", { class: "tools duel-tools" }, selects[0], html("span", { class: "caption", text: "against" }), selects[1], swap),
    chance, frame, facts);

  const length = nTimes + content.future.length;
  let markNow;
  const draw = () => {
    const { first, second } = state;
    selects[0].value = String(first);
    selects[1].value = String(second);
    sayChance(chance, facts);
    if (length > 1) markNow = drawDuel(frame, first, second, length);
    else drawRange(frame, reading(0, first, second));
    host.dataset.drawn = `${first} ${second}`;
  };
  when(["first", "second"], draw);
  when(["time"], () => {
    sayChance(chance, facts);
    markNow();
  });
  draw();
  onResize(frame, draw);
}

function drawDuel(frame, first, second, length) {
  return drawChart(frame, {
    label: `Chance of ${short(names[first], 40)} against ${short(names[second], 40)} over time.`,
    length,
    series: [{
      label: names[first],
      tone: "s0",
      at: (t) => reading(t, first, second),
      there: (t) => t >= nTimes || (present(t, first) && present(t, second)),
    }],
  });
}

// Choosing the other one's item swaps the two: nobody meets himself.
function meet(side, item) {
  const other = side === "first" ? "second" : "first";
  if (state[other] === item) change({ [side]: item, [other]: state[side] });
  else change({ [side]: item });
}

function sayChance(chance, facts) {
  const { first, second, time } = state;
  const [middle, between] = estimate(reading(time, first, second));
  const moment = times[time] ? ` at ${times[time]}` : "";
  chance.replaceChildren(
    html("b", { text: middle }), html("span", { text: `90\u00a0% interval ${between}` }),
    html("span", {}, nameTag(first), " beats ", nameTag(second), moment));
  const parts = [record(first, second).games ? `For the first, ${recordWords(first, second)}` : recordWords(first, second)];
  if (content.together[first] !== content.together[second]) {
    parts.push("No chain of comparisons connects the two, so nothing is known of their chances.");
  }
  if (content.future.length) parts.push("The forecast is dashed.");
  facts.textContent = parts.join(" ");
}
