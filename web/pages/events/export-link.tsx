import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ticketed } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import type { EventFilter } from '../../search.ts';

/** The events that the filter leaves, all of them, as a file. */
export function ExportLink({ filter }: { filter: EventFilter }) {
  const [open, setOpen] = useState(false);
  const query = Object.fromEntries(Object.entries(filter)) as Record<string, string>;
  // The browser saves what comes and stays on this page.
  const download = useMutation({
    mutationFn: () => ticketed('/api/events/export', query),
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
        <Dialog title="Export events" onClose={() => setOpen(false)}>
          <div className="mt-3 grid gap-3">
            <p>
              {Object.keys(query).length === 0 ? 'Every event of the journal' : 'Every event of the journal that fits the filter'}, one JSON object a line.
              People who are private stay so in it.
            </p>
            <CliCommand words="audit export" options={filter} />
            {download.error && <Problem what="The export was not started." error={download.error} />}
            <div className="flex flex-wrap justify-end gap-2">
              <button type="button" className="button" onClick={() => setOpen(false)}>
                Close
              </button>
              <ActButton look="primary" data-first pending={download.isPending} onClick={() => download.mutate()}>
                Download
              </ActButton>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
