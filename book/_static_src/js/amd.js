// Widgets: modules, and the icon fonts they name, are looked up in vendor/npm/, never on the network.
// This must run before require.js and embed-amd.js.
window.require = { baseUrl: new URL("../vendor/npm", document.currentScript.src).href };
