// The page is complete without this: it lets a reader hide series, and opens everything for print.
"use strict";
(() => {
  const hidden = new Set();
  const toggles = [...document.querySelectorAll("[data-toggle]")];
  const numbers = toggles.map((item) => item.dataset.toggle);
  const buttons = [];

  const show = () => {
    for (const element of document.querySelectorAll("[data-series]"))
      element.classList.toggle("off", element.dataset.series.split(" ").some((number) => hidden.has(number)));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(!hidden.has(numbers[i]))));
  };

  for (const item of toggles) {
    const number = item.dataset.toggle;
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Click: hide or show. Double click: show only this one, or all";
    button.append(...item.childNodes);
    item.append(button);
    buttons.push(button);
    button.addEventListener("click", () => {
      if (!hidden.delete(number)) hidden.add(number);
      show();
    });
    button.addEventListener("dblclick", () => {
      const alone = numbers.every((other) => other === number || hidden.has(other));
      hidden.clear();
      if (!alone) numbers.filter((other) => other !== number).forEach((other) => hidden.add(other));
      show();
    });
  }
  show();

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
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
