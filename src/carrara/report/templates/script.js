// The page is complete without this: it lets a reader hide what is not looked for, sort tables, and opens all for print.
"use strict";
(() => {
  const KINDS = ["series", "task", "length", "status"];
  const hidden = Object.fromEntries(KINDS.map((kind) => [kind, new Set()]));
  const boxes = [...document.querySelectorAll(".menu input")];
  const menus = [...document.querySelectorAll(".menu")];
  const reset = document.querySelector(".reset");
  const toggles = [...document.querySelectorAll("[data-toggle]")];
  const numbers = toggles.map((item) => item.dataset.toggle);
  const buttons = [];
  let last = null;
  const marked = [...document.querySelectorAll(KINDS.map((kind) => `[data-${kind}]`).join())];

  const isOff = (element) =>
    KINDS.some((kind) => hidden[kind].size && (element.dataset[kind] ?? "").split(" ").some((value) => hidden[kind].has(value)));

  const show = () => {
    for (const element of marked) element.classList.toggle("off", isOff(element));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(!hidden.series.has(numbers[i]))));
    for (const box of boxes) box.checked = !hidden[box.dataset.kind].has(box.value);
    for (const menu of menus) {
      const choices = [...menu.querySelectorAll("input")];
      const shown = choices.filter((box) => box.checked).length;
      menu.querySelector("output").textContent = shown < choices.length ? `${shown} of ${choices.length}` : "";
    }
    if (reset) reset.hidden = KINDS.every((kind) => !hidden[kind].size);
  };

  for (const item of toggles) {
    const number = item.dataset.toggle;
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Click: hide or show. Double click: show only this one, or all";
    button.append(...item.childNodes);
    item.append(button);
    buttons.push(button);
    button.addEventListener("click", (event) => {
      if (event.detail < 2) last = { number, before: new Set(hidden.series) };
      if (!hidden.series.delete(number)) hidden.series.add(number);
      show();
    });
  }
  // What the first click hides may move the page, so that the second meets something else: it is the first that counts.
  addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-toggle]") && event.detail < 2) last = null;
  });
  addEventListener("dblclick", () => {
    if (!last) return;
    const { number, before } = last;
    const alone = numbers.every((other) => (other === number) !== before.has(other));
    hidden.series.clear();
    if (!alone) numbers.filter((other) => other !== number).forEach((other) => hidden.series.add(other));
    show();
  });

  for (const box of boxes)
    box.addEventListener("change", () => {
      hidden[box.dataset.kind][box.checked ? "delete" : "add"](box.value);
      show();
    });
  for (const menu of menus) {
    const choices = [...menu.querySelectorAll("input")];
    const all = (change) => () => {
      choices.forEach((box) => hidden[box.dataset.kind][change](box.value));
      show();
    };
    menu.querySelector("[data-all]").addEventListener("click", all("delete"));
    menu.querySelector("[data-none]").addEventListener("click", all("add"));
  }
  reset?.addEventListener("click", () => {
    KINDS.forEach((kind) => hidden[kind].clear());
    show();
  });
  const close = (but) => menus.forEach((menu) => menu !== but && (menu.open = false));
  addEventListener("click", (event) => close(event.target.closest?.(".menu")));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = menus.find((menu) => menu.open);
    close();
    open?.querySelector("summary").focus();
  });
  document.querySelectorAll(".menus").forEach((element) => (element.hidden = false));
  show();

  // What a cell is sorted by: what it says it is, else its first number, else its text. 4k is 4096, and a dash is last.
  const UNITS = { k: 1024, M: 1048576 };
  const valueOf = (cell) => {
    if (cell.dataset.value) return Number(cell.dataset.value);
    const text = (cell.querySelector("b") ?? cell).textContent.trim();
    const match = /^[+−-]?[\d,]*\.?\d+(?=([kM])?)/.exec(text.replace(/^≥ /, ""));
    if (match) return Number(match[0].replaceAll(",", "").replace("−", "-")) * (UNITS[match[1]] ?? 1);
    return /^(–|no |not )/.test(text) ? null : text;
  };
  const compare = (first, second) => {
    if (first === null || second === null) return (first === null) - (second === null);
    if (typeof first === "number" && typeof second === "number") return first - second;
    return String(first).localeCompare(String(second), "en", { numeric: true });
  };
  const sort = (table, column, down) => {
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
      const keyed = rows.map((row) => [valueOf(row.cells[column]), row]);
      keyed.sort(([first], [second]) => (first === null || second === null || !down ? compare(first, second) : -compare(first, second)));
      body.append(...keyed.map(([, row]) => row));
    }
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        // Numbers begin with the greatest, names with the first.
        const first = head.classList.contains("num") ? "descending" : "ascending";
        const second = first === "ascending" ? "descending" : "ascending";
        const order = head.getAttribute("aria-sort") === first ? second : first;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        sort(table, column, order === "descending");
      });
    });
  }

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open]):not(.menu)")) {
      details.open = true;
      details.dataset.opened = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const details of document.querySelectorAll("details[data-opened]")) {
      details.open = false;
      delete details.dataset.opened;
    }
  });
})();
