// Rounds and bytes of a far array: two rounds to open it, two for a part, 1.3 times the bytes of the part's blocks. `B2` writes it.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../packages/reader/dist/reader.js';
import { serve } from './server.mjs';

// Noise: a block takes as many bytes as its items.
const [SHAPE, CHUNKS, BLOCKS] = [[64, 256, 512], [16, 64, 256], [8, 16, 64]];
const NBYTES = SHAPE.reduce((product, n) => product * n);

test('opening takes two rounds, and a part two more with the bytes of its blocks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'b2-'));
  const data = randomFillSync(new Uint8Array(NBYTES));
  const head = `{'descr': '|u1', 'fortran_order': False, 'shape': (${SHAPE}), }`.padEnd(117) + '\n';
  await writeFile(join(folder, 'a.npy'), Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(head), data]));
  const made = spawnSync(process.env.B2, ['compress', '-q', join(folder, 'a.npy'), '-o', join(folder, 'a.b2nd'), '--chunks', String(CHUNKS), '--blocks', String(BLOCKS)], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const far = await serve(folder);
  const array = await (async () => {
    const file = await open(`${far.origin}/a.b2nd`);
    assert(file.stats.rounds <= 2, `${file.stats.rounds} rounds to open`);
    return { file, array: await file.array() };
  })();
  for (const part of [[[0, 8], [0, 16], [0, 64]], [[16, 32], [64, 128], [256, 512]], [5, null, null], [[3, 20], 100, [60, 300]], [40, 255, 511]]) {
    const bounds = SHAPE.map((n, dim) => part[dim] === null ? [0, n] : Number.isInteger(part[dim]) ? [part[dim], part[dim] + 1] : part[dim]);
    const nbytes = bounds.reduce((product, [start, end], dim) => product * (Math.ceil(end / BLOCKS[dim]) - Math.floor(start / BLOCKS[dim])) * BLOCKS[dim], 1);
    const before = { ...array.file.stats };
    const { data: found } = await array.array.get(part);
    const [rounds, fetched] = [array.file.stats.rounds - before.rounds, array.file.stats.bytes - before.bytes];
    console.log(JSON.stringify(part), rounds, fetched, nbytes, (fetched / nbytes).toFixed(3));
    assert(rounds <= 2, `${JSON.stringify(part)}: ${rounds} rounds`);
    assert(fetched <= 1.3 * nbytes, `${JSON.stringify(part)}: ${fetched} bytes for ${nbytes}`);
    let n = 0;
    for (let i = bounds[0][0]; i < bounds[0][1]; i += 1) for (let j = bounds[1][0]; j < bounds[1][1]; j += 1) for (let k = bounds[2][0]; k < bounds[2][1]; k += 1) assert.equal(found[n++], data[(i * SHAPE[1] + j) * SHAPE[2] + k]);
  }
  await far.close();
  await rm(folder, { recursive: true });
});
