// The codec for zarrita and other readers of Zarr: the same data as numcodecs.js, whose chunks it reads.
import assert from 'node:assert';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Theirs from 'numcodecs/blosc';
import * as zarr from 'zarrita';
import Blosc, { Blosc2, ChunkError } from '../packages/reader/dist/codec.js';

const chunks = fileURLToPath(new URL('../../conformance/samples/chunks/generated/', import.meta.url));

test('chunks of all codecs and filters have the data that numcodecs.js finds', async () => {
  const [ours, theirs] = [Blosc.fromConfig(), Theirs.fromConfig({ clevel: 5, cname: 'lz4', shuffle: 1, blocksize: 0 })];
  let count = 0;
  for (const name of (await readdir(chunks)).filter((name) => /^blosc1-.*\.chunk$/.test(name) && !/snappy|empty/.test(name))) {
    const chunk = new Uint8Array(await readFile(chunks + name));
    assert.deepEqual(await ours.decode(chunk), await theirs.decode(chunk), name);
    count += 1;
  }
  assert(count > 20, `${count} chunks`);
});

test('zarrita reads an array by it', async () => {
  const values = Float32Array.from({ length: 1000 }, (_, n) => Math.sin(n));
  const writer = Theirs.fromConfig({ clevel: 5, cname: 'lz4', shuffle: 1, blocksize: 0 });
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  const meta = { zarr_format: 2, shape: [1000], chunks: [300], dtype: '<f4', compressor: { id: 'blosc', cname: 'lz4', clevel: 5, shuffle: 1, blocksize: 0 }, fill_value: 0, order: 'C', filters: null };
  const store = new Map([['/.zarray', json(meta)], ['/.zattrs', json({})]]);
  for (let n = 0; n < 4; n += 1) {
    const part = new Float32Array(300);
    part.set(values.subarray(n * 300, n * 300 + 300));
    store.set(`/${n}`, await writer.encode(new Uint8Array(part.buffer)));
  }
  let decoded = 0;
  class Counted extends Blosc {
    async decode(chunk) { decoded += 1; return super.decode(chunk); }
  }
  for (const name of ['blosc', 'numcodecs.blosc']) zarr.registry.set(name, async () => Counted);
  const array = await zarr.open.v2(store, { kind: 'array' });
  const { data } = await zarr.get(array, [zarr.slice(250, 950)]);
  assert.deepEqual(data, values.slice(250, 950));
  assert.equal(decoded, 4);
});

test('chunks of Blosc2 are read, and go to a place that is given', async () => {
  const name = (await readdir(chunks)).find((name) => /^blosc2-.*shuffle.*\.chunk$/.test(name));
  const codec = Blosc2.fromConfig();
  assert.equal(Blosc2.codecId, 'blosc2');
  const data = await codec.decode(new Uint8Array(await readFile(chunks + name)));
  assert(data.length > 0, name);
  const out = new Uint8Array(data.length);
  assert.equal(await codec.decode(new Uint8Array(await readFile(chunks + name)), out), out);
  assert.deepEqual(out, data);
  await assert.rejects(codec.decode(new Uint8Array(await readFile(chunks + name)), new Uint8Array(1)), RangeError);
});

test('damage is told, and the next chunk is read; encoding is refused', async () => {
  const chunk = new Uint8Array(await readFile(`${chunks}blosc1-lz4-shuffle-typesize4.chunk`));
  const codec = Blosc.fromConfig();
  const data = await codec.decode(chunk);
  await assert.rejects(codec.decode(chunk.subarray(0, 20)), ChunkError);
  await assert.rejects(codec.decode(new Uint8Array()), ChunkError);
  for (let at = 0; at < chunk.length; at += 1) {
    const damaged = chunk.slice();
    damaged[at] ^= 0xff;
    await codec.decode(damaged).catch((error) => {
      assert(error instanceof ChunkError && !/stopped the module/.test(error.message), `byte ${at}: ${error.message}`);
    });
  }
  assert.deepEqual(await codec.decode(chunk), data);
  await assert.rejects(codec.encode(data), /only reads/);
});
