// Runs in every rendered document before its own scripts. It notes what the document is waiting for, keeps it from
// leaving the page, and finds out what a click on an element without an address does. What it returns is as hostile
// as the page: a page can call all of this, and harms nothing but its own rendering.
(name) => {
  if (window !== window.top || window[name]) return;

  const LONGEST_TIMER = 1000, WATCHED_MS = 3000, TICK = 25;
  const CANDIDATES = 'button, [onclick], [role=link], [role=button], [role=menuitem], [role=tab], [data-href], ' +
    '[data-url], [data-link], a:not([href]), a[href^="javascript:" i], a[href="#"], summary';
  const HANDS_OFF = new RegExp('log ?-?out|sign ?-?out|log ?-?in|sign ?-?in|register|abmeld|anmeld|déconn|connexion|' +
    'cerrar sesi|delete|remove|löschen|supprim|borrar|buy|kauf|achet|comprar|cart|basket|warenkorb|panier|carrito|' +
    'checkout|order|bestell|command|pay|zahl|subscri|abonn|suscri|submit|send|senden|envoy|enviar|download|print|' +
    'share|like|vote|cookie|consent|accept|akzept|accepter|aceptar|reject|ablehnen', 'i');

  const now = performance.now.bind(performance);
  const later = window.setTimeout.bind(window);
  const sleep = (ms) => new Promise((done) => later(done, ms));
  const began = now();
  const timers = new Set(), listening = new WeakSet();
  let pending = 0, leaving = [], probing = false, redirect = '';

  // What the document waits for: requests, scripts, and timers that end soon.
  const busy = () => { pending += 1; let ended = false; return () => { if (!ended) { ended = true; later(() => { pending -= 1; }, 0); } }; };
  if (window.fetch) {
    const fetchNow = window.fetch;
    window.fetch = function (...given) {
      const end = busy(), answer = fetchNow.apply(this, given);
      answer.then(end, end);
      return answer;
    };
  }
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (...given) {
    this.addEventListener('loadend', busy(), { once: true });
    return send.apply(this, given);
  };
  const setTimer = window.setTimeout, clearTimer = window.clearTimeout;
  window.setTimeout = function (work, ms = 0, ...rest) {
    if (typeof work !== 'function' || ms > LONGEST_TIMER || (now() - began > WATCHED_MS && !probing)) {
      return setTimer.call(window, work, ms, ...rest);
    }
    const id = setTimer.call(window, function (...given) { timers.delete(id); return work.apply(this, given); }, ms, ...rest);
    timers.add(id);
    return id;
  };
  window.clearTimeout = function (id) { timers.delete(id); return clearTimer.call(window, id); };
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) {
      if (node.nodeName !== 'SCRIPT' || !node.src) continue;
      const end = busy();
      node.addEventListener('load', end, { once: true });
      node.addEventListener('error', end, { once: true });
      later(end, WATCHED_MS);
    }
  }).observe(document, { childList: true, subtree: true });

  // Nothing leaves the page, sends a form, or opens a window; where it would have led is noted.
  const isHere = (url) => {  // a fragment that is no route, such as `#top`
    const [page, fragment = ''] = url.split('#');
    return page === location.href.split('#')[0] && !/^[/!]/.test(fragment);
  };
  const leave = (url) => { if (/^https?:/i.test(url) && !isHere(url) && leaving.length < 100) leaving.push(url); };
  if (window.navigation) navigation.addEventListener('navigate', (event) => {
    const target = event.destination.url;
    if (event.formData !== null || event.downloadRequest !== null) { event.preventDefault(); return; }
    if (probing) { leave(target); if (event.cancelable) event.preventDefault(); return; }
    if (!event.destination.sameDocument && event.cancelable) { redirect = redirect || target; event.preventDefault(); }
  });
  window.open = (url) => { if (url && probing) try { leave(new URL(url, document.baseURI).href); } catch { /* no address */ } return null; };
  HTMLFormElement.prototype.submit = HTMLFormElement.prototype.requestSubmit = function () {};
  window.addEventListener('submit', (event) => event.preventDefault(), true);
  window.print = () => {};
  for (const left of ['WebSocket', 'WebTransport', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'EventSource', 'SharedWorker']) {
    delete window[left];
  }

  // Elements that have a listener of their own; shadow trees that can be read.
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (kind, ...rest) {
    if (kind === 'click' && this instanceof Element && this !== document.body) listening.add(this);
    return listen.call(this, kind, ...rest);
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) { return attach.call(this, { ...how, mode: 'open' }); };

  const size = () => document.getElementsByTagName('*').length;
  const settle = async (most) => {
    const end = now() + most;
    let before = -1, calm = 0;
    while (now() < end) {
      const elements = size();
      const isIdle = !pending && !timers.size && document.readyState === 'complete';
      calm = isIdle && elements === before ? calm + 1 : 0;
      if (calm >= 2) return true;
      before = elements;
      await sleep(TICK);
    }
    return false;
  };

  const hrefs = () => {
    const links = new Map();
    for (const link of document.links) if (/^https?:/i.test(link.href) && !isHere(link.href) && !links.has(link.href)) {
      links.set(link.href, link.textContent.trim().slice(0, 200));
    }
    return links;
  };
  const seen = new Map();  // links of lists that forget their first entries
  const remember = () => { for (const [href, text] of hrefs()) if (seen.size < 5000 && !seen.has(href)) seen.set(href, text); };

  // Scroll to the end of the page and of its scrolling parts, while that brings more.
  const scroll = async (rounds, end) => {
    const parts = [...document.querySelectorAll('main, section, div, ul, ol')].slice(0, 2000).filter((part) =>
      part.scrollHeight > part.clientHeight + 50 && /auto|scroll/.test(getComputedStyle(part).overflowY)).slice(0, 3);
    if (!parts.length && document.documentElement.scrollHeight <= window.innerHeight) return;
    // On a busy machine the page may see the end a moment late: only the second round without more ends it.
    for (let round = 0, quiet = 0; round < rounds && quiet < 2 && now() < end; round += 1) {
      remember();
      const before = size() + seen.size;
      window.scrollTo(0, document.documentElement.scrollHeight);
      for (const part of parts) part.scrollTop = part.scrollHeight;
      await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); later(done, 200); });
      await sleep(TICK);
      await settle(Math.max(0, Math.min(5000, end - now())));
      remember();
      quiet = size() + seen.size <= before ? quiet + 1 : 0;
    }
    window.scrollTo(0, 0);
  };

  // Clicks.
  const pathOf = (element) => {
    const path = [];
    for (let at = element; at && at !== document.body && at.parentElement; at = at.parentElement) {
      path.unshift([...at.parentElement.children].indexOf(at));
    }
    return path.join('/');
  };
  const byPath = (path) => path.split('/').reduce((at, child) => at && at.children[Number(child)], document.body);
  const words = (element) => [element.textContent.slice(0, 200), element.getAttribute('aria-label'), element.id,
    element.getAttribute('href') || ''].join(' ');
  const mayClick = (element) =>
    !element.closest('form, [hidden], [contenteditable]') && !element.disabled && !element.form &&
    !HANDS_OFF.test(words(element)) && !element.querySelector('a[href]:not([href^="#"]):not([href^="javascript:" i])') &&
    !(element.closest('a[href]') && /^https?:/i.test(element.closest('a[href]').href) &&
      !/^(#|javascript:)/i.test(element.closest('a[href]').getAttribute('href')));
  const candidates = () => {
    const chosen = new Set(document.querySelectorAll(CANDIDATES));
    let looked = 0;
    for (const element of document.body ? document.body.getElementsByTagName('*') : []) {
      if ((looked += 1) > 4000) break;
      if (listening.has(element)) chosen.add(element);
      else if (element.textContent && element.textContent.length < 300 && getComputedStyle(element).cursor === 'pointer' &&
        (!element.parentElement || getComputedStyle(element.parentElement).cursor !== 'pointer')) chosen.add(element);
    }
    return [...chosen].filter((element) => document.body.contains(element) && mayClick(element) &&
      ![...chosen].some((inner) => inner !== element && element.contains(inner)));
  };
  const look = () => `${location.href} ${document.body ? document.body.innerText : ''}`;

  // Click on elements from the number `first` on. Stops where the page does not come back to what it was.
  const probe = async (first, clicks, end) => {
    const found = [];
    let original = look();
    const elements = candidates().map((element) => [element, pathOf(element)]);
    let number = first, changed = false, used = 0;
    for (; number < elements.length && used < clicks && now() < end && !changed; number += 1) {
      const path = elements[number][1];
      const element = elements[number][0].isConnected ? elements[number][0] : byPath(path);  // drawn anew meanwhile
      if (!element || !mayClick(element)) continue;
      let repeat = true;
      while (repeat && used < clicks && now() < end) {
        used += 1;
        repeat = false;
        remember();
        const links = seen.size, here = location.href;
        leaving = [];
        probing = true;
        try { element.click(); } catch { /* its own fault */ }
        await sleep(5);
        if (pending || timers.size || look() !== original) await settle(Math.max(0, Math.min(5000, end - now())));
        probing = false;
        remember();
        if (leaving.length) found.push([path, leaving[0]]);
        else if (location.href !== here) { found.push([path, location.href]); changed = true; }
        else if (seen.size > links) {  // it brought more: a list, or a menu
          repeat = element.isConnected;
          original = look();
        }
      }
      if (leaving.length && look() !== original) {
        window.dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
        await settle(500);
        changed = look() !== original;
      }
    }
    return { found, next: number, total: elements.length, used, changed };
  };

  // Write what was found into the document, so that it reads like any other.
  const write = (found, links) => {
    for (const [href, text] of links) if (!seen.has(href)) seen.set(href, text);
    for (const [path, url] of found) {
      const element = byPath(path);
      if (!element || element.querySelector('a[data-wayhound-click]')) continue;
      if (element.localName === 'a') { element.setAttribute('href', url); continue; }
      const holder = element.matches('table, tbody, tr, ul, ol, dl') ? element.querySelector('td, th, li, dt, dd') || element : element;
      const link = document.createElement('a');
      link.setAttribute('href', url);
      link.setAttribute('data-wayhound-click', '');
      while (holder.firstChild) link.append(holder.firstChild);
      holder.append(link);
    }
    for (const element of document.querySelectorAll('*')) if (element.shadowRoot && element.shadowRoot.childElementCount) {
      const part = document.createElement('div');
      for (const child of element.shadowRoot.children) if (!/^(style|link|script)$/i.test(child.localName)) part.append(child.cloneNode(true));
      element.append(part);
    }
    const shown = hrefs();
    const gone = [...seen].filter(([href]) => !shown.has(href));
    if (gone.length) {
      const list = document.createElement('ul');
      for (const [href, text] of gone) {
        const link = document.createElement('a');
        link.setAttribute('href', href);
        link.textContent = text;
        list.appendChild(document.createElement('li')).append(link);
      }
      document.body.append(list);
    }
    if (redirect) {
      const refresh = document.createElement('meta');
      refresh.httpEquiv = 'refresh';
      refresh.content = `0; url=${redirect}`;
      document.head.append(refresh);
    }
  };
  const html = () => (document.doctype ? '<!DOCTYPE html>\n' : '') + document.documentElement.outerHTML;

  Object.defineProperty(window, name, { value: Object.freeze({
    settle,
    scroll: (rounds, most) => scroll(rounds, now() + most),
    probe: (first, clicks, most) => probe(first, clicks, now() + most),
    links: () => { remember(); return [...seen]; },
    finish: (found, links) => { remember(); write(found, links); return html(); },
  }) });
}
