import type { ChangedFile } from '../../api.ts';

export interface TreeFolder {
  /** The full path, from the root of the repository. */
  readonly path: string;
  /** The name to show. If a folder contains only one other folder, both share one line and one name. */
  readonly name: string;
  readonly folders: readonly TreeFolder[];
  readonly files: readonly ChangedFile[];
}

/** Groups the files by folder. Folders come first, and folders and files are sorted by name. */
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

/** Returns the files in the order in which the tree shows them. */
export const filesOf = ({ folders, files }: TreeFolder): ChangedFile[] => [...folders.flatMap(filesOf), ...files];
