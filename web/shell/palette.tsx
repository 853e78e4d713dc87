import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { shortId } from '../parts/values.tsx';
import { useRead } from '../queries.ts';
import { PAGES } from './pages.ts';

interface Entry {
  readonly key: string;
  readonly kind: string;
  readonly label: string;
  readonly note?: string;
  /** What the choice does: the address of a page to open, or a function to run. */
  readonly go: string | (() => void);
}

/** A search for pages, agents, actions, and other objects by id or title. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const listId = useId();
  const router = useRouter();
  const entries = useEntries(text.trim(), onHelp);
  const current = Math.min(at, entries.length - 1);

  const choose = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    if (typeof entry.go === 'string') router.history.push(entry.go);
    else entry.go();
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') choose(entries[current]);
    else if (step !== 0) setAt((current + step + entries.length) % Math.max(1, entries.length));
    else return;
    event.preventDefault();
    requestAnimationFrame(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }));
  };

  return (
    <Dialog title="Search" wide top onClose={onClose}>
      <input
        data-first
        type="search"
        role="combobox"
        aria-label="Search pages, ids, agents and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries[current] ? `${listId}-${current}` : undefined}
        className="field mt-3"
        placeholder="Page, id, title, agent or action"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div ref={list} id={listId} role="listbox" aria-label="Results" className="mt-2 max-h-[50vh] overflow-y-auto">
        {entries.map((entry, index) => (
          <button
            key={entry.key}
            id={`${listId}-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={`flex w-full items-baseline gap-3 rounded px-2 py-1.5 text-left pointer-coarse:min-h-11 ${index === current ? 'bg-live-tint text-live' : 'hover:bg-surface'}`}
            onClick={() => choose(entry)}
          >
            <span className="w-24 shrink-0 text-label text-muted">{entry.kind}</span>
            <bdi className="min-w-0 flex-1 truncate">{entry.label}</bdi>
            {entry.note && <span className="mono shrink-0 text-muted">{entry.note}</span>}
          </button>
        ))}
        {entries.length === 0 && <p className="px-2 py-3 text-muted">No results.</p>}
      </div>
    </Dialog>
  );
}

/** The minimum length of a search text. Shorter texts match too many objects. */
const SHORTEST = 2;

function useEntries(text: string, onHelp: () => void): Entry[] {
  const asked = useDeferredValue(text);
  const matches = useRead('lookup.find', { text: asked || '-', limit: 12 }, { enabled: asked.length >= SHORTEST }).data?.items ?? [];
  const agents = useRead('agents.list', { limit: 200 }, { enabled: text !== '' }).data?.items ?? [];
  const fits = (...words: string[]): boolean => words.some((word) => word.toLowerCase().includes(text.toLowerCase()));
  return [
    ...PAGES.filter(({ label, asks }) => fits(label, asks)).map(({ to, label, key }) => ({ key: to, kind: 'page', label, note: `g ${key}`, go: to })),
    ...ACTIONS.filter(({ label }) => text !== '' && fits(label)).map(({ label, path }) => ({ key: label, kind: 'action', label, go: path })),
    ...(text !== '' && fits('keyboard shortcuts') ? [{ key: 'help', kind: 'action', label: 'Keyboard shortcuts', note: '?', go: onHelp }] : []),
    ...agents.flatMap(({ name, agent_id }) =>
      text !== '' && agent_id !== null && fits(name) ? [{ key: agent_id, kind: 'agent', label: name, go: `/agents/${encodeURIComponent(agent_id)}` }] : [],
    ),
    ...(asked.length >= SHORTEST ? matches : []).map(({ kind, id, title, path }) => ({ key: id, kind, label: title || id, note: shortId(id), go: path })),
  ];
}

/** Common actions, each with the address of the page that starts it. */
const ACTIONS = [
  { label: 'Plan a task', path: '/tasks?plan=true' },
  { label: 'Run overlap audit', path: '/tasks/overlaps?audit=true' },
  { label: 'Generate weekly summary', path: '/tasks/week' },
  { label: 'Broadcast to agents', path: '/messages?broadcast=true' },
  { label: 'Create a token', path: '/settings/tokens?create=true' },
  { label: 'Connect an agent', path: '/settings/agents' },
  { label: 'Approve a device', path: '/setup/authorize' },
  { label: 'Grant a capability', path: '/tools/grants?grant=new' },
  { label: 'Check tool access', path: '/tools' },
  { label: 'Verify the journal', path: '/activity/chain' },
  { label: 'Set prices', path: '/usage?prices=true' },
] as const;
