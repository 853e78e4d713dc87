const LONGEST_SLUG = 80;

/** The characters of a feature's name allowed in ids and folder names; may be empty. */
export const slugOf = (feature: string): string =>
  feature
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, LONGEST_SLUG);

/** For example `20260220T215622Z_featureX`. The second one in the same second gets `…-2`. */
export function cycleIdFor(slug: string, now: number, isTaken: (id: string) => boolean): string {
  const stamp = new Date(now).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  for (let number = 1; ; number++) {
    const id = `${stamp}_${slug}${number === 1 ? '' : `-${number}`}`;
    if (!isTaken(id)) return id;
  }
}
