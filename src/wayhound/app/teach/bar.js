// The teaching bar. Runs in an isolated world of every frame: it shares the document with the page's own
// scripts, which can neither see nor call anything in here. Synthetic events of a page are ignored.
(setup) => {
  "use strict";
  if (globalThis.wayhound) return;
  const isTop = window === window.top;
  const report = globalThis[setup.binding];
  const KEYS = { KeyG: "goal", KeyX: "reject", KeyM: "mark", KeyZ: "undo", KeyP: "back", KeyN: "next", KeyD: "done",
                 KeyB: "dock" };
  const HOST = "wayhound-bar";
  const HOST_STYLE = "all: initial !important; display: block !important; position: fixed !important; " +
    "z-index: 2147483647 !important; left: 0 !important; right: 0 !important; height: 0 !important; ";
  const MAX_CHARS = 30e6;
  const STAYS = ["trouble", "ask"];  // messages that stay until they are closed
  const OURS = [
    "click", "auxclick", "dblclick", "contextmenu", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart",
    "touchend", "keydown", "keypress", "keyup", "beforeinput", "input", "change", "focusin", "focusout", "paste",
    "copy", "cut", "compositionstart", "compositionend",
  ];

  let host = null, root = null, parts = null, state = null, docked = "top", dockChosen = false, sheet = null;
  let repairs = 0, toastTimer = 0, marksWanted = false, selected = "", held = "";

  const send = (message) => report(JSON.stringify(message));

  // ---- messages to the recorder ----------------------------------------------------------------------------

  function snapshot() {
    const doctype = document.doctype ? `<!DOCTYPE ${document.doctype.name}>` : "";
    let html = document.documentElement ? document.documentElement.outerHTML : "";
    if (host && host.isConnected) html = html.replace(host.outerHTML, "");
    return (doctype + html).slice(0, MAX_CHARS);
  }

  function page() {
    return { url: location.href, top: isTop, title: document.title, html: snapshot(), type: document.contentType,
             login: Boolean(document.querySelector("input[type=password]")) };
  }

  function linkOf(event) {
    const isLink = (node) => (node.localName === "a" || node.localName === "area") && node.hasAttribute("href");
    return event.composedPath().find((node) => node.nodeType === Node.ELEMENT_NODE && isLink(node));
  }

  function addressOf(link) {
    if (typeof link.href === "string") return link.href;
    try { return new URL(link.href.baseVal, document.baseURI).href; } catch { return ""; }
  }

  // Buttons, cards and script links: where they lead is known when the tab gets there.
  const PRESSED = "a, button, summary, [onclick], [role=link], [role=button], [role=menuitem], [role=tab]";

  function pressable(node) {
    if (node.nodeType !== Node.ELEMENT_NODE || node === document.body || node === document.documentElement) return false;
    return node.matches(PRESSED) || getComputedStyle(node).cursor === "pointer";
  }

  function reportPress(event) {
    const element = event.composedPath().find(pressable);
    if (!element || (element.form && element.type === "submit")) return;
    send({ ...page(), say: "click", href: "", text: element.textContent.trim().slice(0, 200) });
  }

  function reportClick(event) {
    const link = linkOf(event);
    const href = link ? addressOf(link) : "";
    if (!/^https?:/.test(href) || href.split("#")[0] === location.href.split("#")[0]) return reportPress(event);
    const same = [...document.querySelectorAll("a[href], area[href]")].filter((other) => addressOf(other) === href);
    send({ ...page(), say: "click", href, text: link.textContent.trim().slice(0, 500), nth: same.indexOf(link) });
  }

  function perform(what, more = {}) {
    if (setup.mode === "free" && (what === "reject" || what === "mark")) return undefined;
    if (what === "mark" && isTop && !("label" in more)) return toggleMarks();
    if (what === "mark" && selected) return perform("value", { ...more, text: selected });
    if (what === "mark" && !isTop) return send({ say: "do", do: "open-marks" });
    if (what === "back") return history.back();
    if (what === "dock") return isTop ? dock(docked === "top" ? "bottom" : "top", true) : undefined;
    closeMarks();
    send({ ...(isTop ? page() : { url: location.href, top: false }), say: "do", do: what, ...more });
  }

  // ---- events: captured before all other listeners, so that pages see nothing of what happens in the bar ------

  const pressedForBar = new Set();  // the keyup of a key that was pressed for the bar belongs to the bar as well

  function onEvent(event) {
    if (!event.isTrusted) return;
    if (event.type === "keydown" && handledKey(event)) {
      pressedForBar.add(event.code);
      event.stopImmediatePropagation();
      event.preventDefault();
    } else if (event.type === "keyup" && pressedForBar.delete(event.code)) {
      event.stopImmediatePropagation();
    } else if (host && event.target === host) {
      event.stopImmediatePropagation();
      if (event.type === "pointerdown") held = selection();  // a press on the bar clears it
      if (event.type === "click") press(pressed(event));
    } else if ((event.type === "click" && event.button === 0) || (event.type === "auxclick" && event.button === 1)) {
      reportClick(event);
    }
  }

  function handledKey(event) {
    if (event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey && KEYS[event.code]) {
      if (!event.repeat) perform(KEYS[event.code]);
      return true;
    }
    return marksOpen() && handledInMarks(event);
  }

  function handledInMarks(event) {
    const typing = parts.field.value !== "";
    const number = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    const label = number && !event.ctrlKey && !event.altKey && choices()[number[1] - 1];
    if (event.key === "Escape") closeMarks();
    else if (event.key === "Enter" && root.activeElement === parts.field) markTyped();
    else if (label && !typing) perform("mark", { label });
    else return false;
    return true;
  }

  function pressed(event) {
    const byKey = event.detail === 0 && event.clientX === 0 && event.clientY === 0;
    const element = byKey ? root.activeElement : root.elementFromPoint(event.clientX, event.clientY);
    return element && element.closest("[data-do]");
  }

  function press(button) {
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    const what = button.dataset.do;
    if (what === "typed") markTyped();
    else if (what === "label") perform("mark", { label: button.dataset.label });
    else if (what === "goto") perform("goto", { page: Number(button.dataset.page) });
    else if (what === "closeMessage") closeMessage();
    else perform(what);
  }

  function markTyped() {
    const label = parts.field.value.trim();
    if (label) perform("mark", { label });
  }

  // ---- display -----------------------------------------------------------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function button(what, text, name) {
    const code = Object.keys(KEYS).find((key) => KEYS[key] === what);
    const keys = `Alt+Shift+${code.slice(3)}`;
    const key = make("kbd", { "aria-hidden": "true" }, code.slice(3));
    const made = make("button", { type: "button", class: what, "data-do": what, "aria-keyshortcuts": keys,
                                  "aria-label": name, title: `${name} (${keys})` });
    made.append(make("span", { class: "text" }, text), key);
    return made;
  }

  function build() {
    host = document.createElement(HOST);
    root = host.attachShadow({ mode: "closed" });
    sheet = new CSSStyleSheet();
    sheet.replaceSync(setup.css);
    root.adoptedStyleSheets = [sheet];
    const free = setup.mode === "free";
    parts = {
      bar: make("div", { class: "bar", role: "region", "aria-label": "Wayhound teaching bar" }),
      site: make("span", { class: "site" }),
      counts: make("span", { class: "counts" }),
      crumbs: make("ol", {}),
      toast: make("div", { class: "toast", role: "status", "aria-live": "polite", hidden: "" }),
      marks: make("div", { class: "marks", role: "dialog", "aria-label": "Mark this page as", hidden: "" }),
      known: make("ul", {}),
      chosen: make("p", { class: "chosen", hidden: "" }),
      field: make("input", { type: "text", maxlength: "60", "aria-label": "A new label", placeholder: "A new label",
                             autocomplete: "off", spellcheck: "false" }),
      goal: free ? button("goal", "Useful", "This page is useful") : button("goal", "Goal", "This page is a goal"),
      reject: button("reject", "Reject", "Reject this page: it is not what you are looking for"),
      mark: button("mark", "Mark as…", "Give this page a label of your own"),
      undo: button("undo", "Undo", "Undo the last mark"),
      back: button("back", "Back", "Go back to the page before"),
      next: button("next", "Next site", "Go to the next site"),
      done: button("done", free ? "Submit" : "Done", free ? "Submit what you have browsed" : "Finish teaching"),
      dock: button("dock", "⇅", "Move this bar to the other edge"),
    };
    const add = make("button", { type: "button", class: "add", "data-do": "typed" }, "Mark");
    parts.marks.append(parts.chosen, parts.known, make("div", { class: "new" }, parts.field, add));
    const trail = make("nav", { "aria-label": "Trail so far" }, parts.crumbs);
    const hint = make("span", { class: "hint", "aria-hidden": "true" }, "Alt+Shift+");
    const marks = free ? [parts.goal, parts.undo] : [parts.goal, parts.reject, parts.mark, parts.undo];
    const ways = setup.back ? [parts.back, parts.next] : [parts.next];
    const buttons = [...marks, ...ways, parts.done, parts.dock];
    const tools = make("div", { class: "tools", role: "toolbar", "aria-label": "Teaching" }, hint, ...buttons);
    parts.bar.append(make("span", { class: "name", "aria-hidden": "true" }), parts.site, parts.counts, trail, tools);
    root.append(parts.bar, parts.marks, parts.toast);
  }

  // Runs often, so it changes the document only where something is wrong.
  function ensure() {
    for (const type of OURS) window.addEventListener(type, onEvent, true);
    if (!isTop || !document.documentElement || !document.body) return;
    if (!host) build();
    const style = HOST_STYLE + (docked === "top" ? "top: 0 !important;" : "bottom: 0 !important;");
    if (host.getAttribute("style") !== style) host.setAttribute("style", style);
    if (host.parentNode !== document.documentElement && repairs < 200) {
      repairs += 1;
      document.documentElement.append(host);
      makeRoom();
      if (state) show(state);
    }
    if (room && !document.adoptedStyleSheets.includes(room)) makeRoom();
  }

  // The page makes room for the bar; if it has something fixed at that edge, the bar moves to the other one.
  let room = null;
  function makeRoom() {
    room = room || new CSSStyleSheet();
    const side = docked === "top" ? "top" : "bottom";
    const stays = !parts.toast.hidden && STAYS.includes(parts.toast.dataset.tone);
    const height = setup.height + (stays ? parts.toast.offsetHeight : 0);
    room.replaceSync(`html { margin-${side}: ${height}px !important; scroll-padding-${side}: ${height}px }
      html > frameset { height: calc(100vh - ${height}px) !important }`);
    const sheets = document.adoptedStyleSheets;
    if (!sheets.includes(room)) document.adoptedStyleSheets = [...sheets, room];
    for (const part of [parts.bar, parts.marks, parts.toast]) part.dataset.dock = docked;
  }

  function dock(side, chosen = false) {
    dockChosen = dockChosen || chosen;
    docked = side;
    makeRoom();
    ensure();
  }

  function stuckAtTop() {
    const heights = [3, setup.height + 3, setup.height + 30];
    const points = [0.2, 0.5, 0.8].flatMap((share) => heights.map((y) => [innerWidth * share, y]));
    return points.some(([x, y]) => document.elementsFromPoint(x, y).some(sticksToTop));
  }

  function sticksToTop(element) {
    for (let node = element; node && node !== host; node = node.parentElement) {
      const style = getComputedStyle(node);
      const sticks = style.position === "fixed" || style.position === "sticky";
      if (sticks && parseFloat(style.top) < setup.height && node.offsetHeight < innerHeight / 2) return true;
    }
    return false;
  }

  function show(next) {
    state = next;
    if (!parts) return;
    parts.site.textContent = state.site;
    parts.counts.textContent = state.counts;
    parts.counts.title = state.missing;
    parts.counts.classList.toggle("enough", state.enough);
    parts.crumbs.replaceChildren(...state.crumbs.map(crumb));
    parts.crumbs.lastElementChild?.scrollIntoView({ inline: "end", block: "nearest" });
    parts.known.replaceChildren(...choices().slice(0, 9).map(knownLabel));
    const can = { goal: state.page, reject: state.page, mark: state.page, undo: state.canUndo, next: state.hasNext };
    for (const [name, allowed] of Object.entries(can)) parts[name].setAttribute("aria-disabled", String(!allowed));
    const label = state.crumbs.at(-1)?.label;
    parts.goal.setAttribute("aria-pressed", String(label === "Goal"));
    parts.reject.setAttribute("aria-pressed", String(label === "Fail"));
    if (state.message) say(state.message, state.tone);
    if (marksWanted) toggleMarks();
  }

  function crumb(step, number, all) {
    const item = make("li", step.label ? { "data-label": step.label } : {});
    const last = number === all.length - 1;
    const hint = step.title ? `${step.title}\n${step.url}` : step.url;
    const words = make("button", { type: "button", "data-do": "goto", "data-page": step.page, title: hint },
                       step.words || step.url);
    if (last) words.setAttribute("aria-current", "page");
    item.append(words);
    const label = { Goal: setup.mode === "free" ? "Useful" : "Goal", Fail: "Rejected" }[step.label] || step.label;
    if (label) item.append(make("span", { class: "label" }, label));
    return item;
  }

  function knownLabel(label, number) {
    const key = make("kbd", { "aria-hidden": "true" }, String(number + 1));
    return make("li", {}, make("button", { type: "button", "data-do": "label", "data-label": label }, key, label));
  }

  function say(message, tone) {
    clearTimeout(toastTimer);
    const close = make("button", { type: "button", "data-do": "closeMessage", "aria-label": "Hide this message" }, "×");
    parts.toast.replaceChildren(make("span", {}, message), ...(STAYS.includes(tone) ? [close] : []));
    parts.toast.dataset.tone = tone || "plain";
    parts.toast.hidden = false;
    if (!STAYS.includes(tone)) toastTimer = setTimeout(closeMessage, 5000);
    makeRoom();
  }

  function closeMessage() {
    parts.toast.hidden = true;
    makeRoom();
  }

  const selection = () => String(getSelection()).replace(/\s+/g, " ").trim().slice(0, 500);

  const choices = () => (selected ? setup.fields : state.labels);

  const marksOpen = () => Boolean(parts) && !parts.marks.hidden;

  function toggleMarks() {
    if (marksOpen()) return closeMarks();
    // The key may be pressed before the page is drawn or known: the labels open when it is.
    marksWanted = !parts || !state || !state.page;
    if (marksWanted) return;
    closeMessage();
    // With a text selected, what is marked is that value and not the page.
    selected = setup.mode === "free" ? "" : selection() || held;
    held = "";
    parts.chosen.hidden = !selected;
    parts.chosen.textContent = selected ? `“${selected.length > 80 ? selected.slice(0, 80) + "…" : selected}” is a value of` : "";
    parts.marks.setAttribute("aria-label", selected ? "The selected text is a value of" : "Mark this page as");
    parts.field.placeholder = selected ? "A field, such as founder" : "A new label";
    parts.field.setAttribute("aria-label", selected ? "A field" : "A new label");
    parts.known.replaceChildren(...choices().slice(0, 9).map(knownLabel));
    parts.marks.hidden = false;
    parts.field.value = "";
    const under = parts.mark.getBoundingClientRect();
    parts.marks.style.right = `${Math.max(8, innerWidth - under.right - 60)}px`;
    parts.field.focus();
  }

  function closeMarks() {
    marksWanted = false;
    selected = "";
    if (parts) parts.marks.hidden = true;
  }

  globalThis.wayhound = {
    show,
    openMarks: toggleMarks,
    /** Report the page again after a script changed its address; the delay gives it time to draw. */
    lookAgain: () => setTimeout(reportPage, 200),
    /** Return the position of an element of the bar, for tests and playback. */
    place(selector) {
      const found = root && root.querySelector(selector);
      const box = found && found.getBoundingClientRect();
      return box && { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width, height: box.height };
    },
    knowsPage: () => Boolean(parts && state && state.page),
    words: () => (root ? parts.bar.innerText : ""),
    message: () => (root && !parts.toast.hidden ? parts.toast.firstElementChild.textContent : ""),
    bars: () => document.getElementsByTagName(HOST).length,
  };

  // ---- lifecycle ---------------------------------------------------------------------------------------------

  function reportPage() {
    ensure();
    send({ ...page(), say: "seen" });
    if (isTop && host && !dockChosen && docked === "top" && stuckAtTop()) dock("bottom");
  }

  ensure();
  send({ say: "hello", url: location.href, top: isTop });
  new MutationObserver(ensure).observe(document, { childList: true });
  const early = new MutationObserver(() => { if (document.body) { early.disconnect(); ensure(); } });
  if (!document.body) early.observe(document, { childList: true, subtree: true });
  setInterval(ensure, 500);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", reportPage, { once: true });
  else reportPage();
  if (document.readyState !== "complete") window.addEventListener("load", () => setTimeout(reportPage, 50), { once: true });
}
