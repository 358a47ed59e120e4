// The time slider, the theme, the address, and the start of everything.

const PLAY_STEP = 700; // milliseconds

// One slider for all pictures that change with time; it stays in view beside them.
function startSlider() {
  if (!dated) return;
  const output = html("output", { for: "time", "aria-live": "polite" });
  const slider = html("input", {
    id: "time", type: "range", min: 0, max: nTimes - 1, step: 1, "aria-label": "Time shown",
    oninput: () => {
      stop();
      change({ time: Number(slider.value) });
    },
  });
  const button = html("button", { type: "button", class: "play", onclick: () => (timer ? stop() : play()) });
  let timer = 0;
  const stop = () => {
    window.clearInterval(timer);
    timer = 0;
    label();
  };
  const step = () => {
    if (state.time === nTimes - 1) stop();
    else change({ time: state.time + 1 });
  };
  const play = () => {
    if (state.time === nTimes - 1) change({ time: 0 });
    timer = window.setInterval(step, PLAY_STEP);
    label();
  };
  const label = () => {
    button.textContent = timer ? "❚❚" : "▶";
    button.setAttribute("aria-label", timer ? "Pause" : "Play through time");
    output.setAttribute("aria-live", timer ? "off" : "polite");
  };
  const show = () => {
    slider.value = String(state.time);
    slider.setAttribute("aria-valuetext", times[state.time]);
    output.textContent = times[state.time];
  };
  when(["time"], show);
  show();
  label();
  document.getElementById("timed").append(html("div", { class: "time-bar", role: "group", "aria-label": "Time" }, button, slider, output));
}

// Light and dark follow the system until somebody asks for the other one.
function startTheme() {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const button = html("button", { type: "button", class: "plain theme" });
  const label = () => {
    button.textContent = dark() ? "☀" : "☾";
    button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
    button.title = button.getAttribute("aria-label");
    change({ theme: dark() ? "dark" : "light" });
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  // Paper is light, whatever the screen is.
  let kept;
  window.addEventListener("beforeprint", () => {
    kept = root.dataset.theme;
    root.dataset.theme = "light";
    label();
  });
  window.addEventListener("afterprint", () => {
    if (kept) root.dataset.theme = kept;
    else delete root.dataset.theme;
    label();
  });
  document.querySelector("header").append(button);
  label();
}

// The contents of a narrow screen close once something was chosen, or beside them.
function startMenu() {
  const menu = document.querySelector("details.menu");
  document.addEventListener("click", (event) => {
    if (menu.open && (event.target.closest(".menu a") || !menu.contains(event.target))) menu.open = false;
  });
}

// The address keeps the pair and the time, so that a link shows what its sender saw.
function readAddress() {
  const asked = new URLSearchParams(window.location.hash.slice(1));
  const parts = {};
  const first = placeOf.get(asked.get("a"));
  const second = placeOf.get(asked.get("b"));
  const time = times.indexOf(asked.get("t"));
  if (first !== undefined && second !== undefined && first !== second) Object.assign(parts, { first, second });
  if (time >= 0) parts.time = time;
  change(parts);
}

// A little later and once for many changes: browsers refuse addresses that change too often.
let writing = 0;
function writeAddressSoon() {
  window.clearTimeout(writing);
  writing = window.setTimeout(writeAddress, 150);
}

function writeAddress() {
  const parts = new URLSearchParams({ a: names[state.first], b: names[state.second] });
  if (dated) parts.set("t", times[state.time]);
  try {
    window.history.replaceState(null, "", `#${parts}`);
  } catch {
    // Some viewers forbid it; the page works without.
  }
}

// Each part replaces its still picture; if one fails, the picture and the others stay.
for (const part of [startTheme, startMenu, startBoard, startMatrix, startStrengths, startDiscs, startCycles, startDuel, startSlider]) {
  try {
    part();
  } catch (error) {
    console.error(error);
  }
}
document.documentElement.classList.add("scripted");
readAddress();
window.addEventListener("hashchange", readAddress);
when(["first", "second", "time"], writeAddressSoon);
