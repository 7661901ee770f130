// Filters for the ledger: a search box and one choice each for paper and status, made from the table itself.
// The choices stand in the fragment (#paper=facts&status=differs), so that a filtered view can be linked to.
document.addEventListener("DOMContentLoaded", () => {
  const frame = document.querySelector(".nsh-filtered");
  if (!frame) return;
  const rows = [...frame.querySelectorAll("tbody")];
  const asked = new URLSearchParams(location.hash.slice(1));
  const bar = document.createElement("form");
  bar.className = "nsh-filters";
  bar.addEventListener("submit", (event) => event.preventDefault());

  function field(name, control) {
    const label = document.createElement("label");
    label.append(name, " ", control);
    control.name = name;
    bar.append(label);
    return control;
  }

  function choice(name) {
    const counts = new Map();
    rows.forEach(({ dataset }) => counts.set(dataset[name], (counts.get(dataset[name]) || 0) + 1));
    const select = document.createElement("select");
    select.append(new Option(`all (${rows.length})`, ""));
    counts.forEach((count, value) => select.append(new Option(`${value} (${count})`, value)));
    field(name, select).value = counts.has(asked.get(name)) ? asked.get(name) : "";
    return select;
  }

  const choices = ["paper", "status"].map(choice);
  const search = field("search", Object.assign(document.createElement("input"), { type: "search" }));
  search.value = asked.get("search") || "";
  const count = document.createElement("output");
  bar.append(count);

  function show() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const chosen = choices.every((select) => !select.value || row.dataset[select.name] === select.value);
      row.hidden = !(chosen && wanted.every((word) => text.includes(word)));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
    const state = new URLSearchParams();
    [...choices, search].forEach((control) => control.value && state.set(control.name, control.value));
    history.replaceState(null, "", location.pathname + location.search + (String(state) ? `#${state}` : ""));
  }

  bar.addEventListener("input", show);
  frame.prepend(bar);
  show();
});
