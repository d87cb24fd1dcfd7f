const FILTERS = { language: "Language", class: "Class", conformance: "Conformance", slow: "Slow readers" };
const TEXTS = [...Object.keys(FILTERS), "limit", "most", "sort"];
const state = { pick: new Set(), only: false, down: false };
TEXTS.forEach((name) => { state[name] = ""; });
const rows = [...document.querySelectorAll("table.board tr[data-key]")];
const boards = [...document.querySelectorAll("table.board")];
const links = [...document.querySelectorAll("a[href]")].filter((link) => {
  return /^(?![a-z]+:)[^#]*\.html$/.test(link.getAttribute("href"));
});
links.forEach((link) => { link.dataset.page = link.getAttribute("href"); });

const readState = () => {
  const hash = location.hash.slice(1);
  if (!hash.includes("=")) return;
  const told = new URLSearchParams(hash);
  state.pick = new Set((told.get("pick") || "").split(",").filter(Boolean).map(decodeURIComponent));
  for (const name of TEXTS) state[name] = told.get(name) || "";
  for (const name of ["only", "down"]) state[name] = told.get(name) === "1";
};
const stateHash = () => {
  const told = new URLSearchParams();
  if (state.pick.size) told.set("pick", [...state.pick].map(encodeURIComponent).join(","));
  for (const name of TEXTS) if (state[name]) told.set(name, state[name]);
  for (const name of ["only", "down"]) if (state[name]) told.set(name, "1");
  const text = told.toString();
  return text ? "#" + text : "";
};
const keepState = () => {
  const hash = stateHash();
  links.forEach((link) => link.setAttribute("href", link.dataset.page + hash));
  if (location.hash !== hash && (hash || location.hash.includes("="))) {
    history.replaceState(null, "", hash || location.pathname);
  }
};

const isWithin = (row) => {
  if (!state.limit || state.most === "") return true;
  const heads = [...row.closest("table").tHead.rows[0].cells];
  const index = heads.findIndex((head) => head.textContent === state.limit);
  if (index < 0) return true;
  const value = row.cells[index].dataset.value;
  return value !== undefined && Number(value) <= Number(state.most);
};
// A table that does not say it of its rows is not filtered by it.
const fitsFilters = (row) => Object.keys(FILTERS).every((name) => {
  return !state[name] || row.dataset[name] === undefined || state[name] === row.dataset[name];
});

const showState = () => {
  const colours = new Map([...state.pick].map((key, number) => [key, "c" + (number % 8)]));
  const paint = (one, key) => {
    one.classList.remove("c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7");
    one.classList.toggle("picked", colours.has(key));
    if (colours.has(key)) one.classList.add(colours.get(key));
  };
  const shown = new Set();
  const known = new Set();
  for (const row of rows) {
    const { key } = row.dataset;
    const fits = fitsFilters(row) && isWithin(row);
    row.hidden = !fits || (state.only && state.pick.size > 0 && !state.pick.has(key));
    known.add(key);
    if (!row.hidden) shown.add(key);
    const box = row.querySelector("input[type=checkbox]");
    if (box) box.checked = state.pick.has(key);
    paint(row, key);
  }
  for (const one of document.querySelectorAll("[data-charts] [data-key]")) {
    const hidden = known.has(one.dataset.key) && !shown.has(one.dataset.key);
    one.toggleAttribute("hidden", hidden);
    paint(one, one.dataset.key);
  }
  for (const select of document.querySelectorAll(".controls select")) select.value = state[select.name];
  for (const most of document.querySelectorAll(".controls input[name=most]")) most.value = state.most;
  for (const only of document.querySelectorAll(".controls input[name=only]")) only.checked = state.only;
  for (const link of document.querySelectorAll("[data-side] a")) {
    const several = state.pick.size > 1;
    link.textContent = several ? "Put the picked rows side by side" : "Pick two to four rows to put them side by side";
  }
  for (const told of document.querySelectorAll(".controls output")) {
    told.textContent = `${shown.size} of ${known.size} rows shown, ${state.pick.size} picked`;
  }
};
const changeState = () => {
  showState();
  keepState();
};

const add = (parent, tag, text = "", more = {}) => {
  const made = Object.assign(document.createElement(tag), more);
  if (text) made.append(text);
  parent.append(made);
  return made;
};
for (const place of document.querySelectorAll("[data-controls]")) {
  const form = add(place, "form", "", { className: "controls" });
  form.setAttribute("aria-label", "Rows");
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const name of Object.keys(FILTERS)) {
    const always = name === "language" || name === "class";
    if (!always && !rows.some((row) => name in row.dataset)) continue;
    const label = add(form, "label", FILTERS[name] + " ");
    const select = add(label, "select", "", { name });
    add(select, "option", "all", { value: "" });
    const values = new Set(rows.map((row) => row.dataset[name]).filter((value) => value !== undefined));
    if (state[name]) values.add(state[name]);
    [...values].sort().forEach((value) => add(select, "option", value, { value }));
    select.addEventListener("change", () => { state[name] = select.value; changeState(); });
  }
  if ("atMost" in place.dataset) {
    const label = add(form, "label", "At most ");
    const most = add(label, "input", "", { type: "number", name: "most", min: "0", step: "any" });
    label.append(" in ");
    const limit = add(add(form, "label", ""), "select", "", { name: "limit" });
    limit.setAttribute("aria-label", "Column that is limited");
    add(limit, "option", "no column", { value: "" });
    document.querySelectorAll("table.board thead th.number").forEach((head) => add(limit, "option", head.textContent));
    const change = () => { Object.assign(state, { limit: limit.value, most: most.value }); changeState(); };
    most.addEventListener("input", change);
    limit.addEventListener("change", change);
  }
  const label = add(form, "label");
  const only = add(label, "input", "", { type: "checkbox", name: "only" });
  label.append(" only picked rows");
  only.addEventListener("change", () => { state.only = only.checked; changeState(); });
  const clear = add(form, "button", "Show all", { type: "button" });
  clear.addEventListener("click", () => {
    Object.assign(state, { pick: new Set(), only: false, limit: "", most: "" });
    Object.keys(FILTERS).forEach((name) => { state[name] = ""; });
    changeState();
  });
  add(form, "output").setAttribute("aria-live", "polite");
}
for (const row of rows) {
  const head = row.querySelector("th");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.setAttribute("aria-label", "compare " + row.dataset.name);
  box.addEventListener("change", () => {
    if (box.checked) state.pick.add(row.dataset.key);
    else state.pick.delete(row.dataset.key);
    changeState();
  });
  head.prepend(box);
}
document.querySelectorAll("details.filters").forEach((details) => { details.hidden = false; });
for (const place of document.querySelectorAll("[data-side]")) {
  const link = add(place, "a", "", { href: place.dataset.side });
  link.dataset.page = place.dataset.side;
  links.push(link);
}
for (const place of document.querySelectorAll("[data-sort]")) {
  const button = add(place, "button", "Sort the table by it", { type: "button" });
  button.addEventListener("click", () => {
    const table = document.querySelector("table.costs");
    const heads = [...table.tHead.rows[0].cells];
    const index = heads.findIndex((head) => head.textContent === place.dataset.sort);
    sortTable(table, index, false);
    Object.assign(state, { sort: place.dataset.sort, down: false });
    keepState();
    table.scrollIntoView();
  });
}
document.addEventListener("sorted", (event) => {
  state.sort = event.detail.title;
  state.down = event.detail.down;
  keepState();
});

const light = (key) => {
  for (const charts of document.querySelectorAll("[data-charts]")) {
    let name = "";
    for (const path of charts.querySelectorAll(".all path[data-key]")) {
      const lit = path.dataset.key === key;
      path.classList.toggle("lit", lit);
      if (lit) name = path.querySelector("title").textContent;
    }
    const told = charts.querySelector(".lit-name");
    if (told) told.textContent = name;
  }
};
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const over = event.target.closest("[data-key]");
    light(over ? over.dataset.key : null);
  });
}

const start = () => {
  readState();
  showState();
  keepState();
  if (!state.sort) return;
  for (const table of boards) {
    const heads = [...table.tHead.rows[0].cells];
    const index = heads.findIndex((head) => head.textContent === state.sort);
    if (index >= 0) sortTable(table, index, state.down);
  }
};
addEventListener("hashchange", start);
start();
