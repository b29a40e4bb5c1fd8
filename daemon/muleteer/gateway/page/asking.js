"use strict";
// Asking the daemon, and making elements. Whatever a model, a tool or a person has said becomes text, never markup.

const KEY = "muleteer.token";
const UNREACHABLE = "The device does not answer. It may be off, or this browser is on another network.";
const BROKEN_OFF = "The device broke off in the middle of its answer. Ask again.";

const at = (id) => document.getElementById(id);
const local = document.documentElement.dataset.door === "local";

function make(kind, properties = {}, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function token() {
  return sessionStorage.getItem(KEY) || localStorage.getItem(KEY) || "";
}

function keepToken(secret, always) {
  forgetToken();
  (always ? localStorage : sessionStorage).setItem(KEY, secret);
}

function forgetToken() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

/** The reply, if it is a good one; else an error whose message is a sentence. */
async function ask(path, { method = "GET", body, accept = "application/json", signal } = {}) {
  const headers = { accept };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit", redirect: "error",
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(UNREACHABLE);
  }
  if (reply.ok) return reply;
  const problem = new Error(await sentence(reply));
  problem.status = reply.status;
  throw problem;
}

async function sentence(reply) {
  try {
    return (await reply.json()).error.message;
  } catch {
    return `The device answered with the status ${reply.status} and no reason; its log may have one.`;
  }
}

async function askJson(path, options) {
  return (await ask(path, options)).json();
}

/** The events of a stream: name and fields. */
async function* eventsOf(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (waiting + value).split("\n\n");
      waiting = blocks.pop();
      for (const block of blocks) {
        const found = /^event: (.*)\ndata: (.*)$/s.exec(block);
        if (found) yield [found[1], JSON.parse(found[2])];
      }
    }
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(BROKEN_OFF);
  }
}

// How numbers are said.

const say = {
  ms: (ms) => (ms < 995 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`),
  bytes: (bytes) => (bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`),
  share: (share) => `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100} %`, // all is said of all alone
  count: (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`,
};
