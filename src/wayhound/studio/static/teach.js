// A live picture of the browser: new pictures arrive by long polling, mouse and key events are sent back.
"use strict";

const form = document.getElementById("picture-form");
const still = document.getElementById("picture");
const key = form.querySelector("[name='form_key']").value;
const screen = document.createElement("canvas");
screen.className = "screen";
screen.tabIndex = 0;
screen.width = still.width;
screen.height = still.height;
screen.setAttribute("role", "application");
screen.setAttribute("aria-label", "The browser: mouse and keys go to it");
form.replaceWith(screen);
screen.focus({ preventScroll: true });

// Pictures out

const draw = async (blob) => {
  const picture = await createImageBitmap(blob);
  if (screen.width !== picture.width || screen.height !== picture.height) {
    screen.width = picture.width;
    screen.height = picture.height;
  }
  screen.getContext("2d").drawImage(picture, 0, 0);
};

const watch = async () => {
  let number = 0;
  for (;;) {
    try {
      const answer = await fetch(`/teach/picture?after=${number}`, { cache: "no-store" });
      if (answer.status === 410) {
        location.reload();
        return;
      }
      if (answer.status === 200) {
        number = Number(answer.headers.get("x-picture-number"));
        await draw(await answer.blob());
        screen.dataset.number = number;
      }
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
};
watch();

// Mouse and keys in, in order: one request at a time, with all events since the last one

let waiting = [];
let sending = false;
const send = async (event) => {
  const last = waiting[waiting.length - 1];
  if (event.do === "move" && last && last.do === "move") {
    waiting.pop();
  }
  waiting.push(event);
  if (sending) {
    return;
  }
  sending = true;
  while (waiting.length > 0) {
    const body = JSON.stringify(waiting.splice(0, 100));
    try {
      await fetch("/teach/events", { method: "POST", headers: { "content-type": "application/json", "x-form-key": key }, body });
    } catch (error) {
      waiting = [];
    }
  }
  sending = false;
};

const modifiers = (event) => (event.altKey ? 1 : 0) + (event.ctrlKey ? 2 : 0) + (event.metaKey ? 4 : 0) + (event.shiftKey ? 8 : 0);
const position = (event) => {
  const box = screen.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, modifiers: modifiers(event) };
};

screen.addEventListener("mousemove", (event) => send({ do: "move", ...position(event) }));
screen.addEventListener("mousedown", (event) => {
  event.preventDefault();
  screen.focus({ preventScroll: true });
  send({ do: "press", button: event.button, clicks: event.detail, ...position(event) });
});
screen.addEventListener("mouseup", (event) => send({ do: "release", button: event.button, clicks: event.detail, ...position(event) }));
screen.addEventListener("contextmenu", (event) => event.preventDefault());
screen.addEventListener("wheel", (event) => {
  event.preventDefault();
  send({ do: "wheel", wheelX: event.deltaX, wheelY: event.deltaY, ...position(event) });
}, { passive: false });

const keyFields = (event) => ({ key: event.key, code: event.code, keyCode: event.keyCode, modifiers: modifiers(event) });
screen.addEventListener("keydown", (event) => {
  if (event.key === "Escape" || event.key === "Tab") {
    return; // lets people without a mouse leave the picture
  }
  event.preventDefault();
  const text = event.key === "Enter" ? "\r" : event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey ? event.key : "";
  send({ do: "down", text, ...keyFields(event) });
});
screen.addEventListener("keyup", (event) => {
  if (event.key !== "Tab") {
    send({ do: "up", ...keyFields(event) });
  }
});
