import { basename, join } from 'node:path';
import type { Services } from '../../kernel/call.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { NotAFile } from '../../machine/files.ts';
import type { Db } from '../../storage/engine.ts';
import { changeRows, deleteEverywhere } from '../../storage/rows.ts';
import { FOLDER } from './config.ts';
import { IMPORTED_LOCK } from './contract.ts';
import { archiveOf, type Files, handoffFile, mirrorOf } from './files.ts';
import type { CycleOutside } from './place.ts';
import { FORGOTTEN_AFTER_MS } from './role-sessions.ts';
import { currentHandoffs, readCycle, type StoredCycle } from './store.ts';

export interface Mirror {
  /** Makes the repository's files agree with the store. Answers what kept it from doing so. */
  sync(repository: string): Promise<string | null>;
}

/** Another process may write the same files: whoever has written looks again, and whoever looks last has seen the latest. */
const MAX_ROUNDS = 20;

/**
 * Files follow the store and never lead: they are written after the commit, and whatever they lack or have too much is put
 * right by the next call in that repository, or by the sweep.
 */
export function createMirror({ store, log }: Pick<Services, 'store' | 'log'>, { files }: CycleOutside): Mirror {
  const turns = new Map<string, Promise<unknown>>();
  const complaints = new Map<string, string>();

  async function write(repository: string): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const seen = await latest(store.reader, repository);
      if (!seen) return;
      const behind = await unmirrored(store.reader, repository);
      // It is on another machine, whose server writes its files; or it is gone, and should it come back its files are still to be written.
      if (!(await files.isFolder(repository))) return;
      await writeMirror(repository, behind, mirrorOf(seen, await currentHandoffs(store.reader, seen)));
      const { written, failure } = await writeArchives(behind);
      const now = await latest(store.reader, repository);
      if (now?.id !== seen.id || now.revision !== seen.revision) continue;
      await settle(written);
      if (failure) throw failure.error;
      return;
    }
    throw new Error('it changed faster than it could be written');
  }

  async function writeMirror(repository: string, behind: readonly StoredCycle[], current: Files): Promise<void> {
    // A cycle whose end was never written may have had other roles.
    const former = behind.flatMap(({ machine }) => machine.roles.map((role) => [handoffFile(role), null] as const));
    const stale: [string, string | null][] = [];
    for (const [path, text] of new Map([...former, ...current])) if (await differs(join(repository, FOLDER, path), text)) stale.push([path, text]);
    if (stale.length === 0 && behind.length === 0) return;
    const folder = await files.makeFolder(repository, FOLDER);
    const handoffs = await files.makeFolder(repository, FOLDER, 'handoff');
    for (const place of [folder, handoffs]) await files.removeLeftovers(place);
    for (const [path, text] of stale) await (text === null ? files.removeFile(join(folder, path)) : files.replaceFile(join(folder, path), text));
  }

  /** Whatever is in a file's place and is none is put out of the way as a wrong text is: it is never written through. */
  async function differs(path: string, text: string | null): Promise<boolean> {
    try {
      return (await files.readText(path)) !== text;
    } catch (error) {
      if (error instanceof NotAFile) return true;
      throw error;
    }
  }

  /** One that cannot be written does not keep the others from it. */
  async function writeArchives(behind: readonly StoredCycle[]): Promise<{ written: StoredCycle[]; failure: { error: unknown } | undefined }> {
    const written: StoredCycle[] = [];
    let failure: { error: unknown } | undefined;
    for (const cycle of behind) {
      try {
        if (cycle.status === 'archived') await writeArchive(cycle);
        written.push(cycle);
      } catch (error) {
        failure ??= { error };
      }
    }
    return { written, failure };
  }

  async function writeArchive(cycle: StoredCycle): Promise<void> {
    const folder = await files.makeFolder(cycle.repository, FOLDER, 'archive');
    await files.removeLeftovers(folder);
    const target = join(folder, cycle.cycle_id);
    const expected = archiveOf(cycle, await currentHandoffs(store.reader, cycle));
    const isThere = async () => (await files.readText(join(target, 'manifest.json'))) === expected.get('manifest.json');
    if (await isThere()) return;
    const made = await files.makeFolder(folder, basename(files.besideName(target)));
    try {
      for (const [name, text] of expected) await files.replaceFile(join(made, name), text);
      if (await files.moveFolder(made, target)) return;
    } catch (error) {
      await files.removeFolder(made);
      throw error;
    }
    await files.removeFolder(made);
    // Another process may have been faster.
    if (!(await isThere())) throw new Error(`${target} is there already, and is not the archive of this cycle: move it away`);
  }

  /** Only what was written: a change that came since is still to be mirrored. */
  async function settle(written: readonly StoredCycle[]): Promise<void> {
    for (const { workspace_id, id, revision } of written) {
      await store.write(workspace_id, ({ db }) => changeRows(db, 'cycles', { workspace_id, id, mirrored: { '<': revision } }, { mirrored: revision }));
    }
  }

  return {
    async sync(repository) {
      const turn = (turns.get(repository) ?? Promise.resolve()).then(() => write(repository));
      const over = turn
        .catch(() => {})
        .finally(() => {
          if (turns.get(repository) === over) turns.delete(repository);
        });
      turns.set(repository, over);
      try {
        await turn;
        complaints.delete(repository);
        return null;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        // The sweep tries again and again; the log need not hear the same each time.
        if (complaints.get(repository) !== why) log.warn('the files of a cycle were not written', { repository, error });
        complaints.set(repository, why);
        return why;
      }
    },
  };
}

