import { useState } from 'react';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { EventFilter } from './search.ts';

/** The events that the filter leaves, all of them, as a file. */
export function ExportLink({ filter }: { filter: EventFilter }) {
  const [open, setOpen] = useState(false);
  const query = new URLSearchParams(Object.entries(filter) as [string, string][]).toString();
  return (
    <>
      <button type="button" className="button sm:ml-auto" onClick={() => setOpen(true)}>
        Export
      </button>
      {open && (
        <Dialog title="Export events" onClose={() => setOpen(false)}>
          <div className="mt-3 grid gap-3">
            <p>
              {query === '' ? 'Every event of the journal' : 'Every event of the journal that fits the filter'}, one JSON object a line. People who are private
              stay so in it.
            </p>
            <CliCommand words="audit export" options={filter} />
            <div className="flex flex-wrap justify-end gap-2">
              <button type="button" className="button" onClick={() => setOpen(false)}>
                Close
              </button>
              <a
                className="button button-primary"
                data-first
                href={`/api/events/export${query && `?${query}`}`}
                download="covenant-events.jsonl"
                onClick={() => setOpen(false)}
              >
                Download
              </a>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
