const LONGEST_SLUG = 80;

/** The part of a feature's name that an id and a folder's name can have; may be empty. */
export const slugOf = (feature: string): string =>
  feature
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, LONGEST_SLUG);

/** `20260220T215622Z_featureX`; of several in one second the second is `…-2`. */
export function cycleIdFor(slug: string, now: number, isTaken: (id: string) => boolean): string {
  const stamp = new Date(now).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  for (let number = 1; ; number++) {
    const id = `${stamp}_${slug}${number === 1 ? '' : `-${number}`}`;
    if (!isTaken(id)) return id;
  }
}
