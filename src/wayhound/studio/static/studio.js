// Progressive enhancement: every page works without this script.
"use strict";

// A notice is shown once, not again when the page is reloaded.
const here = new URL(location.href);
if (here.searchParams.has("notice")) {
  here.searchParams.delete("notice");
  history.replaceState(null, "", here);
}

// A running job is polled twice a second; when it ends, the page is reloaded.
const job = document.querySelector(".job[data-state='running']");
if (job) {
  const sentence = job.querySelector(".job-sentence");
  const bar = job.querySelector(".job-bar");
  const look = async () => {
    try {
      const response = await fetch(`/jobs/${job.dataset.job}.json`, { cache: "no-store" });
      if (response.ok) {
        const progress = await response.json();
        if (progress.state !== "running") {
          location.reload();
          return;
        }
        sentence.textContent = progress.sentence;
        if (progress.total > 0) {
          bar.max = progress.total;
          bar.value = progress.done;
        }
      }
    } catch (error) {
      sentence.textContent = "The studio does not respond. It may have been stopped.";
    }
    setTimeout(look, 500);
  };
  setTimeout(look, 500);
}

// A form whose response takes seconds shows at once that it was sent.
document.addEventListener("submit", (event) => {
  const busy = event.target.dataset.busy;
  const button = event.submitter || event.target.querySelector("button");
  if (busy && button) {
    button.textContent = busy;
    button.setAttribute("aria-busy", "true");
    setTimeout(() => { button.disabled = true; }, 0);
  }
});

// Parts of a page that change while a run is in progress.
const live = document.querySelector("[data-live]");
if (live && live.dataset.live) {
  const renew = async () => {
    try {
      const response = await fetch(live.dataset.live, { cache: "no-store" });
      if (response.ok) {
        const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
        const fresh = parsed.querySelector("[data-live]");
        live.replaceChildren(...(fresh ? fresh.childNodes : parsed.body.childNodes));
        if (!fresh || fresh.dataset.over) {
          return;
        }
      }
    } catch (error) {
      return; // the studio was stopped; keep what is shown
    }
    setTimeout(renew, 1500);
  };
  setTimeout(renew, 1500);
}

// One key answers a question.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable], .screen");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const button = document.querySelector(`button[data-key~="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) {
    event.preventDefault();
    button.click();
  } else if (event.key.toLowerCase() === "m") {
    const field = document.querySelector("[data-key-field='m']");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});

// The text that is selected on a page becomes the value to be marked.
const selected = document.querySelector("[data-selection]");
const selectable = document.querySelector("[data-selectable]");
if (selected && selectable) {
  document.addEventListener("selectionchange", () => {
    const selection = document.getSelection();
    const text = selection.toString().trim();
    if (text && selectable.contains(selection.anchorNode)) {
      selected.value = text.replace(/\s+/g, " ");
    }
  });
}
