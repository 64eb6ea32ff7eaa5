// SPDX-License-Identifier: BSD-3-Clause
// The decision of the chosen row: its drawing, what it costs and how sure that is, and what changed
// since the decision without constraints and with the row's own values.

import { byId, formatted, make, makeSvg } from "./dom.js";
import { parsed } from "./state.js";

const SVG_TYPE = "image/svg+xml";
const MOST_SHADE = 0.55; // of a part of probability 1 in drawings
const FORBIDDEN = "script, foreignObject, iframe, image, use, a, animate, set, style";

/** The element of an SVG text; null where it is not one, or holds what could run or load. */
export function drawingElement(text) {
  const read = new DOMParser().parseFromString(text, SVG_TYPE);
  const root = read.documentElement;
  if (root.localName !== "svg" || read.querySelector("parsererror")) return null;
  if (root.querySelector(FORBIDDEN)) return null;
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const name of element.getAttributeNames()) {
      if (/^on/i.test(name) || name === "style" || /href$/i.test(name)) return null;
    }
  }
  return document.adoptNode(root);
}

/** What can be asked of a part: some structures only know what must be in. */
export function statesOf(model) {
  return model.fixable ?? ["in", "out"];
}

/** The state of a part that follows on a click: free, in, out, free; null is free. */
export function nextState(view, model, key) {
  const states = [...statesOf(model), null];
  return states[(states.indexOf(view.fixed.get(key) ?? null) + 1) % states.length];
}

/** A key as words: "cat", "a → b", "3: B-PER". */
export function keyWords(key, parts = []) {
  const part = parts.find((one) => one.key === key);
  if (part?.name) return part.name;
  const name = parsed(key);
  return Array.isArray(name) ? name.join(" → ") : String(name ?? key);
}

export class DecisionPanel {
  constructor(store) {
    this.store = store;
    this.box = byId("drawing");
    this.box.addEventListener("click", (event) => this.#toggle(event.target));
    this.box.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows an answer; `base` is the answer without changes. Returns a sentence on what changed. */
  show(answer, base) {
    byId("decision").classList.remove("outdated");
    this.#draw(answer);
    this.#showLegend(answer);
    this.#showHelp();
    byId("drawing-text").textContent = answer.text;
    byId("facts").replaceChildren(...this.#facts(answer));
    return this.showChanges(answer, base);
  }

  #showHelp() {
    const { model } = this.store;
    const ways = { in: "to fix it in", out: "to rule it out" };
    const said = [...statesOf(model).map((state) => ways[state]), "to free it"].join(", again ");
    byId("drawing-help").hidden = statesOf(model).length === 0
      || this.box.querySelector("[data-part][role=button]") === null;
    byId("drawing-help").textContent = `Click ${article(model.part_words[0])} ${said}.`;
  }

  showChanges(answer, base) {
    const changes = base ? changeSentence(base, answer) : "";
    byId("changes").hidden = !changes;
    byId("changes").textContent = changes;
    return changes;
  }

  /** What is shown belongs to an earlier question: the last one has no answer. */
  markOutdated() {
    byId("decision").classList.add("outdated");
  }

  #draw(answer) {
    const focused = this.box.contains(document.activeElement)
      ? document.activeElement.dataset.part : null;
    const drawn = drawingElement(answer.drawing ?? "");
    const scrolled = this.box.scrollLeft;
    this.box.replaceChildren(drawn ?? make("p", {}, answer.text || answer.prediction));
    this.box.scrollLeft = scrolled;
    if (focused) this.#parts().find((part) => part.dataset.part === focused)?.focus();
  }

  #parts() {
    return [...this.box.querySelectorAll("[data-part][tabindex]")];
  }

  #toggle(target) {
    const part = target.closest("[data-part][role=button]");
    if (!part) return;
    const { view, model } = this.store;
    const key = part.dataset.part;
    if (statesOf(model).length) this.store.fix(key, nextState(view, model, key));
  }

  #key(event) {
    const part = event.target.closest("[data-part][role=button]");
    if (!part) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") this.#toggle(part);
    else if (step) {
      const parts = this.#parts();
      parts[parts.indexOf(part) + step]?.focus();
    } else return;
    event.preventDefault();
  }

  /** What shades mean; marks are explained in the drawing itself. */
  #showLegend(answer) {
    const shaded = this.box.querySelector(".part [fill-opacity], .part [stroke-opacity]") !== null
      && answer.parts.some((part) => typeof part.probability === "number");
    byId("legend").hidden = !shaded;
    byId("legend").replaceChildren("probability 0 ", shades(), " 1");
  }

  #facts(answer) {
    const { model, view } = this.store;
    const title = model.losses.find((loss) => loss.name === view.loss)?.title ?? view.loss;
    const facts = [["Predicted", answer.prediction]];
    if (answer.truth !== null && answer.truth !== undefined) facts.push(["True", answer.truth]);
    if (typeof answer.value === "number") {
      const name = answer.value_name === "risk" ? `Expected loss (${title})` : "Cost";
      facts.push([name, `${formatted(answer.value)}, ${bound(answer)}`]);
    }
    if (typeof answer.loss_of_row === "number") {
      facts.push([`Loss (${title})`, formatted(answer.loss_of_row)]);
    }
    return facts.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text)));
  }
}

function article(word) {
  return /^[aeiou]/i.test(word) ? `an ${word}` : `a ${word}`;
}

/** How sure it is that no other output is better. */
function bound(answer) {
  if (answer.exact) return "proved best";
  if (typeof answer.gap === "number") return `within ${formatted(answer.gap)} of the best`;
  return "without a bound";
}

/** What differs between two answers, as a sentence. */
export function changeSentence(base, answer) {
  if (base.prediction === answer.prediction) {
    return "The decision is the same as without these changes.";
  }
  const predicted = ({ parts }) =>
    new Map(parts.filter((part) => part.predicted).map((part) => [part.key, part.name]));
  const [before, now] = [predicted(base), predicted(answer)];
  const added = [...now].filter(([key]) => !before.has(key)).map(([, name]) => name);
  const gone = [...before].filter(([key]) => !now.has(key)).map(([, name]) => name);
  const list = (names) => names.slice(0, 6).join(", ")
    + (names.length > 6 ? ` and ${names.length - 6} more` : "");
  const words = [];
  if (added.length) words.push(`now also ${list(added)}`);
  if (gone.length) words.push(`no longer ${list(gone)}`);
  if (!words.length || !before.size) {
    words.splice(0, 2, `${base.prediction} before, ${answer.prediction} now`);
  }
  return `Compared with the decision without changes: ${words.join("; ")}.`;
}

function shades() {
  const drawn = makeSvg("svg", { class: "shades", viewBox: "0 0 60 12", "aria-hidden": "true" });
  [0, 0.25, 0.5, 0.75, 1].forEach((opacity, i) => drawn.append(makeSvg("rect",
    { x: 12 * i, y: 0, width: 12, height: 12, "fill-opacity": MOST_SHADE * opacity })));
  return drawn;
}
