// Offers titles, authors and topics while one types. Without this script the box searches all the same.
"use strict";

(() => {
  const PAUSE = 120;

  function enhance(form) {
    const box = form.querySelector('input[type="search"]');
    const list = document.createElement("ul");
    const spoken = document.createElement("div");
    let offers = [];
    let at = -1;
    let timer = 0;
    let asked = "";
    let turn = 0; // an answer that comes after the list was closed, or after another question, is too late

    list.id = `${box.id}-suggestions`;
    list.className = "suggestions";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    spoken.className = "unseen";
    spoken.setAttribute("role", "status");
    for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-autocomplete", "list"], ["aria-controls", list.id]]) {
      box.setAttribute(name, value);
    }
    form.append(list, spoken);

    function close() {
      clearTimeout(timer);
      turn += 1;
      asked = "";
      list.hidden = true;
      at = -1;
      box.setAttribute("aria-expanded", "false");
      box.removeAttribute("aria-activedescendant");
    }

    function choose(index) {
      location.assign(offers[index].url);
    }

    function mark(index) {
      at = index;
      [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === at)));
      if (at >= 0) box.setAttribute("aria-activedescendant", list.children[at].id);
      else box.removeAttribute("aria-activedescendant");
    }

    function show(found) {
      offers = found;
      list.replaceChildren(...offers.map((offer, number) => {
        const item = document.createElement("li");
        const kind = document.createElement("span");
        item.id = `${list.id}-${number}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.textContent = offer.text;
        kind.className = "kind";
        kind.textContent = offer.kind;
        item.append(kind);
        item.addEventListener("mousedown", (event) => { event.preventDefault(); choose(number); });
        return item;
      }));
      list.hidden = offers.length === 0;
      at = -1;
      box.setAttribute("aria-expanded", String(offers.length > 0));
      spoken.textContent = offers.length ? `${offers.length} suggestions` : "";
    }

    async function ask() {
      const typed = box.value.trim();
      if (typed === asked) return;
      if (typed.length < 2) { close(); return; }
      asked = typed;
      const mine = turn += 1;
      try {
        const answer = await fetch(`/suggest.json?q=${encodeURIComponent(typed)}`);
        const found = answer.ok ? (await answer.json()).suggestions : [];
        if (mine === turn && typed === box.value.trim()) show(found);
      } catch { if (mine === turn) close(); }
    }

    box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, PAUSE); });
    box.addEventListener("blur", close);
    box.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      if (event.key === "ArrowDown") { event.preventDefault(); mark((at + 1) % offers.length); }
      else if (event.key === "ArrowUp") { event.preventDefault(); mark(at <= 0 ? offers.length - 1 : at - 1); }
      else if (event.key === "Escape") { event.preventDefault(); close(); }
      else if (event.key === "Enter" && at >= 0) { event.preventDefault(); choose(at); }
    });
  }

  document.querySelectorAll("form.search").forEach(enhance);
})();
