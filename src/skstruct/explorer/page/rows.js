// SPDX-License-Identifier: BSD-3-Clause
// The table of rows: search, sort, filter, pages; arrows choose another row.

import { Line } from "./api.js";
import { byId, capital, cellText, counted, fillSelect, formatted, make } from "./dom.js";

export const PAGE = 50;
const OF_THE_TABLE = ["search", "sort", "descending", "label", "where", "column", "bin", "depth",
  "start", "loss"];

export class RowsPanel {
  #line = new Line(30);
  #rows = [];
  #total = 0;
  #chooseOnArrival = null; // "first" or "last": an arrow key went over the edge of a page
  #focusOnArrival = false;

  constructor(store, failed) {
    this.store = store;
    this.model = store.model;
    this.failed = failed;
    this.body = byId("rows-table").tBodies[0];
    this.#fillControls();
    this.#listen();
    store.listen((view, before) => {
      this.#showControls(view);
      if (OF_THE_TABLE.some((name) => view[name] !== before[name])) this.load();
      else this.#markChosen();
    });
    this.#showControls(store.view);
  }

  #fillControls() {
    const { model } = this;
    const [one] = model.part_words;
    byId("label-word").textContent = capital(one);
    byId("label-field").hidden = model.labels.length < 2;
    fillSelect(byId("label"), [["", "any"], ...model.labels.map((name) => [name, name])], "");
    const where = [["", "all rows"]];
    if (model.labels.length) where.push(["predicted", "predicted"]);
    if (model.has_truth && model.labels.length) where.push(["true", "true"]);
    if (model.has_truth) where.push(["wrong", "wrong"]);
    byId("where-field").hidden = where.length === 1;
    fillSelect(byId("where"), where, "");
    const sorts = [["row", "row"]];
    if (model.can.risk) sorts.push(["risk", "risk (expected loss)"]);
    if (model.has_truth) sorts.push(["loss", "loss"]);
    for (const { name } of model.columns) {
      if (!["row", "risk", "loss"].includes(name)) sorts.push([name, name]);
    }
    fillSelect(byId("sort"), sorts, "row");
  }

  #listen() {
    const filter = (entries, options) => this.store.change({ ...entries, start: 0 }, options);
    byId("search").addEventListener("input", (event) =>
      filter({ search: event.target.value }, { step: false }));
    byId("label").addEventListener("change", (event) => {
      const where = event.target.value && !this.store.view.where ? "predicted" : undefined;
      filter({ label: event.target.value, ...(where && { where }) });
    });
    byId("where").addEventListener("change", (event) => filter({ where: event.target.value }));
    byId("sort").addEventListener("change", (event) => this.#sortBy(event.target.value));
    byId("descending").addEventListener("change", (event) =>
      filter({ descending: event.target.checked }));
    byId("page-before").addEventListener("click", () => this.#turn(-1));
    byId("page-after").addEventListener("click", () => this.#turn(1));
    this.body.addEventListener("click", (event) => {
      const line = event.target.closest("tr");
      if (line) this.#choose(Number(line.dataset.row), { step: true });
    });
    this.body.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea, dialog");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      byId("search").focus();
    });
  }

  /** Risks and losses are interesting from the top, everything else from the bottom. */
  #sortBy(sort) {
    const same = sort === this.store.view.sort;
    const descending = same ? !this.store.view.descending : ["risk", "loss"].includes(sort);
    this.store.change({ sort, descending, start: 0 });
  }

  #turn(by) {
    this.store.change({ start: Math.max(0, this.store.view.start + by * PAGE) });
  }

  #choose(row, { step, focus = true }) {
    if (row === this.store.view.row) return this.#focus();
    // Fixed parts and changed values belong to the row that is left; sizes go on.
    this.store.change({ row, fixed: new Map(), values: new Map() }, { step });
    if (focus) this.#focus();
  }

  #key(event) {
    const now = this.#rows.findIndex(({ row }) => row === this.store.view.row);
    const last = this.#rows.length - 1;
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: last,
      PageDown: Math.min(last, now + 10), PageUp: Math.max(0, now - 10) }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to >= 0 && to <= last) return void this.#choose(this.#rows[to].row, { step: false });
    const forward = to > last;
    const { start } = this.store.view;
    if (forward ? start + PAGE >= this.#total : start === 0) return;
    this.#chooseOnArrival = forward ? "first" : "last";
    this.#turn(forward ? 1 : -1);
  }

  #focus() {
    this.body.querySelector("tr[aria-current] button")?.focus({ preventScroll: true });
  }

  /** Asks for the rows of the view. */
  load() {
    const { view } = this.store;
    const given = new URLSearchParams({ start: view.start, count: PAGE, loss: view.loss });
    for (const name of ["search", "sort", "label", "where", "column", "bin", "depth"]) {
      if (view[name]) given.set(name, view[name]);
    }
    given.set("descending", view.descending ? "1" : "0");
    byId("rows-table").setAttribute("aria-busy", "true");
    this.#line.ask(`api/rows?${given}`, {}, (answer) => this.#show(answer), this.failed);
  }

  #show(answer) {
    this.#focusOnArrival = this.body.contains(document.activeElement);
    this.#rows = answer.rows;
    this.#total = answer.total;
    const { view } = this.store;
    const shown = this.#columns(view);
    byId("rows-table").tHead.replaceChildren(this.#heading(shown, view));
    this.body.replaceChildren(...answer.rows.map((row) => this.#lineOf(row, shown)));
    byId("rows-table").removeAttribute("aria-busy");
    const all = answer.total === this.model.rows;
    byId("rows-count").textContent = all
      ? counted(answer.total, ["row", "rows"])
      : `${answer.total} of ${counted(this.model.rows, ["row", "rows"])}`;
    const first = answer.start + 1;
    byId("page-text").textContent = answer.total > PAGE
      ? `${first} to ${answer.start + answer.rows.length}` : "";
    byId("page-before").disabled = answer.start === 0;
    byId("page-after").disabled = answer.start + PAGE >= answer.total;
    byId("page-before").parentElement.hidden = answer.total <= PAGE && answer.start === 0;
    if (this.#chooseOnArrival && answer.rows.length) {
      const chosen = this.#chooseOnArrival === "first" ? answer.rows[0] : answer.rows.at(-1);
      this.#chooseOnArrival = null;
      this.#choose(chosen.row, { step: false });
    }
    this.#markChosen();
    if (this.#focusOnArrival) this.#focus();
  }

  /** Columns of the table: [sort name, heading, text of a row, class]. */
  #columns(view) {
    const { model } = this;
    const shown = [["row", "Row", null, "name"]];
    if (model.columns.some(({ name }) => name === view.sort)) {
      const numeric = model.columns.find(({ name }) => name === view.sort).kind === "number";
      const text = (row) => cellText(row.cells?.[view.sort]);
      shown.push([view.sort, view.sort, text, numeric ? "number" : "text"]);
    }
    shown.push([null, "Predicted", (row) => row.prediction, "text"]);
    if (model.has_truth) {
      shown.push([null, "True", (row) => row.truth ?? "–", "text"]);
      shown.push(["loss", "Loss", (row) => formatted(row.loss), "number loss"]);
    }
    if (model.can.risk) shown.push(["risk", "Risk", (row) => formatted(row.risk), "number"]);
    return shown;
  }

  #heading(shown, view) {
    return make("tr", {}, ...shown.map(([sort, title, , kind]) => {
      if (!sort) return make("th", { scope: "col", class: kind }, title);
      const now = view.sort === sort ? (view.descending ? "descending" : "ascending") : "none";
      return make("th", { scope: "col", class: kind, "aria-sort": now },
        make("button", { type: "button", click: () => this.#sortBy(sort) }, title));
    }));
  }

  #lineOf(row, shown) {
    const cells = shown.map(([, , text, kind], i) => {
      if (i === 0) {
        const button = make("button", { type: "button", tabindex: "-1" }, row.name || `${row.row}`);
        return make("th", { scope: "row", class: "name" }, button);
      }
      const said = text(row);
      return make("td", { class: kind }, make("span", { class: "clip", title: said }, said));
    });
    const wrong = this.model.has_truth && row.loss > 0;
    return make("tr", { "data-row": row.row, class: wrong ? "is-wrong" : null }, ...cells);
  }

  #markChosen() {
    for (const line of this.body.rows) {
      const chosen = Number(line.dataset.row) === this.store.view.row;
      if (chosen) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
      line.querySelector("button").tabIndex = chosen ? 0 : -1;
    }
    // One row can always be reached by the Tab key, also where the chosen one is on another page.
    const reachable = this.body.querySelector("button[tabindex='0']");
    if (!reachable && this.body.rows.length) this.body.querySelector("button").tabIndex = 0;
    this.#scrollToChosen();
  }

  /** Scrolls inside the table only: the page itself stays where the reader is. */
  #scrollToChosen() {
    const chosen = this.body.querySelector("tr[aria-current]");
    if (!chosen) return;
    const box = byId("rows-scroll");
    const head = byId("rows-table").tHead.offsetHeight;
    const top = chosen.offsetTop - head;
    const bottom = chosen.offsetTop + chosen.offsetHeight - box.clientHeight;
    if (box.scrollTop > top) box.scrollTop = top;
    else if (box.scrollTop < bottom) box.scrollTop = bottom;
  }

  #showControls(view) {
    for (const name of ["search", "label", "where", "sort"]) {
      if (byId(name).value !== view[name]) byId(name).value = view[name];
    }
    byId("descending").checked = view.descending;
    const slice = byId("slice-filter");
    slice.hidden = !(view.depth || view.column);
    if (slice.hidden) return;
    const text = view.depth ? `only ${view.depth}` : `only ${view.column}: ${view.bin}`;
    const clear = { column: "", bin: "", depth: "", start: 0 };
    slice.replaceChildren(text, " ", make("button",
      { type: "button", click: () => this.store.change(clear) }, "Show all again"));
  }
}
