// Pictures that the engine draws: zooming asks for another part, and no number comes here.
import type { Shown } from './main';
import { button, el, number, save } from './dom';
import { withBar } from './panes';

type Range = [number, number];

export async function picture(shown: Shown): Promise<void> {
  const { about, view, room, change, signal } = shown;
  const isTable = about.kind === 'table';
  const shape: number[] = isTable ? [about.nrows] : about.shape;
  const fields: string[] = isTable ? about.columns.map((column: { name: string }) => column.name) : about.fields;
  const field = view.field || (fields[0] ?? '');
  const kinds = shape.length > 1 ? ['map', 'histogram', 'line'] : ['line', 'histogram'];
  const kind = kinds.includes(view.kind) ? view.kind : kinds[0] ?? 'histogram';
  const nkept = Math.min(shape.length, kind === 'line' ? 1 : 2);
  const lens = shape.slice(shape.length - nkept);
  const before = shape.slice(0, shape.length - nkept);
  const fixed = before.map((len, dim) => Math.min(view.fixed[dim] ?? 0, Math.max(0, len - 1)));
  const part: Range[] = lens.map((len, n) => {
    const [start, end] = view.part[n] ?? [0, len];
    return start < Math.min(end, len) ? [start, Math.min(end, len)] : [0, len];
  });
  const choose = (name: string, all: string[], now: string, key: 'kind' | 'field') => {
    const list = el('select', { 'aria-label': name, onchange: () => change({ [key]: list.value, ...(key === 'kind' ? { part: [] } : {}) }, true) }, ...all.map((one) => el('option', { value: one, textContent: one, selected: one === now })));
    return list;
  };
  const bar = el('p', { className: 'bar' }, choose('kind of picture', kinds, kind, 'kind'), ' ');
  if (fields.length) bar.append(choose('column', fields, field, 'field'), ' ');
  before.forEach((len, dim) => bar.append(number(`dimension ${dim}`, fixed[dim] ?? 0, len - 1, (value) => {
    const next = [...fixed];
    next[dim] = value;
    change({ fixed: next }, true);
  }), ' '));
  const zoom = (by: number) => change({ part: part.map(([start, end], n) => scaled([start, end], by, lens[n] ?? 0)) }, true);
  const shift = (n: number, way: number) => change({ part: part.map((range, m) => m === n ? moved(range, way, lens[n] ?? 0) : range) }, true);
  bar.append(button('in', () => zoom(0.5)), ' ', button('out', () => zoom(2)), ' ', button('all', () => change({ part: [] }, true)), ' ');
  if (nkept > 1) bar.append(button('▲', () => shift(0, -1)), button('▼', () => shift(0, 1)));
  bar.append(button('◀', () => shift(nkept - 1, -1)), button('▶', () => shift(nkept - 1, 1)), ' ');
  const told = el('p', { role: 'status' });
  room.append(bar, told);
  const width = Math.max(320, Math.min(1400, room.clientWidth || 900));
  const height = Math.round(Math.max(280, width * 0.6));
  const task = { kind, column: field || null, part: [...fixed, ...view.part.length ? part : []], width, height };
  const [isDone, png] = await withBar(shown, task, { ending: { call: 'picture', width, height } });
  if (signal.aborted || !png) return;
  told.textContent = isDone ? '' : 'cancelled: this is a part of the values';
  const url = URL.createObjectURL(new Blob([png], { type: 'image/png' }));
  const image = el('img', { src: url, alt: `${kind} of ${view.member || about.name}`, width, height });
  image.onload = () => URL.revokeObjectURL(url);
  bar.append(button('save as PNG', () => save(`${(view.member || about.name).replace(/\W+/g, '_')}.png`, [png], 'image/png')));
  room.append(image);
}

/** The range around its middle, `by` times as long. */
function scaled([start, end]: Range, by: number, len: number): Range {
  const half = Math.max(1, Math.round((end - start) * by / 2));
  const middle = Math.floor((start + end) / 2);
  return [Math.max(0, middle - half), Math.min(len, middle + half)];
}

/** The range, half of its length further. */
function moved([start, end]: Range, way: number, len: number): Range {
  const by = way * Math.max(1, Math.floor((end - start) / 2));
  const first = Math.max(0, Math.min(len - (end - start), start + by));
  return [first, first + end - start];
}
