// The engine in a thread of its own: a trap ends this thread and not the page.
import { DataError, Engine, type Source } from './engine.js';
import { FileSource, FolderSource, UrlSource } from './sources.js';

export type Place = { file: File } | { files: [string, File][]; name: string } | { url: string };
export type ToWorker = { n: number; start?: BufferSource | string; open?: Place; ask?: { call: string; session?: number } };
export type FromWorker = { n: number; value?: unknown; error?: string; kind?: string; isTrap?: boolean };

let engine: Engine | undefined;

function sourceOf(place: Place): Source {
  if ('file' in place) return new FileSource(place.file, place.file.name);
  if ('url' in place) return new UrlSource(place.url);
  return new FolderSource(new Map(place.files), place.name);
}

async function answer({ start, open, ask }: ToWorker): Promise<unknown> {
  if (start !== undefined) {
    const module = typeof start === 'string' ? await WebAssembly.compileStreaming(fetch(start)) : await WebAssembly.compile(start);
    engine = await Engine.of(module);
    return null;
  }
  if (!engine) throw new Error('the engine was not started');
  if (open) return { ...await engine.open(sourceOf(open)), stats: { ...engine.stats } };
  if (ask) return engine.ask(ask);
  throw new Error('nothing was asked');
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  const post = (message: FromWorker, transfer: Transferable[] = []) => (self as unknown as Worker).postMessage(message, transfer);
  try {
    const value = await answer(data);
    post({ n: data.n, value }, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []);
  } catch (error) {
    const { message } = error as Error;
    const kind = error instanceof DataError ? error.document.kind : 'io';
    post({ n: data.n, error: message, kind, isTrap: error instanceof WebAssembly.RuntimeError });
  }
};
