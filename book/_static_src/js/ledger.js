// Filters for the ledger: a search box and one choice each for paper and status, made from the table itself.
// The choices stand in the fragment (#paper=facts&status=differs), so that a filtered view can be linked to.
document.addEventListener("DOMContentLoaded", () => {
  const frame = document.querySelector(".nsh-filtered");
  if (!frame) return;
  const rows = [...frame.querySelectorAll("tbody")].map((body) => ({ body, text: body.textContent.toLowerCase() }));
  const bar = document.createElement("form");
  bar.className = "nsh-filters";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "Filter the ledger");
  bar.addEventListener("submit", (event) => event.preventDefault());

  function field(name, control) {
    const label = document.createElement("label");
    label.append(name, " ", Object.assign(control, { name }));
    bar.append(label);
    return control;
  }

  function choice(name) {
    const counts = new Map();
    rows.forEach(({ body }) => counts.set(body.dataset[name], (counts.get(body.dataset[name]) || 0) + 1));
    const select = document.createElement("select");
    select.append(new Option(`all (${rows.length})`, ""));
    counts.forEach((count, value) => select.append(new Option(`${value} (${count})`, value)));
    return field(name, select);
  }

  const choices = ["paper", "status"].map(choice);
  const search = field("search", Object.assign(document.createElement("input"), { type: "search" }));
  const count = bar.appendChild(document.createElement("output"));

  function show() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const { body, text } of rows) {
      body.hidden = !(choices.every(({ name, value }) => !value || body.dataset[name] === value) && text.includes(wanted));
      shown += !body.hidden;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  }

  function read() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const select of choices) {
      select.value = asked.get(select.name) || "";
      if (select.selectedIndex < 0) select.value = "";
    }
    search.value = asked.get("search") || "";
    show();
  }

  function write() {
    const state = new URLSearchParams();
    [...choices, search].forEach(({ name, value }) => value && state.set(name, value));
    history.replaceState(null, "", location.pathname + location.search + (String(state) ? `#${state}` : ""));
  }

  bar.addEventListener("input", show);
  bar.addEventListener("change", write); // not while typing: browsers limit how often an address may change
  window.addEventListener("hashchange", read);
  frame.prepend(bar);
  read();
});
