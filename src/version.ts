import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One folder above both the sources and the build. */
export const PACKAGE_ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export const VERSION: string = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
