import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CliCommand, InstalledFirst, SetupCommand } from '../../parts/command.tsx';
import { Section } from '../../parts/layout.tsx';
import { PathLink } from '../../parts/values.tsx';
import { prefer, usePreferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';

/** Shown until a team has started. Each step is checked off automatically. */
export function FirstSteps() {
  const { firstSteps } = usePreferences();
  const { data } = useRead('team.first_steps', {}, { enabled: firstSteps });
  if (!firstSteps || !data || data.finished) return null;
  const { connected, called, warning_id } = data;
  return (
    <Section
      title="First steps"
      about={
        <button type="button" className="link" onClick={() => prefer({ firstSteps: false })}>
          Hide them
        </button>
      }
    >
      <ol className="panel divide-y divide-line">
        <Step done={connected} title="Connect an agent">
          <p>In your repository, set up every agent that is there, and approve the code that it shows:</p>
          <SetupCommand />
          <InstalledFirst />
          <p>Or give one agent a token and the address of this server:</p>
          <CliCommand words="connect claude-code" />
          <PathLink path="/settings/agents" className="link">
            Other agents
          </PathLink>
        </Step>
        <Step done={called} title="Let it call">
          <p>Restart the agent there. Its first call ticks this step. Without an agent at hand, see the whole product live:</p>
          <CliCommand words="demo" />
        </Step>
        <Step done={warning_id !== null} title="See two agents meet">
          <p>Connect a second agent, and ask both for one thing in different words. The second is held back until it has looked at the first one's work.</p>
          <CliCommand words="connect codex" />
          {warning_id !== null && (
            <Link to="/tasks/overlaps" search={{ warning: warning_id }} className="link">
              See the pair
            </Link>
          )}
        </Step>
      </ol>
    </Section>
  );
}

function Step({ done, title, children }: { done: boolean; title: string; children: ReactNode }) {
  return (
    <li className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 px-3 py-2.5">
      <span aria-hidden="true" className={done ? 'text-good' : 'text-muted'}>
        {done ? '✓' : '○'}
      </span>
      <div className="grid justify-items-start gap-2">
        <h3 className="font-medium">
          {title}
          <span className="sr-only">{done ? ', done' : ', to do'}</span>
        </h3>
        {!done && <div className="grid w-full gap-2 text-muted">{children}</div>}
        {done && title === 'See two agents meet' && children}
      </div>
    </li>
  );
}
