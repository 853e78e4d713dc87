import { existsSync } from 'node:fs';
import { CLIENT_NAMES } from '../../clients/client.ts';
import type { GitPlace } from '../../machine/git/place.ts';
import { agentsWithTokens, credentialsPath } from '../../wire/credentials.ts';
import { type BareInvocation, CliError, type CommandResult } from '../cli/command.ts';
import { DEFAULT_ORIGIN } from '../origin.ts';
import { type FileWrite, readText, removeEmptyFolders, removeTemporaryFiles, requireWritable, shownPath, writeAll } from './edit/disk.ts';
import { isInside, requireInside, resolveLinks } from './edit/links.ts';
import { withoutEntries } from './edit/plan.ts';
import { inspectSetup } from './files.ts';
import { removeService } from './service/service.ts';
import { type FileRecord, type RecordScope, readRecord, recordPath, recordText } from './setup-record.ts';
import { noteSetup, setups } from './state.ts';

interface Removal {
  readonly path: string;
  readonly shown: string;
  /**
   * `restored`: the file is byte for byte as it was before setup. `cleaned`: someone edited
   * the file after setup, so only our entries were removed. `kept`: the file was not changed.
   */
  readonly change: 'deleted' | 'restored' | 'cleaned' | 'kept';
  /** The entries that stay in the file, each with the reason, for example that a hook was changed by hand. */
  readonly stays: readonly string[];
}

interface SetUpPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly root: string;
}

interface UndoPlan {
  readonly removals: readonly Removal[];
  readonly writes: readonly FileWrite[];
  /** Folders to remove if they are empty. */
  readonly folders: readonly string[];
}

/** Undoes what setup wrote for this repository. Entries that several repositories share stay until setup is removed from the last of them. */
export function removeSetup(from: SetUpPlace): Removal[] {
  const undone = [undo(from, { repository: from.root }), undo(from, 'machine')];
  writeAll(undone.flatMap(({ writes }) => writes));
  const removals = undone.flatMap((each) => each.removals);
  for (const { path } of removals) removeTemporaryFiles(path);
  for (const { folders } of undone) removeEmptyFolders(folders);
  return removals;
}

function undo({ env, root }: SetUpPlace, scope: RecordScope): UndoPlan {
  const record = readRecord(env, scope);
  const path = recordPath(env, scope);
  const before = readText(path, path)?.text;
  if (before === undefined || !record.roots.includes(root)) return { removals: [], writes: [], folders: [] };
  const others = record.roots.filter((each) => each !== root && existsSync(each));
  if (others.length > 0) {
    const stays = [`${others.join(', ')} needs it too`];
    return {
      removals: record.files.map((file) => ({ path: file.path, shown: shownPath(env, root, file.path), change: 'kept', stays })),
      writes: [{ path, shown: path, before, text: recordText({ ...record, roots: others }), mode: 0o600 }],
      folders: [],
    };
  }
  const undone = record.files.map((file) => undoFile(file, shownPath(env, root, file.path), scope === 'machine' ? undefined : root));
  const failed = undone.flatMap(({ failed: each }) => each ?? []);
  const folders = record.folders.filter((folder) => failed.some((file) => isInside(folder, file.path)));
  const text = failed.length > 0 ? recordText({ ...record, roots: [root], files: failed, folders }) : undefined;
  return {
    removals: undone.map(({ removal }) => removal),
    writes: [...undone.flatMap(({ write }) => write ?? []), { path, shown: path, before, text, mode: 0o600 }],
    folders: record.folders,
  };
}

interface UndoneFile {
  readonly removal: Removal;
  readonly write?: FileWrite;
  /** The record of a file that could not be undone now. It is kept, so that a later removal can undo the file. */
  readonly failed?: FileRecord;
}

/** Plans how to undo one file. `root` is the repository that the file belongs to, or undefined if several repositories share the file. */
function undoFile(known: FileRecord, shown: string, root: string | undefined): UndoneFile {
  const path = resolveLinks(known.path);
  const kept = (why: string) => ({ removal: { path, shown, change: 'kept', stays: [why] } as const });
  try {
    // The file may have become a link since setup.
    if (root !== undefined) requireInside(root, known.path, shown);
    const current = readText(path, shown);
    if (!current) return kept('it is already gone');
    const { text, isExact, stays } = withoutEntries(shown, current.text, known);
    if (text === current.text) return { removal: { path, shown, change: 'kept', stays } };
    requireWritable(path, shown);
    return {
      removal: { path, shown, change: text === undefined ? 'deleted' : isExact ? 'restored' : 'cleaned', stays },
      write: { path, shown, before: current.text, text, mode: current.mode },
    };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // The error is not thrown, so that the other files are still undone.
    return { ...kept(`${error.message.replace(' Nothing was changed.', '')} ${error.next}`), failed: known };
  }
}

const DONE: Readonly<Record<Removal['change'], string>> = {
  deleted: 'deleted: setup had created it',
  restored: 'restored to its state before setup',
  cleaned: 'setup entries removed; your later changes kept',
  kept: 'kept',
};

/** Finds files of this repository that contain entries like ours, although no record exists. Setup may have written them before the repository was moved. */
function filesLikeOurs(env: NodeJS.ProcessEnv, root: string): string[] {
  const findings = inspectSetup({ env, root, origin: DEFAULT_ORIGIN, hooks: 'command', clients: CLIENT_NAMES, now: 0 });
  return [...new Set(findings.filter(({ state, scope }) => scope === 'repository' && (state === 'good' || state === 'stale')).map(({ shown }) => shown))];
}

/** Removes setup from this repository. The watch service is removed together with the last repository. Tokens stay, because only the person may revoke them. */
export async function removeHere({ env, out }: BareInvocation, { root }: GitPlace): Promise<CommandResult> {
  const { mark } = out;
  const removals = removeSetup({ env, root });
  noteSetup(env, root, undefined);
  const unrecorded = removals.length === 0 ? filesLikeOurs(env, root) : [];
  const others = setups(env).filter((each) => existsSync(each.root)).length;
  const service = others === 0 ? await removeService({ env }) : undefined;
  const tokens = agentsWithTokens(env);
  const lines = [
    ...removals.map(({ shown, change, stays }) => {
      const rest = stays.length > 0 ? `\n    stays: ${stays.join('; ')}` : '';
      return `${change === 'kept' ? mark.wait : mark.good} ${shown}  ${DONE[change]}${rest}`;
    }),
    ...(removals.length === 0 ? [`${mark.quiet} setup has written nothing here`] : []),
    ...unrecorded.map(
      (file) =>
        `${mark.wait} ${file} has entries like ours, but there is no record that setup wrote them\n    next: delete them by hand if you do not need them`,
    ),
    ...(others > 0
      ? [`${mark.quiet} watch service kept: it serves ${others === 1 ? 'another repository' : `${others} other repositories`} on this machine`]
      : []),
    ...(service ? [service.removed ? `${mark.good} watch service removed` : `${mark.wait} watch service kept: ${service.file} was changed by hand`] : []),
    ...(tokens.length > 0
      ? [
          `${mark.quiet} ${credentialsPath(env)} still contains the tokens of ${tokens.join(', ')}\n    to revoke them: covenant devices revoke, or Devices on the dashboard`,
        ]
      : []),
  ];
  return { json: { kind: 'setup_removed', root, removals, service: service ?? null, other_setups: others, tokens }, text: lines.join('\n') };
}
