import type { ReducedPayload } from '../clients/client.ts';
import { placeOf } from '../machine/git/place.ts';
import { type PlacedFile, placedFiles } from '../machine/git/placed-files.ts';
import { type Edit, type HookQuestion, LONGEST, MAX_EDITS, TOP } from '../wire/hook-question.ts';

/**
 * Builds the question for the server. Adds the repository of the working folder, and converts
 * file names to the paths that claims use. It must run on the machine that has the files.
 */
export function questionFrom({ files = [], unread = false, ...reduced }: ReducedPayload): HookQuestion {
  const place = reduced.folder === undefined ? undefined : placeOf(reduced.folder);
  const placed = reduced.folder === undefined ? [] : placedFiles(files.slice(0, MAX_EDITS), reduced.folder);
  // Invalid paths are left out, because the server rejects a question that contains one.
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

/** If a path is too long, replaces it with the deepest folder on that path that fits. The server then still finds the claims that contain the file. */
function fitting({ repo, path, tree }: PlacedFile): Edit {
  if (path.length <= LONGEST.path) return { repo, path: path || TOP, ...(tree && { tree }) };
  return { repo, path: path.slice(0, Math.max(path.lastIndexOf('/', LONGEST.path), 0)) || TOP, tree: true };
}

/**
 * Returns placeholder edits for changed files whose names are unknown. Such files may be anywhere in the
 * known repositories. These edits come first, so that the limit on edits does not drop them.
 */
const unnamed = (places: readonly { readonly repo: string }[]): Edit[] =>
  [...new Set(places.map(({ repo }) => repo))].map((repo) => ({ repo, path: TOP, tree: true, unread: true }));
