import { statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { isSubmodule, LONGEST_PATH, nearest, orNothing, type Place, placeOf, real } from './place.ts';

/** What is about to be written: absolute, or from where somebody stands. */
export interface Written {
  readonly path: string;
  /** Where it is a folder, all that lies beneath it is meant. */
  readonly tree?: boolean;
}

/** A file as claims may name it. */
export interface Placed {
  readonly repo: string;
  /** From the top of the working tree; of that itself, nothing. */
  readonly path: string;
  readonly tree?: boolean;
}

/**
 * The files as claims may name them; those outside of any repository are left out. What is written through a symbolic link has two names, and
 * what is in a submodule is the outer repository's too: whoever has claimed it by either has it.
 */
export function locate(written: readonly Written[], folder: string): Placed[] {
  if (folder.length > LONGEST_PATH) return [];
  const places = new Map<string, readonly Place[]>();
  const own = placeOf(folder);
  const found = new Map<string, Placed>();
  const note = ({ repo, root }: Place, file: string, tree: boolean) => {
    const path = relative(root, file).split(sep).join('/');
    if (path || tree) found.set(JSON.stringify([repo, path, tree]), tree ? { repo, path, tree } : { repo, path });
  };
  for (const each of written) {
    const named = resolve(folder, each.path);
    if (named.length > LONGEST_PATH) continue;
    const tree = each.tree === true && isFolder(named);
    for (const file of [real(named), named]) {
      const around = nearest(tree ? file : dirname(file));
      if (!places.has(around)) places.set(around, placesAround(around));
      for (const place of places.get(around) ?? []) note(place, file, tree);
      if (tree && own?.root.startsWith(file.endsWith(sep) ? file : file + sep)) note(own, own.root, tree);
    }
  }
  return [...found.values()];
}

const isFolder = (path: string): boolean => orNothing(() => statSync(path).isDirectory()) ?? false;

/** The repository around a folder, and where that is a submodule those around it. */
function placesAround(folder: string): readonly Place[] {
  const places: Place[] = [];
  for (let place = placeOf(folder); place; place = isSubmodule(place) ? placeOf(dirname(place.root)) : undefined) places.push(place);
  return places;
}
