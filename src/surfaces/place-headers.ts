import type { CallerPlace } from '../kernel/call.ts';
import { placeOf } from '../machine/git/place.ts';
import { PLACE_HEADER, REPOSITORY_HEADER } from '../wire/headers.ts';
import { LONGEST_HEADER } from '../wire/limits.ts';

/** `readReportedPlace` of http/request.ts reads them. Looked up at each call: the branch changes while a bridge runs. */
export function placeHeaders(folder: string): Record<string, string> {
  const place = reportedPlace(folder);
  const named = asHeader(JSON.stringify(place.place));
  return { [REPOSITORY_HEADER]: asHeader(place.repository), ...(named.length <= LONGEST_HEADER && { [PLACE_HEADER]: named }) };
}

/** The place that a caller's client reports. It permits nothing; it fills in names that a call leaves out. */
export interface Reported {
  readonly repository: string;
  readonly place: CallerPlace;
}

export function reportedPlace(folder: string): Reported {
  const found = placeOf(folder);
  return { repository: found?.checkout ?? folder, place: { folder, repo: found?.repo ?? null, branch: found?.branch ?? null } };
}

/** A header holds no letters beyond ASCII as they are. */
export const asHeader = (text: string): string => encodeURIComponent(text);
