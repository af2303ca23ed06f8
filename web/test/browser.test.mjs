// The page in Chromium: files, folders, addresses, one file from the disk; nothing on the console. `CHROMIUM` is the program.
import assert from 'node:assert';
import { mkdir, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import typescript from 'typescript';
import { serve } from './server.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const [dist, samples] = [path('../dist'), path('../../conformance/samples')];
const images = process.env.B2_IMAGES;
let browser, site;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
  site = await serve(dist, { cors: false });
  if (images) await mkdir(images, { recursive: true });
});
after(async () => { await browser?.close(); await site?.close(); });

/** A page, and what it says on the console or does against its policy. */
async function opened(address = `${site.origin}/index.html`, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 760 }, ...options });
  const problems = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(address);
  return { page, problems };
}
const status = (page, pattern) => page.locator('#status', { hasText: pattern }).waitFor({ timeout: 20_000 });
const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();
const shot = (page, name) => images ? page.screenshot({ path: `${images}/web-${name}.png` }) : undefined;

test('an array as numbers, as a picture, its chunks, its verification', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', `${samples}/frames/generated/array-3d-f8.b2nd`);
  await status(page, /: open,/);
  await page.locator('.grid td').first().waitFor();
  await shot(page, 'values');
  await page.locator('.grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByText(/^1 to /).waitFor();
  assert.match(page.url(), /row=1/);
  await tab(page, 'Picture');
  await page.locator('#pane img').waitFor();
  await shot(page, 'map');
  await tab(page, 'Chunks');
  await page.locator('.chunks .chunk').first().waitFor();
  await shot(page, 'chunks');
  await tab(page, 'Statistics');
  await page.getByRole('columnheader', { name: 'deviation' }).waitFor();
  await tab(page, 'Verify');
  await page.getByRole('button', { name: 'verify' }).click();
  await page.getByText('sound: all of it was decoded').waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test('a store has a tree with search, and a table that is filtered and sorted', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', `${samples}/stores/tree-basic.b2z`);
  await status(page, /: open,/);
  const entries = page.locator('#tree button');
  const all = await entries.count();
  assert(all > 2);
  await page.locator('#search').fill('no such name');
  assert.equal(await entries.count(), 1);
  await page.setInputFiles('#file', `${samples}/stores/table-basic.b2z`);
  await page.getByRole('tab', { name: 'Rows' }).waitFor();
  await page.locator('.grid tbody tr').first().waitFor();
  await page.locator('.grid thead button').first().click();
  await page.getByText(/sorted: only the/).waitFor();
  await shot(page, 'table');
  const name = (await page.locator('.grid thead button').first().textContent()).replace(/ [▲▼]$/, '');
  await page.getByLabel('condition on the rows').fill(`${name} >= 2`);
  await page.getByRole('button', { name: 'filter' }).click();
  await page.getByText(/ of \d+ rows/).first().waitFor();
  await page.getByLabel('condition on the rows').fill('this is no condition');
  await page.getByRole('button', { name: 'filter' }).click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.locator('#status').textContent(), /: open,/);
  assert.deepEqual(problems, []);
  await page.close();
});

test('a folder of bcolz', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#folder', `${samples}/bcolz/ct_basic`);
  await status(page, /: open,/);
  await page.locator('.grid tbody tr').first().waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test('a damaged file is told, and the page goes on', async () => {
  const bytes = await readFile(`${samples}/frames/generated/array-3d-f8.b2nd`);
  const { page, problems } = await opened();
  bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 40);
  await page.setInputFiles('#file', { name: 'damaged.b2nd', mimeType: '', buffer: bytes });
  await status(page, /: open,/);
  const fault = page.getByRole('alert');
  await fault.waitFor();
  // The failure of one part is no failure of the file: another part is shown in its place.
  assert.match(await page.locator('#status').textContent(), /: open,/);
  const dim = page.getByLabel('dimension 0');
  await dim.fill(await dim.getAttribute('max'));
  await dim.press('Enter');
  await page.locator('.grid td').first().waitFor();
  assert.equal(await fault.count(), 0);
  await tab(page, 'Verify');
  await page.getByRole('button', { name: 'verify' }).click();
  await page.getByText(/^\d+ faults$/).waitFor();
  await page.getByRole('cell', { name: /chunk \d/ }).first().waitFor();
  await shot(page, 'damaged');
  await page.setInputFiles('#file', `${samples}/frames/nd-full.b2nd`);
  await status(page, /nd-full.b2nd: open/);
  assert.deepEqual(problems, []);
  await page.close();
});

