// Random requests, and random bytes where files were: an answer or an error each time, and never a trap. `B2_SEED` is another seed,
// `B2_SECONDS` more time.
import assert from 'node:assert';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Engine } from '../packages/reader/dist/engine.js';
import { module } from './page.mjs';

const samples = fileURLToPath(new URL('../../conformance/samples', import.meta.url));
const seed = Number(process.env.B2_SEED ?? 1);
const seconds = Number(process.env.B2_SECONDS ?? 8);

/** Numbers from 0 up to 1, the same for the same seed. */
function random(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const next = random(seed);
const below = (n) => Math.floor(next() * n);
const pick = (list) => list[below(list.length)];
const NUMBERS = [0, 1, 2, 3, 7, 100, 5000, 2 ** 31, 2 ** 32, 2 ** 53, 1.8e19, -1, 0.5];
const number = () => next() < 0.7 ? below(10) : pick(NUMBERS);
const pair = () => [number(), number()];
const part = () => Array.from({ length: below(4) }, () => next() < 0.5 ? number() : pair());
const names = () => pick(['', '/', 'none', '/a', 'id', 'x'.repeat(300)]);
const numbers = (kind) => ({ kind, column: pick([null, names()]), part: part(), width: number(), height: number() });
const task = () => pick([
  () => numbers(pick(['line', 'map', 'histogram'])), () => ({ kind: 'stats' }), () => ({ kind: 'verify' }), () => ({ kind: 'filter', condition: pick(['id > 2', '(((', '']) }),
  () => ({ kind: 'export', format: pick(['csv', 'npy']), part: part() }), () => number(), () => ({ kind: names() }),
])();
const request = (session, member) => pick([
  () => ({ call: 'open', session }), () => ({ call: 'about', session, member }), () => ({ call: 'cells', session, member, fixed: part(), rows: pair(), columns: pair() }),
  () => ({ call: 'rows', session, member, columns: [], rows: Array.from({ length: below(9) }, number), json: next() < 0.5 }), () => ({ call: 'chunks', session, member, start: number(), count: number() }),
  () => ({ call: 'task', session, member, task: task() }), () => ({ call: 'next', session }), () => ({ call: 'next', session }), () => ({ call: 'found', session }),
  () => ({ call: 'picture', session, width: number(), height: number() }), () => ({ call: names(), session: number() }), () => ({ call: 'close', session: number() + 50 }),
])();

/** Bytes that differ from those of a file in some places, or end early. */
function damaged(bytes) {
  const made = Uint8Array.from(bytes);
  for (let n = below(6); n > 0 && made.length; n -= 1) {
    const at = next() < 0.4 ? below(Math.min(128, made.length)) : below(made.length);
    made.set(Array.from({ length: Math.min(pick([1, 1, 4, 8]), made.length - at) }, () => pick([0, 0xff, 0x7f, below(256)])), at);
  }
  return next() < 0.2 ? made.subarray(0, below(made.length + 1)) : made;
}

test('no request and no bytes stop the module', async () => {
  const folders = ['frames', 'frames/generated', 'stores', 'chunks/generated', 'bloscpack'];
  const files = [];
  for (const folder of folders) for (const entry of await readdir(`${samples}/${folder}`, { withFileTypes: true })) if (entry.isFile()) files.push(`${samples}/${folder}/${entry.name}`);
  const until = performance.now() + 1000 * seconds;
  let [engine, count] = [await Engine.of(module), 0];
  while (performance.now() < until) {
    if (count % 50 === 49) engine = await Engine.of(module);
    const name = pick(files);
    const bytes = damaged(await readFile(name));
    const source = {
      name: name.split('/').pop(),
      async range(_, start, end) {
        const [from, to] = start < 0 ? [Math.max(0, bytes.length - end), bytes.length] : [Math.min(start, bytes.length), Math.min(end, bytes.length)];
        return { at: from, bytes: bytes.slice(from, to), length: bytes.length };
      },
    };
    const said = [];
    const ask = async (what) => {
      said.push(what);
      try { return await what(); } catch (error) {
        assert(error.text, `seed ${seed}, ${name}, file ${count}: ${said.join('; ')}: ${error.stack}`);
        return undefined;
      }
    };
    const { session } = await engine.ask({ call: 'file', name: source.name });
    engine.sources.set(session, source);
    const about = await ask(() => engine.ask({ call: 'open', session }));
    const members = ['', ...(about?.members ?? []).map(([name]) => name), names()];
    for (let n = 0; n < 12; n += 1) {
      const asked = request(session, pick(members));
      await ask(Object.assign(() => engine.ask(asked), { toString: () => JSON.stringify(asked) }));
    }
    await engine.ask({ call: 'close', session });
    count += 1;
  }
  assert(count > 10, `${count} files`);
  console.log(`${count} files`);
});

test('more memory than there may be is a trap, and another engine goes on', async () => {
  const engine = await Engine.of(module);
  assert.throws(() => engine.wasm.b2_input(0xf000_0000), WebAssembly.RuntimeError);
  const another = await Engine.of(module);
  assert.deepEqual(await another.ask({ call: 'file', name: 'a' }), { session: 0 });
});
