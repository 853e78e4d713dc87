import { basename, join } from 'node:path';
import type { Services } from '../../kernel/call.ts';
import type { Reply } from '../../kernel/reply.ts';
import { NotAFile } from '../../machine/files.ts';
import { changeRows } from '../../storage/rows.ts';
import { FOLDER } from './config.ts';
import { archiveOf, type Files, handoffFile, mirrorOf } from './files.ts';
import type { CycleOutside } from './place.ts';
import { currentHandoffs, cyclesBehind, findLatestCycle, type StoredCycle } from './store.ts';

export interface Mirror {
  /** Makes the repository's files match the store. Returns the error if that failed. */
  sync(repository: string): Promise<string | null>;
}

/** Writes the files and then returns the reply. If the files could not be written, the reply contains the error. */
export async function withMirror<T extends object>(mirror: Mirror, repository: string, reply: Reply<T>): Promise<Reply<T & { mirror_error?: string }>> {
  const error = await mirror.sync(repository);
  return reply.status === 'ok' && error !== null ? { ...reply, data: { ...reply.data, mirror_error: error } } : reply;
}

/**
 * Another process may write the same files at the same time. Therefore each writer reads the store again after it has written, and repeats up to
 * this many times if the state has changed. The last writer has then written the latest state.
 */
const MAX_ROUNDS = 20;

/**
 * Writes the files in the repository, which only copy the store. They are written after the transaction is committed. If they differ from the
 * store, the next call in that repository or the sweep corrects them.
 */
export function createMirror({ store, log }: Pick<Services, 'store' | 'log'>, { files }: CycleOutside): Mirror {
  const turns = new Map<string, Promise<unknown>>();
  const complaints = new Map<string, string>();

  async function write(repository: string): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const seen = await findLatestCycle(store.reader, repository);
      if (!seen) return;
      const behind = await cyclesBehind(store.reader, repository);
      // If the repository is on another machine, the server on that machine writes the files. If the folder was removed, they are written once
      // it exists again.
      if (!(await files.isFolder(repository))) return;
      await writeMirror(repository, behind, mirrorOf(seen, await currentHandoffs(store.reader, seen)));
      const { written, failure } = await writeArchives(behind);
      const now = await findLatestCycle(store.reader, repository);
      if (now?.id !== seen.id || now.revision !== seen.revision) continue;
      await settle(written);
      if (failure) throw failure.error;
      return;
    }
    throw new Error('the cycle changed faster than its files could be written');
  }

  async function writeMirror(repository: string, behind: readonly StoredCycle[], current: Files): Promise<void> {
    // Files of earlier roles are removed: a cycle that ended before its files were written may have used another machine with other roles.
    const former = behind.flatMap(({ machine }) => machine.roles.map((role) => [handoffFile(role), null] as const));
    const stale: [string, string | null][] = [];
    for (const [path, text] of new Map([...former, ...current])) if (await differs(join(repository, FOLDER, path), text)) stale.push([path, text]);
    if (stale.length === 0 && behind.length === 0) return;
    const folder = await files.makeFolder(repository, FOLDER);
    const handoffs = await files.makeFolder(repository, FOLDER, 'handoff');
    for (const place of [folder, handoffs]) await files.removeLeftovers(place);
    for (const [path, text] of stale) await (text === null ? files.removeFile(join(folder, path)) : files.replaceFile(join(folder, path), text));
  }

  /** If there is a link or a folder in place of the file, it counts as different and is replaced. Nothing is written through a link. */
  async function differs(path: string, text: string | null): Promise<boolean> {
    try {
      return (await files.readText(path)) !== text;
    } catch (error) {
      if (error instanceof NotAFile) return true;
      throw error;
    }
  }

  /** Writes all archives, even if some of them fail. */
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
    // If another process has written the archive in the meantime, nothing is wrong.
    if (!(await isThere())) throw new Error(`${target} exists and is not the archive of this cycle; move it away`);
  }

  /** Records which revisions were written. Later changes stay marked as unwritten. */
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
        // The sweep tries again every few seconds, so the same error is logged only once.
        if (complaints.get(repository) !== why) log.warn('the files of a cycle were not written', { repository, error });
        complaints.set(repository, why);
        return why;
      }
    },
  };
}