test('an address on another origin: two rounds, no preflight, and a link to the same view', async () => {
  const far = await serve(samples);
  const url = encodeURIComponent(`${far.origin}/frames/nd-full.b2nd`);
  const { page, problems } = await opened(`${site.origin}/index.html?url=${url}#tab=About`);
  await status(page, /: open,/);
  await page.getByRole('cell', { name: 'pipeline' }).waitFor();
  assert.equal(far.log.filter(({ method }) => method === 'OPTIONS').length, 0);
  assert(far.log.every(({ range }) => range), 'ranges alone');
  assert(far.log.length <= 3, `${far.log.length} requests`);
  assert.match(page.url(), /url=.*#.*tab=About/);
  assert.deepEqual(problems, []);
  await page.close();
  await far.close();
});

test('servers that do not do what is needed are told apart', async () => {
  for (const [options, text] of [[{ ranges: false }, /: open,/], [{ cors: false }, /Access-Control-Allow-Origin/], [{ cut: 3 }, /less than it promised|gives nothing/]]) {
    const far = await serve(samples, options);
    const { page } = await opened(`${site.origin}/index.html?url=${encodeURIComponent(`${far.origin}/frames/nd-full.b2nd`)}`);
    await status(page, text);
    await page.close();
    await far.close();
  }
  let n = 0;
  const far = await serve(samples, { etag: () => `"${n++}"` });
  const { page } = await opened(`${site.origin}/index.html?url=${encodeURIComponent(`${far.origin}/frames/nd-full.b2nd`)}`);
  await status(page, /has changed/);
  await page.close();
  await far.close();
});

test('one file from the disk works, and has no network', async () => {
  const { page, problems } = await opened(pathToFileURL(`${dist}/b2.html`).href);
  await page.setInputFiles('#file', `${samples}/frames/nd-full.b2nd`);
  await status(page, /: open,/);
  await page.locator('.grid td').first().waitFor();
  assert.deepEqual(problems, []);
  const isRefused = await page.evaluate(() => fetch('http://127.0.0.1:1/').then(() => false, () => true));
  assert(isRefused);
  assert(problems.some((text) => /Content Security Policy/.test(text)), 'the policy refuses it');
  await page.close();
});

test('names from files are texts, and controls have names', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', { name: '<img src=x onerror=alert(1)>.npy', mimeType: '', buffer: npy() });
  await status(page, /<img src=x/);
  assert.equal(await page.locator('#content img, #status img, #tree img').count(), 0);
  const unnamed = await page.locator('button, input, select').evaluateAll((all) => all.filter((one) => !(one.textContent || one.getAttribute('aria-label') || one.labels?.length)).map((one) => one.outerHTML));
  assert.deepEqual(unnamed, []);
  assert.deepEqual(problems, []);
  await page.close();
});

test('400 pixels and dark', async () => {
  const { page, problems } = await opened(undefined, { viewport: { width: 400, height: 700 }, colorScheme: 'dark' });
  await page.setInputFiles('#file', `${samples}/stores/tree-basic.b2z`);
  await status(page, /: open,/);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert(width <= 400, `${width} pixels`);
  await shot(page, 'narrow-dark');
  assert.deepEqual(problems, []);
  await page.close();
});

test('a trap costs a worker, and the file is open again', async () => {
  const { page } = await opened();
  await page.setInputFiles('#file', `${samples}/frames/nd-full.b2nd`);
  await status(page, /: open,/);
  const worker = page.workers()[0];
  await worker.evaluate(() => self.onmessage({ data: { n: -1 } }));
  await worker.evaluate(() => self.postMessage({ n: -2, error: 'unreachable', kind: 'io', isTrap: true }));
  await status(page, /started anew/);
  await tab(page, 'Verify');
  await page.getByRole('button', { name: 'verify' }).click();
  await page.getByText('sound: all of it was decoded').waitFor();
  await page.close();
});

test('numbers are sorted by value, and cells without one come last', async () => {
  const { outputText } = typescript.transpileModule(await readFile(path('../src/order.ts'), 'utf8'), { compilerOptions: { module: typescript.ModuleKind.ESNext } });
  const { order } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
  const cells = ['-inf', '-48', '-2', '1.8e-8', '0.51', '0.93', '9.5', '10', '123456789012345678', '123456789012345679', 'inf', 'item 9', 'item 10'];
  assert.deepEqual([...cells].reverse().sort(order), cells);
  assert.deepEqual(['', '3', '-1'].sort(order), ['-1', '3', '']);
});

