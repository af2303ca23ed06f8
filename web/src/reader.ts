// For programmers: arrays, tables and stores of the Blosc family, read in parts, in browsers and in Node.
import { DataError, Engine, type Answer, type Part, type Source } from './engine.js';
import { FileSource, FolderSource, UrlSource } from './sources.js';
import { Tasks, type Running, type TaskOptions } from './tasks.js';

export { DataError, type TaskOptions };

/** Anything that gives parts of a file. */
export interface Reader { readonly length: number; read(start: number, end: number): Promise<Uint8Array> }

/** A file, the files of a folder by their paths, an address, or what reads a file. */
export type From = Blob | Map<string, Blob> | string | URL | Reader;

export type Items = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array;

/** A position, which leaves the dimension out; those from one up to another; or all. */
export type Pick = number | [start: number, end: number] | null;

export interface OpenOptions {
  /** The name of a file that has none of its own. */
  name?: string;
  /** The module, or where it is; beside this script without it. */
  module?: WebAssembly.Module | string | URL;
}

export interface Report { ok: boolean; nfaults: number; nchunks: number; faults: { place: string; message: string; chunk?: number }[]; notes: string[] }

/** A column: the type of its items as NumPy writes it; null for texts and objects. */
export interface Column { name: string; dtype: string | null; itemShape: number[]; nullable: boolean }

/** A value of a cell; integers beyond 2^53 are texts. */
export type Cell = null | boolean | number | string | Cell[] | { [key: string]: Cell };

const TYPES: Record<string, new (buffer: ArrayBuffer) => Items> = {
  i1: Int8Array, u1: Uint8Array, b1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, i8: BigInt64Array, u8: BigUint64Array, f4: Float32Array, f8: Float64Array,
};

class ReaderSource implements Source {
  constructor(private readonly reader: Reader, readonly name: string) {}
  async range(_: string, start: number, end: number): Promise<Part> {
    const { length } = this.reader;
    const [from, to] = start < 0 ? [Math.max(0, length - end), length] : [Math.min(start, length), Math.min(end, length)];
    return { at: from, bytes: new Uint8Array(await this.reader.read(from, to)), length };
  }
}

function sourceOf(from: From, name: string | undefined): Source {
  if (typeof from === 'string' || from instanceof URL) return new UrlSource(String(from));
  if (from instanceof Map) return new FolderSource(from, name ?? 'folder');
  if (from instanceof Blob) return new FileSource(from, name ?? (from as File).name ?? 'file');
  return new ReaderSource(from, name ?? 'file');
}

async function compiled(module: OpenOptions['module']): Promise<WebAssembly.Module> {
  if (module instanceof WebAssembly.Module) return module;
  const url = new URL(String(module ?? new URL('./b2.wasm', import.meta.url)), import.meta.url);
  if (url.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(url));
  // Node fetches no files.
  const fs = 'node:fs/promises';
  const { readFile } = await import(/* @vite-ignore */ fs);
  return WebAssembly.compile(await readFile(url));
}

/** Opens a file, a folder or an address. Each has an engine, and memory, of its own. */
export async function open(from: From, { name, module }: OpenOptions = {}): Promise<BloscFile> {
  const engine = await Engine.of(await compiled(module));
  const { session, ...about } = await engine.open(sourceOf(from, name));
  return new BloscFile(engine, session, about);
}

/** A file or a folder: an array, a table, bytes, or a group of such. */
export class BloscFile {
  private readonly tasks: Tasks;

  constructor(private readonly engine: Engine, private readonly session: number, readonly about: Answer) {
    this.tasks = new Tasks((call, more) => this.ask(call, more));
  }

  private ask(call: string, more: Record<string, unknown> = {}): Promise<Answer> { return this.engine.ask({ call, session: this.session, ...more }); }

  /** The names of the members of a group; none of others. */
  keys(): string[] { return (this.about.members ?? []).map(([name]: [string, string]) => name); }

  /** Rounds of fetching, parts and bytes so far. */
  get stats(): { rounds: number; requests: number; bytes: number } { return { ...this.engine.stats }; }

  private async member(key: string, kind: string): Promise<Answer> {
    const about = key ? await this.ask('about', { member: key }) : this.about;
    if (about.kind !== kind) throw new TypeError(`${key || about.name} is no ${kind}: ${about.kind}`);
    return about;
  }

  /** The array of a member; without a name the file itself. */
  async array(key = ''): Promise<BloscArray> { return new BloscArray(this.tasks, await this.member(key, 'array'), key); }

  /** The table of a member; without a name the file itself. */
  async table(key = ''): Promise<BloscTable> {
    const about = await this.member(key, 'table');
    return new BloscTable(this.tasks, (more) => this.ask('rows', { member: key, ...more }), about, key);
  }

