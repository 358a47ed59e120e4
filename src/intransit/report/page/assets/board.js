// The leaderboard: sorted by a click on a title, searched by name, a page at a time.

const PER_PAGE = 20;

function startBoard() {
  const sheet = document.querySelector(".sheet.board");
  const body = sheet.querySelector("tbody");
  const rows = [...body.rows].map((row) => ({
    row,
    name: row.cells[1].textContent,
    words: fold(row.cells[1].textContent),
    gone: row.cells[1].dataset.key === "gone",
    reach: row.cells[3].dataset.key.split(" ").map(Number),
  }));
  rows.forEach(({ row, gone }) => row.classList.toggle("gone", gone));
  const view = { rows, shown: rows, from: 0, body, scale: boardScale(rows), wanted: "", still: false, column: 0, down: false };

  const search = html("input", { type: "search", placeholder: "Search", "aria-label": "Search the leaderboard", oninput: () => {
    view.wanted = fold(search.value.trim());
    choose();
  } });
  const only = html("input", { type: "checkbox", onchange: () => {
    view.still = only.checked;
    choose();
  } });
  const status = html("span", { class: "caption", "aria-live": "polite", id: "board-status" });
  const back = html("button", { type: "button", class: "plain", text: "‹", "aria-label": "Previous page", onclick: () => turn(-PER_PAGE) });
  const forth = html("button", { type: "button", class: "plain", text: "›", "aria-label": "Next page", onclick: () => turn(PER_PAGE) });
  const pages = html("span", { class: "pages" }, back, status, forth);
  const tools = html("div", { class: "tools board-tools" }, search,
    rows.some(({ gone }) => gone) ? html("label", { class: "check" }, only, "Only those still compared") : null);
  sheet.querySelector(".save-bar").prepend(tools);
  sheet.append(pages);

  const choose = () => {
    view.shown = view.rows.filter(({ words, gone }) => words.includes(view.wanted) && !(view.still && gone));
    view.from = 0;
    draw();
  };
  const turn = (step) => {
    view.from = limit(view.from + step, 0, Math.max(0, view.shown.length - 1));
    draw();
  };
  const draw = () => {
    const page = view.shown.slice(view.from, view.from + PER_PAGE);
    page.forEach((one) => drawReach(one, view.scale));
    body.replaceChildren(...page.map(({ row }) => row));
    const total = view.shown.length;
    status.textContent = total ? `${whole(view.from + 1)} to ${whole(view.from + page.length)} of ${whole(total)}` : "No item has that name.";
    back.disabled = view.from === 0;
    forth.disabled = view.from + PER_PAGE >= total;
    pages.hidden = view.rows.length <= PER_PAGE && total > 0;
  };
  sortByTitles(sheet, view, choose);
  draw();
}

// Letters that a search takes for the same.
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

// A button in each title but that of the drawings; a second click turns the order round.
function sortByTitles(sheet, view, choose) {
  const titles = [...sheet.querySelectorAll("thead th")];
  const collator = new Intl.Collator("en", { numeric: true });
  titles.forEach((title, column) => {
    if (column === 3) return;
    const number = title.classList.contains("number");
    const button = html("button", { type: "button", class: "sort", text: title.textContent, onclick: () => {
      view.down = view.column === column ? !view.down : number && column > 0;
      view.column = column;
      const value = ({ row }) => (number ? Number(row.cells[column].dataset.key) : row.cells[column].textContent);
      const compare = number ? (a, b) => value(a) - value(b) : (a, b) => collator.compare(value(a), value(b));
      const rank = ({ row }) => Number(row.cells[0].dataset.key);
      view.rows.sort((a, b) => (view.down ? -1 : 1) * compare(a, b) || rank(a) - rank(b));
      mark();
      choose();
    } });
    title.replaceChildren(button);
  });
  const mark = () => titles.forEach((title, column) => {
    if (column === view.column) title.setAttribute("aria-sort", view.down ? "descending" : "ascending");
    else title.removeAttribute("aria-sort");
  });
  mark();
}

// The tenths between which all intervals lie, and a half: as they are drawn without a script.
function boardScale(rows) {
  const low = rows.reduce((least, { reach }) => Math.min(least, reach[1]), 0.5);
  const high = rows.reduce((most, { reach }) => Math.max(most, reach[2]), 0.5);
  return [Math.floor(10 * low) / 10, Math.ceil(10 * high) / 10];
}

// A dot with its interval, where it has not been drawn yet.
function drawReach({ row, reach }, [start, stop]) {
  const cell = row.cells[3];
  if (cell.firstChild) return;
  const [at, left, right, half] = [...reach, 0.5].map((value) => 6 + (108 * (limit(value, start, stop) - start)) / (stop - start || 1));
  cell.append(svg("svg", { class: "interval", viewBox: "0 0 120 18", width: 120, height: 18, "aria-hidden": "true" },
    svg("path", { class: "mark", d: `M${half} 1V17` }),
    svg("path", { class: "whisker", d: `M${left} 9H${right}` }),
    svg("circle", { class: "dot", cx: at, cy: 9, r: 3.5 })));
}
