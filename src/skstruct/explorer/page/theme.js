// SPDX-License-Identifier: BSD-3-Clause
// Light or dark, before anything is painted: what was chosen here before, else what the system has.
// This is a plain script (no module), since modules run only after the page is parsed.

(() => {
  const KEY = "skstruct-theme";

  function kept() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage may be forbidden: the choice then lasts as long as the page
    }
  }

  function systemTheme() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function apply(theme) {
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.setAttribute("aria-pressed", String(theme === "dark"));
  }

  function toggle() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // see above
    }
  }

  apply(kept() ?? systemTheme());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (kept() === null) apply(systemTheme());
  });
  addEventListener("DOMContentLoaded", () => {
    apply(document.documentElement.dataset.theme);
    document.getElementById("theme").addEventListener("click", toggle);
  });
})();
