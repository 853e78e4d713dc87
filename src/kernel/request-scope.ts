import { AsyncLocalStorage } from 'node:async_hooks';
import { newId } from './ids.ts';
import type { TraceSpan } from './trace.ts';

/** Where the running code stands. */
interface Scene {
  readonly errand: RequestScope;
  /** The innermost that is open; undefined where nobody collects. */
  readonly span: TraceSpan | undefined;
}

const scenes = new AsyncLocalStorage<Scene>();

/**
 * One piece of work from its beginning to its end: a request, a call, a run of a sweep. Whatever runs for it knows it without being told.
 * What it leaves behind (a connection, a timer) is not of it any more once it is over.
 */
export class RequestScope {
  readonly request: string | undefined;
  readonly span: TraceSpan | undefined;
  /** How many parts it had that a collector would be told of. */
  parts = 0;
  #isLent: boolean;
  #isOver = false;

  /** `lends`: the first call that is made for it has the same id. */
  constructor({ request, span, lends = false }: { request?: string; span?: TraceSpan | undefined; lends?: boolean }) {
    this.request = request;
    this.span = span;
    this.#isLent = !lends;
  }

  run<T>(work: () => T): T {
    return scenes.run({ errand: this, span: this.span }, work);
  }

  /** Runs a part of it. */
  within<T>(span: TraceSpan, work: () => T): T {
    return scenes.run({ errand: this, span }, work);
  }

  borrow(): string | undefined {
    if (this.#isLent) return undefined;
    this.#isLent = true;
    return this.request;
  }

  end(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }
}

export function currentScene(): Scene | undefined {
  const scene = scenes.getStore();
  return scene && !scene.errand.isOver ? scene : undefined;
}

/** For a call: of the request that it came with, so that people find both by one id. */
export const requestIdAt = (now: number): string => currentScene()?.errand.borrow() ?? newId('req', now);

/** By which a line of the log is found. */
export function marks(): { request?: string; trace_id?: string } {
  const { errand, span } = currentScene() ?? {};
  return { ...(errand?.request && { request: errand.request }), ...(span && { trace_id: span.traceId }) };
}
