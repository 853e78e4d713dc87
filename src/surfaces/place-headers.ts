import type { CallerPlace } from '../kernel/call.ts';
import { placeOf } from '../machine/git/place.ts';
import { PLACE_HEADER, REPOSITORY_HEADER } from '../wire/headers.ts';
import { LONGEST_HEADER } from '../wire/limits.ts';

/** `readReportedPlace` in http/request.ts reads these headers. They are computed for each call, because the branch can change while a bridge runs. */
export function placeHeaders(folder: string): Record<string, string> {
  const place = reportedPlace(folder);
  const named = asHeader(JSON.stringify(place.place));
  return { [REPOSITORY_HEADER]: asHeader(place.repository), ...(named.length <= LONGEST_HEADER && { [PLACE_HEADER]: named }) };
}

/** The place that the caller's client reports. It grants no rights. The server uses it for names that a call omits. */
export interface Reported {
  readonly repository: string;
  readonly place: CallerPlace;
}

export function reportedPlace(folder: string): Reported {
  const found = placeOf(folder);
  return { repository: found?.checkout ?? folder, place: { folder, repo: found?.repo ?? null, branch: found?.branch ?? null } };
}

/** Headers are limited to ASCII. */
export const asHeader = (text: string): string => encodeURIComponent(text);
