import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import type { ClientName, ConfigEntry, FileSpec } from '../../clients/client.ts';
import { installCommand } from '../../features/core/devices/connections.ts';
import { realPathOf } from '../../machine/paths.ts';
import { PACKAGE_ROOT } from '../../version.ts';
import { recordIn } from '../../wire/json.ts';
import { shellQuoted } from '../../wire/shell-quoted.ts';
import { CliError } from '../cli/command.ts';
import { counted } from '../cli/output.ts';
import { type DesiredFile, desiredFiles, ownPlace, programsFor, type SetupPlan } from './desired-files.ts';
import { type FileWrite, missingFolders, readText, requireWritable, writeAll } from './edit/disk.ts';
import { stateOf } from './edit/edit.ts';
import { hooksIn, isOurs } from './edit/json.ts';
import { jsonIn } from './edit/json-text.ts';
import { isSameFile, requireInside } from './edit/links.ts';
import { withEntries } from './edit/plan.ts';
import { type FileRecord, type RecordScope, readRecord, recordPath, recordText, type SetupRecord } from './setup-record.ts';
import { INBOX } from './usage-readers/inbox.ts';

/** A complete plan of the files to write. All files have been read and checked, and nothing has been changed yet. */
interface PlannedSetup {
  readonly plan: SetupPlan;
  readonly outcomes: readonly SetupOutcome[];
  readonly writes: readonly FileWrite[];
}

export interface FileOutcome {
  readonly path: string;
  /** The path for people: relative to the repository, or starting with `~/` in the home folder. */
  readonly shown: string;
  readonly change: 'created' | 'changed' | 'unchanged';
  /** A text about the entries in the file that setup did not write and keeps, such as `your 1 hook kept`. Empty if there are none. */
  readonly kept: string;
  /** The entries that setup restored because someone had changed them by hand, such as one hook. */
  readonly setBack: readonly string[];
}

export interface SetupOutcome {
  readonly client: ClientName;
  readonly files: readonly FileOutcome[];
  /** Notes for the person, such as the request to trust Codex's hooks once. */
  readonly notes: readonly string[];
}

export interface SetupFinding {
  readonly client: ClientName;
  readonly file: string;
  /** If `machine`, the file is shared by all repositories on this machine. The entry may then have been written for another repository. */
  readonly scope: FileSpec['scope'];
  readonly shown: string;
  /** The entry that was checked, such as the hook of one event, or `server entry`. */
  readonly what: string;
  readonly state: 'good' | 'missing' | 'stale' | 'broken';
  /** The command that repairs the entry. Empty if the state is good. */
  readonly fix: string;
  /** A note about a fact that only the client can check, such as whether it trusts the entry. */
  readonly note?: string | undefined;
}

interface PlannedFile extends DesiredFile {
  readonly write: FileWrite;
  readonly outcome: FileOutcome;
  readonly known: FileRecord | undefined;
}

export function planSetup(plan: SetupPlan): PlannedSetup {
  const { env, root, now } = plan;
  const records = { repository: readRecord(env, { repository: root }), machine: readRecord(env, 'machine') };
  const files = desiredFiles(plan).map((wanted): PlannedFile => {
    const path = ownPlace(wanted, root);
    const current = readText(path, wanted.shown);
    const earlier = fileIn(records[wanted.scope], path);
    const { text, record, setBack } = withEntries(earlier?.path ?? path, wanted.shown, current?.text, wanted.entries, earlier);
    if (text !== current?.text) requireWritable(path, wanted.shown);
    return {
      ...wanted,
      known: record,
      write: { path, shown: wanted.shown, before: current?.text, text, mode: current?.mode ?? (wanted.scope === 'machine' ? 0o600 : 0o666) },
      outcome: {
        path,
        shown: wanted.shown,
        change: text === current?.text ? 'unchanged' : current ? 'changed' : 'created',
        kept: keptIn(current?.text, wanted.entries, wanted.shown),
        setBack,
      },
    };
  });
  requireFilesOfTheirOwn(files);
  if (!plan.only) {
    requireInside(root, join(root, INBOX), INBOX);
    requireWritable(join(root, INBOX, 'usage.json'), INBOX);
  }
  const remembered = (['repository', 'machine'] as const).flatMap((scope) => {
    const own = files.filter((file) => file.scope === scope);
    return recordWrite(env, scope === 'machine' ? scope : { repository: root }, records[scope], own, root, now);
  });
  const writes = [...remembered, ...files.map(({ write }) => write)].filter(({ before, text }) => before !== text);
  return { plan, outcomes: outcomesOf(plan, files), writes };
}

/** Writes the planned files. The records come first in `writes`, so that everything can be undone even after a power failure in between. */
export function applySetup({ plan, outcomes, writes }: PlannedSetup): SetupOutcome[] {
  writeAll(writes);
  if (!plan.only) mkdirSync(join(plan.root, INBOX), { recursive: true });
  return [...outcomes];
}

