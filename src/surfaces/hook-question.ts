import type { ReducedPayload } from '../clients/client.ts';
import { placeOf } from '../machine/git/place.ts';
import { type PlacedFile, placedFiles } from '../machine/git/placed-files.ts';
import { type Edit, type HookQuestion, LONGEST, MAX_EDITS, TOP } from '../wire/hook-question.ts';

/** With the repository that the run stands in, and the files as claims name them. On the machine where they are. */
export function questionFrom({ files = [], unread = false, ...reduced }: ReducedPayload): HookQuestion {
  const place = reduced.folder === undefined ? undefined : placeOf(reduced.folder);
  const placed = reduced.folder === undefined ? [] : placedFiles(files.slice(0, MAX_EDITS), reduced.folder);
  // One that no file can have must not make the others unheard.
  const named = placed.filter(({ path }) => path.isWellFormed() && !path.includes('\0')).map(fitting);
  const isMore = unread || files.length > MAX_EDITS || named.length > MAX_EDITS;
  const edits = (isMore ? [...unnamed([...(place ? [place] : []), ...named]), ...named] : named).slice(0, MAX_EDITS);
  return {
    ...reduced,
    client_session: reduced.client_session?.slice(0, LONGEST.name),
    folder: reduced.folder?.slice(0, LONGEST.folder),
    model: reduced.model?.slice(0, LONGEST.model),
    tool: reduced.tool?.slice(0, LONGEST.name),
    ...(place && { repo: place.repo, branch: place.branch?.slice(0, LONGEST.branch) }),
    ...(edits.length > 0 && { edits }),
  };
}

/** Of a path that is too long, its deepest folder that is not: whoever has claimed anything around the file is still found. */
function fitting({ repo, path, tree }: PlacedFile): Edit {
  if (path.length <= LONGEST.path) return { repo, path: path || TOP, ...(tree && { tree }) };
  return { repo, path: path.slice(0, Math.max(path.lastIndexOf('/', LONGEST.path), 0)) || TOP, tree: true };
}

/** Edits for files that could not be named: anywhere in the known repositories. They come first, so that none is cut off. */
const unnamed = (places: readonly { readonly repo: string }[]): Edit[] =>
  [...new Set(places.map(({ repo }) => repo))].map((repo) => ({ repo, path: TOP, tree: true, unread: true }));
