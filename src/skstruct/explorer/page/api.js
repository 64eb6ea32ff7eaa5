// SPDX-License-Identifier: BSD-3-Clause
// Requests of the page. Every kind of request has a line of its own: a new one makes the answer of
// the one before stale, and stale answers are dropped.

/** The server's own words on why it cannot answer (status 4xx or 5xx). */
export class Refused extends Error {}

/** The server does not answer at all. */
export class Lost extends Error {}

/** The answer of one request, as JSON. */
export async function ask(path, { body = undefined, signal = undefined } = {}) {
  let response;
  try {
    response = await fetch(path, {
      signal,
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Lost("The server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  const said = answer?.error ?? answer?.detail;
  throw new Refused(
    typeof said === "string" ? said : `The server refused the request (status ${response.status}).`,
  );
}

/** Requests of which only the last one counts. */
export class Line {
  #turn = 0;
  #controller = null;
  #timer = 0;

  constructor(delay = 0) {
    this.delay = delay;
  }

  /**
   * Asks after a short wait; `answered(answer)` or `failed(error)` is called unless another request
   * came in between.
   */
  ask(path, options, answered, failed) {
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    this.#controller?.abort();
    this.#timer = setTimeout(async () => {
      this.#controller = new AbortController();
      try {
        const answer = await ask(path, { ...options, signal: this.#controller.signal });
        if (turn === this.#turn) answered(answer);
      } catch (error) {
        if (turn === this.#turn && error.name !== "AbortError") failed(error);
      }
    }, this.delay);
  }
}
