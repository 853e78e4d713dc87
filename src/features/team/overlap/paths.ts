import type { OverlapSettings } from './settings.ts';

/** What is counted of a path: itself, its base name (`/retry.ts`; a clean path never starts with a slash) and its directory (`src/upload/`). */
export interface PathKey {
  readonly key: string;
  readonly kind: 'path' | 'base' | 'directory';
}

export const cleanPath = (path: string): string =>
  path
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');

export function pathKeys(path: string): PathKey[] {
  const clean = cleanPath(path);
  if (clean === '') return [];
  const cut = clean.lastIndexOf('/');
  const keys: PathKey[] = [
    { key: clean, kind: 'path' },
    { key: `/${clean.slice(cut + 1)}`, kind: 'base' },
  ];
  if (cut > 0) keys.push({ key: clean.slice(0, cut + 1), kind: 'directory' });
  return keys;
}

export const keyWeight = (kind: PathKey['kind'], { paths }: OverlapSettings): number => (kind === 'path' ? 1 : paths[kind]);

/** The distinct keys of a set of files, each with its weight; a key of weight 0 is left out. */
export function weighedKeys(files: readonly string[], settings: OverlapSettings): Map<string, number> {
  const weighed = new Map<string, number>();
  for (const file of files) {
    for (const { key, kind } of pathKeys(file)) {
      const weight = keyWeight(kind, settings);
      if (weight > 0) weighed.set(key, weight);
    }
  }
  return weighed;
}

/** Files that many tasks touch whatever they are about, in a workspace too young to show it. */
const EVERYWHERE =
  /(?:^|\/)(?:readme|changelog|changes|license|contributing)(?:\.\w+)?$|(?:^|\/)(?:package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.(?:toml|lock)|go\.(?:mod|sum)|pyproject\.toml|requirements\.txt|gemfile(?:\.lock)?|makefile|dockerfile|\.gitignore|tsconfig\.json|index\.\w+|main\.\w+|mod\.rs|__init__\.py|app\.\w+|routes\.\w+|schema\.\w+|types\.ts)$/i;

export const backgroundFileShare = (key: string): number => (EVERYWHERE.test(key) ? 0.05 : key.endsWith('/') ? 0.01 : 0.001);
