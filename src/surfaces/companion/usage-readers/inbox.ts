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

/** The folder of a repository in which agents, providers and proxies leave usage files. Git ignores all of `.covibe`. */
export const INBOX = '.covibe/telemetry';
export const inboxOf = (root: string): string => join(root, INBOX);

/** The inboxes that exist. One behind a link is skipped, because files are moved in it and it may be anybody's folder. */
export const inboxesIn = (roots: readonly string[]): string[] =>
  roots.map(inboxOf).filter((inbox, at) => orNothing(() => realpathSync(inbox) === inboxOf(realpathSync(roots[at] ?? ''))));

/** Whether a folder is the inbox of a repository: in any other one the files may be anything. */
export const isInbox = (folder: string): boolean => inboxesIn([join(folder, '../..')]).includes(folder);

export interface InboxFile {
  readonly path: string;
  /** Of all that stands in it. */
  readonly digest: string;
  /** Which of the files that were ever called so. */
  readonly birth: string;
  readonly events: readonly UsageEvent[];
}

/** Why a file is of no use: in our words, and never in those of the file. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

/** Its writer may still be at it. */
export class UnfinishedFile extends Error {
  override readonly name = 'UnfinishedFile';
}

/** A file that was not changed for this long is complete. */
const SETTLED_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 1_000;

/** `*.json`, in the order of their names. */
export function inboxFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.json'));
    return names.map(({ name }) => join(folder, name)).sort();
  } catch {
    return [];
  }
}

/** The same file gives the same events each time. `known`: its birth, where it was read before; a writer may put a new file in its place to add to it. */
export function readInboxFile(path: string, known?: string): InboxFile {
  const { size, mtimeMs, ino, birthtimeMs } = statSync(path);
  const birth = known ?? `${ino} ${birthtimeMs}`;
  if (size > MAX_BYTES) throw new BrokenFile(`The file is larger than ${MAX_BYTES} bytes.`);
  const text = readFileSync(path, 'utf8');
  const value = parseJson(text);
  if (value === undefined && Date.now() - mtimeMs < SETTLED_MS) throw new UnfinishedFile('The file is no JSON yet.');
  if (value === undefined) throw new BrokenFile('The file is no JSON.');
  const entries = Array.isArray(value) ? value : [value];
  if (entries.length > MAX_ENTRIES) throw new BrokenFile(`The file has more than ${MAX_ENTRIES} entries.`);
  const placeOf = placesIn(`${path} ${birth}`);
  const events = entries.map((entry, at) => eventOf(entry, path, entries.length > 1 ? `Entry ${at + 1}` : 'The file', placeOf));
  return { path, digest: hashOf(text), birth, events };
}

type PlaceOf = (payload: Record<string, unknown>, entry: Record<string, unknown>) => string | undefined;

/** An entry with an id is the same wherever it stands. Equal ones without are uses of their own: the file and their order there tell them apart. */
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

/** `{source, payload, submitted_cost?, session_id?}`, or what a provider gave, whose source its own marks or the name of the file tell. */
function eventOf(entry: unknown, path: string, where: string, placeOf: PlaceOf): UsageEvent {
  const object = recordOf(entry);
  if (!object) throw new BrokenFile(`${where} is no JSON object.`);
  const wrapped = recordOf(object.payload);
  const isWrapped = wrapped !== undefined && 'source' in object;
  if (isWrapped && !isSource(object.source)) throw new BrokenFile(`${where} names a source that is none of ${SOURCES.join(', ')}.`);
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
    if (error instanceof Refusal) throw new BrokenFile(`${where} has no token counters in a shape that ${source} gives.`);
    throw error;
  }
}

function sourceOf(payload: Record<string, unknown>, path: string): Source {
  if (['resourceSpans', 'resourceLogs', 'resourceMetrics', 'spans', 'attributes'].some((mark) => mark in payload)) return 'otel';
  const named = SOURCES.toSorted((one, other) => other.length - one.length).find((source) => basename(path).startsWith(source));
  return named ?? 'provider';
}

/** The agent that the use belongs to; undefined if the source does not say. */
const agentOf = (source: Source): string | undefined => ALL_CLIENTS.find(({ usageSources }) => usageSources.includes(source))?.name;

/** The number of delivered files that are kept beside an inbox. */
const MAX_SENT = 500;

export function keepSent(path: string): void {
  const folder = dirname(movedInto(path, 'sent'));
  // Elsewhere a folder of that name may be somebody's own.
  if (!isInbox(dirname(path))) return;
  for (const name of readdirSync(folder).sort().slice(0, -MAX_SENT)) rmSync(join(folder, name), { force: true });
}

/** Out of the way of the others, with the reason beside it. */
export function keepRejected(path: string, reason: string): void {
  const beside = `${movedInto(path, 'rejected')}.reason`;
  rmSync(beside, { force: true });
  // Anew: through a link that the repository has there it would go into any file.
  writeFileSync(beside, `${reason}\n`, { mode: 0o600, flag: 'wx' });
}

function movedInto(path: string, name: string): string {
  const folder = join(dirname(path), name);
  mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} leads elsewhere`);
  // A later file of the same name must not take the place of an earlier one that somebody may still want to repair.
  const taken = existsSync(join(folder, basename(path)));
  const moved = join(folder, taken ? `${Date.now()}-${basename(path)}` : basename(path));
  renameSync(path, moved);
  return moved;
}
