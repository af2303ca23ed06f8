// Elements by code: texts from files become text, never markup.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, more: Partial<Omit<HTMLElementTagNameMap[K], 'style'>> & { [name: `aria-${string}`]: string } = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(more)) {
    if (name.startsWith('aria-') || name === 'role') made.setAttribute(name, String(value));
    else Object.assign(made, { [name]: value });
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return made;
}

export function at<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

export const button = (text: string, onclick: () => void): HTMLButtonElement => el('button', { type: 'button', textContent: text, onclick });

const MAX_MESSAGE = 400;

/** The ends of a message: it may hold a name of any length out of the file. */
export const short = (text: string): string => text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE / 2)} ... ${text.slice(-MAX_MESSAGE / 2)}`;

/** A failure, in the place of what it concerns. */
export const failure = (error: unknown): HTMLElement => el('p', { className: 'error', role: 'alert', textContent: short((error as Error).message) });

/** A field for a number, with its name before it. */
export function number(name: string, value: number, max: number, change: (value: number) => void): HTMLElement {
  const input = el('input', { type: 'number', min: '0', max: String(Math.max(0, max)), value: String(value) });
  input.onchange = () => change(Math.min(Math.max(0, max), Math.max(0, Math.floor(Number(input.value) || 0))));
  return el('label', {}, name, ' ', input);
}

export function table(names: string[], rows: string[][], heads?: string[]): HTMLTableElement {
  const head = el('tr', {}, ...(heads ? [el('td')] : []), ...names.map((name) => el('th', { scope: 'col', textContent: name })));
  const line = (cells: string[], n: number) => el('tr', {}, ...(heads ? [el('th', { scope: 'row', textContent: heads[n] ?? '' })] : []), ...cells.map((cell) => el('td', { textContent: cell })));
  return el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.map(line)));
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export function size(nbytes: number | null | undefined): string {
  if (nbytes === null || nbytes === undefined) return 'not known';
  let [value, unit] = [nbytes, 0];
  while (value >= 1024 && unit + 1 < UNITS.length) [value, unit] = [value / 1024, unit + 1];
  return `${unit ? value.toFixed(1) : value} ${UNITS[unit]}`;
}

export function save(name: string, parts: BlobPart[], type: string): void {
  const link = el('a', { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
