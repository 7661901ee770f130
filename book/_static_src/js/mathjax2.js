// Widgets and live cells speak the MathJax 2 API (`MathJax.Hub.Queue(["Typeset", ..., element])`); the pages have
// MathJax 3. This must run before MathJax, which is deferred.
(function () {
  let waiting = []; // elements that came before MathJax was ready; null once it is
  const typeset = (element) => MathJax.typesetPromise([element]).catch(console.warn);
  const nothing = () => {};
  const hub = {
    Config: nothing,
    Configured: nothing,
    Register: { StartupHook: nothing },
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
