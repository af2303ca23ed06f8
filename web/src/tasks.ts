// Tasks of a session: it has one at a time, so each waits for the one before.
import type { Answer } from './engine.js';

export type Ask = (call: string, more?: Record<string, unknown>) => Promise<Answer>;

export interface TaskOptions { signal?: AbortSignal; onProgress?: (done: number, total: number) => void }

export interface Running extends TaskOptions {
  onBytes?: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** Asked when the task has ended, or was cancelled, and before another begins. */
  ending?: { call: string; [more: string]: unknown };
}

export class Tasks {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly ask: Ask) {}

  /** Runs a task to its end, or until it is cancelled: whether it ended, and the answer to `ending`. */
  run(member: string, task: object, how: Running = {}): Promise<[isDone: boolean, found: Answer]> {
    const done = this.last.then(() => this.pieces(member, task, how));
    this.last = done.catch(() => undefined);
    return done;
  }

  private async pieces(member: string, task: object, { signal, onProgress, onBytes, ending }: Running): Promise<[boolean, Answer]> {
    if (signal?.aborted) return [false, undefined];
    let { done, total } = await this.ask('task', { member, task });
    while (done < total && !signal?.aborted) {
      onProgress?.(done, total);
      const answer = await this.ask('next');
      if (answer instanceof Uint8Array) {
        onBytes?.(answer as Uint8Array<ArrayBuffer>);
        done += 1;
      } else {
        ({ done, total } = answer);
      }
    }
    const isDone = done >= total && !signal?.aborted;
    if (!ending) return [isDone, undefined];
    const { call, ...more } = ending;
    return [isDone, await this.ask(call, more)];
  }
}
