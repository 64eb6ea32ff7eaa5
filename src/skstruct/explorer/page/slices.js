// SPDX-License-Identifier: BSD-3-Clause
// Where the errors are: by label, by depth and by column. Each chart is a table whose numbers are
// text and whose bars repeat them; a click on a name filters the rows where the server can.

import { Line } from "./api.js";
import { bar, byId, capital, formatted, make } from "./dom.js";

const MOST = 12;

export class SlicesPanel {
  #line = new Line(200); // later than the decision, which somebody waits for
  #column = 0;
  #all = new Set(); // charts that are shown in full

  constructor(store) {
    this.store = store;
    if (!store.model.has_truth) return;
    store.listen((view, before) => {
      if (view.loss !== before.loss) this.load();
    });
  }

  load() {
    if (!this.store.model.has_truth) return;
    const given = new URLSearchParams({ loss: this.store.view.loss });
    const none = () => { byId("slices").hidden = true; };
    this.#line.ask(`api/slices?${given}`, {}, (answer) => this.#show(answer), none);
  }

  #show(answer) {
    const title = this.store.model.losses.find((loss) => loss.name === answer.loss)?.title;
    byId("slices").hidden = false;
    const mean = meanText({ mean: answer.mean, low: answer.low, high: answer.high });
    byId("slices-mean").textContent =
      `Mean loss (${title ?? answer.loss}): ${mean}. In brackets, and as lines: 95 % intervals.`;
    const charts = [this.#byPart(answer), this.#byDepth(answer), this.#byColumn(answer)];
    byId("slices-charts").replaceChildren(...charts.filter((chart) => chart !== null));
    this.answer = answer;
  }

  #byPart({ by_part: parts = [], part_word: word }) {
    if (!parts.length) return null;
    const one = word ?? this.store.model.part_words[0];
    const filter = (part) => (this.store.model.labels.includes(part.name)
      ? () => this.#filter({ label: part.name, where: "wrong" }) : null);
    if (parts.every((part) => typeof part.mean_absolute === "number")) {
      return this.#amounts(`By ${one}`, one, parts, filter);
    }
    const most = Math.max(1, ...parts.map(errors));
    const worst = [...parts].sort((a, b) => errors(b) - errors(a));
    return this.#chart("part", `By ${one}`, [one, "True in", "Missed", "Too many"],
      worst.map((part) => [
        name(part.name, filter(part), bar((part.missed ?? 0) / most,
          { kind: "missed", then: (part.too_many ?? 0) / most })),
        number(part.n), number(part.missed), number(part.too_many)]));
  }

  /** Parts that are amounts: by how much they are off. */
  #amounts(title, one, parts, filter) {
    const most = Math.max(...parts.map((part) => part.mean_absolute)) || 1;
    const worst = [...parts].sort((a, b) => b.mean_absolute - a.mean_absolute);
    return this.#chart("part", title, [one, "Rows", "Mean error", "Off by, mean"],
      worst.map((part) => [name(part.name, filter(part), bar(part.mean_absolute / most)),
        number(part.n), number(part.mean_error), number(part.mean_absolute)]));
  }

  #byDepth({ by_depth: depths = [], place_word: word }) {
    if (!depths.length) return null;
    const filter = (one) => (this.store.model.can.filter_depth
      ? () => this.#filter({ depth: one.name }) : null);
    return this.#means("depth", `By ${word ?? "depth"}`, word ?? "depth", depths, filter);
  }

  #byColumn({ by_column: columns = [] }) {
    if (!columns.length) return null;
    this.#column = Math.min(this.#column, columns.length - 1);
    const { column, bins } = columns[this.#column];
    const filter = (one) => (this.store.model.can.filter_column
      ? () => this.#filter({ column, bin: one.name }) : null);
    const chart = this.#means("column", "By column", "Value", bins, filter);
    if (columns.length > 1) {
      const select = make("select", { id: "slices-column" }, ...columns.map((one, i) =>
        make("option", { value: i }, one.column)));
      select.value = String(this.#column);
      select.addEventListener("change", () => {
        this.#column = Number(select.value);
        this.#show(this.answer);
        byId("slices-column").focus();
      });
      chart.querySelector("h3").after(make("label", {}, "Column ", select));
    } else chart.querySelector("h3").textContent = `By ${column}`;
    return chart;
  }

  #means(id, title, first, bins, filter) {
    const top = Math.max(...bins.map((one) => one.high ?? one.mean ?? 0)) || 1;
    const drawn = (one) => bar((one.mean ?? 0) / top,
      { low: share(one.low, top), high: share(one.high, top) });
    return this.#chart(id, title, [first, "Rows", "Mean loss"],
      bins.map((one) => [name(one.name, filter(one), drawn(one)), number(one.n),
        make("td", { class: "number" }, meanText(one))]));
  }

  #chart(id, title, headings, lines) {
    const shown = this.#all.has(id) ? lines : lines.slice(0, MOST);
    const table = make("table", { "aria-label": title },
      make("thead", {}, make("tr", {}, ...headings.map((text, i) => make("th",
        { scope: "col", class: i ? "number" : "text" }, capital(text))))),
      make("tbody", {}, ...shown.map((line) => make("tr", {}, ...line))));
    const chart = make("div", { class: "chart" }, make("h3", {}, title),
      make("div", { class: "scroll" }, table));
    if (shown.length < lines.length) {
      chart.append(make("button", { type: "button", click: () => {
        this.#all.add(id);
        this.#show(this.answer);
      } }, `Show all ${lines.length}`));
    }
    return chart;
  }

  #filter(entries) {
    const none = { search: "", label: "", where: "", column: "", bin: "", depth: "", start: 0 };
    this.store.change({ ...none, sort: "loss", descending: true, ...entries });
    byId("rows-heading").scrollIntoView?.({ block: "start" });
  }
}

const errors = (part) => (part.missed ?? 0) + (part.too_many ?? 0);
const short = (value) =>
  (typeof value === "number" ? formatted(Number(value.toPrecision(2))) : "–");
const share = (value, top) => (typeof value === "number" ? value / top : null);
const number = (value) => make("td", { class: "number" }, formatted(value));

/** "0.12 (0.08 to 0.2)". */
function meanText({ mean, low, high }) {
  const known = typeof low === "number" && typeof high === "number";
  return known ? `${short(mean)} (${short(low)} to ${short(high)})` : short(mean);
}

function name(text, click, drawn) {
  const inside = click ? make("button", { type: "button", class: "link", click }, text) : text;
  return make("th", { scope: "row", class: "text" }, inside, drawn);
}
