import { join } from 'node:path';
import type { House } from '../../kernel/context.ts';
import type { Db } from '../../storage/engine.ts';
import { FOLDER } from './config.ts';
import { archiveOf, type Files, mirrorOf } from './files.ts';
import type { Outside } from './place.ts';
import { type Cycle, currentHandoffs, readCycle } from './store.ts';

export interface Mirror {
  /** Makes the repository's files agree with the store. Answers what kept it from doing so. */
  sync(repository: string): Promise<string | null>;
}

/** Another process may write the same files: whoever has written looks again, and whoever looks last has seen the latest. */
const MOST_ROUNDS = 20;

/**
 * Files follow the store and never lead: they are written after the commit, and whatever they lack or have too much is put
 * right by the next call in that repository, or by the sweep.
 */
export function createMirror({ store, log }: Pick<House, 'store' | 'log'>, { files }: Outside): Mirror {
  const turns = new Map<string, Promise<unknown>>();
  const complaints = new Map<string, string>();

  async function write(repository: string): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const seen = await latest(store.reader, repository);
      if (!seen) return;
      const behind = await unmirrored(store.reader, repository);
      // Of a repository that is gone there is nothing to put right.
      if (!(await files.isFolder(repository))) return await settle(behind);
      await writeMirror(repository, mirrorOf(seen, await currentHandoffs(store.reader, seen)));
      for (const cycle of behind) if (cycle.status === 'archived') await writeArchive(cycle);
      const now = await latest(store.reader, repository);
      if (now?.id === seen.id && now.revision === seen.revision) return await settle(behind);
    }
    throw new Error('it changed faster than it could be written');
  }

  async function writeMirror(repository: string, expected: Files): Promise<void> {
    const stale: [string, string | null][] = [];
    for (const [path, text] of expected) if ((await files.readText(join(repository, FOLDER, path))) !== text) stale.push([path, text]);
    if (stale.length === 0) return;
    const folder = await files.makeFolder(repository, FOLDER);
    const handoffs = await files.makeFolder(repository, FOLDER, 'handoff');
    for (const place of [folder, handoffs]) await files.removeLeftovers(place);
    for (const [path, text] of stale) await (text === null ? files.removeFile(join(folder, path)) : files.replaceFile(join(folder, path), text));
  }

  async function writeArchive(cycle: Cycle): Promise<void> {
    const folder = await files.makeFolder(cycle.repository, FOLDER, 'archive');
    const target = join(folder, cycle.cycle_id);
    const expected = archiveOf(cycle, await currentHandoffs(store.reader, cycle));
    const manifest = expected.get('manifest.json') as string;
    const there = await files.readText(join(target, 'manifest.json'));
    if (there === manifest) return;
    if (there !== null) throw new Error(`${target} is there already, and of another cycle`);
    await files.removeLeftovers(folder);
    const beside = files.besideName(target);
    const made = await files.makeFolder(folder, beside.slice(folder.length + 1));
    try {
      for (const [name, text] of expected) await files.replaceFile(join(made, name), text);
      if (!(await files.moveFolder(made, target))) throw new Error(`${target} is there already, and of another cycle`);
    } catch (error) {
      await files.removeFolder(made);
      throw error;
    }
  }

  /** Only what was written: a change that came since is still to be mirrored. */
  async function settle(written: readonly Cycle[]): Promise<void> {
    for (const { workspace_id, id, revision } of written) {
      await store.write(workspace_id, async (tx) => {
        const row = tx.db.updateTable('cycles').set({ mirrored: revision }).where('workspace_id', '=', workspace_id).where('id', '=', id);
        await row.where('mirrored', '<', revision).execute();
      });
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

/** The active cycle of the repository, else its latest: of whichever workspace, since a folder is the same in all. */
async function latest(db: Db, repository: string): Promise<Cycle | undefined> {
  const of = () => db.selectFrom('cycles').selectAll().where('repository', '=', repository);
  const row =
    (await of().where('status', '=', 'active').executeTakeFirst()) ??
    (await of().orderBy('ended_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst());
  return row && readCycle(row);
}

async function unmirrored(db: Db, repository: string): Promise<Cycle[]> {
  const rows = await db.selectFrom('cycles').selectAll().where('repository', '=', repository).whereRef('mirrored', '<', 'revision').orderBy('id').execute();
  return rows.map(readCycle);
}

/** Repositories whose files are behind. */
export async function repositoriesBehind(db: Db, most: number): Promise<string[]> {
  const rows = await db.selectFrom('cycles').select('repository').distinct().whereRef('mirrored', '<', 'revision').limit(most).execute();
  return rows.map(({ repository }) => repository);
}
