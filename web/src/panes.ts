// Chunks, statistics, verification, export.
import type { Answer } from './engine.js';
import type { Shown } from './main';
import type { Running } from './tasks.js';
import { button, el, save, size, table } from './dom';

const NCHUNKS = 1024;

/** The ratio as one of eight shades: each is twice the one before. */
const shade = ([nbytes, cbytes]: [number, number]) => Math.max(0, Math.min(7, Math.round(Math.log2(nbytes / Math.max(1, cbytes)))));

export async function chunks({ client, about, view, room, signal, fail }: Shown): Promise<void> {
  const map = el('div', { className: 'chunks wide', role: 'img', 'aria-label': 'chunks, coloured by how well they are compressed' });
  const told = el('p', { role: 'status' });
  const legend = el('p', { className: 'legend' }, 'ratio ', ...Array.from({ length: 8 }, (_, n) => el('span', { className: `chunk r${n}`, textContent: String(2 ** n), title: `${2 ** n} times smaller` })), ' ', el('span', { className: 'chunk bad', textContent: 'unreadable' }));
  room.append(told, legend, map);
  const draw = async (first: number) => {
    const found = await client.ask('chunks', { member: view.member, start: first, count: NCHUNKS });
    if (signal.aborted) return;
    const grid: number[] | null = found.grid;
    told.textContent = `${found.nchunks} chunks${grid ? `, ${grid.join(' x ')}` : ''}${about.pipeline ? `, ${about.pipeline}` : ''}`;
    const across = Math.min(64, grid?.[grid.length - 1] ?? 32);
    map.style.gridTemplateColumns = `repeat(${across}, minmax(0.6rem, 1.4rem))`;
    map.replaceChildren(...found.sizes.map((sizes: [number, number] | null, n: number) => {
      const title = sizes ? `chunk ${first + n}: ${size(sizes[0])} in ${size(sizes[1])}, ${(sizes[0] / Math.max(1, sizes[1])).toFixed(2)}` : `chunk ${first + n} cannot be read`;
      return el('span', { className: `chunk ${sizes ? `r${shade(sizes)}` : 'bad'}`, title });
    }));
    const more = (text: string, to: number) => button(text, () => void draw(to).catch(fail));
    if (first > 0) told.append(' ', more('previous', Math.max(0, first - NCHUNKS)));
    if (first + found.sizes.length < found.nchunks) told.append(' ', more('next', first + NCHUNKS));
  };
  await draw(0);
}

/** Runs a task with a bar and a button that ends it. */
export async function withBar({ client, view, room, signal }: Shown, task: object, how: Pick<Running, 'ending' | 'onBytes'> = {}): Promise<[isDone: boolean, found: Answer]> {
  const bar = el('progress', { max: 1, value: 0, 'aria-label': 'progress' });
  const stop = new AbortController();
  signal.addEventListener('abort', () => stop.abort());
  const cancel = button('cancel', () => stop.abort());
  // Escape presses it.
  cancel.className = 'cancel';
  const line = el('p', { className: 'bar' }, bar, ' ', cancel);
  room.append(line);
  try {
    return await client.tasks.run(view.member, task, { ...how, signal: stop.signal, onProgress: (done, total) => { bar.max = total; bar.value = done; } });
  } finally {
    line.remove();
  }
}

export async function stats(shown: Shown): Promise<void> {
  const { room } = shown;
  const [isDone, found] = await withBar(shown, { kind: 'stats' }, { ending: { call: 'found' } });
  if (shown.signal.aborted || !found) return;
  const text = (value: Answer) => value === null || value === undefined ? '' : String(value);
  const names = ['least', 'largest', 'mean', 'deviation', 'nulls', 'NaN', 'infinite', 'zeros'];
  const row = (of: Answer) => [of.min, of.max, of.mean, of.std, of.nulls, of.nan, of.inf, of.zeros].map(text);
  if (!isDone) room.append(el('p', { className: 'error', textContent: 'cancelled: these are the values that were looked at' }));
  room.append(el('div', { className: 'grid' }, table(names, found.map(row), found.map((of: Answer) => of.name ?? of.dtype))));
}

export function verified(shown: Shown): void {
  const { room, fail } = shown;
  const run = async () => {
    room.replaceChildren();
    const [isDone, found] = await withBar(shown, { kind: 'verify' }, { ending: { call: 'found' } });
    if (shown.signal.aborted || !found) return;
    const verdict = found.nfaults ? `${found.nfaults} faults` : isDone ? 'sound: all of it was decoded' : 'cancelled: no fault so far';
    room.append(el('p', { className: found.nfaults ? 'error' : 'sound', role: 'status', textContent: verdict }));
    const place = (fault: Answer) => fault.chunk === undefined ? fault.place : `${fault.place}, chunk ${fault.chunk}`;
    if (found.faults.length) room.append(el('div', { className: 'grid' }, table(['place', 'fault'], found.faults.map((fault: Answer) => [place(fault), fault.message]))));
    for (const note of found.notes) room.append(el('p', { className: 'note', textContent: note }));
    room.append(button('again', () => void run().catch(fail)));
  };
  room.append(el('p', { textContent: 'All chunks are decoded and compared with the checksums that are there. Of a file at an address all of it is fetched.' }), button('verify', () => void run().catch(fail)));
}

/** More is too much for the memory of a page. */
const MAX_EXPORT = 1 << 30;

export function exported(shown: Shown): void {
  const { about, view, room, fail } = shown;
  const isTable = about.kind === 'table';
  const shape: number[] = about.shape ?? [];
  const plane = shape.slice(0, -2).map((_, dim) => view.fixed[dim] ?? 0);
  const name = (view.member || about.name).replace(/\W+/g, '_');
  const run = async (format: string, part: number[]) => {
    const pieces: BlobPart[] = [];
    let nbytes = 0;
    const onBytes = (bytes: Uint8Array<ArrayBuffer>) => {
      nbytes += bytes.length;
      if (nbytes > MAX_EXPORT) throw new Error('more than 1 GiB: take `b2 convert`, or a part');
      pieces.push(bytes);
    };
    const [isDone] = await withBar(shown, { kind: 'export', format, part }, { onBytes });
    if (isDone) save(`${name}.${format}`, pieces, format === 'csv' ? 'text/csv' : 'application/octet-stream');
  };
  const offer = (text: string, format: string, part: number[]) => el('p', {}, button(text, () => void run(format, part).catch(fail)));
  if (!isTable) room.append(offer('all as .npy', 'npy', []));
  room.append(offer('all as .csv', 'csv', []));
  if (plane.length) room.append(offer(`the plane at ${plane.join(', ')} as .npy`, 'npy', plane), offer(`the plane at ${plane.join(', ')} as .csv`, 'csv', plane));
}
