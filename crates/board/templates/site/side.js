const MOST = 4;
const choice = document.getElementById("choice");
const sides = document.getElementById("sides");
const told = document.getElementById("told");
const names = Object.keys(figures.rows).sort();
const chosen = () => [...state.pick].filter((key) => Object.hasOwn(figures.rows, key)).slice(0, MOST);

const choices = Object.keys(figures.rows).length < 2 ? [] : Array.from({ length: MOST }, (_, number) => {
  const label = add(choice, "label", `Server ${number + 1} `);
  const select = add(label, "select");
  add(select, "option", "none", { value: "" });
  names.forEach((key) => add(select, "option", figures.rows[key].name, { value: key }));
  select.addEventListener("change", () => {
    state.pick = new Set(choices.map((one) => one.value).filter(Boolean));
    keepState();
    showSides();
  });
  return select;
});
choice.className = "controls";

const line = (body, head, meaning, texts, tag = "td") => {
  const row = add(body, "tr");
  const first = add(row, "th", head, { scope: tag === "th" ? "col" : "row", title: meaning });
  if (!head) first.append("figure");
  for (const text of texts) {
    if (text instanceof Node) add(row, tag).append(text);
    else add(row, tag, text);
  }
  return row;
};
const showSides = () => {
  const keys = chosen();
  choices.forEach((select, number) => { select.value = keys[number] || ""; });
  sides.replaceChildren();
  const more = state.pick.size - keys.length;
  told.textContent = !choices.length ? "This round has no two rows to put side by side."
    : keys.length < 2 ? "Choose two to four servers here, or pick them on the board."
    : more > 0 ? `${keys.length} of ${state.pick.size} picked rows are shown: four at most, and those that were measured.`
    : "";
  if (keys.length < 2) return;
  const table = add(sides, "table", "", { className: "sides" });
  const heads = keys.map((key) => Object.assign(document.createElement("a"), {
    href: figures.rows[key].href + stateHash(), textContent: figures.rows[key].name,
  }));
  const head = line(add(table, "thead"), "", "", heads, "th");
  head.querySelectorAll("th").forEach((one) => { one.scope = "col"; });
  const facts = add(table, "tbody");
  for (const name of ["language", "class", "version", "conformance"]) {
    line(facts, name, "", keys.map((key) => figures.rows[key][name]));
  }
  for (const group of figures.groups) {
    if (!keys.some((key) => key in group.cells)) continue;
    const body = add(table, "tbody");
    const title = add(add(body, "tr"), "th", "", { scope: "rowgroup", colSpan: keys.length + 1 });
    add(title, "a", group.title, { href: group.href + stateHash() });
    add(title, "small", ` ${group.from}`);
    group.heads.forEach(([name, meaning], index) => {
      line(body, name, meaning, keys.map((key) => group.cells[key]?.[index] || "–"));
    });
  }
};
addEventListener("hashchange", showSides);
showSides();
