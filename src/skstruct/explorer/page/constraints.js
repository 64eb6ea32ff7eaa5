// SPDX-License-Identifier: BSD-3-Clause
// What the decision must obey: parts that are fixed, as chips, and a field for every other
// constraint that the model's space takes.

import { byId, capital, make } from "./dom.js";
import { keyWords, statesOf } from "./decision.js";
import { parsed } from "./state.js";

// What clicks on parts say already; where parts are edges, the plain names are those of nodes.
const BY_EDGES = ["include_edges", "exclude_edges"];
const BY_PARTS = ["include", "exclude"];
const NUMBERS = /(^|_)(size|length|budget|capacity|count|weight|cost|ties|total|top)$/;
const FLAGS = ["one_path"];

/** Constraints of a view as the server takes them, or the sentence that says what is wrong. */
export function restrictions(view, model) {
  const restrict = {};
  for (const [name, text] of view.restrict) {
    const value = valueOf(text, kindOf(name, model));
    if (value === undefined) {
      const number = kindOf(name, model) === "number";
      const wanted = number ? "a number" : 'JSON, such as [["a", "b"]]';
      return { error: `${words(name)}: got ${text}. Give ${wanted}.` };
    }
    restrict[name] = value;
  }
  return { restrict };
}

/** What a text means: JSON, "a, b" where names are wanted, or a single name without quotes. */
function valueOf(text, kind) {
  const value = parsed(text);
  if (value !== undefined && kind === "names" && !Array.isArray(value)) return [value];
  if (value !== undefined || kind === "number" || /^[[{"]/.test(text)) return value;
  return kind === "names" ? text.split(",").map((name) => name.trim()) : text;
}

/** Names of constraints that get a field. */
function withFields(model) {
  const states = statesOf(model);
  const edges = BY_EDGES.some((name) => model.constraints.includes(name));
  const clicked = edges ? BY_EDGES : BY_PARTS;
  return model.constraints.filter((name) => !states.length || !clicked.includes(name));
}

function kindOf(name, model) {
  if (NUMBERS.test(name)) return "number";
  return model.constraint_kinds?.[name] ?? (FLAGS.includes(name) ? "flag" : "json");
}

function words(name) {
  const text = name.replaceAll("_", " ").replace(/^max /, "largest ").replace(/^min /, "smallest ");
  return capital(text);
}

export class ConstraintsPanel {
  #inputs = new Map();

  constructor(store) {
    this.store = store;
    const { model } = store;
    const names = withFields(model);
    const order = { number: 0, flag: 1, names: 2, json: 3 };
    names.sort((a, b) => order[kindOf(a, model)] - order[kindOf(b, model)]);
    const simple = names.filter((name) => order[kindOf(name, model)] < 2);
    const others = names.filter((name) => !simple.includes(name));
    byId("constraints").hidden = names.length === 0 && statesOf(model).length === 0;
    byId("constraint-fields").hidden = names.length === 0;
    byId("constraint-fields").replaceChildren(
      ...simple.map((name) => this.#field(name, kindOf(name, model))));
    if (others.length) byId("constraint-fields").append(this.#more(others));
    byId("clear-all").addEventListener("click", () => {
      store.change({ fixed: new Map(), restrict: new Map() });
      byId("constraints-heading").focus();
    });
    store.listen((view) => this.show(view));
    this.parts = [];
    this.show(store.view);
  }

  #more(names) {
    return make("details", { class: "wide" }, make("summary", {}, "More constraints"),
      make("p", { class: "hint" }, "Names with commas between them, anything else as JSON."),
      ...names.map((name) => this.#field(name, kindOf(name, this.store.model))));
  }

  #field(name, kind) {
    const type = { number: "number", flag: "checkbox" }[kind] ?? "text";
    const input = make("input", { type, name, "data-constraint": name, autocomplete: "off",
      min: kind === "number" ? 0 : null, spellcheck: type === "text" ? "false" : null });
    input.addEventListener(type === "text" ? "change" : "input", () => {
      const restrict = new Map(this.store.view.restrict);
      const text = kind === "flag" ? (input.checked ? "true" : "") : input.value.trim();
      // A browser gives no text at all for a number that is only begun ("1e").
      if (text) restrict.set(name, text);
      else restrict.delete(name);
      this.store.change({ restrict }, { step: kind !== "number" });
    });
    this.#inputs.set(name, input);
    return kind === "flag"
      ? make("label", { class: "check" }, input, ` ${words(name)}`)
      : make("label", { class: type === "text" ? "wide" : null }, words(name), input);
  }

  show(view) {
    for (const [name, input] of this.#inputs) {
      const text = view.restrict.get(name) ?? "";
      if (input.type === "checkbox") input.checked = text === "true";
      else if (input !== document.activeElement || !text) {
        if (input.value !== text) input.value = text;
      }
    }
    byId("chips").replaceChildren(...[...view.fixed].map(([key, state]) => this.#chip(key, state)));
    byId("chips").hidden = view.fixed.size === 0;
    byId("clear-all").hidden = view.fixed.size + view.restrict.size === 0;
    const [one] = this.store.model.part_words;
    byId("constraints-hint").hidden = view.fixed.size > 0 || !statesOf(this.store.model).length;
    byId("constraints-hint").textContent = `No ${one} is fixed.`;
  }

  /** The parts of the last answer, for their names. */
  name(parts) {
    this.parts = parts;
    this.show(this.store.view);
  }

  #chip(key, state) {
    const name = keyWords(key, this.parts);
    const free = () => {
      this.store.fix(key, null);
      (byId("chips").querySelector("button") ?? byId("constraints-heading")).focus();
    };
    return make("li", { class: `chip ${state}` },
      make("span", { class: "state" }, state), " ", make("span", { class: "name" }, name),
      make("button", { type: "button", "aria-label": `Free ${name}`, click: free }, "×"));
  }

  /** A sentence beside the fields; none takes it away. */
  refuse(sentence) {
    byId("constraint-error").hidden = !sentence;
    byId("constraint-error").textContent = sentence ?? "";
  }
}
