// What the pages need in the browser: messages that are read out, focus that survives an update, keys, file upload,
// and hints that stay inside the window. No data is kept here.
"use strict";

function shoalAnnounce(text) {
  const live = document.getElementById("live");
  if (!live) return;
  live.textContent = text;
  live.classList.add("shown");
  clearTimeout(live.timer);
  live.timer = setTimeout(() => live.classList.remove("shown"), 5000);
}

function shoalRemember(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; SameSite=Strict`;
  location.reload();
}

// Without a session, loading any page again shows the one that asks for a password or a token.
async function shoalLogOut() {
  await fetch("/api/session", { method: "DELETE" });
  location.reload();
}

// A page whose session has ended elsewhere loses its connection, and must not go on showing cells.
const shoalConnecting = setInterval(() => {
  if (!window.socket) return;
  clearInterval(shoalConnecting);
  window.socket.on("disconnect", async () => {
    const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    if (answer?.status === 401) location.reload();
  });
}, 200);

async function shoalCopy(id) {
  const text = document.getElementById(id).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(id));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
}

// The server replaces parts of a page. An element with the same id gets the focus back.
let shoalFocused = "";
document.addEventListener("focusin", (event) => { shoalFocused = event.target.id || ""; });
document.addEventListener("focusout", (event) => { if (event.relatedTarget) return; setTimeout(() => {
  if (document.activeElement === document.body && event.target.isConnected) shoalFocused = "";
}, 0); });
new MutationObserver(() => {
  if (!shoalFocused || document.activeElement !== document.body) return;
  const again = document.getElementById(shoalFocused);
  if (again) again.focus({ preventScroll: true });
}).observe(document.documentElement, { childList: true, subtree: true });

// Hints are placed below their word, inside the window; Escape hides one.
function shoalPlace(event) {
  const term = event.target.closest?.(".term");
  if (!term) return;
  const hint = term.querySelector(".hint");
  if (event.type !== "keydown") {
    hint.classList.remove("off");
    const word = term.getBoundingClientRect();
    const box = hint.getBoundingClientRect();
    hint.style.left = `${Math.max(8, Math.min(word.left, innerWidth - box.width - 8))}px`;
    hint.style.top = word.bottom + box.height + 12 > innerHeight ? `${word.top - box.height - 6}px` : `${word.bottom + 6}px`;
  } else if (event.key === "Escape") hint.classList.add("off");
}
for (const name of ["mouseover", "focusin", "keydown"]) document.addEventListener(name, shoalPlace);

// Ctrl+Z and Ctrl+Y outside of text fields undo and redo settings.
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || /^(text|number|password|search|url)$/.test(event.target.type || "")) return;
  if (event.target.tagName === "TEXTAREA") return;
  const key = event.key.toLowerCase();
  const name = key === "z" && !event.shiftKey ? "undo" : key === "y" || (key === "z" && event.shiftKey) ? "redo" : "";
  const button = name && document.getElementById(name);
  if (button && !button.disabled) { event.preventDefault(); button.click(); }
});

// Send a file to the server as it is read from disk. `done` is called with the answer, `moved` with the share sent.
function shoalSend(file, address, headers, moved) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && moved(event.loaded / event.total);
    request.onload = () => resolve({ status: request.status, body: request.responseText });
    request.onerror = () => resolve({ status: 0, body: "" });
    request.send(file);
  });
}

// The grid of columns: the box at the start of each row is its handle.
function shoalBoxes() { return [...document.querySelectorAll("#grid input[type=checkbox]")]; }
function shoalSelected() { return shoalBoxes().filter((box) => box.checked).map((box) => Number(box.dataset.row)); }
function shoalMark(box) { box.closest("tr").classList.toggle("selected", box.checked); }
function shoalSelectAll(checked) { for (const box of shoalBoxes()) { box.checked = checked; shoalMark(box); } }
let shoalLast = 0;
document.addEventListener("click", (event) => {
  const box = event.target;
  if (!box.matches?.("#grid input[type=checkbox]")) return;
  const boxes = shoalBoxes(), at = boxes.indexOf(box);
  if (event.shiftKey) for (let i = Math.min(at, shoalLast); i <= Math.max(at, shoalLast); i++) {
    boxes[i].checked = box.checked;
    shoalMark(boxes[i]);
  }
  shoalMark(box);
  shoalLast = at;
});
function shoalGridKey(event, emit) {
  if (event.target.type !== "checkbox" || event.ctrlKey || event.metaKey || event.altKey) return;
  const boxes = shoalBoxes(), at = boxes.indexOf(event.target);
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -at, End: boxes.length - 1 - at }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    boxes[Math.max(0, Math.min(boxes.length - 1, at + step))].focus();
  } else if ("qsidp".includes(event.key)) {
    event.preventDefault();
    const rows = shoalSelected();
    emit({ key: event.key, rows: rows.length ? rows : [at] });
  }
}

// Read a small text file, such as a hierarchy.
async function shoalReadText(file, emit) {
  if (!file) return;
  emit({ name: file.name, text: await file.text() });
}

// What the form of a rule holds.
function shoalRule() {
  const chosen = (id) => [...(document.getElementById(id)?.selectedOptions || [])].map((option) => option.value);
  const text = (id) => document.getElementById(id)?.value || "";
  return { up: text("rule-up"), from: text("rule-from"), these: chosen("rule-these"), those: chosen("rule-those") };
}

// Why the server refused something.
function shoalProblem(answer) {
  try {
    return JSON.parse(answer.body).error.text;
  } catch {
    return `HTTP ${answer.status}`;
  }
}

// Send the chosen file; go on to `next` when the server has it, or say why not.
async function shoalUpload(address, next) {
  const file = document.getElementById("file").files[0];
  const sent = document.getElementById("sent"), refused = document.getElementById("refused");
  if (!file) return;
  sent.hidden = false;
  refused.hidden = true;
  const headers = { "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name) };
  const answer = await shoalSend(file, address, headers, (share) => { sent.value = share; });
  if (answer.status >= 200 && answer.status < 300) { location.assign(next); return; }
  sent.hidden = true;
  refused.hidden = false;
  refused.textContent = shoalProblem(answer);
}
for (const name of ["dragover", "dragleave", "drop"]) document.addEventListener(name, (event) => {
  const drop = document.getElementById("drop");
  if (!drop) return;
  event.preventDefault();
  drop.classList.toggle("over", name === "dragover" && drop.contains(event.target));
  if (name === "drop" && event.dataTransfer.files.length) {
    const box = document.getElementById("file");
    box.files = event.dataTransfer.files;
    box.dispatchEvent(new Event("change"));
  }
});

// The guided tour of one project, remembered until the browser is closed.
function shoalTour(project, next) {
  document.cookie = `shoal_tour=${project}; path=/; SameSite=Strict`;
  location.assign(next);
}

// Tables side by side scroll together.
document.addEventListener("scroll", (event) => {
  if (!event.target.classList?.contains("together")) return;
  for (const other of document.querySelectorAll(".together")) if (other !== event.target) other.scrollLeft = event.target.scrollLeft;
}, true);
