import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Task, Thresholds } from '../../api.ts';
import { State } from '../../parts/layout.tsx';
import { counted, Id, UntrustedText } from '../../parts/values.tsx';
import { STATUS_TONES } from '../tasks/status.ts';

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
  /** If true, links open a new tab, so that the person does not lose what they have typed. */
  apart?: boolean;
  /** Shows the verdict, or the form for it. */
  children?: ReactNode;
}

/** Shows two pieces of work side by side, and the files that both of them change. */
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
          <span className="text-muted">Match: </span>
          <UntrustedText text={reason} />
        </p>
        {children}
      </div>
    </div>
  );
}

/** Lists the files that both pieces of work change. It is placed between them. */
function Shared({ files }: { files: readonly string[] }) {
  return (
    <div className="grid gap-1 border-t border-line px-3 py-2">
      <p className="text-center text-label text-muted">{counted(files.length, 'shared file')}</p>
      <ul className="mono grid gap-1">
        {files.map((path) => (
          <li key={path} className="flex items-center gap-2">
            <Tie />
            <UntrustedText text={path} />
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
          <UntrustedText text={title} />
        </Opening>
      </p>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {status && <State tone={STATUS_TONES[status]}>{status}</State>}
        <UntrustedText text={owner} />
        {id && <Id id={id} />}
      </p>
      {scope && (
        <p className="text-muted">
          <UntrustedText text={scope} />
        </p>
      )}
    </div>
  );
}

/** Makes the title a link if it belongs to a task or workstream. */
function Opening({ id, apart, children }: { id: string | null | undefined; apart: boolean; children: ReactNode }) {
  const search = id?.startsWith('task_') ? { task: id } : id?.startsWith('wst_') ? { workstream: id, status: 'all' as const } : undefined;
  if (!search) return children;
  return (
    <Link to="/tasks" search={search} target={apart ? '_blank' : undefined} className="hover:underline">
      {children}
    </Link>
  );
}

/** The bar of a score ends at this multiple of the threshold, so even higher scores look the same. */
const SCALE = 3;

/** Draws the similarity score as a bar, with marks for the warning floor and the escalation threshold. */
export function Score({ score, settings, legend = false }: { score: number; settings: Thresholds | undefined; legend?: boolean }) {
  if (!settings) return <span>{shown(score)}</span>;
  const { warn, escalate } = settings;
  const end = Math.max(escalate * SCALE, 1);
  const at = (value: number): string => `${Math.min(100, (100 * value) / end)}%`;
  const isHigh = score >= escalate;
  return (
    <div className={legend ? 'grid gap-1' : 'flex items-center gap-2'}>
      <span className={legend ? 'font-medium' : 'w-8 shrink-0 text-right'}>
        {legend && 'Score '}
        {shown(score)}
      </span>
      <span className="sr-only">
        {isHigh ? 'at or above' : 'below'} the threshold of {shown(escalate)}, floor {shown(warn)}
      </span>
      <div aria-hidden="true" title={`floor ${shown(warn)} · threshold ${shown(escalate)}`} className="relative h-3 min-w-12 flex-1">
        <div className="absolute inset-x-0 top-1 h-1 rounded-full bg-line" />
        <div className={`absolute top-1 left-0 h-1 rounded-full ${isHigh ? 'bg-wait' : 'bg-control'}`} style={{ width: at(score) }} />
        <div className="absolute top-0 h-3 w-px bg-muted" style={{ left: at(warn) }} />
        <div className="absolute top-0 h-3 w-0.5 bg-text" style={{ left: at(escalate) }} />
      </div>
      {legend && (
        <p aria-hidden="true" className="flex flex-wrap items-center gap-x-1.5 text-label text-muted">
          <span className="h-3 w-px bg-muted" /> floor {shown(warn)}
          <span className="ml-2 h-3 w-0.5 bg-text" /> threshold {shown(escalate)}
        </p>
      )}
    </div>
  );
}

const shown = (score: number): string => score.toFixed(1);
