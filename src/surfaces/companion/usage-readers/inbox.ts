import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ALL_CLIENTS } from '../../../clients/index.ts';
import { SOURCES, type Source } from '../../../features/team/usage/sources.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { parseJson, recordOf } from '../../../wire/json.ts';
import { orNothing } from '../../../wire/or-nothing.ts';
import { hashOf } from '../hash.ts';
import { countedOnly } from './payload.ts';
import { idOf, idWithin } from './payload-id.ts';
import type { UsageEvent } from './usage-batch.ts';

/** The folder of a repository in which agents, providers and proxies store usage files. Git ignores the whole folder `.covibe`. */
export const INBOX = '.covibe/telemetry';
export const inboxOf = (root: string): string => join(root, INBOX);

/**
 * Returns the inboxes that exist in these repositories. Skips an inbox that is reached
 * through a link. A link may lead to any folder, and files in an inbox are moved.
 */
export const inboxesIn = (roots: readonly string[]): string[] =>
  roots.map(inboxOf).filter((inbox, at) => orNothing(() => realpathSync(inbox) === inboxOf(realpathSync(roots[at] ?? ''))));

/** Returns whether a folder is the inbox of a repository. All other folders may contain any kind of file. */
export const isInbox = (folder: string): boolean => inboxesIn([join(folder, '../..')]).includes(folder);

export interface InboxFile {
  readonly path: string;
  /** A hash of the whole content of the file. */
  readonly digest: string;
  /** Distinguishes the file from earlier and later files with the same name. */
  readonly birth: string;
  readonly events: readonly UsageEvent[];
}

/** The file is unusable. The message gives the reason, and never quotes the file. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

/** The file is incomplete, and its writer may still be writing it. */
export class UnfinishedFile extends Error {
  override readonly name = 'UnfinishedFile';
}

/** If a file with incomplete JSON has not changed for this time, nobody is writing it any more, and it is rejected. */
const SETTLED_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 1_000;

export function inboxFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.json'));
    return names.map(({ name }) => join(folder, name)).sort();
  } catch {
    return [];
  }
}

/**
 * Reads a usage file. The same file always gives the same events. `known` is its `birth` from
 * an earlier reading. It is kept, because a writer may replace the file in order to add to it.
 */
export function readInboxFile(path: string, known?: string): InboxFile {
  const { size, mtimeMs, ino, birthtimeMs } = statSync(path);
  const birth = known ?? `${ino} ${birthtimeMs}`;
  if (size > MAX_BYTES) throw new BrokenFile(`The file is larger than ${MAX_BYTES} bytes.`);
  const text = readFileSync(path, 'utf8');
  const value = parseJson(text);
  if (value === undefined && Date.now() - mtimeMs < SETTLED_MS) throw new UnfinishedFile('The file is not complete JSON yet.');
  if (value === undefined) throw new BrokenFile('The file is not JSON.');
  const entries = Array.isArray(value) ? value : [value];
  if (entries.length > MAX_ENTRIES) throw new BrokenFile(`The file has more than ${MAX_ENTRIES} entries.`);
  const placeOf = placesIn(`${path} ${birth}`);
  const events = entries.map((entry, at) => eventOf(entry, path, entries.length > 1 ? `Entry ${at + 1}` : 'The file', placeOf));
  return { path, digest: hashOf(text), birth, events };
}

type PlaceOf = (payload: Record<string, unknown>, entry: Record<string, unknown>) => string | undefined;

/**
 * Creates a function that distinguishes equal entries. Entries with the same id are the same use in every file. Equal entries without an id are separate
 * uses, and their file and their order distinguish them.
 */
function placesIn(file: string): PlaceOf {
  const counts = new Map<string, number>();
  return (payload, entry) => {
    if (idWithin(payload) !== undefined) return undefined;
    const id = idOf(entry);
    if (id !== undefined) return id;
    const text = JSON.stringify(payload);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return `${file} ${count}`;
  };
}

const isSource = (value: unknown): value is Source => typeof value === 'string' && (SOURCES as readonly string[]).includes(value);

/**
 * Reads an entry of the form `{source, payload, submitted_cost?, session_id?}`, or a usage object
 * of a provider. The source of a usage object follows from its fields or from the file name.
 */
function eventOf(entry: unknown, path: string, where: string, placeOf: PlaceOf): UsageEvent {
  const object = recordOf(entry);
  if (!object) throw new BrokenFile(`${where} is not a JSON object.`);
  const wrapped = recordOf(object.payload);
  const isWrapped = wrapped !== undefined && 'source' in object;
  if (isWrapped && !isSource(object.source)) throw new BrokenFile(`${where} names an unknown source. Expected one of ${SOURCES.join(', ')}.`);
  const source = isWrapped && isSource(object.source) ? object.source : sourceOf(object, path);
  try {
    const given = isWrapped ? wrapped : object;
    const payload = countedOnly(source, given, placeOf(given, object));
    const { submitted_cost: costs, session_id: session } = isWrapped ? object : {};
    return {
      id: hashOf(`inbox ${source} ${String(payload.id)}`),
      agent: agentOf(source),
      source,
      payload,
      submitted_cost: typeof costs === 'number' && costs >= 0 && costs <= 1e6 ? costs : undefined,
      session_id: typeof session === 'string' && /^[\w-]{1,64}$/.test(session) ? session : undefined,
    };
  } catch (error) {
    if (error instanceof Refusal) throw new BrokenFile(`${where} has no token counters in the format of ${source}.`);
    throw error;
  }
}

function sourceOf(payload: Record<string, unknown>, path: string): Source {
  if (['resourceSpans', 'resourceLogs', 'resourceMetrics', 'spans', 'attributes'].some((mark) => mark in payload)) return 'otel';
  const named = SOURCES.toSorted((one, other) => other.length - one.length).find((source) => basename(path).startsWith(source));
  return named ?? 'provider';
}

/** The agent that the use belongs to. Undefined if the source does not belong to an agent. */
const agentOf = (source: Source): string | undefined => ALL_CLIENTS.find(({ usageSources }) => usageSources.includes(source))?.name;

/** The maximum number of delivered files in the folder `sent`, next to the inbox files. */
const MAX_SENT = 500;

export function keepSent(path: string): void {
  const folder = dirname(movedInto(path, 'sent'));
  // In a folder that is not an inbox, `sent` may contain a person's own files.
  if (!isInbox(dirname(path))) return;
  for (const name of readdirSync(folder).sort().slice(0, -MAX_SENT)) rmSync(join(folder, name), { force: true });
}

/** Moves the file to the folder `rejected`, and writes the reason into a file next to it. */
export function keepRejected(path: string, reason: string): void {
  const beside = `${movedInto(path, 'rejected')}.reason`;
  rmSync(beside, { force: true });
  // The flag `wx` fails for an existing file or link. A write through a link in the repository could change any file.
  writeFileSync(beside, `${reason}\n`, { mode: 0o600, flag: 'wx' });
}

function movedInto(path: string, name: string): string {
  const folder = join(dirname(path), name);
  mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link, not a folder`);
  // A later file must not replace an earlier one with the same name, because someone may still want to repair the earlier file and send it again.
  const taken = existsSync(join(folder, basename(path)));
  const moved = join(folder, taken ? `${Date.now()}-${basename(path)}` : basename(path));
  renameSync(path, moved);
  return moved;
}
