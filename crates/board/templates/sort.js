"use strict";
const sortTable = (table, index, down) => {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[table.tBodies.length - 1];
  const worth = (row) => {
    const cell = row.cells[index];
    if ("value" in cell.dataset) return Number(cell.dataset.value);
    return heads[index].classList.contains("number") ? null : cell.textContent.trim().toLowerCase();
  };
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].map((row) => [worth(row), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return down ? -order : order;
  });
  body.append(...rows.map(([, row]) => row));
};
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      sortTable(table, index, down);
      table.dispatchEvent(new CustomEvent("sorted", { detail: { title: button.textContent, down }, bubbles: true }));
    });
  });
}