export const setupCommand = ({ origin, clients }: Pick<SetupPlan, 'origin' | 'clients'>): string =>
  `covibe-local setup --base-url ${shellQuoted(origin)}${clients.length > 0 ? ` --agents ${clients.join(',')}` : ''}`;

/** Compares the existing files with the files that setup would write. */
export function inspectSetup(plan: SetupPlan): SetupFinding[] {
  const fix = setupCommand(plan);
  return desiredFiles(plan).flatMap((wanted) => {
    const { client, path, scope, shown, entries, note } = wanted;
    if (!client) return [];
    const of = { client, file: path, scope, shown, note };
    try {
      const text = readText(ownPlace(wanted, plan.root), shown)?.text ?? '';
      return entries.flatMap((entry): SetupFinding[] => {
        const state = stateOf(text, entry, shown);
        // Skips entries that are also good if someone else wrote them.
        if (state === 'good' && 'isDefault' in entry) return [];
        return [{ ...of, what: entry.what, state, fix: state === 'good' ? '' : fix }];
      });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return [{ ...of, what: error.message.replace(' Nothing was changed.', ''), state: 'broken', fix: error.next }];
    }
  });
}

/** Counts the servers and hooks in the file that setup did not write. Returns a text for people, such as `your 1 hook kept`. */
function keptIn(text: string | undefined, entries: readonly ConfigEntry[], file: string): string {
  if (text === undefined || entries.some(({ kind }) => kind === 'whole')) return '';
  const value = (entries.some(({ kind }) => kind === 'table') ? parse(text.replace(/^\uFEFF/, '')) : (jsonIn(text, file) ?? {})) as Record<string, unknown>;
  const [place] = entries.flatMap((entry) => ((entry.kind === 'member' || entry.kind === 'table') && entry.at.length === 2 ? [entry.at] : []));
  const [hook] = entries.flatMap((entry) => (entry.kind === 'item' ? [entry] : []));
  const servers = place ? Object.keys(recordIn(value[place[0] ?? ''])).filter((name) => name !== place[1]).length : 0;
  const hooks = hook
    ? Object.values(recordIn(value.hooks))
        .flat()
        .flatMap(hooksIn)
        .filter((each) => !isOurs(each, hook.ours)).length
    : 0;
  const kept = [...counts(servers, 'server'), ...counts(hooks, 'hook')];
  return kept.length > 0 ? `your ${kept.join(' and ')} kept` : '';
}

const counts = (number: number, what: string): string[] => (number > 0 ? [counted(number, what)] : []);

const fileIn = ({ files }: SetupRecord, path: string): FileRecord | undefined => files.find((each) => isSameFile(each.path, path));

/** Refuses two clients whose files are the same file through a link, because the entry of one client would replace the entry of the other. */
function requireFilesOfTheirOwn(files: readonly PlannedFile[]): void {
  for (const [index, file] of files.entries()) {
    const other = files.slice(0, index).find(({ write }) => realPathOf(write.path) === realPathOf(file.write.path));
    if (!other) continue;
    throw new CliError(
      'ONE_FILE',
      `${other.shown} and ${file.shown} are the same file, but ${other.client} and ${file.client} need different entries in it. Nothing was changed.`,
      `Replace the link so that each agent has its own file, or set up only one of the agents: covibe-local setup --agents ${other.client}`,
    );
  }
}

function outcomesOf({ env, root, clients }: SetupPlan, files: readonly PlannedFile[]): SetupOutcome[] {
  const changed = files.filter(({ client, outcome }) => client && outcome.change !== 'unchanged');
  const isTied = programsFor(env, root).by === 'path';
  const tied = `covibe-local is not on the PATH, so the files contain its path on this machine. To share the files, run ${installCommand(PACKAGE_ROOT)}, then run setup again.`;
  return clients.map((client) => ({
    client,
    files: files.filter((file) => file.client === client).map(({ outcome }) => outcome),
    notes: [...changed.flatMap((file) => (file.client === client && file.note) || []), ...(isTied && changed[0]?.client === client ? [tied] : [])],
  }));
}

function recordWrite(env: NodeJS.ProcessEnv, scope: RecordScope, before: SetupRecord, files: readonly PlannedFile[], root: string, now: number): FileWrite[] {
  const path = recordPath(env, scope);
  const untouched = before.files.filter((each) => !files.some(({ write }) => isSameFile(write.path, each.path)));
  const inbox = files.some(({ client }) => client === undefined) ? missingFolders(join(root, INBOX)) : [];
  const next = {
    roots: files.length > 0 ? [...new Set([...before.roots, root])] : before.roots,
    at: before.at,
    files: [...untouched, ...files.flatMap(({ known }) => known ?? [])],
    folders: [
      ...new Set([...before.folders, ...files.flatMap(({ write }) => (write.before === undefined ? missingFolders(dirname(write.path)) : [])), ...inbox]),
    ],
  };
  if (next.files.length + next.folders.length === 0 || recordText(next) === recordText(before)) return [];
  const current = readText(path, path);
  return [{ path, shown: path, before: current?.text, text: recordText({ ...next, at: now }), mode: 0o600 }];
}