test('a double click exports once more and not half', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', `${samples}/frames/generated/array-3d-f8.b2nd`);
  await status(page, /: open,/);
  await tab(page, 'Export');
  const files = [];
  page.on('download', (file) => files.push(file.path()));
  await page.getByRole('button', { name: 'all as .npy' }).dblclick();
  await page.getByRole('button', { name: 'all as .csv' }).click();
  while (files.length < 3) await page.waitForTimeout(50);
  const [first, second, csv] = await Promise.all((await Promise.all(files)).map((file) => readFile(file)));
  assert.equal(first.length, 128 + 6 * 7 * 8 * 8);
  assert.deepEqual(second, first);
  assert(csv.toString().trim().split('\n').length >= 42);
  assert.deepEqual(problems, []);
  await page.close();
});

test('Escape ends a task and nothing else', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', `${samples}/frames/generated/array-3d-f8.b2nd`);
  await status(page, /: open,/);
  await page.locator('.grid td').first().waitFor();
  await page.locator('.grid').focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowDown');
  await page.getByText(/^1 to /).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test('a wrong member or address is told, and what is open stays as it is', async () => {
  const { page, problems } = await opened();
  await page.setInputFiles('#file', `${samples}/stores/tree-basic.b2z`);
  await status(page, /: open,/);
  const heading = await page.locator('#heading').textContent();
  await page.evaluate(() => { location.hash = 'member=/nope'; });
  await status(page, /nope/);
  await page.keyboard.press('2');
  assert.equal(await page.locator('#heading').textContent(), heading);
  await page.locator('#tree button').nth(1).click();
  await status(page, /: open,/);
  await page.setInputFiles('#file', { name: 'a.txt', mimeType: '', buffer: Buffer.from('no file of the family') });
  await status(page, /nothing known|not/);
  assert(!await page.locator('#work').isVisible());
  for (const [url, text] of [['http://[', /no address/], ['ftp://x/a', /https/]]) {
    await page.goto(`${site.origin}/index.html?url=${encodeURIComponent(url)}`);
    await status(page, text);
  }
  assert.deepEqual(problems, []);
  await page.close();
});

/** A module with the exports of ours; each call of it is a trap. */
const TRAPS = Uint8Array.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 10, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 1, 0x7f, // types: i32 -> i32, () -> i32
  3, 3, 2, 0, 1, // two functions
  5, 3, 1, 0, 1, // a page of memory
  7, 68, 6, ...exported('memory', 2, 0), ...exported('b2_input', 0, 0), ...exported('b2_output', 0, 1), ...exported('b2_output_len', 0, 1), ...exported('b2_call', 0, 1), ...exported('b2_add', 0, 1),
  10, 10, 2, 4, 0, 0x41, 0, 0x0b, 3, 0, 0, 0x0b, // the first gives 0, the second is `unreachable`
]);

function exported(name, kind, index) { return [name.length, ...Buffer.from(name), kind, index]; }

test('a file that stops the engine while it opens is told once, and the next file opens', async () => {
  const { page } = await opened();
  let nloads = 0;
  await page.route('**/b2.wasm', (route) => (nloads += 1) === 1 ? route.fulfill({ contentType: 'application/wasm', body: Buffer.from(TRAPS) }) : route.continue());
  await page.setInputFiles('#file', `${samples}/frames/nd-full.b2nd`);
  await status(page, /has stopped the engine \(unreachable\).*stays closed/);
  assert.equal(nloads, 2);
  await page.setInputFiles('#file', `${samples}/frames/nd-full.b2nd`);
  await status(page, /nd-full.b2nd: open,/);
  await page.close();
});

test('a message has an end, whatever name is in it', async () => {
  const { page } = await opened();
  await page.setInputFiles('#file', `${samples}/stores/tree-basic.b2z`);
  await status(page, /: open,/);
  await page.evaluate(() => { location.hash = `member=/${'n'.repeat(5000)}`; });
  await status(page, /nnnn/);
  const { length } = await page.locator('#status').textContent();
  assert(length < 500, `${length} characters`);
  await page.close();
});

function npy() {
  const text = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }".padEnd(117) + '\n';
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(text), Buffer.from([1, 2, 3])]);
}
