import type { ChangedFile } from '../../api.ts';

export interface TreeFolder {
  /** The path from the root. */
  readonly path: string;
  /** The name in the tree. A folder that contains only one folder shares a line with it. */
  readonly name: string;
  readonly folders: readonly TreeFolder[];
  readonly files: readonly ChangedFile[];
}

/** Files grouped by folder, folders first, each sorted by name. */
export function treeOf(files: readonly ChangedFile[]): TreeFolder {
  const root: Growing = { path: '', folders: new Map(), files: [] };
  for (const file of files) {
    let at = root;
    for (const name of file.path.split('/').slice(0, -1)) {
      const path = at.path === '' ? name : `${at.path}/${name}`;
      const next = at.folders.get(name) ?? { path, folders: new Map(), files: [] };
      at.folders.set(name, next);
      at = next;
    }
    at.files.push(file);
  }
  return grown(root, '');
}

interface Growing {
  readonly path: string;
  readonly folders: Map<string, Growing>;
  readonly files: ChangedFile[];
}

function grown({ path, folders, files }: Growing, name: string): TreeFolder {
  const [only] = folders;
  if (only && folders.size === 1 && files.length === 0 && name !== '') return grown(only[1], `${name}/${only[0]}`);
  return { path, name, folders: [...folders].map(([each, folder]) => grown(folder, each)), files };
}

/** The files in the order of the tree. */
export const filesOf = ({ folders, files }: TreeFolder): ChangedFile[] => [...folders.flatMap(filesOf), ...files];
