import { setTimeout as sleep } from 'node:timers/promises';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { findRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { instancesSizes } from './contract.ts';
import { findWork, sumOf } from './diff.ts';
import { isRunning } from './lifecycle.ts';
import type { InstanceOutside } from './ports.ts';
import { instanceViewer } from './views.ts';

export function sizeAction(outside: InstanceOutside): Implementation {
  const sizes = createSizes(outside);
  return implement(instancesSizes, {
    read: async ({ instance_ids }, ctx) => {
      const rows = await findRows(ctx.reader, 'instances', { workspace_id: ctx.workspace, id: instance_ids });
      const { isHidden } = await instanceViewer(ctx.reader, ctx.principal, []);
      const shown = rows.filter((row) => !isHidden(row));
      const known = await sizes(shown, ctx.clock.now());
      return ok({ items: [...known].map(([instance_id, size]) => ({ instance_id, ...size })) });
    },
  });
}

interface Size {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

/** Maximum age of a cached size. The second value is for instances whose agent is not running. */
const FRESH_MS = 15_000;
const STILL_MS = 60_000;
const BATCH_SIZE = 2;
const GIT_MS = 5_000;
/** Callers wait at most this long for a slow disk. A size that is not read by then is available at a later call. */
const WAIT_MS = 2_000;
const MAX_KEPT = 1_000;

interface CachedSize {
  at: number;
  size: Size | undefined;
  reading: boolean;
}

/** Returns a function that reads how much the instances on this machine have changed. Sizes are read on demand and cached for a while. */
function createSizes(outside: InstanceOutside): (rows: readonly InstanceRow[], now: number) => Promise<Map<string, Size>> {
  const kept = new Map<string, CachedSize>();
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;

  async function read(row: InstanceRow, entry: CachedSize, now: number): Promise<void> {
    try {
      const work = await findWork(outside, row, { timeoutMs: GIT_MS });
      const files = work && (await outside.disk.changedFiles(work, { timeoutMs: GIT_MS }));
      entry.size = files && { files: files.length, ...sumOf(files) };
    } catch {
      // The size is unknown because the repository is missing or slow.
      entry.size = undefined;
    } finally {
      entry.at = now;
      entry.reading = false;
    }
  }

  async function work(): Promise<void> {
    running++;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next();
    running--;
  }

  return async (rows, now) => {
    const here = rows.filter(({ machine }) => machine === outside.machine);
    const keyOf = ({ workspace_id, id }: InstanceRow) => `${workspace_id} ${id}`;
    const asked = here.flatMap((row) => {
      const entry = kept.get(keyOf(row)) ?? { at: Number.NEGATIVE_INFINITY, size: undefined, reading: false };
      kept.delete(keyOf(row));
      kept.set(keyOf(row), entry);
      if (entry.reading || now - entry.at < (isRunning(row) ? FRESH_MS : STILL_MS)) return [];
      entry.reading = true;
      return [new Promise<void>((done) => waiting.push(() => read(row, entry, now).then(done)))];
    });
    for (const key of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(key);
    while (running < BATCH_SIZE && waiting.length > 0) void work();
    const enough = new AbortController();
    await Promise.race([Promise.all(asked), sleep(WAIT_MS, undefined, { ref: false, signal: enough.signal }).catch(() => {})]);
    enough.abort();
    return new Map(here.flatMap((row) => [[row.id, kept.get(keyOf(row))?.size] as const]).flatMap(([id, size]) => (size ? [[id, size]] : [])));
  };
}
