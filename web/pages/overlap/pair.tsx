import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Task, Thresholds } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Said } from '../../parts/said.tsx';
import { State } from '../../parts/tone.tsx';
import { STATUS_TONES } from '../tasks/status.ts';
import { Score } from './score.tsx';

export interface Side {
  heading: string;
  title: string;
  owner: string;
  scope?: string | null;
  status?: Task['status'];
  id?: string | null;
}

interface PairProps {
  first: Side;
  second: Side;
  files?: readonly string[];
  score: number;
  settings: Thresholds | undefined;
  reason: string;
  /** Its links open another tab: whoever followed them here would lose what they have typed. */
  apart?: boolean;
  /** What was decided about the two. */
  children?: ReactNode;
}

/** Two pieces of work side by side, and what they share. */
export function Pair({ first, second, files, score, settings, reason, apart = false, children }: PairProps) {
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <div className="grid sm:grid-cols-2">
        <SideOf side={first} apart={apart} />
        <div className="max-sm:border-t sm:border-l border-line">
          <SideOf side={second} apart={apart} />
        </div>
      </div>
      {files && files.length > 0 && <Shared files={files} />}
      <div className="grid gap-3 border-t border-line bg-surface p-3">
        <Score score={score} settings={settings} legend />
        <p>
          <span className="text-muted">Why: </span>
          <Said text={reason} />
        </p>
        {children}
      </div>
    </div>
  );
}

/** What both have in hand, between them. */
function Shared({ files }: { files: readonly string[] }) {
  return (
    <div className="grid gap-1 border-t border-line px-3 py-2">
      <p className="text-center text-label text-muted">{counted(files.length, 'shared file')}</p>
      <ul className="mono grid gap-1">
        {files.map((path) => (
          <li key={path} className="flex items-center gap-2">
            <Tie />
            <Said text={path} />
            <Tie />
          </li>
        ))}
      </ul>
    </div>
  );
}

const Tie = () => <span aria-hidden="true" className="h-px min-w-4 flex-1 bg-control" />;

function SideOf({ side: { heading, title, owner, scope, status, id }, apart }: { side: Side; apart: boolean }) {
  return (
    <div className="grid min-w-0 content-start gap-1.5 p-3">
      <p className="text-label text-muted">{heading}</p>
      <p className="font-medium">
        <Opening id={id} apart={apart}>
          <Said text={title} />
        </Opening>
      </p>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {status && <State tone={STATUS_TONES[status]}>{status}</State>}
        <Said text={owner} />
        {id && <Id id={id} />}
      </p>
      {scope && (
        <p className="text-muted">
          <Said text={scope} />
        </p>
      )}
    </div>
  );
}

/** What has a page opens it. */
function Opening({ id, apart, children }: { id: string | null | undefined; apart: boolean; children: ReactNode }) {
  const search = id?.startsWith('task_') ? { task: id } : id?.startsWith('wst_') ? { workstream: id, status: 'all' as const } : undefined;
  if (!search) return children;
  return (
    <Link to="/tasks" search={search} target={apart ? '_blank' : undefined} className="hover:underline">
      {children}
    </Link>
  );
}
