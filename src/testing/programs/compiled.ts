import { fileURLToPath } from 'node:url';

/** For children in `NODE_COMPILE_CACHE`: programs are started hundreds of times, and each start but the first takes a half, from their sources a quarter. */
export const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/covenant', import.meta.url));
