// The order of cells, which are texts.
const INTEGER = /^-?\d+$/;
const valueOf = (text: string) => /^[-+]?inf(inity)?$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : text.trim() ? Number(text) : NaN;

/** The order of two cells: numbers by value, texts and cells without a value after them. */
export function order(a: string, b: string): number {
  if (INTEGER.test(a) && INTEGER.test(b)) {
    const [x, y] = [BigInt(a), BigInt(b)];
    return x < y ? -1 : Number(x > y);
  }
  const [x, y] = [valueOf(a), valueOf(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  if (!Number.isNaN(x)) return x < y ? -1 : Number(x > y);
  return a.localeCompare(b, undefined, { numeric: true });
}
