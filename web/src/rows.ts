// Rows of a table: those on the screen are read, and those alone are sorted.
import type { Shown } from './main';
import { button, el, failure, number, table } from './dom';
import { order } from './order';
import { withBar } from './panes';

const NROWS = 40;
const NCOLUMNS = 40;

export async function rows(page: Shown): Promise<void> {
  const { client, about, view, room, change, signal } = page;
  const all: string[] = about.columns.map((column: { name: string }) => column.name);
  const chosen = all.filter((name) => view.columns.includes(name));
  const names = chosen.length ? chosen : all.slice(0, NCOLUMNS);
  let found: number[] | undefined;
  let row = view.row;
  let sorted: [number, number] | undefined;
  let shown: { numbers: number[]; rows: string[][] } = { numbers: [], rows: [] };
  const condition = el('input', { value: view.where, placeholder: 'price > 10 and day < 5', 'aria-label': 'condition on the rows' });
  const told = el('span', { role: 'status' });
  const filter = el('form', { className: 'bar', onsubmit: (event: SubmitEvent) => { event.preventDefault(); change({ where: condition.value, row: 0 }, true); } }, condition, ' ', el('button', { textContent: 'filter' }), ' ', told);
  const choice = el('details', {}, el('summary', { textContent: `columns: ${names.length} of ${all.length}` }), ...all.slice(0, 500).map((name) => {
    const box = el('input', { type: 'checkbox', checked: names.includes(name), onchange: () => change({ columns: all.filter((one) => one === name ? box.checked : names.includes(one)) }, true) });
    return el('label', { className: 'choice' }, box, name);
  }));
  const grid = el('div', { className: 'grid', tabIndex: 0, role: 'region', 'aria-label': 'rows: arrows, Page Up and Page Down move' });
  const length = () => found?.length ?? about.nrows;
  const bar = el('p', { className: 'bar' });
  const move = (by: number) => { row = Math.max(0, Math.min(length() - 1, row + by)); void draw(); };
  grid.onkeydown = (event) => {
    const by: number | undefined = ({ ArrowDown: 1, ArrowUp: -1, PageDown: NROWS, PageUp: -NROWS, Home: -row, End: length() } as Record<string, number>)[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  };
  room.append(filter, choice, bar, grid);
  const fill = () => {
    const placed = shown.rows.map((_, n) => n);
    if (sorted) {
      const [column, way] = sorted;
      const text = (n: number) => shown.rows[n]?.[column] ?? '';
      placed.sort((a, b) => way * order(text(a), text(b)));
    }
    const made = table(names, placed.map((n) => shown.rows[n] ?? []), placed.map((n) => String(shown.numbers[n])));
    made.querySelectorAll('thead th').forEach((head, column) => {
      const name = names[column] ?? '';
      const mark = sorted?.[0] === column ? (sorted[1] > 0 ? ' ▲' : ' ▼') : '';
      const sort = button(name + mark, () => { sorted = [column, sorted?.[0] === column ? -sorted[1] : 1]; fill(); });
      sort.title = 'sorts the rows that are on the screen, and no others';
      head.replaceChildren(sort);
    });
    grid.replaceChildren(...(sorted ? [el('p', { className: 'note', textContent: `sorted: only the ${shown.rows.length} rows on the screen` })] : []), made);
  };
  async function draw(): Promise<void> {
    const end = Math.min(length(), row + NROWS);
    const wanted = found ? found.slice(row, end) : Array.from({ length: Math.max(0, end - row) }, (_, n) => row + n);
    try {
      shown = await client.ask('rows', { member: view.member, columns: names, rows: wanted });
      if (!signal.aborted) fill();
    } catch (error) { grid.replaceChildren(failure(error)); }
    if (signal.aborted) return;
    bar.replaceChildren(number('row', row, length() - 1, (value) => { row = value; void draw(); }), ` of ${length()} `, button('previous', () => move(-NROWS)), ' ', button('next', () => move(NROWS)));
    change({ row }, false);
  }
  if (view.where) {
    const [isDone, answer] = await withBar(page, { kind: 'filter', condition: view.where }, { ending: { call: 'found' } });
    if (signal.aborted || !answer) return;
    const { count, rows: numbers } = answer;
    found = numbers as number[];
    told.textContent = `${isDone ? '' : 'cancelled: '}${count} of ${about.nrows} rows${count > found.length ? `, the first ${found.length} are shown` : ''}`;
  }
  row = Math.min(row, Math.max(0, length() - 1));
  await draw();
}
