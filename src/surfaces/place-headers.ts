import type { CallerPlace } from '../kernel/call.ts';
import { placeOf } from '../machine/git/place.ts';
import { PLACE_HEADER, REPOSITORY_HEADER } from '../wire/headers.ts';
import { LONGEST_HEADER } from '../wire/limits.ts';

/**
 * Returns the headers that report where the caller works. `readReportedPlace` in http/request.ts
 * reads them. They are computed for each call, because the branch can change while a bridge runs.
 */
export function placeHeaders(folder: string): Record<string, string> {
  const place = reportedPlace(folder);
  const named = asHeader(JSON.stringify(place.place));
  return { [REPOSITORY_HEADER]: asHeader(place.repository), ...(named.length <= LONGEST_HEADER && { [PLACE_HEADER]: named }) };
}

/** The place that the client of the caller reports. It grants no rights. The server uses it to fill in fields that a call omits. */
export interface Reported {
  readonly repository: string;
  readonly place: CallerPlace;
}

export function reportedPlace(folder: string): Reported {
  const found = placeOf(folder);
  return { repository: found?.checkout ?? folder, place: { folder, repo: found?.repo ?? null, branch: found?.branch ?? null } };
}

/** Encodes a text for a header, because headers are limited to ASCII. */
export const asHeader = (text: string): string => encodeURIComponent(text);