  /** Decodes all of it, and compares the checksums that are there. */
  verify({ signal, onProgress, member = '' }: TaskOptions & { member?: string } = {}): Promise<Report> {
    return ended(this.tasks, member, { kind: 'verify' }, { signal, onProgress, ending: { call: 'found' } });
  }
}

/** The answer to a task that has ended. A signal ends the wait at once: the piece that is at work goes on without anybody. */
async function ended(tasks: Tasks, member: string, task: object, how: Running): Promise<Answer> {
  const { signal } = how;
  signal?.throwIfAborted();
  const run = tasks.run(member, task, how);
  if (!signal) return (await run)[1];
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => { stop = () => reject(signal.reason); });
  signal.addEventListener('abort', stop);
  try {
    const [, found] = await Promise.race([run, aborted]);
    signal.throwIfAborted();
    return found;
  } finally {
    signal.removeEventListener('abort', stop);
    run.catch(() => undefined);
  }
}

export class BloscArray {
  readonly shape: number[];
  /** The type of an item, as NumPy writes it. */
  readonly dtype: string;
  readonly chunkShape: number[];
  readonly attributes: Record<string, Cell>;

  constructor(private readonly tasks: Tasks, about: Answer, private readonly key: string) {
    ({ shape: this.shape, dtype: this.dtype, chunkshape: this.chunkShape, attributes: this.attributes } = about);
  }

  /** A part in C order: a pick for each dimension, all of those that have none. Items of other types than numbers are bytes. */
  async get(picks: Pick[] = []): Promise<{ data: Items; shape: number[] }> {
    if (picks.length > this.shape.length) throw new RangeError(`${picks.length} picks of ${this.shape.length} dimensions`);
    const part = this.shape.map((length, dim) => picks[dim] ?? [0, length] as [number, number]);
    part.forEach((pick, dim) => {
      const [start, end] = typeof pick === 'number' ? [pick, pick + 1] : pick;
      if (!(start >= 0 && start <= end && end <= this.shape[dim]!)) throw new RangeError(`dimension ${dim}: ${start} to ${end} of ${this.shape[dim]}`);
    });
    const shape = part.flatMap((pick) => typeof pick === 'number' ? [] : [pick[1] - pick[0]]);
    const all: Uint8Array[] = [];
    await ended(this.tasks, this.key, { kind: 'export', format: 'npy', part }, { onBytes: (piece) => all.push(piece) });
    // The first piece is the header of a file of NumPy.
    const [, ...pieces] = all;
    const bytes = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const data = items(this.dtype, bytes);
    const nitems = shape.reduce((product, n) => product * n, 1);
    if (TYPES[this.dtype.slice(1)] && data.length !== nitems) throw new Error(`${data.length} items came for ${nitems}`);
    return { data, shape };
  }
}

function items(dtype: string, bytes: Uint8Array<ArrayBuffer>): Items {
  const [, order, kind] = /^([<>|=])([a-z]\d+)$/.exec(dtype) ?? [];
  const type = TYPES[kind ?? ''];
  if (!type) return bytes;
  const size = Number(kind!.slice(1));
  if (order === '>') for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return new type(bytes.buffer);
}

export class BloscTable {
  readonly nrows: number;
  readonly columns: Column[];
  readonly attributes: Record<string, Cell>;

  constructor(private readonly tasks: Tasks, private readonly read: (more: Record<string, unknown>) => Promise<Answer>, about: Answer, private readonly key: string) {
    ({ nrows: this.nrows, columns: this.columns, attributes: this.attributes } = about);
  }

  /** Rows, some at a time: `for await (const { from, rows } of table.rows({ columns: ['day'] }))`. */
  async *rows({ columns = [], from = 0, to = this.nrows, step = 1000 }: { columns?: string[]; from?: number; to?: number; step?: number } = {}): AsyncGenerator<{ from: number; rows: Cell[][] }> {
    if (!(step >= 1 && from >= 0)) throw new RangeError(`steps of ${step} rows from ${from} on`);
    const end = Math.min(to, this.nrows);
    for (let start = from; start < end; start += step) {
      const numbers = Array.from({ length: Math.min(step, end - start) }, (_, n) => start + n);
      const { rows } = await this.read({ columns, rows: numbers, json: true });
      yield { from: start, rows };
    }
  }

  /** The numbers of the rows that fulfil a condition, such as `price > 10 and day < 5`: up to 100 000, and how many there are. */
  find(condition: string, options: TaskOptions = {}): Promise<{ count: number; rows: number[] }> {
    return ended(this.tasks, this.key, { kind: 'filter', condition }, { ...options, ending: { call: 'found' } });
  }
}
