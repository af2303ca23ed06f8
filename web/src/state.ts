// The state of the view: kept in the address, so that a link shows the same.
export interface View {
  member: string;
  tab: string;
  /** Positions of the dimensions before the last two. */
  fixed: number[];
  row: number;
  column: number;
  /** The condition on the rows of a table. */
  where: string;
  /** The columns of a table that are shown; all if there are none. */
  columns: string[];
  /** The column or the field of a picture. */
  field: string;
  kind: string;
  /** The part of the last two dimensions that a picture shows. */
  part: [number, number][];
}

export const FIRST: View = { member: '', tab: '', fixed: [], row: 0, column: 0, where: '', columns: [], field: '', kind: '', part: [] };

const numbers = (text: string) => text ? text.split(',').map(Number).map((n) => Number.isSafeInteger(n) && n >= 0 ? n : 0) : [];

export function read(hash: string): View {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const word = (name: string) => words.get(name) ?? '';
  const ends = numbers(word('part'));
  const part: [number, number][] = [];
  for (let n = 0; n + 1 < ends.length; n += 2) part.push([ends[n] ?? 0, ends[n + 1] ?? 0]);
  return {
    member: word('member'), tab: word('tab'), fixed: numbers(word('fixed')), where: word('where'), field: word('field'), kind: word('kind'), part,
    row: numbers(word('row'))[0] ?? 0, column: numbers(word('column'))[0] ?? 0, columns: words.getAll('columns'),
  };
}

export function write(view: View): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(view)) {
    if (name === 'columns') view.columns.forEach((column) => words.append(name, column));
    else if (Array.isArray(value) ? value.length : value) words.set(name, String(value));
  }
  return words.size ? `#${words}` : '';
}
