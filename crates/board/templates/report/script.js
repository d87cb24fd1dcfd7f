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
