// The page: what is open, the tree, and the panes of what was chosen.
import type { Answer } from './engine.js';
import { Client } from './client';
import { at, button, el, failure, short, size, table } from './dom';
import { FIRST, read, write, type View } from './state';
import type { Place } from './worker';
import { values } from './values';
import { rows } from './rows';
import { picture } from './picture';
import { chunks, exported, stats, verified } from './panes';

/** The parameters of a pane, and the function that changes the view. */
export interface Shown {
  client: Client;
  about: Answer;
  view: View;
  room: HTMLElement;
  /** Ends work that goes on, when something else is shown. */
  signal: AbortSignal;
  change(view: Partial<View>, isShown?: boolean): void;
  /** Tells a failure in the pane: the file stays open. */
  fail(error: unknown): void;
}

type Pane = [name: string, draw: (shown: Shown) => void | Promise<void>, suits: (about: Answer) => boolean];

const hasNumbers = (about: Answer) => about.kind === 'array' || about.kind === 'table';
const hasPicture = (about: Answer) => about.kind === 'table' || (about.kind === 'array' && about.shape.length > 0);
const PANES: Pane[] = [
  ['Values', values, (about) => ['array', 'bytes', 'objects'].includes(about.kind)],
  ['Rows', rows, (about) => about.kind === 'table'],
  ['Picture', picture, hasPicture],
  ['About', described, () => true],
  ['Chunks', chunks, (about) => about.nchunks !== null],
  ['Statistics', stats, hasNumbers],
  ['Verify', verified, () => true],
  ['Export', exported, hasNumbers],
];

let client: Client | undefined;
let whole: Answer;
let about: Answer;
let view: View = { ...FIRST };
let work = new AbortController();
/** The line of a file that is open. */
let opened = '';

const status = (text: string, isError = false) => {
  at('status').textContent = text;
  at('status').classList.toggle('error', isError);
};

const fail = (error: unknown) => status(short((error as Error).message), true);

/** A pane has one failure at most: the last one. */
function failIn(room: HTMLElement, error: unknown): void {
  room.querySelector(':scope > [role=alert]')?.remove();
  room.prepend(failure(error));
}

async function open(place: Place, first: View): Promise<void> {
  work.abort();
  client?.end();
  client = new Client();
  client.onTrap = (message, isOpen) => status(`the file has stopped the engine (${short(message)}); it was started anew, and the file ${isOpen ? 'is open again' : 'stays closed: `b2 verify` says more of it'}`, true);
  status('opening ...');
  try {
    whole = await client.open(place);
    const { requests, bytes } = whole.stats;
    opened = `${whole.name}: open, ${size(bytes)} read in ${requests} ${requests === 1 ? 'part' : 'parts'}`;
    status(opened);
    at('start').hidden = true;
    at('work').hidden = false;
    const isUrl = 'url' in place;
    history.replaceState(null, '', location.pathname + (isUrl ? `?url=${encodeURIComponent(place.url)}` : '') + location.hash);
    tree();
    await choose(first.member, first);
  } catch (error) {
    // No engine stands behind what was open before.
    whole = undefined;
    at('work').hidden = true;
    at('start').hidden = false;
    fail(error);
  }
}

/** Opens an address that somebody has written. */
function openAddress(text: string, first: View): void {
  try {
    void open({ url: new URL(text, location.href).href }, first);
  } catch { fail(new Error(`${text} is no address`)); }
}

/** Members whose names have the text of the search. */
function tree(): void {
  const list = at('tree');
  const members: [string, string][] = whole.members ?? [];
  at('members').hidden = members.length === 0;
  const wanted = at<HTMLInputElement>('search').value.toLowerCase();
  const found = members.filter(([name]) => name.toLowerCase().includes(wanted));
  const shown = found.slice(0, 1000);
  const entry = ([name, kind]: [string, string]) => {
    const depth = name.split('/').length - (name.startsWith('/') ? 2 : 1);
    const item = button(name.split('/').pop() || name, () => void choose(name, FIRST));
    item.title = name;
    item.style.paddingInlineStart = `${0.5 + Math.min(depth, 12)}rem`;
    item.className = kind;
    item.setAttribute('aria-label', `${kind} ${name}`);
    if (name === view.member) item.setAttribute('aria-current', 'true');
    return el('li', {}, item);
  };
  const all = button(whole.name, () => void choose('', FIRST));
  if (!view.member) all.setAttribute('aria-current', 'true');
  list.replaceChildren(el('li', {}, all), ...shown.map(entry));
  if (found.length > shown.length) list.append(el('li', { textContent: `and ${found.length - shown.length} more: search for a part of the name` }));
}

async function choose(member: string, next: View): Promise<void> {
  if (!client) return;
  try {
    about = member ? await client.ask('about', { member }) : whole;
  } catch (error) {
    // The pane keeps the old member: the address has to name it again.
    change({}, false);
    fail(error);
    return;
  }
  view = { ...next, member };
  status(opened);
  tree();
  show();
}

