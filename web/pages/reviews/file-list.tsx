import { Link } from '@tanstack/react-router';
import type { ChangedFile } from '../../api.ts';
import { counted, UntrustedText } from '../../parts/values.tsx';
import type { TreeFolder } from './file-tree.ts';
import { LinesChanged } from './lines-changed.tsx';

interface FileListProps {
  tree: TreeFolder;
  instance: string;
  chosen: string | undefined;
  /** How many changed files are not listed. */
  leftOut: number;
}

/** Lists the changed files, grouped by folder. */
export function FileList({ tree, instance, chosen, leftOut }: FileListProps) {
  return (
    <nav aria-label="Changed files" className="panel max-h-[70dvh] overflow-y-auto p-1.5 max-lg:max-h-64 lg:sticky lg:top-16">
      <Level folder={tree} instance={instance} chosen={chosen} />
      {leftOut > 0 && <p className="px-2 py-1 text-label text-muted">and {counted(leftOut, 'more file')}; the command below lists all</p>}
    </nav>
  );
}

function Level({ folder, instance, chosen }: { folder: TreeFolder; instance: string; chosen: string | undefined }) {
  return (
    <ul>
      {folder.folders.map((inner) => (
        <li key={inner.path}>
          <details open>
            <summary className="mono cursor-pointer rounded px-1.5 py-1.5 text-muted hover:bg-surface pointer-coarse:py-3.5">
              <UntrustedText text={`${inner.name}/`} />
            </summary>
            <div className="ml-3 border-l border-line pl-1">
              <Level folder={inner} instance={instance} chosen={chosen} />
            </div>
          </details>
        </li>
      ))}
      {folder.files.map((file) => (
        <li key={file.path} data-row data-id={file.path}>
          <Link
            to="/reviews/$instance/diff"
            params={{ instance }}
            search={{ path: file.path }}
            resetScroll={false}
            aria-current={file.path === chosen ? 'true' : undefined}
            title={file.path}
            className="flex min-h-7 items-center gap-2 rounded px-1.5 hover:bg-surface aria-[current]:bg-live-tint pointer-coarse:min-h-11"
          >
            <span aria-hidden="true" className="mono w-3 shrink-0 text-muted">
              {LETTERS[file.change]}
            </span>
            <UntrustedText text={file.path.split('/').at(-1) ?? file.path} brief className="mono min-w-0 flex-1" />
            <span className="sr-only">{file.change}</span>
            {file.uncommitted && (
              <span className="shrink-0 text-wait" title="uncommitted">
                <span aria-hidden="true">●</span>
                <span className="sr-only">uncommitted</span>
              </span>
            )}
            <span className="shrink-0 text-label">{file.binary ? 'binary' : <LinesChanged added={file.added} removed={file.removed} />}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const LETTERS: Record<ChangedFile['change'], string> = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', conflict: '!', repository: 'S' };
