import { Link } from '@tanstack/react-router';
import type { Result } from '../../api.ts';
import { CompanionNote } from '../../parts/companion.tsx';
import { CodeBlock, Command } from '../../parts/copy.tsx';
import { Section } from '../../parts/section.tsx';

/** All agents of a machine at once, by the companion. */
export function MachineSetup({ setup: { block, watch } }: { setup: Result<'setup.agents'> }) {
  return (
    <Section title="Or set up a whole machine">
      <p className="text-muted">
        Paste this into a terminal. It installs the companion, asks for a token without showing it, sets up every agent it finds in the repository, looks
        whether all is well, and ends. It installs from a folder on the server's machine: on another machine, put the folder of a copy there.
      </p>
      <CompanionNote />
      <CodeBlock label="Local setup" text={block} />
      <p className="text-muted">
        Without a token, <code>covibe-local setup</code> shows a code instead, to be approved under{' '}
        <Link to="/setup/authorize" className="link">
          Approve a device
        </Link>
        : each agent then gets a token of its own.
      </p>
      <p className="mt-2 text-muted">
        Setup also installs a service that reports the use of models. To run the same in the foreground instead, until it is stopped:
      </p>
      <Command text={watch} />
    </Section>
  );
}
