import { Link } from '@tanstack/react-router';
import type { Result } from '../../api.ts';
import { CodeBlock, Command } from '../../parts/copy.tsx';
import { Section } from '../../parts/section.tsx';
import { SetupCommand } from '../../parts/setup-command.tsx';

/** All agents of a machine at once, by the companion. */
export function MachineSetup({ setup: { install, block, watch } }: { setup: Result<'setup.agents'> }) {
  return (
    <Section title="Or set up a whole machine">
      <p className="text-muted">
        Install the companion, once, from the folder of this server. On another machine put the folder of a copy there, in which <code>npm ci</code> was run:
      </p>
      <Command text={install} />
      <p className="text-muted">
        Then, in a repository on it, set up every agent that is found. It shows a code, to be approved under{' '}
        <Link to="/setup/authorize" className="link">
          Approve a device
        </Link>
        : each agent gets a token of its own.
      </p>
      <SetupCommand />
      <p className="mt-2 text-muted">
        With one token for all of them instead, paste this into a terminal. It installs the companion, asks for the token without showing it, sets up, looks
        whether all is well, and ends. The token is written nowhere: start the agents where <code>COVIBE_MCP_TOKEN</code> is set.
      </p>
      <CodeBlock label="Local setup" text={block} />
      <p className="mt-2 text-muted">
        Setup also installs a service that reports the use of models. To run the same in the foreground instead, until it is stopped:
      </p>
      <Command text={watch} />
    </Section>
  );
}
