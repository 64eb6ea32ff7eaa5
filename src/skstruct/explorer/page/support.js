// SPDX-License-Identifier: BSD-3-Clause
// What stands behind a decision: the next best outputs, the training rows that speak for it or
// against it, and such a row in a dialog.

import { ask } from "./api.js";
import { bar, byId, cellText, formatted, make } from "./dom.js";

export class SupportPanel {
  constructor(store) {
    this.store = store;
    const dialog = byId("training");
    byId("training-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close(); // beside it, on the backdrop
    });
  }

  show(answer) {
    this.#showNext(answer);
    const groups = [["Supporters", answer.supporters, "for"],
      ["Opponents", answer.opponents, "against"]].filter(([, rows]) => rows);
    byId("support").hidden = groups.length === 0;
    const most = Math.max(...groups.flatMap(([, rows]) => rows.map((row) => Math.abs(row.weight))));
    byId("support-tables").replaceChildren(...groups.map(([title, rows, kind]) => rows.length
      ? this.#table(title, rows, kind, most || 1)
      : make("p", { class: "hint" }, `${title}: no row of training weighs ${kind} it.`)));
  }

  #showNext(answer) {
    const next = answer.next ?? [];
    byId("next").hidden = next.length === 0;
    const name = answer.value_name === "risk" ? "Expected loss" : "Cost";
    byId("next-table").replaceChildren(
      make("thead", {}, make("tr", {}, heading("Output"), heading(name, "number"),
        heading("Difference", "number"))),
      make("tbody", {}, ...next.map((one) => make("tr", {},
        make("th", { scope: "row", class: "text" }, one.prediction),
        make("td", { class: "number" }, formatted(one.value)),
        make("td", { class: "number" }, one.difference > 0 ? `+${formatted(one.difference)}`
          : formatted(one.difference))))));
  }

  #table(title, rows, kind, most) {
    const opening = (row) => ({ type: "button", class: "link", click: () => this.#open(row) });
    const lines = rows.map((row) => make("tr", {},
      make("th", { scope: "row", class: "name" }, make("button", opening(row), rowName(row)),
        bar(Math.abs(row.weight) / most, { kind })),
      make("td", { class: "number" }, formatted(Number(row.weight.toPrecision(2)))),
      // Long outputs are cut here; the dialog has all of them.
      make("td", { class: "text" }, make("span", { class: "clip" }, row.output))));
    return make("div", { class: "scroll" }, make("table", { class: "support" },
      make("caption", {}, title),
      make("thead", {}, make("tr", {}, heading("Training row"), heading("Weight", "number"),
        heading("Output"))),
      make("tbody", {}, ...lines)));
  }

  async #open(row) {
    const body = byId("training-body");
    byId("training-heading").textContent = `Training: ${rowName(row)}`;
    body.replaceChildren(make("p", { class: "hint" }, "Loading …"));
    byId("training").showModal();
    try {
      const answer = await ask(`api/training/${row.row}`);
      body.replaceChildren(...this.#details(answer, row));
    } catch (error) {
      body.replaceChildren(make("p", {}, `Output: ${row.output}`),
        make("p", { class: "error", role: "alert" }, error.message));
    }
  }

  #details(answer, row) {
    const found = [make("p", {}, make("strong", {}, "Output "), cellText(answer.output))];
    if (row.explored !== null && row.explored !== undefined) {
      const go = () => {
        byId("training").close();
        this.store.change({ row: row.explored, fixed: new Map(), values: new Map() });
        byId("decision-heading").focus();
      };
      found.push(make("p", {}, make("button", { type: "button", class: "link", click: go },
        "Go to it in the table")));
    }
    const cells = Object.entries(answer.cells ?? {});
    const lines = cells.map(([name, value]) => make("tr", {},
      make("th", { scope: "row", class: "text" }, name), make("td", {}, cellText(value))));
    if (cells.length) {
      found.push(make("div", { class: "scroll", tabindex: "0" }, make("table", {},
        make("thead", {}, make("tr", {}, heading("Column"), heading("Value"))),
        make("tbody", {}, ...lines))));
    }
    return found;
  }
}

/** Rows of training that are explored too have a name there; others are counted from 1. */
function rowName(row) {
  const name = row.name ?? String(row.row + 1);
  return /^\d+$/.test(name) ? `Row ${name}` : name;
}

function heading(text, kind = "text") {
  return make("th", { scope: "col", class: kind }, text);
}
