import { fileURLToPath } from 'node:url';

/**
 * For `NODE_COMPILE_CACHE` of child processes: programs start hundreds of times, and each start after the first takes half as long, or a quarter from
 * sources.
 */
export const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/covenant', import.meta.url));
