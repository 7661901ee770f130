// Live cells against a Jupyter server on this computer. Open any page with
//   #live=http://127.0.0.1:8888&token=...
// (a fragment: never sent to a server, never part of the build). Without it the page is only read, and says nothing.
(function () {
  const here = new URL(".", document.currentScript.src).href; // .../_static/js/
  const vendor = new URL("../vendor/", here).href;
  const asked = new URLSearchParams(location.hash.slice(1));
  const isHere = (url) => URL.canParse(url) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
  if (isHere(asked.get("live"))) {
    sessionStorage.setItem("nsh-live", JSON.stringify({ baseUrl: asked.get("live"), token: asked.get("token") || "" }));
    history.replaceState(null, "", location.pathname + location.search);
  }
  const server = JSON.parse(sessionStorage.getItem("nsh-live") || "null");
  if (!server) return;
  window.NSH_REQUIRE_URL = vendor + "require/require.js"; // thebe fetches require.js from here (see nsh/assets.py)

  // Mark each code cell for thebe. It pairs the n-th cell with the n-th output, so every cell gets an output.
  function markCells() {
    for (const cell of document.querySelectorAll("div.cell")) {
      const code = cell.querySelector(".cell_input pre");
      if (!code) continue;
      cell.querySelectorAll("button.copybtn").forEach((button) => button.remove());
      code.dataset.executable = "true";
      code.dataset.language = "python";
      const output = cell.querySelector(".cell_output") || cell.appendChild(document.createElement("div"));
      output.dataset.output = "";
    }
  }

  function start(say) {
    markCells();
    say("Connecting to the kernel …");
    thebe.on("status", (event, data) => say(`Kernel: ${data.status}`));
    thebe
      .bootstrap({
        useBinder: false,
        requestKernel: true,
        mountStatusWidget: false,
        mountActivateWidget: false,
        mathjaxUrl: here + "noop.js",
        kernelOptions: { kernelName: "python3", path: "." },
        serverSettings: {
          baseUrl: server.baseUrl,
          wsUrl: server.baseUrl.replace(/^http/, "ws"),
          token: server.token,
          appendToken: true,
        },
      })
      .catch((error) => say(`No kernel at ${server.baseUrl}: ${error.message}`));
  }

  function load(say) {
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: vendor + "thebe/thebe.css" });
    const script = Object.assign(document.createElement("script"), { src: vendor + "thebe/index.js" });
    script.onload = () => start(say);
    script.onerror = () => say("The live-cell viewer is missing from this build.");
    document.head.append(style, script);
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!document.querySelector("div.cell .cell_input")) return;
    const bar = Object.assign(document.createElement("div"), { className: "nsh-live" });
    const button = Object.assign(document.createElement("button"), { className: "btn btn-primary btn-sm", textContent: "Run cells live" });
    const status = Object.assign(document.createElement("span"), { textContent: `Server: ${server.baseUrl}` });
    status.setAttribute("role", "status");
    button.onclick = () => {
      button.disabled = true;
      load((text) => (status.textContent = text));
    };
    bar.append(button, status);
    document.querySelector(".bd-article").prepend(bar);
  });
})();
