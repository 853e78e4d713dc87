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
  /** What was decided about the two. */
  children?: ReactNode;
}

/** Two pieces of work side by side, and what they share. */
export function Pair({ first, second, files, score, settings, reason, children }: PairProps) {
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <div className="grid sm:grid-cols-2">
        <SideOf side={first} />
        <div className="max-sm:border-t sm:border-l border-line">
          <SideOf side={second} />
        </div>
      </div>
      <div className="grid gap-3 border-t border-line bg-surface p-3">
        <Score score={score} settings={settings} legend />
        <p>
          <span className="text-muted">Why: </span>
          <Said text={reason} />
        </p>
        {files && files.length > 0 && (
          <div>
            <p className="text-muted">{counted(files.length, 'shared file')}</p>
            <ul className="mono">
              {files.map((path) => (
                <li key={path}>
                  <Said text={path} />
                </li>
              ))}
            </ul>
          </div>
        )}
        {children}
      </div>
    </div>
  );
}

function SideOf({ side: { heading, title, owner, scope, status, id } }: { side: Side }) {
  return (
    <div className="grid min-w-0 content-start gap-1.5 p-3">
      <p className="text-label text-muted">{heading}</p>
      <p className="font-medium">
        <Said text={title} />
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
