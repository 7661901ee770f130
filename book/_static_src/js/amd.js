// Widgets: must run before require.js and embed-amd.js.
// 1. Modules, and the icon fonts they name, are looked up in vendor/npm/, never on the network.
window.require = { baseUrl: new URL("../vendor/npm", document.currentScript.src).href };

// 2. The widget manager speaks MathJax 2 (`MathJax.Hub.Queue(["Typeset", ..., element])`); the pages have MathJax 3.
(function () {
  let waiting = []; // elements that came before MathJax was ready; null once it is
  const typeset = (element) => MathJax.typesetPromise([element]).catch(console.warn);
  const hub = {
    Queue(...commands) {
      for (const [command, , element] of commands.filter(Array.isArray)) {
        if (command !== "Typeset") continue;
        if (waiting) waiting.push(element);
        else typeset(element);
      }
    },
  };
  const ready = () => {
    MathJax.startup.defaultReady();
    MathJax.Hub = hub;
    MathJax.startup.promise.then(() => {
      waiting.forEach(typeset);
      waiting = null;
    });
  };
  window.MathJax = Object.assign(window.MathJax || {}, { Hub: hub });
  window.MathJax.startup = Object.assign(window.MathJax.startup || {}, { ready });
})();
