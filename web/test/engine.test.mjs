// The module answers as the native build does, and fetches what it needs and no more. `B2_ANSWERS` is what the example
// `answers` of the crate b2-web printed.
import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Page, sourceOf, module } from './page.mjs';

async function answers(path) {
  const page = await Page.make();
  const source = await sourceOf(path);
  const { name, files } = source;
  const { session } = await page.engine.ask(files ? { call: 'folder', name, files } : { call: 'file', name });
  page.engine.sources.set(session, source);
  const lines = [await page.ask('open', { call: 'open', session })];
  if (!lines[0].startsWith('open done ')) return lines;
  const about = JSON.parse(lines[0].slice('open done '.length));
  const things = [['', about]];
  for (const [key] of (about.members ?? []).slice(0, 12)) {
    const answer = await page.ask('about', { call: 'about', session, member: key });
    lines.push(answer);
    if (answer.startsWith('about done ')) things.push([key, JSON.parse(answer.slice('about done '.length))]);
  }
  for (const [member, about] of things) {
    lines.push(await page.ask('cells', { call: 'cells', session, member, fixed: [], rows: [1, 9], columns: [0, 6] }));
    const rows = Array.from({ length: Math.min(about.nrows ?? 0, 5) }, (_, n) => n).reverse();
    lines.push(await page.ask('rows', { call: 'rows', session, member, columns: [], rows }));
    lines.push(await page.ask('chunks', { call: 'chunks', session, member, start: 0, count: 5 }));
    for (const task of [{ kind: 'verify' }, { kind: 'stats' }, { kind: 'export', format: 'csv', part: [] }, { kind: 'export', format: 'npy', part: [] }]) {
      lines.push(await page.run(JSON.stringify(task), session, member, task));
    }
    const picture = { kind: 'histogram', column: about.columns?.[0]?.name ?? null, part: [], width: 400, height: 300 };
    const drawn = await page.run('', session, member, picture);
    if (!drawn.startsWith(' failed')) lines.push(await page.ask('picture', { call: 'picture', session, width: 400, height: 300 }));
  }
  return lines;
}

test('the module imports nothing', () => assert.deepEqual(WebAssembly.Module.imports(module), []));

test('every sample has the answers of the native build', async () => {
  const samples = (await readFile(process.env.B2_ANSWERS, 'utf8')).split('\n= ');
  let count = 0;
  for (const sample of samples) {
    const [path, ...expected] = sample.replace(/^= /, '').trimEnd().split('\n');
    assert.deepEqual(await answers(path), expected, path);
    count += 1;
  }
  assert(count > 150, `${count} samples`);
});

test('positions beyond 4 GiB are read', async () => {
  const text = "{'descr': '<u4', 'fortran_order': False, 'shape': (1600000000,), }".padEnd(117) + '\n';
  const head = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(text)]);
  const length = head.length + 4 * 1_600_000_000;
  let read = 0;
  const source = {
    name: 'large.npy',
    async range(_, start, end) {
      const [from, to] = start < 0 ? [length - end, length] : [start, Math.min(end, length)];
      const bytes = new Uint8Array(to - from);
      for (let at = from; at < to; at += 1) {
        const item = Math.floor((at - head.length) / 4);
        bytes[at - from] = at < head.length ? head[at] : (item >>> (8 * ((at - head.length) % 4))) & 0xff;
      }
      read += bytes.length;
      return { at: from, bytes, length };
    },
  };
  const { engine } = await Page.make();
  const { session, shape } = await engine.open(source);
  assert.deepEqual(shape, [1_600_000_000]);
  const { rows } = await engine.ask({ call: 'cells', session, member: '', fixed: [], rows: [1_599_999_995, 1_600_000_000], columns: [0, 1] });
  assert.deepEqual(rows.flat().map(Number), [1_599_999_995, 1_599_999_996, 1_599_999_997, 1_599_999_998, 1_599_999_999]);
  assert(read < 200_000, `${read} bytes`);
});

test('memory is bounded while much is read', async () => {
  const { engine } = await Page.make();
  const text = "{'descr': '|u1', 'fortran_order': False, 'shape': (700000000,), }".padEnd(117) + '\n';
  const head = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(text)]);
  const length = head.length + 700_000_000;
  const source = {
    name: 'long.npy',
    async range(_, start, end) {
      const [from, to] = start < 0 ? [length - end, length] : [start, Math.min(end, length)];
      const bytes = new Uint8Array(to - from);
      bytes.set(head.subarray(from, Math.min(to, head.length)));
      return { at: from, bytes, length };
    },
  };
  const { session } = await engine.open(source);
  let { done, total } = await engine.ask({ call: 'task', session, member: '', task: { kind: 'stats' } });
  while (done < total) ({ done, total } = await engine.ask({ call: 'next', session }));
  assert.equal((await engine.ask({ call: 'found', session }))[0].zeros, 700_000_000);
  assert(engine.stats.bytes >= 700_000_000);
  const { byteLength } = engine.wasm.memory.buffer;
  assert(byteLength < 256 << 20, `${byteLength} bytes`);
});
