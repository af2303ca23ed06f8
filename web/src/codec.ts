// Chunks of Blosc as a codec with the interface of numcodecs.js, for zarrita: decodes Blosc 1 and Blosc2.
const FILE = new URL('./codec.wasm', import.meta.url);

interface Exports {
  memory: WebAssembly.Memory;
  b2_input(length: number): number;
  b2_decode(): number;
  b2_output(): number;
  b2_output_len(): number;
}

/** The configuration of the codec in a Zarr array; unused, since each chunk repeats the values. */
export type Configuration = Record<string, unknown>;

let compiled: Promise<WebAssembly.Module> | undefined;
let wasm: Exports | undefined;

async function load(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(url));
  // Node fetches no files.
  const fs = 'node:fs/promises';
  const { readFile } = await import(/* @vite-ignore */ fs);
  return WebAssembly.compile(await readFile(url));
}

/** Says where the module is, before anything is decoded; beside this script without it. */
export function setModule(module: WebAssembly.Module | string | URL): void {
  compiled = module instanceof WebAssembly.Module ? Promise.resolve(module) : load(new URL(String(module), import.meta.url));
  wasm = undefined;
}

async function instance(): Promise<Exports> {
  compiled ??= load(FILE);
  compiled.catch(() => { compiled = undefined; });
  wasm ??= (await WebAssembly.instantiate(await compiled, {})).exports as unknown as Exports;
  return wasm;
}

/** A chunk that is damaged, or none. */
export class ChunkError extends Error {}

/** `registry.set('blosc', async () => Blosc)`. */
export class Blosc {
  static readonly codecId: string = 'blosc';
  readonly kind = 'bytes_to_bytes';

  static fromConfig(_: Configuration = {}): Blosc { return new this(); }

  /** The data of a chunk: in `out`, if it is given and as long. */
  async decode(chunk: Uint8Array, out?: Uint8Array): Promise<Uint8Array> {
    const it = await instance();
    let code;
    try {
      // The call may grow the memory, which then gets another buffer.
      const at = it.b2_input(chunk.length);
      new Uint8Array(it.memory.buffer, at, chunk.length).set(chunk);
      code = it.b2_decode();
    } catch (error) {
      // After a trap an instance must not be used again.
      wasm = undefined;
      throw new ChunkError(`the chunk has stopped the module: ${String(error)}`);
    }
    const found = new Uint8Array(it.memory.buffer, it.b2_output(), it.b2_output_len());
    if (code !== 0) throw new ChunkError(new TextDecoder().decode(found));
    if (!out) return found.slice();
    if (out.length !== found.length) throw new RangeError(`the chunk has ${found.length} bytes, and there is room for ${out.length}`);
    out.set(found);
    return out;
  }

  async encode(_: Uint8Array): Promise<Uint8Array> {
    throw new Error('this codec only reads: write chunks with numcodecs or Python, which Blosc reads as well');
  }
}

/** The same for arrays whose codec is named `blosc2`. */
export class Blosc2 extends Blosc {
  static override readonly codecId: string = 'blosc2';
}

export default Blosc;
