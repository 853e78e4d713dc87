import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CliCommand, Command, InstalledFirst, SetupCommand } from '../../parts/command.tsx';
import { Section } from '../../parts/layout.tsx';
import { prefer, usePreferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';
import { ConnectCommand, ConnectionState, useConnectedAgents } from '../devices/connect-agent.tsx';
import { AGENTS, type AgentType, namesOf } from '../identity/agent.ts';

/** Instructions for a new team. When a step is done, it is checked off without a reload. */
export function FirstSteps() {
  const { firstSteps } = usePreferences();
  const { data } = useRead('team.first_steps', {}, { enabled: firstSteps });
  if (!firstSteps || !data || data.finished) return null;
  return <Steps called={data.called} warningId={data.warning_id} />;
}

const PROMPT = 'Tell Covenant that you will add a rate limit to the login, then start.';

function Steps({ called, warningId }: { called: boolean; warningId: string | null }) {
  const connected = useConnectedAgents();
  const tasks = useRead('tasks.list', { limit: 1 }).data?.total;
  const [agent, setAgent] = useState<AgentType>('claude-code');
  const isConnected = called || connected.size > 0;
  const second: AgentType = connected.has('codex') || agent === 'codex' ? 'claude-code' : 'codex';
  return (
    <Section
      title="Connect your first agent"
      about={
        <button type="button" className="link" onClick={() => prefer({ firstSteps: false })}>
          Hide
        </button>
      }
    >
      <ol className="panel divide-y divide-line">
        <Step done={isConnected} title="Connect an agent" outcome={connected.size > 0 && `Connected: ${namesOf([...connected.keys()])}.`}>
          <AgentTabs chosen={agent} onChoose={setAgent} />
          <ConnectCommand agent={agent} />
          <p className="text-muted">
            On another machine, or to set up all agents of a machine, run this in your repository and approve the code that it shows:
          </p>
          <SetupCommand />
          <div className="text-muted">
            <InstalledFirst />
          </div>
          <ConnectionState agent={agent} lastCall={undefined} />
        </Step>
        <Step done={tasks === null || (tasks ?? 0) > 0} title="Give it a task">
          <p className="text-muted">Agents announce their work before they start. Ask yours, for example:</p>
          <Command text={PROMPT} />
          <p className="text-muted">No agent at hand? Run the demo to see every page with data:</p>
          <CliCommand words="demo" />
        </Step>
        <Step
          done={warningId !== null}
          title="See overlap detection"
          outcome={
            warningId !== null && (
              <Link to="/tasks/overlaps" search={{ warning: warningId }} className="link">
                Compare work
              </Link>
            )
          }
        >
          <p className="text-muted">
            Connect a second agent and ask both for the same task in different words. The second one is blocked until it has compared the tasks.
          </p>
          <CliCommand words={`connect ${second}`} />
        </Step>
      </ol>
    </Section>
  );
}

/** Shows a tab for each supported agent. */
function AgentTabs({ chosen, onChoose }: { chosen: AgentType; onChoose: (agent: AgentType) => void }) {
  return (
    <fieldset aria-label="Agent" className="flex flex-wrap gap-2">
      {AGENTS.map(([agent, name]) => (
        <button
          key={agent}
          type="button"
          className={`button ${agent === chosen ? 'border-live text-live' : ''}`}
          aria-pressed={agent === chosen}
          onClick={() => onChoose(agent)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

/** Shows the instructions of a step, or its outcome when it is done. */
function Step({ done, title, outcome, children }: { done: boolean; title: string; outcome?: ReactNode; children: ReactNode }) {
  return (
    <li className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 px-3 py-2.5">
      <span aria-hidden="true" className={done ? 'text-good' : 'text-muted'}>
        {done ? '✓' : '○'}
      </span>
      <div className="grid gap-2">
        <h3 className="font-medium">
          {title}
          <span className="sr-only">{done ? ', done' : ', to do'}</span>
        </h3>
        {done ? outcome && <p role="status">{outcome}</p> : children}
      </div>
    </li>
  );
}
