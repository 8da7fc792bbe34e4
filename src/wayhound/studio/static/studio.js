// What makes the studio pleasant; every page works without it.
"use strict";

// What was said once is not said again when the page is renewed.
const here = new URL(location.href);
if (here.searchParams.has("notice")) {
  here.searchParams.delete("notice");
  history.replaceState(null, "", here);
}

// A job that runs is looked at twice a second; when it ends, the page is shown anew.
const job = document.querySelector(".job[data-state='running']");
if (job) {
  const sentence = job.querySelector(".job-sentence");
  const bar = job.querySelector(".job-bar");
  const look = async () => {
    try {
      const answer = await fetch(`/jobs/${job.dataset.job}.json`, { cache: "no-store" });
      if (answer.ok) {
        const told = await answer.json();
        if (told.state !== "running") {
          location.reload();
          return;
        }
        sentence.textContent = told.sentence;
        if (told.total > 0) {
          bar.max = told.total;
          bar.value = told.done;
        }
      }
    } catch (error) {
      sentence.textContent = "The studio does not answer. It may have been stopped.";
    }
    setTimeout(look, 500);
  };
  setTimeout(look, 500);
}

// A form whose answer takes seconds says so at once.
document.addEventListener("submit", (event) => {
  const told = event.target.dataset.busy;
  const button = event.submitter || event.target.querySelector("button");
  if (told && button) {
    button.textContent = told;
    button.setAttribute("aria-busy", "true");
    setTimeout(() => { button.disabled = true; }, 0);
  }
});

// Parts of a page that change while a run goes on.
const live = document.querySelector("[data-live]");
if (live && live.dataset.live) {
  const renew = async () => {
    try {
      const answer = await fetch(live.dataset.live, { cache: "no-store" });
      if (answer.ok) {
        const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = parsed.querySelector("[data-live]");
        live.replaceChildren(...(fresh ? fresh.childNodes : parsed.body.childNodes));
        if (!fresh || fresh.dataset.over) {
          return;
        }
      }
    } catch (error) {
      return; // the studio was stopped; what is shown stays
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
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
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
