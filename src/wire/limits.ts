/** What `body_bytes` of `[limits]` is unless the operator sets it: a plan of 10,000 tasks must fit. */
export const DEFAULT_BODY_BYTES = 8 * 1024 * 1024;

/** Of one header: HTTP servers take 16 KB of all headers together. */
export const LONGEST_HEADER = 4_000;

/** No system takes a longer path, and every folder on the way to a file is looked for. */
export const LONGEST_PATH = 4_096;
