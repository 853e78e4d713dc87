import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { addressWithTicket } from '../../api.ts';
import { FormDialog } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Filter } from '../../parts/filter.tsx';
import type { EventSearch } from '../../search.ts';
import { CATEGORIES, OUTCOMES } from './event-words.tsx';

const TEXT_FIELDS = ['text', 'kind', 'actor', 'subject', 'session'] as const;

const LABELS: Record<(typeof TEXT_FIELDS)[number], { label: string; hint: string }> = {
  text: { label: 'Text', hint: 'in kind, subject or payload' },
  kind: { label: 'Kind', hint: 'task.' },
  actor: { label: 'Actor', hint: 'codex@mira' },
  subject: { label: 'Subject', hint: 'tool:clock' },
  session: { label: 'Session', hint: 'ses_…' },
};

/** The filters above the list of events. The server applies them to the whole journal. */
export function EventFilters({ filter, onChange }: { filter: EventSearch; onChange: (part: EventSearch) => void }) {
  const active = Object.keys(filter).length;
  const [opened, setOpened] = useState(false);
  // On a small screen, all filters except the text are folded at first.
  const more = opened || active > Number(filter.text !== undefined);
  const outcomes = OUTCOMES.map((outcome) => [outcome, outcome] as const);
  const known = filter.outcome === undefined || outcomes.some(([outcome]) => outcome === filter.outcome);
  const field = (name: (typeof TEXT_FIELDS)[number]) => (
    <TextFilter
      key={name}
      {...LABELS[name]}
      value={filter[name] ?? ''}
      isFirst={name === 'text'}
      onChange={(value) => onChange({ [name]: value || undefined })}
    />
  );
  return (
    <search aria-label="Filter events" className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 max-sm:mt-0">
      {field('text')}
      {!more && (
        <button type="button" className="button sm:hidden" onClick={() => setOpened(true)}>
          More filters
        </button>
      )}
      <div className={`flex flex-wrap items-center gap-x-4 gap-y-2 sm:contents ${more ? '' : 'max-sm:hidden'}`}>
        {TEXT_FIELDS.filter((name) => name !== 'text').map(field)}
        <Filter label="Category" otherwise="All" choices={CATEGORIES} chosen={filter.category} onChoose={(category) => onChange({ category })} />
        <Filter
          label="Outcome"
          otherwise="Any"
          choices={known ? outcomes : [...outcomes, [filter.outcome ?? '', filter.outcome ?? ''] as const]}
          chosen={filter.outcome}
          onChoose={(outcome) => onChange({ outcome })}
        />
      </div>
      {active > 0 && (
        <button type="button" className="button" onClick={() => onChange(Object.fromEntries(Object.keys(filter).map((name) => [name, undefined])))}>
          Clear {active === 1 ? 'filter' : `${active} filters`}
        </button>
      )}
      <ExportLink filter={filter} />
    </search>
  );
}

const SETTLED_MS = 350;

interface TextFilterProps {
  label: string;
  hint: string;
  value: string;
  isFirst: boolean;
  onChange: (value: string) => void;
}

/** A text filter that is applied when the person stops typing for a moment. */
function TextFilter({ label, hint, value, isFirst, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const [applied, setApplied] = useState(value);
  // A link or the back button has changed the address, so show the new value.
  if (applied !== value) {
    setApplied(value);
    setTyped(value);
  }
  const apply = useEffectEvent(() => typed.trim() !== value && onChange(typed.trim()));
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(apply, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <label className={`flex items-center gap-2 text-muted ${isFirst ? 'max-sm:w-full' : 'max-sm:w-[calc(50%-0.5rem)]'}`}>
      {label}
      <input
        type="search"
        className={`field min-w-0 text-text ${isFirst ? 'sm:w-56' : 'sm:w-36'}`}
        data-filter={isFirst || undefined}
        placeholder={hint}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  );
}

/** Downloads all events that match the filter. */
function ExportLink({ filter }: { filter: EventSearch }) {
  const [open, setOpen] = useState(false);
  const query = Object.fromEntries(Object.entries(filter)) as Record<string, string>;
  // The browser saves the answer as a file and does not leave this page.
  const download = useMutation({
    mutationFn: () => addressWithTicket('/api/events/export', query),
    onSuccess: (address) => {
      setOpen(false);
      location.assign(address);
    },
  });
  return (
    <>
      <button type="button" className="button sm:ml-auto" onClick={() => setOpen(true)}>
        Export
      </button>
      {open && (
        <FormDialog
          title="Export events"
          submit="Download"
          cancel="Close"
          mutation={download}
          failed="The export did not start."
          onSubmit={() => download.mutate()}
          onClose={() => setOpen(false)}
        >
          <p>
            {Object.keys(query).length === 0 ? 'All events of the journal' : 'All events that match the filter'}, one JSON object per line. Private developers
            stay private in the file.
          </p>
          <CliCommand words="audit export" options={filter} />
        </FormDialog>
      )}
    </>
  );
}
