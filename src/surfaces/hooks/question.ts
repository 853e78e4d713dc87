import type { HookQuestion } from '../../features/hooks/question.ts';
import { locate, placeOf } from '../../machine/place.ts';
import type { Reduced } from './client.ts';

/** The server takes no more of each. */
const MOST_EDITS = 500;
const LONGEST = { path: 500, folder: 1_000, branch: 300, name: 200, model: 100 } as const;

/** With the repository that the run stands in, and the files as claims name them. On the machine where they are. */
export function questionFrom({ paths = [], ...reduced }: Reduced): HookQuestion {
  const place = reduced.folder === undefined ? undefined : placeOf(reduced.folder);
  const edits = reduced.folder === undefined ? [] : locate(paths.slice(0, MOST_EDITS), reduced.folder);
  // One that no file can have must not make the others unheard.
  const fitting = edits.filter(({ path }) => path.length <= LONGEST.path && path.isWellFormed() && !path.includes('\0')).slice(0, MOST_EDITS);
  return {
    ...reduced,
    client_session: reduced.client_session?.slice(0, LONGEST.name),
    folder: reduced.folder?.slice(0, LONGEST.folder),
    model: reduced.model?.slice(0, LONGEST.model),
    tool: reduced.tool?.slice(0, LONGEST.name),
    ...(place && { repo: place.repo, branch: place.branch?.slice(0, LONGEST.branch) }),
    ...(fitting.length > 0 && { edits: fitting }),
  };
}
