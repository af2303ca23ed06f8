// One file with everything in it, which works from a disk: `node single.mjs DIST OUT`. The browser forbids it all network.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

const [dist, out] = process.argv.slice(2);
const text = (name) => readFile(`${dist}/${name}`, 'utf8');
const [page, style, main, worker] = await Promise.all(['index.html', 'style.css', 'main.js', 'worker.js'].map(text));
const module = (await readFile(`${dist}/b2.wasm`)).toString('base64');
for (const script of [main, worker]) if (/<\/script|<!--/i.test(script)) throw new Error('a script that would end its element');
const hash = (part) => `'sha256-${createHash('sha256').update(part).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(main)} 'wasm-unsafe-eval'; worker-src blob:; style-src ${hash(style)}; img-src blob: data:; connect-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types b2`;
const replaced = (from, pattern, to) => {
  if (!pattern.test(from)) throw new Error(`no ${pattern} in the page`);
  return from.replace(pattern, () => to);
};
let all = replaced(page, /content="default-src[^"]*"/, `content="${policy}"`);
all = replaced(all, /<link rel="stylesheet"[^>]*>/, `<style>${style}</style>`);
all = replaced(all, /<script src="main.js" defer><\/script>/, `<script type="text/plain" id="b2-worker">${worker}</script>\n<script type="text/plain" id="b2-module">${module}</script>\n<script>${main}</script>`);
await writeFile(out, all);
