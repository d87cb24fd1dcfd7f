"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const worth = (row, index) => {
    const cell = row.cells[index];
    if ("value" in cell.dataset) return Number(cell.dataset.value);
    return heads[index].classList.contains("number") ? null : cell.textContent.trim().toLowerCase();
  };
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [worth(row, index), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = a < b ? -1 : a > b ? 1 : 0;
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}
for (const section of document.querySelectorAll("[data-section]")) {
  for (const key of section.querySelectorAll("[data-toggle]")) {
    const id = key.dataset.toggle;
    const mark = (name, on, others) => {
      for (const one of section.querySelectorAll("[data-series]")) {
        if ((one.dataset.series === id) !== others) one.classList.toggle(name, on);
      }
    };
    const toggle = () => {
      const shown = key.getAttribute("aria-pressed") === "false";
      key.setAttribute("aria-pressed", String(shown));
      mark("off", !shown, false);
      mark("dim", false, true);
    };
    key.setAttribute("role", "button");
    key.setAttribute("aria-pressed", "true");
    key.tabIndex = 0;
    key.title = "show or hide";
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
    key.addEventListener("mouseenter", () => mark("dim", key.getAttribute("aria-pressed") === "true", true));
    key.addEventListener("mouseleave", () => mark("dim", false, true));
  }
}
