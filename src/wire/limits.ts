/** The default of `body_bytes` in `[limits]`. A workflow plan of 10,000 tasks must fit into one request body. */
export const DEFAULT_BODY_BYTES = 8 * 1024 * 1024;

/** The longest value of one header, because HTTP servers accept only 16 KB for all headers together. */
export const LONGEST_HEADER = 4_000;

/** No operating system allows a longer path. The limit also bounds the work for one path, because every parent folder of a file is checked. */
export const LONGEST_PATH = 4_096;
