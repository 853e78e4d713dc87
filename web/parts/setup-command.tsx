import { Command } from './copy.tsx';
import { PathLink } from './path-link.tsx';

/** Sets up all agents of a machine, from within a repository on it. */
export function SetupCommand() {
  return <Command text={`npm exec -- covibe-local setup --base-url ${location.origin}`} />;
}

/** npm would look for the command elsewhere in the world. */
export function InstalledFirst() {
  return (
    <p>
      The companion must be installed there:{' '}
      <PathLink path="/settings/agents" className="link">
        Agent setup
      </PathLink>{' '}
      says how.
    </p>
  );
}
