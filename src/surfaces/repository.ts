/** How a bridge or the CLI says in which repository its caller stands. */
export const REPOSITORY_HEADER = 'x-covenant-repository';

/** A header holds no letters beyond ASCII as they are. */
export const asHeader = (path: string): string => encodeURIComponent(path);

const LONGEST = 1_000;

/** Undefined where nothing usable was said: the call then has to name its repository itself. */
export function fromHeader(value: string | undefined): string | undefined {
  if (!value) return undefined;
  try {
    const path = decodeURIComponent(value);
    return path.length <= LONGEST && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/\p{Cc}/u.test(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
