// Small tools: elements, words, the tooltip, and the state that the pictures share.
// Names only ever become text nodes or attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";
const live = (key) => document.querySelector(`[data-live="${key}"]`);

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A name in its own direction; the layout may cut it, the title does not.
function nameTag(place, attributes) {
  return html("bdi", { class: "name", title: names[place], text: names[place], ...attributes });
}

// Without what would turn the text around it: for labels in pictures and for sentences.
// The last third is kept, as in report/wording.py: names often differ at their ends.
function short(name, most) {
  const letters = Array.from(name.replace(/[\u202a-\u202e\u2066-\u2069]/g, ""));
  if (letters.length <= most) return letters.join("");
  const end = Math.floor((most - 1) / 3);
  const [first, last] = [letters.slice(0, most - 1 - end), letters.slice(letters.length - end)];
  return `${first.join("").trimEnd()}…${last.join("").trimStart()}`;
}

// As intransit/percent.py writes them: the two must agree.
function percent(share, digits = 0) {
  if (Number.isNaN(share)) return "–";
  const value = limit(share, 0, 1);
  const finest = Math.max(digits, 1);
  for (let finer = digits; finer <= finest; finer += 1) {
    const text = (100 * value).toFixed(finer);
    if (value === 0 || value === 1 || (Number(text) > 0 && Number(text) < 100)) return `${text}\u00a0%`;
  }
  const unit = 10 ** -finest;
  return value < 0.5 ? `<\u00a0${unit.toFixed(finest)}\u00a0%` : `>\u00a0${(100 - unit).toFixed(finest)}\u00a0%`;
}

// A share and its interval, whose ends are rounded outwards, in digits that suit both.
function estimate({ chance, low, high }, digits = 0) {
  if ([chance, low, high].some(Number.isNaN)) return [percent(chance, digits), "–"];
  const [least, most] = [Math.min(low, chance), limit(Math.max(high, chance), 0, 1)];
  let finer = digits;
  while (finer < 1 && most > least && 100 * (most - least) < 2 * 10 ** -finer) finer += 1;
  const unit = 10 ** finer;
  const even = (value) => Math.round(value * 1e6) / 1e6;
  const bottom = Math.min(Math.floor(even(100 * least * unit)), 100 * unit - (least < 1 ? 1 : 0));
  const top = Math.max(Math.ceil(even(100 * most * unit)), most > 0 ? 1 : 0);
  return [percent(chance, finer), `${(bottom / unit).toFixed(finer)} to ${(top / unit).toFixed(finer)}\u00a0%`];
}

function whole(value) {
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1);
}

function count(value, noun) {
  return `${whole(value)} ${noun}${value === 1 ? "" : "s"}`;
}

function limit(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

// ---- what the pictures share -------------------------------------------------------------

const state = {
  time: nTimes - 1,
  order: "structure",
  chosen: content.drawn,
  ...firstDuel(),
  cycle: 0,
};

// Two items to begin with: the first two of the surest cycle, or else the strongest
// and the next that comparisons connect it with.
function firstDuel() {
  const [first, second] = (content.cycles[0] ? content.cycles[0].items : []).map((item) => placeOf.get(item));
  if (first !== undefined && second !== undefined) return { first, second };
  const [best, ...others] = byStrength(nTimes - 1);
  const next = others.find((i) => content.together[i] === content.together[best]) ?? others[0];
  return { first: best, second: next ?? best };
}

const listeners = new Map();

// Call `react` whenever one of the named parts of the state has changed.
function when(parts, react) {
  for (const part of parts) listeners.set(part, [...(listeners.get(part) || []), react]);
}

// Change parts of the state, and tell everybody who watches one of them, once each.
function change(parts) {
  const changed = Object.keys(parts).filter((key) => state[key] !== parts[key]);
  Object.assign(state, parts);
  const told = new Set(changed.flatMap((key) => listeners.get(key) || []));
  for (const react of told) react();
}

// ---- one tooltip, and one voice for readers of screens -------------------------------------

const tooltip = html("div", { class: "tooltip", role: "tooltip", hidden: true });
const voice = html("p", { class: "unseen", "aria-live": "polite", id: "voice" });
document.body.append(tooltip, voice);

// Show lines beside a point of the window; the first one is the heading.
function showTip(x, y, lines) {
  tooltip.replaceChildren(
    ...lines.map((line, k) => {
      const row = html(k ? "p" : "strong", { dir: "auto" });
      row.append(...(Array.isArray(line) ? line : [line]));
      return row;
    }),
  );
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = x + 16 + box.width > width ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > window.innerHeight ? y - 16 - box.height : y + 16;
  tooltip.style.left = `${limit(left, 4, Math.max(4, width - box.width - 4))}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() {
  tooltip.hidden = true;
}

// The tooltip as one text, to be read out.
function tipText() {
  return [...tooltip.children].map((line) => line.textContent).join(". ");
}

function say(text) {
  voice.textContent = text;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
window.addEventListener("scroll", hideTip, { passive: true });

// A choice of one among a few, as buttons beside each other.
function choice(label, options, chosen, onChoose) {
  const group = html("div", { class: "choice", role: "radiogroup", "aria-label": label });
  const id = `choice-${label.replace(/\W+/g, "-").toLowerCase()}`;
  for (const [value, text] of options) {
    const input = html("input", {
      type: "radio", name: id, value, checked: value === chosen, onchange: () => onChoose(value),
    });
    group.append(html("label", {}, input, html("span", { text })));
  }
  return group;
}

// A list of all items to choose from, by name.
function itemSelect(label, onChoose, first) {
  const select = html("select", { "aria-label": label, onchange: () => onChoose(select.value) });
  if (first) select.append(html("option", { value: "", text: first }));
  for (const i of byName()) {
    select.append(html("option", { value: String(i), text: short(names[i], 60) }));
  }
  return select;
}

function byName() {
  const order = names.map((_, place) => place);
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return order.sort((a, b) => compare(names[a], names[b]) || a - b);
}

// Whether two boxes [left, top, right, bottom] touch.
function touch(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

// Draw again when the room for a picture, the theme or the ink on paper changes.
function onResize(element, draw) {
  let before = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth === before) return;
    before = element.clientWidth;
    draw();
  }).observe(element);
}
