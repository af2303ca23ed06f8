// Items of an array, bytes or objects: as many as are on the screen.
import type { Shown } from './main';
import { el, failure, number, table } from './dom';

const NROWS = 30;
const NCOLUMNS = 12;

/** Rows and columns of what is shown. */
function lens(about: Shown['about']): [number, number] {
  if (about.kind === 'bytes') return [Math.ceil(about.nbytes / 16), 2];
  if (about.kind === 'objects') return [about.nrows, 1];
  const shape: number[] = about.shape;
  if (shape.length < 2) return [shape[0] ?? 1, 1];
  return shape.slice(-2) as [number, number];
}

export async function values(shown: Shown): Promise<void> {
  const { client, about, view, room, change, signal } = shown;
  const [nrows, ncolumns] = lens(about);
  const before: number[] = (about.shape ?? []).slice(0, -2);
  const fixed = before.map((len, dim) => Math.min(view.fixed[dim] ?? 0, Math.max(0, len - 1)));
  // Fields are columns, and each item is a row: one column of items then.
  const width = about.fields?.length ? 1 : NCOLUMNS;
  let [row, column] = [Math.min(view.row, Math.max(0, nrows - 1)), Math.min(view.column, Math.max(0, ncolumns - 1))];
  const grid = el('div', { className: 'grid', tabIndex: 0, role: 'region', 'aria-label': 'values: arrows, Page Up and Page Down, Home and End move' });
  const bar = el('p', { className: 'bar' });
  before.forEach((len, dim) => bar.append(number(`dimension ${dim}`, fixed[dim] ?? 0, len - 1, (value) => {
    fixed[dim] = value;
    change({ fixed: [...fixed] }, true);
  }), ' '));
  bar.append(number('row', row, nrows - 1, (value) => { row = value; void draw(); }), ' ');
  if (ncolumns > width) bar.append(number('column', column, ncolumns - 1, (value) => { column = value; void draw(); }));
  const place = el('span');
  bar.append(' ', place);
  const move = (down: number, across: number) => {
    row = Math.min(Math.max(0, nrows - 1), Math.max(0, row + down));
    column = Math.min(Math.max(0, ncolumns - 1), Math.max(0, column + across));
    void draw();
  };
  grid.onkeydown = (event) => {
    const ways: Record<string, [number, number]> = {
      ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [NROWS, 0], PageUp: [-NROWS, 0], Home: [-nrows, 0], End: [Math.max(0, nrows - row - NROWS), 0],
    };
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    move(...way);
  };
  grid.addEventListener('wheel', (event) => { event.preventDefault(); move(Math.sign(event.deltaY) * 3, 0); }, { passive: false });
  room.append(bar, grid);
  let [isBusy, isStale] = [false, false];
  async function draw(): Promise<void> {
    if (isBusy) { isStale = true; return; }
    isBusy = true;
    try {
      const found = await client.ask('cells', { member: view.member, fixed, rows: [row, row + NROWS], columns: [column, column + width] });
      if (signal.aborted) return;
      const perRow = Math.max(1, about.fields?.length ? Math.min(width, ncolumns - column) : 1);
      const heads = found.rows.map((_: string[], n: number) => String(found.first + Math.floor(n / perRow)));
      grid.replaceChildren(table(found.names, found.rows, heads));
    } catch (error) { grid.replaceChildren(failure(error)); } finally { isBusy = false; }
    if (signal.aborted) return;
    place.textContent = `${row} to ${Math.min(nrows, row + NROWS) - 1} of ${nrows} rows`;
    change({ row, column, fixed: [...fixed] }, false);
    if (isStale) { isStale = false; await draw(); }
  }
  await draw();
}
