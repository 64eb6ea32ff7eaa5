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

const PATIENCE = 1500; // milliseconds that a stale request may hold up the next one

/**
 * Requests of which only the last one counts. One is under way at a time, so a slow server is not
 * flooded by a slider that is dragged: what comes meanwhile waits, and only the newest is sent.
 */
export class Line {
  #turn = 0;
  #timer = 0;
  #running = null; // the controller of the request under way
  #waiting = null; // the request that is sent next

  constructor(delay = 0) {
    this.delay = delay;
  }

  /**
   * Asks after a short wait; `answered(answer)` or `failed(error)` is called unless another request
   * came in between.
   */
  ask(path, options, answered, failed) {
    const request = { path, options, answered, failed, turn: ++this.#turn };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(request), this.delay);
  }

  async #send(request) {
    if (this.#running) {
      const held = this.#running;
      if (!this.#waiting) setTimeout(() => held.abort(), PATIENCE);
      this.#waiting = request;
      return;
    }
    this.#running = new AbortController();
    const last = () => request.turn === this.#turn;
    try {
      const answer = await ask(request.path, { ...request.options, signal: this.#running.signal });
      if (last()) request.answered(answer);
    } catch (error) {
      const known = [Refused, Lost].some((kind) => error instanceof kind);
      if (!known && error.name !== "AbortError") throw error; // a fault of the page itself
      if (last()) request.failed(error);
    } finally {
      this.#running = null;
      const next = this.#waiting;
      this.#waiting = null;
      if (next) this.#send(next);
    }
  }
}
