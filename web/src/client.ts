// The page's end of the worker.
import type { Answer } from './engine.js';
import { Tasks } from './tasks.js';
import type { FromWorker, Place, ToWorker } from './worker';

interface Waiting { resolve(value: Answer): void; reject(error: Error): void }

// Only the address of our own worker becomes a script.
const policy = globalThis.trustedTypes?.createPolicy('b2', { createScriptURL: (url) => url });

declare global {
  // eslint-disable-next-line no-var
  var trustedTypes: { createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string } } | undefined;
}

/** In one file, worker and module are inside of the page; else they lie beside it. */
function parts(): { script: string; module: string | Uint8Array<ArrayBuffer> } {
  const inside = (id: string) => document.getElementById(id)?.textContent;
  const [worker, module] = [inside('b2-worker'), inside('b2-module')];
  if (!worker || !module) return { script: 'worker.js', module: new URL('b2.wasm', location.href).href };
  const script = URL.createObjectURL(new Blob([worker], { type: 'text/javascript' }));
  return { script, module: Uint8Array.from(atob(module.trim()), (c) => c.charCodeAt(0)) };
}

/** One file or folder in a worker of its own. */
export class Client {
  private worker!: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private place?: Place;
  private ready!: Promise<Answer>;
  session = 0;
  readonly tasks = new Tasks((call, more) => this.ask(call, more));
  /** Called when the worker was lost and made anew: whether what was open is open again. */
  onTrap: (message: string, isOpen: boolean) => void = () => undefined;

  constructor() { this.start(); }

  private start(): void {
    const { script, module } = parts();
    this.worker = new Worker(policy ? policy.createScriptURL(script) : script);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.take(data);
    this.worker.onerror = (event) => { event.preventDefault(); this.lose(event.message || 'the worker ended'); };
    this.ready = this.post({ start: module });
    this.ready.catch(() => undefined);
  }

  private take({ n, value, error, kind, isTrap }: FromWorker): void {
    const waiting = this.waiting.get(n);
    this.waiting.delete(n);
    if (error === undefined) return waiting?.resolve(value);
    waiting?.reject(Object.assign(new Error(error), { kind }));
    if (isTrap) this.lose(error);
  }

  /** The file has stopped the engine: a new one opens it again, and the page goes on. */
  private lose(message: string): void {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Error(message));
    this.waiting.clear();
    // A file that stops the engine while it is opened would do so for ever.
    const { place } = this;
    this.place = undefined;
    this.start();
    const again = this.ready.then(() => place && this.open(place));
    void again.then(Boolean, () => false).then((isOpen) => this.onTrap(message, isOpen));
  }

  private post(message: Omit<ToWorker, 'n'>): Promise<Answer> {
    const n = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(n, { resolve, reject });
      this.worker.postMessage({ n, ...message });
    });
  }

  async open(place: Place): Promise<Answer> {
    await this.ready;
    const about = await this.post({ open: place });
    this.place = place;
    this.session = about.session;
    return about;
  }

  ask(call: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.post({ ask: { call, session: this.session, ...more } });
  }

  end(): void { this.worker.terminate(); }
}