function show(): void {
  if (!client) return;
  const suited = PANES.filter(([, , suits]) => suits(about));
  const [name, draw] = suited.find(([name]) => name === view.tab) ?? suited[0] ?? PANES[3]!;
  view.tab = name;
  location.hash === write(view) || history.replaceState(null, '', location.pathname + location.search + write(view));
  const tab = ([tab]: Pane, n: number) => {
    const made = button(tab, () => change({ tab }, true));
    made.setAttribute('role', 'tab');
    made.setAttribute('aria-selected', String(tab === name));
    made.title = `${n + 1}`;
    return made;
  };
  at('tabs').replaceChildren(...suited.map(tab));
  at('heading').textContent = heading();
  work.abort();
  work = new AbortController();
  const room = el('div');
  at('pane').replaceChildren(room);
  const shown: Shown = { client, about, view, room, signal: work.signal, change, fail: (error) => failIn(room, error) };
  // Also of a pane that fails before it waits for anything.
  void (async () => draw(shown))().catch(shown.fail);
}

function change(next: Partial<View>, isShown = true): void {
  view = { ...view, ...next };
  if (isShown) show();
  else history.replaceState(null, '', location.pathname + location.search + write(view));
}

function heading(): string {
  const { kind, shape, dtype, nrows, columns, nbytes, stored } = about;
  const what = kind === 'array' ? `${shape.length ? shape.join(' x ') : 'one item'} of ${dtype}` : kind === 'table' ? `a table of ${nrows} rows and ${columns.length} columns` : kind;
  const sizes = nbytes ? `, ${size(nbytes)}${stored ? ` in ${size(stored)} (${(nbytes / stored).toFixed(2)})` : ''}` : '';
  return `${view.member || about.name}: ${what}${sizes}`;
}

/** All that is known without reading values. */
function described({ about, room }: Shown): void {
  const text = (value: Answer) => typeof value === 'string' ? value : Array.isArray(value) && value.every((one) => typeof one === 'number') ? value.join(' x ') : JSON.stringify(value, null, 1);
  const left = new Set(['members', 'attributes', 'columns', 'stats', 'session', 'fields', 'frame']);
  const facts = Object.entries(about).filter(([name, value]) => !left.has(name) && value !== null && value !== '' && !(Array.isArray(value) && !value.length));
  const wide = (rows: HTMLElement) => room.append(el('div', { className: 'wide' }, rows));
  wide(table(['what', 'value'], facts.map(([name, value]) => [name, ['nbytes', 'stored'].includes(name) ? size(value as number) : text(value)])));
  for (const [title, map] of [['Attributes', about.attributes], ['Metadata of the frame', about.frame]] as [string, Record<string, Answer> | undefined][]) {
    const entries = Object.entries(map ?? {});
    if (!entries.length) continue;
    room.append(el('h3', { textContent: title }));
    wide(table(['name', 'value'], entries.map(([name, value]) => [name, text(value)])));
  }
  if (about.columns) {
    room.append(el('h3', { textContent: 'Columns' }));
    wide(table(['name', 'type', 'nulls'], about.columns.map((column: Answer) => [column.name, column.dtype ?? 'text or objects', column.nullable ? 'may be' : 'none'])));
  }
}

/** All files below a folder that was dropped. A browser may give a hundred at a time. */
async function walk(folder: FileSystemDirectoryEntry, prefix: string, files: [string, File][]): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const entry of some) {
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, `${prefix}${entry.name}/`, files);
      else files.push([prefix + entry.name, await new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))]);
    }
  }
}

async function drop(event: DragEvent): Promise<void> {
  event.preventDefault();
  const entry = event.dataTransfer?.items[0]?.webkitGetAsEntry();
  const file = event.dataTransfer?.files[0];
  if (entry?.isDirectory) {
    const files: [string, File][] = [];
    await walk(entry as FileSystemDirectoryEntry, '', files);
    await open({ files, name: entry.name }, FIRST);
  } else if (file) {
    await open({ file }, FIRST);
  }
}

function keys(event: KeyboardEvent): void {
  const { target, key } = event;
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === '/') at('search').focus();
  else if (/^[1-9]$/.test(key)) at('tabs').querySelectorAll('button')[Number(key) - 1]?.click();
  else if (key === 'Escape') document.querySelector<HTMLButtonElement>('#pane .cancel')?.click();
  else return;
  event.preventDefault();
}

function listen(): void {
  const [file, folder, address] = ['file', 'folder', 'url'].map((id) => at<HTMLInputElement>(id)) as [HTMLInputElement, HTMLInputElement, HTMLInputElement];
  // Without a value the same file can be chosen again: it may have been mended.
  const taken = (input: HTMLInputElement) => { const all = [...input.files ?? []]; input.value = ''; return all; };
  file.onchange = () => { const [chosen] = taken(file); if (chosen) void open({ file: chosen }, FIRST); };
  folder.onchange = () => {
    const all = taken(folder);
    const name = all[0]?.webkitRelativePath.split('/')[0] ?? 'folder';
    void open({ files: all.map((one) => [one.webkitRelativePath.replace(/^[^/]*\//, ''), one]), name }, FIRST);
  };
  at<HTMLFormElement>('address').onsubmit = (event) => {
    event.preventDefault();
    openAddress(address.value, FIRST);
  };
  at('search').oninput = tree;
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = (event) => void drop(event).catch(fail);
  document.onkeydown = keys;
  window.onhashchange = () => { const next = read(location.hash); if (whole) void choose(next.member, next); };
}

listen();
const url = new URLSearchParams(location.search).get('url');
// One file from a disk has no network: the browser forbids it.
const isAlone = Boolean(document.getElementById('b2-worker'));
at('address').hidden = isAlone;
if (url && isAlone) fail(new Error(`this page has no network and cannot open ${url}: load that file, and drop it here`));
else if (url) openAddress(url, read(location.hash));
else status('ready');
