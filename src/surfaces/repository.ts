import type { CallerPlace } from '../kernel/call.ts';
import { withoutCredentials } from '../kernel/repo.ts';
import { placeOf } from '../machine/git/place.ts';
import { parseJson, recordIn } from '../wire/json.ts';

/** How a bridge or the CLI says in which repository its caller stands, by the path of its main checkout. */
export const REPOSITORY_HEADER = 'x-covenant-repository';
/** And which folder, repository and branch that is, by the names that a team has for them: `CallerPlace` as JSON. */
export const PLACE_HEADER = 'x-covenant-place';

/** Of all headers together, HTTP servers take 16 KB. */
const LONGEST_HEADER = 4_000;
const LONGEST_PATH = 1_000;
const LONGEST_NAME = 300;

/** Looked up at each call: the branch changes while a bridge runs. */
export function placeHeaders(folder: string): Record<string, string> {
  const place = reportedPlace(folder);
  const named = asHeader(JSON.stringify(place.place));
  return { [REPOSITORY_HEADER]: asHeader(place.repository), ...(named.length <= LONGEST_HEADER && { [PLACE_HEADER]: named }) };
}

/** What a caller's client says of where it stands. Nothing is let in because of it: it stands in where a call leaves names out. */
export interface Reported {
  readonly repository: string;
  readonly place: CallerPlace;
}

export function reportedPlace(folder: string): Reported {
  const found = placeOf(folder);
  return { repository: found?.checkout ?? folder, place: { folder, repo: found?.repo ?? null, branch: found?.branch ?? null } };
}

/** Undefined where nothing usable was said: the call then has to name what it means itself. */
export function reportedIn(header: (name: string) => string | undefined): { [K in keyof Reported]: Reported[K] | undefined } {
  return { repository: fromHeader(header(REPOSITORY_HEADER)), place: placeFromHeader(header(PLACE_HEADER)) };
}

/** A header holds no letters beyond ASCII as they are. */
export const asHeader = (text: string): string => encodeURIComponent(text);

export function fromHeader(value: string | undefined): string | undefined {
  const path = decoded(value);
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

function placeFromHeader(value: string | undefined): CallerPlace | undefined {
  if (value === undefined || value.length > LONGEST_HEADER) return undefined;
  const { folder, repo, branch } = recordIn(parseJson(decoded(value) ?? ''));
  if (typeof folder !== 'string' || !isAbsolute(folder)) return undefined;
  const remote = nameFrom(repo);
  return { folder, repo: remote && withoutCredentials(remote), branch: nameFrom(branch) };
}

function nameFrom(value: unknown): string | null {
  const name = typeof value === 'string' ? value.trim() : '';
  return name !== '' && name.length <= LONGEST_NAME && !/\p{Cc}/u.test(name) ? name : null;
}

const isAbsolute = (path: string): boolean => path.length <= LONGEST_PATH && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/\p{Cc}/u.test(path);

function decoded(value: string | undefined): string | undefined {
  try {
    return value ? decodeURIComponent(value) : undefined;
  } catch {
    return undefined;
  }
}
