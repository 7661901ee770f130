// The theme's buttons say one thing and are labelled another; a reader who speaks what stands there must find them.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".search-button-field").forEach((button) => button.removeAttribute("aria-label"));
  document.querySelectorAll(".theme-switch").forEach((icon) => icon.removeAttribute("title"));
});
// The same for widgets, which draw late and over again: sliders and play buttons come without a name.
document.addEventListener("DOMContentLoaded", () => {
  const name = () => {
    document.querySelectorAll(".noUi-handle:not([aria-label])").forEach((handle) => {
      const label = handle.closest(".jupyter-widgets").querySelector(".widget-label");
      handle.setAttribute("aria-label", label ? label.textContent : "value");
    });
    document.querySelectorAll(".widget-play button:not([aria-label])").forEach((button) => {
      const icon = button.querySelector("i").className;
      button.setAttribute("aria-label", icon.includes("stop") ? "Stop" : icon.includes("retweet") ? "Repeat" : "Play or pause");
    });
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
});
