// The package for programmers, under Node: as its README says.
import assert from 'node:assert';
import { readFile, stat } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DataError, open } from '../packages/reader/dist/reader.js';
import { serve } from './server.mjs';

const samples = fileURLToPath(new URL('../../conformance/samples', import.meta.url));
const blob = async (name) => new Blob([await readFile(`${samples}/${name}`)]);

test('an array by a Blob, a reader and an address gives the same items', async () => {
  const name = 'frames/generated/array-3d-f8.b2nd';
  const whole = await (await open(await blob(name))).array();
  assert.deepEqual([whole.shape, whole.dtype], [[6, 7, 8], '<f8']);
  const { data, shape } = await whole.get();
  assert.deepEqual([shape, data.constructor, data.length], [[6, 7, 8], Float64Array, 336]);
  const bytes = await readFile(`${samples}/${name}`);
  const reader = { length: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
  const part = await (await (await open(reader, { name })).array()).get([[1, 3], 2, null]);
  assert.deepEqual(part.shape, [2, 8]);
  const expected = [1, 2].flatMap((n) => [...data.slice((n * 7 + 2) * 8, (n * 7 + 3) * 8)]);
  assert.deepEqual([...part.data], expected);
  const far = await serve(samples);
  const file = await open(`${far.origin}/${name}`);
  assert(file.stats.rounds <= 2);
  assert.deepEqual([...(await (await file.array()).get([[1, 3], 2])).data], expected);
  assert(far.log.every(({ range }) => range));
  await far.close();
});

test('two parts that are asked for at once do not mix', async () => {
  const array = await (await open(await blob('frames/generated/array-3d-f8.b2nd'))).array();
  const [a, b] = await Promise.all([array.get([0]), array.get([1])]);
  assert.deepEqual([a.shape, b.shape], [[7, 8], [7, 8]]);
  assert.notDeepEqual([...a.data], [...b.data]);
});

test('tasks of one file that are asked for at once wait for each other', async () => {
  const store = await open(await blob('stores/tree-basic.b2z'), { name: 'tree-basic.b2z' });
  const names = [];
  for (const name of store.keys()) await store.array(name).then(() => names.push(name), () => undefined);
  const alone = [];
  for (const name of names) alone.push((await (await store.array(name)).get()).data);
  const [report, ...together] = await Promise.all([store.verify(), ...names.map(async (name) => (await (await store.array(name)).get()).data)]);
  assert(names.length > 1 && report.ok);
  assert.deepEqual(together, alone);
  const table = await (await open(await blob('stores/table-basic.b2z'), { name: 'table-basic.b2z' })).table();
  const conditions = ['id >= 3', 'id < 3', 'id >= 0'];
  const counts = (await Promise.all(conditions.map((condition) => table.find(condition)))).map(({ count }) => count);
  assert.equal(counts[0] + counts[1], counts[2]);
  assert.equal(counts[2], table.nrows);
});

test('a reader that gives other bytes is an error, and no endless loop', async () => {
  const bytes = await readFile(`${samples}/frames/generated/array-3d-f8.b2nd`);
  for (const less of [1, 10, bytes.length]) {
    const reader = { length: bytes.length, read: async (start, end) => bytes.subarray(start, Math.max(start, end - less)) };
    await assert.rejects(open(reader), /were asked for/);
  }
});

test('a signal ends a task, also in its last piece', async () => {
  const file = await open(await blob('frames/generated/array-3d-f8.b2nd'));
  const stop = new AbortController();
  await assert.rejects(file.verify({ signal: stop.signal, onProgress: () => stop.abort() }), { name: 'AbortError' });
  assert.equal((await file.verify()).ok, true);
  const slow = await open(await blob('stores/table-basic.b2z'), { name: 'table-basic.b2z' });
  const table = await slow.table();
  await assert.rejects(async () => { for await (const _ of table.rows({ step: 0 })) throw new Error('rows'); }, RangeError);
});

test('a part that is none of the array is refused', async () => {
  const array = await (await open(await blob('frames/generated/array-3d-f8.b2nd'))).array();
  await assert.rejects(array.get([6]), RangeError);
  await assert.rejects(array.get([[3, 2]]), RangeError);
  await assert.rejects(array.get([0, 0, 0, 0]), RangeError);
});

test('rows of a table are values, also those that a condition finds', async () => {
  const table = await (await open(await blob('stores/table-basic.b2z'), { name: 'table-basic.b2z' })).table();
  const ids = [];
  for await (const { from, rows } of table.rows({ columns: ['id', 's'], step: 2 })) {
    assert.equal(from, ids.length);
    ids.push(...rows.map(([id]) => id));
  }
  assert.equal(ids.length, table.nrows);
  assert(ids.every(Number.isInteger));
  const { count, rows } = await table.find('id >= 3');
  assert.deepEqual(rows, ids.flatMap((id, n) => id >= 3 ? [n] : []));
  assert.equal(count, rows.length);
  await assert.rejects(table.find('no condition'), DataError);
});

test('a store has keys, and verifying tells damage', async () => {
  const store = await open(await blob('stores/tree-basic.b2z'), { name: 'tree-basic.b2z' });
  assert(store.keys().length > 2);
  await assert.rejects(store.array('/none'), DataError);
  assert.equal((await store.verify()).ok, true);
  const bytes = await readFile(`${samples}/frames/generated/zlib-shuffle.b2frame`);
  bytes.fill(0xff, bytes.length >> 2, bytes.length >> 1);
  const file = await open(new Blob([bytes]), { name: 'damaged.b2frame' });
  const report = await file.verify();
  assert(!report.ok && report.nfaults > 0 && report.faults[0].message);
  await assert.rejects(file.verify({ signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('an address whose name is no UTF-8 is fetched', async () => {
  const far = await serve(samples);
  await assert.rejects(open(`${far.origin}/%E4.b2nd`), /404/);
  await assert.rejects(open('ftp://127.0.0.1/a.b2nd'), /https/);
  assert.equal(far.log.length, 1);
  await far.close();
});

test('the example of the README is one that runs', async () => {
  const readme = await readFile(new URL('../packages/reader/README.md', import.meta.url), 'utf8');
  const example = /```js\n([^`]*file\.table[^`]*)```/.exec(readme)[1].replace("'/trades'", '').replace("['day', 'price']", "['id', 'f']").replace('price > 10', 'id > 2');
  const file = await open(await blob('stores/table-basic.b2z'), { name: 'table-basic.b2z' });
  const run = new Function('file', 'console', `return (async () => { ${example}; return count; })()`);
  const said = [];
  const count = await run(file, { log: (...words) => said.push(words) });
  assert(count > 0 && said.length > 0);
  assert((await stat(new URL('../packages/reader/dist/b2.wasm', import.meta.url))).size > 0);
});
