// Keeps a thread up to date without losing what somebody is typing.
"use strict";

const live = document.getElementById("live");
let etag = "";

function ago(text) {
  const seconds = Math.max(0, (Date.now() - Date.parse(text)) / 1000);
  for (const [size, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

function times() {
  for (const time of document.querySelectorAll("time")) {
    time.title = time.dateTime;
    const text = ago(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

// An element that must stay: it has an open editor or an open menu.
function busy(element) {
  return element.querySelector(".editor:not([hidden]), details.menu[open]") !== null;
}

const sources = new Map();

function take(old, fresh) {
  const source = fresh.outerHTML;
  if (sources.get(old.id) === source || busy(old)) return;
  const open = [...old.querySelectorAll(".markdown details")].map((part) => part.open);
  fresh.querySelectorAll(".markdown details").forEach((part, at) => {
    if (open[at] !== undefined) part.open = open[at];
  });
  sources.set(old.id, source);
  old.replaceWith(fresh);
}

function morph(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const id of ["head", "side"]) take(document.getElementById(id), fresh.getElementById(id));
  const timeline = document.getElementById("timeline");
  const wanted = [...fresh.getElementById("timeline").children];
  const ids = new Set(wanted.map((line) => line.id));
  for (const line of [...timeline.children]) if (!ids.has(line.id)) line.remove();
  wanted.forEach((line, at) => {
    const old = document.getElementById(line.id);
    if (old) take(old, line);
    else {
      sources.set(line.id, line.outerHTML);
      timeline.insertBefore(line, timeline.children[at] || null);
    }
  });
  times();
}

async function refresh() {
  const headers = etag ? { "If-None-Match": etag } : {};
  try {
    const answer = await fetch(live.dataset.fragment, { headers, cache: "no-store" });
    if (answer.status === 200) {
      etag = answer.headers.get("ETag") || "";
      morph(await answer.text());
    }
  } catch {
    // the playground is away for a moment: the next look comes in a second
  }
}

async function submit(event) {
  const form = event.target;
  if (!form.matches("form[data-live]") || !live) return;
  const button = event.submitter;
  if (button && button.name === "also") return;
  event.preventDefault();
  const data = new URLSearchParams(new FormData(form, button));
  const answer = await fetch(form.action, { method: "POST", body: data });
  if (!answer.ok) {
    document.open();
    document.write(await answer.text());
    document.close();
    return;
  }
  if (form.hasAttribute("data-clear")) form.reset();
  form.closest("details.menu")?.removeAttribute("open");
  if (form.matches(".editor")) form.hidden = true;
  etag = "";
  await refresh();
}

function click(event) {
  const bubble = event.target.closest(".bubble");
  if (event.target.matches("[data-edit]") || event.target.matches("[data-cancel]")) {
    const editor = bubble.querySelector(".editor");
    editor.hidden = event.target.matches("[data-cancel]");
    bubble.querySelector(".text").hidden = !editor.hidden;
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target) || event.target.matches("[data-edit]")) menu.open = false;
  }
}

document.addEventListener("submit", submit);
document.addEventListener("click", click);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.submit();
});
times();
setInterval(times, 15000);
if (live) setInterval(refresh, 1000);
