"use strict";
/* Light and dark: the reader's system decides until the reader does. */
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = { get: () => { try { return localStorage.getItem("rhostar-theme"); } catch { return null; } },
                 set: (value) => { try { localStorage.setItem("rhostar-theme", value); } catch { /* a page from disk may have none */ } } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => {
    button.setAttribute("aria-label", isDark() ? "Switch to light colors" : "Switch to dark colors");
    button.setAttribute("aria-pressed", String(isDark()));
  };
  if (["light", "dark"].includes(kept.get())) root.dataset.theme = kept.get();
  label();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept.set(root.dataset.theme);
    label();
    document.dispatchEvent(new Event("themechange"));
  });
  dark.addEventListener("change", label);
})();
