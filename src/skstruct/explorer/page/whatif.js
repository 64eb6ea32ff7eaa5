// SPDX-License-Identifier: BSD-3-Clause
// What if the row's values were others: a slider for every number, a list for columns of names.

import { byId, cellText, make } from "./dom.js";

const MOST = 12; // columns that are shown before a search

/** A step that people would choose: 1, 2 or 5 times a power of ten, some 200 of them. */
export function niceStep(low, high) {
  const raw = (high - low) / 200;
  if (!(raw > 0)) return "any";
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((one) => one * power >= raw);
  return Number((factor * power).toPrecision(1));
}

export class WhatIfPanel {
  #fields = new Map();
  #cells = null;

  constructor(store) {
    this.store = store;
    const { model } = store;
    byId("whatif").hidden = !model.can.what_if || model.columns.length === 0;
    byId("column-search-field").hidden = model.columns.length <= MOST;
    byId("column-search").addEventListener("input", () => this.#rebuild());
    byId("reset-values").addEventListener("click", () => {
      store.change({ values: new Map() });
      byId("whatif-heading").focus();
    });
    store.listen((view) => this.#show(view));
  }

  /** The chosen row's own values; null while they are not known. */
  take(cells) {
    this.#cells = cells;
    this.#rebuild();
  }

  #rebuild() {
    if (!this.#cells) return void byId("whatif-fields").replaceChildren();
    const { model, view } = this.store;
    const search = byId("column-search").value.trim().toLowerCase();
    const fitting = model.columns.filter(({ name }) => name.toLowerCase().includes(search));
    const changed = fitting.filter(({ name }) => view.values.has(name));
    const shown = [...changed, ...fitting.filter((one) => !changed.includes(one))].slice(
      0, Math.max(MOST, changed.length));
    this.#fields = new Map();
    const ordered = model.columns.filter((one) => shown.includes(one));
    byId("whatif-fields").replaceChildren(...ordered.map((one) => this.#field(one)));
    const left = fitting.length - shown.length;
    const hidden = model.columns_hidden ?? 0;
    const notes = [left ? `${left} more: search for a column by its name.` : "",
      hidden ? `${hidden} columns are not shown here.` : ""];
    byId("whatif-more").textContent = notes.filter(Boolean).join(" ");
    this.#show(view);
  }

  #field(column) {
    const own = this.#cells[column.name] ?? null;
    const makeField = { number: numberField, names: namesField }[column.kind] ?? textField;
    const field = makeField(column, own, (value, step) => this.#set(column.name, value, step));
    const was = make("span", { class: "was" });
    const undo = make("button", { type: "button", class: "undo", hidden: true,
      "aria-label": `Reset ${column.name}`, click: () => {
        this.#set(column.name, own, true);
        field.input.focus();
      } }, "Reset");
    const box = make("div", { class: "value", role: "group", "aria-label": column.name },
      make("div", { class: "value-name" }, make("span", {}, column.name), was, undo),
      make("div", { class: "value-inputs" }, ...field.elements));
    this.#fields.set(column.name, { ...field, own, was, undo, box });
    return box;
  }

  /** Takes a value over; the row's own value is no change. */
  #set(name, value, step) {
    const values = new Map(this.store.view.values);
    const none = value === undefined || value === null || value === "";
    if (none || value === this.#cells[name]) values.delete(name);
    else values.set(name, value);
    this.store.change({ values }, { step });
  }

  #show(view) {
    byId("reset-values").hidden = view.values.size === 0;
    for (const [name, { own, was, undo, box, put }] of this.#fields) {
      const changed = view.values.has(name);
      put(changed ? view.values.get(name) : own);
      box.classList.toggle("changed", changed);
      undo.hidden = !changed;
      was.textContent = changed ? `was ${cellText(own)}` : "";
    }
  }
}

/** Sets an input's value unless somebody is typing the same number in other digits. */
function putValue(input, value) {
  // Five digits are enough to read; the row's own value stays as it is until somebody changes it.
  const shown = typeof value === "number" ? Number(value.toPrecision(5)) : value;
  const text = shown === null || shown === undefined ? "" : String(shown);
  if (document.activeElement === input && Number(input.value) === Number(text) && text) return;
  if (input.value !== text) input.value = text;
}

function numberField(column, own, set) {
  const typed = make("input", { type: "number", step: "any", "aria-label": column.name,
    placeholder: own === null ? "missing" : null });
  typed.addEventListener("input", () =>
    set(typed.value === "" ? null : Number(typed.value), false));
  const known = [column.low, column.high].every((one) => typeof one === "number");
  if (!known || column.low >= column.high) {
    return { input: typed, elements: [typed], put: (value) => putValue(typed, value) };
  }
  const whole = [column.low, column.high, own ?? 0].every(Number.isInteger);
  const step = whole && column.high - column.low >= 4 ? 1 : niceStep(column.low, column.high);
  const low = Math.min(column.low, own ?? column.low);
  const slider = make("input", { type: "range", "aria-label": column.name, min: low,
    max: Math.max(column.high, own ?? column.high), step });
  slider.addEventListener("input", () => set(rounded(Number(slider.value)), false));
  const put = (value) => {
    putValue(typed, value);
    // The slider's own steps need not meet the row's value; the field beside it says it exactly.
    if (document.activeElement !== slider || Number(slider.value) !== value) {
      slider.value = String(value ?? (column.low + column.high) / 2);
    }
  };
  return { input: slider, elements: [slider, typed], put };
}

/** Sliders count in binary: 0.30000000000000004 is 0.3. */
function rounded(value) {
  return Number(value.toPrecision(12));
}

function namesField(column, own, set) {
  const values = [...(column.values ?? []), ...(own === null ? [] : [own])];
  const names = [...new Set(values.map(String))];
  const select = make("select", { "aria-label": column.name },
    ...(own === null ? [make("option", { value: "" }, "missing")] : []),
    ...names.map((name) => make("option", { value: name }, name)));
  // Names that are numbers in the data go back as they came.
  const original = new Map(values.map((one) => [String(one), one]));
  select.addEventListener("change", () => set(original.get(select.value) ?? null, true));
  return { input: select, elements: [select], put: (value) => putValue(select, value ?? "") };
}

function textField(column, own, set) {
  const input = make("input", { type: "text", "aria-label": column.name, autocomplete: "off" });
  input.addEventListener("change", () => set(input.value, true));
  return { input, elements: [input], put: (value) => putValue(input, value) };
}
