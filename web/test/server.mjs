// A server of files below a folder: with ranges or without, with CORS or without; it counts what was asked for.
import { createServer } from 'node:http';
import { open } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

function isUtf8(name) {
  try { return Boolean(decodeURIComponent(name)); } catch { return false; }
}

/** `ranges`, `cors`: whether it knows them; `etag(path)`: what it says of a file; `cut`: bytes that it leaves out. */
export async function serve(root, { ranges = true, cors = true, etag = () => undefined, cut = 0 } = {}) {
  const log = [];
  const server = createServer(async (request, answer) => {
    const { pathname } = new URL(request.url, 'http://x');
    // A name that is no UTF-8 is that of no file.
    const path = isUtf8(pathname) ? decodeURIComponent(pathname) : pathname;
    const entry = { method: request.method, path, range: request.headers.range, nbytes: 0 };
    log.push(entry);
    const headers = { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' };
    if (cors) Object.assign(headers, { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Content-Range, ETag' });
    if (etag(path)) headers.ETag = etag(path);
    let file;
    try {
      file = await open(join(root, normalize(path)));
      const { size } = await file.stat();
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      const [start, end] = ranges && first ? [Number(first), Math.min(size, Number(last) + 1)] : [0, size];
      const bytes = Buffer.alloc(Math.max(0, end - start));
      await file.read(bytes, 0, bytes.length, start);
      entry.nbytes = bytes.length;
      if (ranges && first) headers['Content-Range'] = `bytes ${start}-${end - 1}/${size}`;
      answer.writeHead(ranges && first ? 206 : 200, headers);
      answer.end(cut && first ? bytes.subarray(0, bytes.length - cut) : bytes);
    } catch {
      answer.writeHead(404, headers).end();
    } finally {
      await file?.close();
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { origin: `http://127.0.0.1:${server.address().port}`, log, close: () => new Promise((done) => server.close(done)) };
}
