// Files of the machine, folders of them, and addresses.
import { bounds, type Part, type Source } from './engine.js';

async function slice(file: Blob, start: number, end: number): Promise<Part> {
  const [from, to] = bounds(start, end, file.size);
  return { at: from, bytes: new Uint8Array(await file.slice(from, to).arrayBuffer()), length: file.size };
}

export class FileSource implements Source {
  readonly name: string;
  constructor(private readonly file: Blob, name: string) { this.name = name; }
  range(_: string, start: number, end: number): Promise<Part> { return slice(this.file, start, end); }
}

export class FolderSource implements Source {
  readonly name: string;
  readonly files: [string, number][];
  constructor(private readonly entries: Map<string, Blob>, name: string) {
    this.name = name;
    this.files = [...entries].map(([path, file]) => [path, file.size]);
  }
  async range(path: string, start: number, end: number): Promise<Part> {
    const file = this.entries.get(path);
    if (!file) throw new Error(`there is no file ${path}`);
    return slice(file, start, end);
  }
}

/** A name for people; as it stands if it is no UTF-8. */
function decoded(name: string): string {
  try { return decodeURIComponent(name); } catch { return name; }
}

/** A server that knows no ranges may send all of a file, up to this length. */
const WHOLE_NBYTES = 64 * 1024 * 1024;

/** A file on a server that answers ranges. Credentials are never sent. */
export class UrlSource implements Source {
  readonly name: string;
  private length?: Promise<number>;
  private etag?: string | null;
  private whole?: Promise<Blob>;
  constructor(private readonly url: string) {
    const { protocol, username, pathname } = new URL(url);
    if (!/^https?:$/.test(protocol)) throw new Error(`${protocol} is no address that a page can read: take https:`);
    if (username) throw new Error('an address with a name or password is not fetched: the page sends no credentials');
    this.name = decoded(pathname.split('/').pop() || url);
  }

  async range(path: string, start: number, end: number): Promise<Part> {
    if (this.whole) return slice(await this.whole, start, end);
    if (start < 0) {
      // A range from the end needs the browser's permission of a preflight, which many buckets refuse.
      const length = await (this.length ?? Promise.reject(new Error('the length is not known')));
      return this.range(path, Math.max(0, length - end), length);
    }
    const part = this.part(start, end);
    this.length ??= part.then((known) => known.length);
    return part;
  }

  private async part(start: number, end: number): Promise<Part> {
    const headers = { Range: `bytes=${start}-${end - 1}` };
    const options: RequestInit = { headers, credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(60_000) };
    const answer = await fetch(this.url, options).catch((error) => {
      throw new Error(`the server gives nothing to this page (${String(error.message ?? error)}): it is not there, its answer cannot be read (redirects in a circle, parts that are compressed), or it does not allow other pages to read it. It has to send Access-Control-Allow-Origin`);
    });
    if (answer.status === 416) return { at: 0, bytes: new Uint8Array(), length: 0 };
    if (answer.status === 200) return this.all(answer, start, end);
    if (answer.status !== 206) throw new Error(`the server answers ${answer.status} ${answer.statusText}`);
    const [, from, length] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get('Content-Range') ?? '') ?? [];
    if (!from || !length) throw new Error('the server hides the lengths of files: it has to send Access-Control-Expose-Headers: Content-Range, ETag');
    const etag = answer.headers.get('ETag');
    this.etag ??= etag;
    if (etag !== this.etag) throw new Error('the file has changed since it was opened: open it again');
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes.length < Math.min(end, Number(length)) - Number(from)) throw new Error('the server sends less than it promised: try again');
    return { at: Number(from), bytes, length: Number(length) };
  }

  private async all(answer: Response, start: number, end: number): Promise<Part> {
    this.whole ??= bounded(answer).catch((error) => { throw error instanceof TypeError ? new Error('the server ended its answer early: try again') : error; });
    return slice(await this.whole, start, end);
  }
}

/** All of an answer, whose length the server may not tell. */
async function bounded(answer: Response): Promise<Blob> {
  const pieces: BlobPart[] = [];
  let nbytes = 0;
  const reader = answer.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    nbytes += piece.value.length;
    if (nbytes > WHOLE_NBYTES) {
      await reader?.cancel();
      throw new Error('the server knows no ranges, and the file is too large to load all of it: take a server that answers Range, or load the file and drop it here');
    }
    pieces.push(piece.value);
  }
  return new Blob(pieces);
}
