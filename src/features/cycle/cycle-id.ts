const LONGEST_SLUG = 80;

/** Converts the name of a feature to a form that is allowed in ids and folder names. The result may be empty. */
export const slugOf = (feature: string): string =>
  feature
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, LONGEST_SLUG);

/** Returns an id such as `20260220T215622Z_featureX`. A second cycle of this feature in the same second gets the ending `-2`. */
export function cycleIdFor(slug: string, now: number, isTaken: (id: string) => boolean): string {
  const stamp = new Date(now).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  for (let number = 1; ; number++) {
    const id = `${stamp}_${slug}${number === 1 ? '' : `-${number}`}`;
    if (!isTaken(id)) return id;
  }
}
