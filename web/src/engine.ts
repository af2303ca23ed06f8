// The module: requests go in, answers come out, and what it lacks is fetched in between. No code of the module waits.

/** Bytes of a file from position `at` on, and the length of all of it. */
export interface Part { at: number; bytes: Uint8Array<ArrayBuffer>; length: number }

/** Where the bytes of a file, or of the files of a folder, come from. */
export interface Source {
  readonly name: string;
  /** Paths and lengths of the files of a folder; absent for a file. */
  readonly files?: [string, number][];
  /** From `start` up to `end`; with `start` -1 the last `end` bytes. */
  range(path: string, start: number, end: number): Promise<Part>;
}

/** Where a part begins and ends in a file of this length; `start` and `end` are those of `Source.range`. */
export function bounds(start: number, end: number, length: number): [number, number] {
  return start < 0 ? [Math.max(0, length - end), length] : [Math.min(start, length), Math.min(end, length)];
}

/** An answer of the module: a document, or bytes. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

/** A request to the module. */
export interface Request { call: string; session?: number; [more: string]: unknown }

interface Exports {
  memory: WebAssembly.Memory;
  b2_input(length: number): number;
  b2_output(): number;
  b2_output_len(): number;
  b2_call(): number;
  b2_add(session: number, pathLength: number, at: number, length: number): number;
}

const [DONE, FETCH, FAILED] = [0, 1, 2];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An error of the data or of the request, with the document that the module gave. */
export class DataError extends Error {
  readonly document: { kind: string; message: string };
  constructor(readonly text: string) {
    const document = JSON.parse(text);
    super(document.message);
    this.document = document;
  }
}

/** One instance of the module. After a trap it must not be used again. */
export class Engine {
  private readonly wasm: Exports;
  private readonly sources = new Map<number, Source>();
  private last: Promise<unknown> = Promise.resolve();
  /** Rounds of fetching, parts and bytes so far. */
  readonly stats = { rounds: 0, requests: 0, bytes: 0 };

  private constructor(wasm: Exports) { this.wasm = wasm; }

  static async of(module: WebAssembly.Module): Promise<Engine> {
    const instance = await WebAssembly.instantiate(module, {});
    return new Engine(instance.exports as unknown as Exports);
  }

  /** Begins a session, and opens what it is of. */
  async open(source: Source): Promise<Answer> {
    const { name, files } = source;
    const { session } = await this.ask(files ? { call: 'folder', name, files } : { call: 'file', name });
    this.sources.set(session, source);
    return { ...await this.ask({ call: 'open', session }), session };
  }

  /** Answers a request when those before it are answered: what is fetched for one is not forgotten for another. */
  async ask(request: Request): Promise<Answer> {
    const answer = await this.asText(request);
    return typeof answer === 'string' ? JSON.parse(answer) : answer;
  }

  /** As `ask`, with the text of the document. */
  asText(request: Request): Promise<string | Uint8Array<ArrayBuffer>> {
    const answer = this.last.then(() => this.answer(request));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async answer(request: Request): Promise<string | Uint8Array<ArrayBuffer>> {
    const input = encoder.encode(JSON.stringify(request));
    for (;;) {
      this.put(input);
      const code = this.wasm.b2_call();
      const output = this.output();
      if (code === FETCH) {
        await this.fetch(request.session ?? -1, JSON.parse(decoder.decode(output)));
        continue;
      }
      if (code === FAILED) throw new DataError(decoder.decode(output));
      if (request.call === 'close') this.sources.delete(request.session ?? -1);
      return code === DONE ? decoder.decode(output) : output;
    }
  }

  private async fetch(session: number, list: [string, number, number][]): Promise<void> {
    const source = this.sources.get(session);
    if (!source) throw new Error('the session has no source');
    this.stats.rounds += 1;
    const get = async ([path, start, end]: [string, number, number]) => {
      const part = await source.range(path, start, end);
      const [from, to] = bounds(start, end, part.length);
      // The module would ask for the rest again and again.
      if (part.at !== from || part.bytes.length < to - from) throw new Error(`${source.name}: bytes ${from} to ${to} were asked for, and ${part.bytes.length} bytes from ${part.at} on came`);
      return { path, ...part };
    };
    for (const { path, at, bytes, length } of await Promise.all(list.map(get))) {
      this.stats.requests += 1;
      this.stats.bytes += bytes.length;
      const head = encoder.encode(path);
      const all = new Uint8Array(head.length + bytes.length);
      all.set(head);
      all.set(bytes, head.length);
      this.put(all);
      if (this.wasm.b2_add(session, head.length, at, length) !== DONE) {
        throw new DataError(decoder.decode(this.output()));
      }
    }
  }

  private put(bytes: Uint8Array): void {
    const at = this.wasm.b2_input(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
  }

  private output(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.wasm.memory.buffer, this.wasm.b2_output(), this.wasm.b2_output_len()).slice();
  }
}
