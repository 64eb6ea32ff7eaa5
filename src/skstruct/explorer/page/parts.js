// SPDX-License-Identifier: BSD-3-Clause
// Every part of the output as a table, also those that are too many to be drawn: for people who
// read lists rather than drawings, with the same three states.

import { statesOf } from "./decision.js";
import { byId, capital, formatted, make } from "./dom.js";

const MOST = 100;

export class PartsPanel {
  #parts = [];

  constructor(store) {
    this.store = store;
    const [one, many] = store.model.part_words;
    byId("all-parts-word").textContent = `All ${many} as a table`;
    this.one = one;
    this.states = statesOf(store.model);
    byId("parts-search").addEventListener("input", () => this.#fill());
    byId("all-parts").addEventListener("toggle", () => this.#fill());
  }

  show(parts) {
    this.#parts = parts;
    byId("all-parts").hidden = parts.length === 0;
    this.#fill();
  }

  #fill() {
    if (!byId("all-parts").open) return;
    const focused = document.activeElement?.closest?.("#parts-body select")?.dataset.key;
    const search = byId("parts-search").value.trim().toLowerCase();
    const fitting = this.#parts.filter((part) => part.name.toLowerCase().includes(search));
    // What is predicted, true or fixed comes first, then the most probable.
    const { fixed } = this.store.view;
    const weight = (part) =>
      2 * (part.predicted || part.true || fixed.has(part.key)) + (part.probability ?? 0);
    const shown = [...fitting].sort((a, b) => weight(b) - weight(a)).slice(0, MOST);
    const table = byId("parts-body").parentElement;
    const headings = [capital(this.one), "Probability", "Predicted", "True"];
    if (this.states.length) headings.push("Fix");
    table.tHead.replaceChildren(make("tr", {}, ...headings.map((text) =>
      make("th", { scope: "col", class: text === "Probability" ? "number" : null }, text))));
    byId("parts-body").replaceChildren(...shown.map((part) => this.#line(part)));
    const left = fitting.length - shown.length;
    byId("parts-more").hidden = left === 0;
    byId("parts-more").textContent = `${left} more: search for a name.`;
    if (focused) {
      const selects = [...byId("parts-body").querySelectorAll("select")];
      selects.find((one) => one.dataset.key === focused)?.focus();
    }
  }

  #line(part) {
    const mark = (yes) => (yes ? "yes" : yes === false ? "no" : "–");
    const select = make("select", { "data-key": part.key, "aria-label": `Fix ${part.name}` },
      ...["free", ...this.states].map((state) =>
        make("option", { value: state }, state)));
    select.value = this.store.view.fixed.get(part.key) ?? "free";
    select.addEventListener("change", () =>
      this.store.fix(part.key, select.value === "free" ? null : select.value));
    return make("tr", {}, make("th", { scope: "row", class: "text" }, part.name),
      make("td", { class: "number" }, formatted(part.probability)),
      make("td", {}, mark(part.predicted)), make("td", {}, mark(part.true)),
      this.states.length ? make("td", {}, select) : null);
  }
}
