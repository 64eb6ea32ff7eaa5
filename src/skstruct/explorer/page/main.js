// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together: asks for the model, then for the decision of every view.

import { ask, Line, Lost } from "./api.js";
import { ConstraintsPanel, restrictions } from "./constraints.js";
import { DecisionPanel } from "./decision.js";
import { announce, byId, counted, fillSelect } from "./dom.js";
import { PartsPanel } from "./parts.js";
import { RowsPanel } from "./rows.js";
import { SlicesPanel } from "./slices.js";
import { isChanged, Store } from "./state.js";
import { SupportPanel } from "./support.js";
import { WhatIfPanel } from "./whatif.js";

const NEXT = 3; // next best outputs

class Page {
  #decisions = new Line(30);
  #bases = new Line(0);
  #rowLine = new Line(0);
  #row = null; // the record of the chosen row
  #base = null; // the answer without changes, with the view it belongs to

  constructor(model) {
    this.store = new Store(model);
    this.decision = new DecisionPanel(this.store);
    this.constraints = new ConstraintsPanel(this.store);
    this.whatIf = new WhatIfPanel(this.store);
    this.support = new SupportPanel(this.store);
    this.parts = new PartsPanel(this.store);
    this.rows = new RowsPanel(this.store, (error) => this.#failed(error));
    this.slices = new SlicesPanel(this.store);
    this.#showModel(model);
    this.store.listen((view, before) => this.#changed(view, before));
  }

  start() {
    this.rows.load();
    this.#loadRow();
    this.#decide();
    this.slices.load();
  }

  #showModel(model) {
    document.title = `${model.name} · skstruct explorer`;
    byId("model-name").textContent = model.name;
    const rows = counted(model.rows, ["row", "rows"]);
    const about = [model.task ?? model.kind, model.about?.learner, model.rows_given > model.rows
      ? `the first ${rows} of ${model.rows_given}` : rows];
    byId("model-about").textContent = about.filter(Boolean).join(" · ");
    const loss = byId("loss");
    const losses = model.losses.map(({ name, title }) => [name, title ?? name]);
    fillSelect(loss, losses, this.store.view.loss);
    byId("loss-field").hidden = model.losses.length < 2;
    loss.addEventListener("change", () => this.store.change({ loss: loss.value }));
  }

  #changed(view, before) {
    byId("loss").value = view.loss;
    if (view.row !== before.row) {
      this.whatIf.take(null);
      this.#loadRow();
    }
    const asked = ["row", "loss", "fixed", "restrict", "values"];
    if (asked.some((name) => view[name] !== before[name])) this.#decide();
  }

  /** The row's own values; rows come in their order where nothing is asked of them. */
  #loadRow() {
    const { row } = this.store.view;
    this.#rowLine.ask(`api/rows?sort=row&start=${row}&count=1`, {}, (answer) => {
      this.#row = answer.rows[0] ?? null;
      this.whatIf.take(this.#row?.cells ?? {});
      this.#nameRow();
    }, (error) => this.#failed(error));
  }

  #nameRow() {
    const { row } = this.store.view;
    const name = this.#row?.row === row ? this.#row.name : String(row + 1);
    byId("decision-heading").textContent = /^\d+$/.test(name) ? `Row ${name}` : name;
  }

  #decide() {
    const { view, model } = this.store;
    this.#nameRow();
    const { restrict, error } = restrictions(view, model);
    if (error) return this.#refused(error);
    const body = { row: view.row, loss: view.loss, k: NEXT, restrict,
      values: Object.fromEntries(view.values), fixed: Object.fromEntries(view.fixed) };
    byId("decision").setAttribute("aria-busy", "true");
    this.#decisions.ask("api/decide", { body }, (answer) => this.#decided(answer, body),
      (problem) => {
        if (problem instanceof Lost) this.#failed(problem);
        else this.#refused(problem.message);
      });
  }

  #decided(answer, body) {
    byId("decision").removeAttribute("aria-busy");
    byId("lost").hidden = true;
    this.constraints.refuse(null);
    this.constraints.name(answer.parts);
    this.support.show(answer);
    this.parts.show(answer.parts);
    const { view } = this.store;
    const belongs = this.#base?.row === body.row && this.#base?.loss === body.loss;
    if (!isChanged(view)) this.#base = { row: body.row, loss: body.loss, answer };
    else if (!belongs) this.#askBase(answer, body);
    const base = isChanged(view) && belongs ? this.#base.answer : null;
    const changes = this.decision.show(answer, base);
    announce(changes || `Predicted: ${answer.prediction}.`);
  }

  /** A link can open a view with changes: what they change is asked for as well. */
  #askBase(answer, body) {
    const plain = { ...body, restrict: {}, values: {}, fixed: {} };
    this.#bases.ask("api/decide", { body: plain }, (unchanged) => {
      this.#base = { row: body.row, loss: body.loss, answer: unchanged };
      if (isChanged(this.store.view)) this.decision.showChanges(answer, unchanged);
    }, () => {});
  }

  #refused(sentence) {
    byId("decision").removeAttribute("aria-busy");
    this.decision.markOutdated();
    this.constraints.refuse(sentence);
  }

  #failed(error) {
    byId("decision").removeAttribute("aria-busy");
    sayLost(error.message, () => this.start());
  }
}

/** Says that the server is gone or refuses, with a button to try again. */
function sayLost(sentence, again) {
  byId("lost-text").textContent = sentence;
  byId("lost").hidden = false;
  byId("again").onclick = () => {
    byId("lost").hidden = true;
    again();
  };
}

function listenToTools() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address belongs to the view
    byId("decision-heading").focus();
  });
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      byId("copy").textContent = "Copied";
      announce("The link is copied.");
    } catch {
      byId("copy").textContent = "Copy the address above";
    }
    setTimeout(() => { byId("copy").textContent = "Copy link"; }, 2000);
  });
}

async function begin() {
  try {
    new Page(await ask("api/model")).start();
  } catch (error) {
    sayLost(error.message, begin);
  }
}

listenToTools();
begin();
