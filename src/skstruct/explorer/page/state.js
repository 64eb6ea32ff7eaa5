// SPDX-License-Identifier: BSD-3-Clause
// The view: everything that is chosen on the page. It lives in the address behind "#", so a link
// reproduces it and the browser's back and forward buttons work.

/** Names in the address that are not constraints of the model, with their standard values. */
const PLAIN = { search: "", sort: "row", label: "", where: "", column: "", bin: "", depth: "" };
const VALUE = "value.";

/** What a part's key is in an address: a plain name where that can be read back unchanged. */
export function keyToText(key) {
  const name = parsed(key);
  if (typeof name !== "string" || JSON.stringify(name) !== key) return key;
  return parsed(name) === undefined ? name : key;
}

export function textToKey(text) {
  return parsed(text) === undefined ? JSON.stringify(text) : text;
}

/** JSON as a value, undefined where the text is not JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The view of an address, for a model: unknown names are left out. */
export function readView(hash, model) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = { fixed: new Map(), restrict: new Map(), values: new Map() };
  view.row = wholeNumber(given.get("row"), model.rows - 1);
  view.start = wholeNumber(given.get("start"), Math.max(0, model.rows - 1));
  view.descending = given.get("descending") === "1";
  const losses = model.losses.map((loss) => loss.name);
  view.loss = losses.includes(given.get("loss")) ? given.get("loss") : model.loss;
  for (const [name, standard] of Object.entries(PLAIN)) view[name] = given.get(name) ?? standard;
  for (const text of given.getAll("in")) view.fixed.set(textToKey(text), "in");
  for (const text of given.getAll("out")) view.fixed.set(textToKey(text), "out");
  for (const name of model.constraints) {
    if (given.has(name)) view.restrict.set(name, given.get(name));
  }
  for (const column of model.columns) {
    if (given.has(VALUE + column.name)) {
      const text = given.get(VALUE + column.name);
      view.values.set(column.name, column.kind === "number" ? Number(text) : text);
    }
  }
  return view;
}

function wholeNumber(text, most) {
  const value = Number(text ?? 0);
  return Number.isInteger(value) && value >= 0 && value <= most ? value : 0;
}

/** The address of a view; what is standard is left out. */
export function writeView(view, model) {
  const given = new URLSearchParams();
  given.set("row", view.row);
  if (view.loss !== model.loss) given.set("loss", view.loss);
  for (const [key, state] of view.fixed) given.append(state, keyToText(key));
  for (const [name, text] of view.restrict) given.set(name, text);
  for (const [name, value] of view.values) given.set(VALUE + name, value);
  for (const [name, standard] of Object.entries(PLAIN)) {
    if (view[name] !== standard) given.set(name, view[name]);
  }
  if (view.descending) given.set("descending", "1");
  if (view.start) given.set("start", view.start);
  return `#${given}`;
}

/** Holds the view, keeps the address up to date and tells every panel of a change. */
export class Store {
  constructor(model) {
    this.model = model;
    this.listeners = [];
    this.view = readView(location.hash, model);
    addEventListener("popstate", () => this.#take(readView(location.hash, this.model)));
  }

  /** `listener(view, before)` is called after every change. */
  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * Changes entries of the view. Steps that a user would want to take back get an entry of their
   * own in the history; typing and sliding (`step: false`) replace the last one.
   */
  change(entries, { step = true } = {}) {
    const view = { ...this.view, ...entries };
    const address = writeView(view, this.model);
    if (address !== location.hash) {
      if (step) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    }
    this.#take(view);
  }

  /** Fixes a part ("in", "out") or frees it (null). */
  fix(key, state) {
    const fixed = new Map(this.view.fixed);
    if (state) fixed.set(key, state);
    else fixed.delete(key);
    this.change({ fixed });
  }

  #take(view) {
    const before = this.view;
    this.view = view;
    for (const listener of this.listeners) listener(view, before);
  }
}

/** Whether anything of the row's own decision is changed. */
export function isChanged(view) {
  return view.fixed.size + view.restrict.size + view.values.size > 0;
}
