/** The default of `body_bytes` in `[limits]`: a plan of 10,000 tasks must fit. */
export const DEFAULT_BODY_BYTES = 8 * 1024 * 1024;

/** For one header: HTTP servers accept 16 KB for all headers together. */
export const LONGEST_HEADER = 4_000;

/** No system allows a longer path. The limit bounds the work, because every folder on the way to a file is checked. */
export const LONGEST_PATH = 4_096;
