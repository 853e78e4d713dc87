/** The files that a patch in Codex's format would write, move or delete. */
export function patchedFiles(patch: string): string[] {
  const files: string[] = [];
  for (const line of patch.split('\n')) {
    // Codex takes them with space around as well.
    const head = line.trim();
    const file = HEADS.flatMap((start) => (head.startsWith(start) ? [head.slice(start.length).trim()] : []))[0];
    if (file) files.push(file);
  }
  return files;
}

const HEADS = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '];

/** The files that a unified diff would write, with `strip` folders cut off as `patch -p` does. */
export function diffedFiles(diff: string, strip: number): string[] {
  return diff.split('\n').flatMap((line) => {
    if (!line.startsWith('+++ ') && !line.startsWith('--- ')) return [];
    const [name = ''] = line.slice(4).split('\t');
    const file = name.trim().split('/').slice(strip).join('/');
    return name.trim() === '/dev/null' || file === '' ? [] : [file];
  });
}
