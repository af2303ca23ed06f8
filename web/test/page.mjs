// The engine without a browser: the module under Node, files of the disk, and what the page asks of them.
import { createHash } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Engine } from '../packages/reader/dist/engine.js';

const DIST = new URL('../dist/', import.meta.url);
export const module = await WebAssembly.compile(await readFile(new URL('b2.wasm', DIST)));

async function below(root, folder = root) {
  const files = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    files.push(...entry.isDirectory() ? await below(root, path) : [[relative(root, path), await readFile(path)]]);
  }
  return files;
}

/** A file or a folder in memory. */
export async function sourceOf(path) {
  const files = (await stat(path)).isDirectory() ? await below(path) : [['', await readFile(path)]];
  const isFolder = (await stat(path)).isDirectory();
  const all = new Map(files);
  return {
    name: path.split('/').pop(),
    files: isFolder ? files.map(([name, bytes]) => [name, bytes.length]) : undefined,
    async range(name, start, end) {
      const bytes = all.get(name);
      const [from, to] = start < 0 ? [Math.max(0, bytes.length - end), bytes.length] : [Math.min(start, bytes.length), Math.min(end, bytes.length)];
      return { at: from, bytes: bytes.subarray(from, to), length: bytes.length };
    },
  };
}

/** A document as Rust prints it: keys sorted as they came, so only what JavaScript changes has to be told apart. */
const line = (what, answer) => answer instanceof Uint8Array ? `${what} bytes ${answer.length} ${createHash('sha256').update(answer).digest('hex')}` : `${what} done ${answer}`;

export class Page {
  constructor(engine) { this.engine = engine; }
  static async make() { return new Page(await Engine.of(module)); }

  /** The answer of a request as text, or bytes; a failure is an answer too. */
  async ask(what, request) {
    try {
      return line(what, await this.engine.asText(request));
    } catch (error) {
      if (!error.text) throw error;
      return `${what} failed ${error.text}`;
    }
  }

  async run(what, session, member, task) {
    const begun = await this.ask(what, { call: 'task', session, member, task });
    if (begun.startsWith(`${what} failed`)) return begun;
    let { done, total } = JSON.parse(begun.slice(`${what} done `.length));
    const bytes = [];
    while (done < total) {
      let next;
      try { next = await this.engine.asText({ call: 'next', session }); } catch (error) {
        if (!error.text) throw error;
        return `${what} failed ${error.text}`;
      }
      if (next instanceof Uint8Array) { bytes.push(next); done += 1; } else ({ done, total } = JSON.parse(next));
    }
    return Buffer.concat(bytes).length ? line(what, new Uint8Array(Buffer.concat(bytes))) : this.ask(what, { call: 'found', session });
  }
}