/** As many as one call may have to make up for; the rest follow with the next call or sweep. */
const MAX_BEHIND = 50;

/**
 * The active cycle of the repository, else its latest: of whichever workspace, since a folder is the same in all, but none that was imported. Asked with every call, and a
 * repository may have thousands: each by an index.
 */
export const latestCycle = (db: Db, repository: string) => {
  const of = () => db.selectFrom('cycles').selectAll().where('repository', '=', repository).where('lock_token', '!=', IMPORTED_LOCK);
  return { active: of().where('status', '=', 'active'), last: of().orderBy('id', 'desc').limit(1) };
};

async function latest(db: Db, repository: string): Promise<StoredCycle | undefined> {
  const { active, last } = latestCycle(db, repository);
  const row = (await active.executeTakeFirst()) ?? (await last.executeTakeFirst());
  return row && readCycle(row);
}

export const behindIn = (db: Db, repository: string) =>
  db.selectFrom('cycles').selectAll().where('repository', '=', repository).whereRef('mirrored', '<', 'revision').orderBy('id').limit(MAX_BEHIND);

async function unmirrored(db: Db, repository: string): Promise<StoredCycle[]> {
  return (await behindIn(db, repository).execute()).map(readCycle);
}

/** Repositories whose files are behind, in order, from the one after `after`. */
export async function repositoriesBehind(db: Db, most: number, after: string): Promise<string[]> {
  const behind = db.selectFrom('cycles').select('repository').distinct().whereRef('mirrored', '<', 'revision').where('repository', '>', after);
  const rows = await behind.orderBy('repository').limit(most).execute();
  return rows.map(({ repository }) => repository);
}

const EVERY_MS = 10_000;
const BATCH_SIZE = 100;
/** An ended session is shown for a week. */
export const SESSIONS_KEPT_MS = 7 * 24 * 3_600_000;

/** Files that a call did not live to write, sessions that are long over, failures that no longer count. */
export function cycleSweep({ store, clock }: Pick<Services, 'store' | 'clock' | 'log'>, mirror: Mirror): Sweep {
  // Repositories whose files cannot be written stay behind: those that come after them must have their turn all the same.
  let after = '';

  return {
    name: 'cycles',
    everyMs: EVERY_MS,
    async run() {
      const behind = await repositoriesBehind(store.reader, BATCH_SIZE, after);
      after = behind.length === BATCH_SIZE ? (behind.at(-1) ?? '') : '';
      for (const repository of behind) await mirror.sync(repository);
      await deleteEverywhere(store, 'role_sessions', { expires_at: { '<': clock.now() - SESSIONS_KEPT_MS } });
      await deleteEverywhere(store, 'psk_failures', { last_at: { '<': clock.now() - FORGOTTEN_AFTER_MS } });
    },
  };
}
