// `b2 view --web`: the page out of the program, in Chromium. `B2` is a program with the page.
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const samples = fileURLToPath(new URL('../../conformance/samples', import.meta.url));

test('the program serves the page and two files, at an address with a secret', async () => {
  const server = spawn(process.env.B2, ['view', '--web', '--no-browser', `${samples}/frames/nd-full.b2nd`, `${samples}/stores/table-basic.b2z`]);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
  try {
    const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
    for (const cell of ['.grid td', '.grid tbody tr']) {
      const address = (await lines.next()).value;
      assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\?url=/);
      const page = await browser.newPage();
      const problems = [];
      page.on('console', (message) => problems.push(message.text()));
      await page.goto(address);
      await page.locator(cell).first().waitFor({ timeout: 20_000 });
      assert.deepEqual(problems, []);
      const wrong = address.replace(/[0-9a-f]\/\?/, (end) => `${end[0] === '0' ? 1 : 0}/?`);
      assert.equal((await fetch(wrong)).status, 404);
      await page.close();
    }
  } finally {
    await browser.close();
    server.kill('SIGINT');
    await once(server, 'exit');
  }
});
