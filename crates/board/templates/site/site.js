const state = { pick: new Set(), language: "", class: "", only: false, sort: "", down: false };
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
  for (const name of ["language", "class", "sort"]) state[name] = told.get(name) || "";
  for (const name of ["only", "down"]) state[name] = told.get(name) === "1";
};
const stateHash = () => {
  const told = new URLSearchParams();
  if (state.pick.size) told.set("pick", [...state.pick].map(encodeURIComponent).join(","));
  for (const name of ["language", "class", "sort"]) if (state[name]) told.set(name, state[name]);
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
    const { key, language, class: kind } = row.dataset;
    const fits = (!state.language || state.language === language) && (!state.class || state.class === kind);
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
  for (const only of document.querySelectorAll(".controls input[name=only]")) only.checked = state.only;
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
  for (const name of ["language", "class"]) {
    const label = add(form, "label", name === "class" ? "Class " : "Language ");
    const select = add(label, "select", "", { name });
    add(select, "option", "all", { value: "" });
    const values = new Set(rows.map((row) => row.dataset[name]));
    if (state[name]) values.add(state[name]);
    [...values].sort().forEach((value) => add(select, "option", value, { value }));
    select.addEventListener("change", () => { state[name] = select.value; changeState(); });
  }
  const label = add(form, "label");
  const only = add(label, "input", "", { type: "checkbox", name: "only" });
  label.append(" only picked rows");
  only.addEventListener("change", () => { state.only = only.checked; changeState(); });
  const clear = add(form, "button", "Show all", { type: "button" });
  clear.addEventListener("click", () => {
    Object.assign(state, { pick: new Set(), language: "", class: "", only: false });
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
