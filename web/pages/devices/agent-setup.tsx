import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Result } from '../../api.ts';
import { useFrozen } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { AGENTS, agentOf, nameOf } from '../identity/agent.ts';
import { FirstCall } from './first-call.tsx';
import { MachineSetup } from './machine-setup.tsx';
import { RepositoryFolder } from './repository-folder.tsx';
import { SetupToken } from './setup-token.tsx';

const route = getRouteApi('/settings/agents/$agent');

/** What to paste where, so that an agent uses this server. */
export function AgentSetup() {
  const { agent: named } = route.useParams();
  const { cwd } = route.useSearch();
  const agent = agentOf(named) ?? 'claude-code';
  const { data, error, refetch } = useRead('setup.agents', { base_url: location.origin, ...(cwd !== undefined && { cwd }) });
  // A token that was just made must not go while another folder is looked at.
  const setup = useFrozen(data, data === undefined);
  return (
    <>
      <title>Agent setup · Covenant</title>
      <Views
        label="Agents"
        views={AGENTS.map(([type, label]) => ({ to: '/settings/agents/$agent', params: { agent: type }, search: cwd === undefined ? {} : { cwd }, label }))}
      />
      {error && <Problem what="The setup could not be read." error={error} onRetry={() => void refetch()} />}
      {!setup && !error && <TableSkeleton />}
      <div className="grid gap-8">
        {setup && <Connect key={agent} agent={agent} setup={setup} />}
        {setup && <MachineSetup setup={setup} />}
        {error && cwd !== undefined && (
          <p>
            <Link to="/settings/agents/$agent" params={{ agent }} search={{}} className="link">
              Start again without that folder
            </Link>
          </p>
        )}
      </div>
    </>
  );
}

type Setup = Result<'setup.agents'>;

function Connect({ agent, setup }: { agent: NonNullable<ReturnType<typeof agentOf>>; setup: Setup }) {
  const [created, setCreated] = useState<Result<'tokens.create'>>();
  const name = nameOf(agent);
  const client = setup.clients.find((each) => each.client === agent);
  if (!client) return null;
  const filled = (text: string): string => (created ? text.replaceAll(setup.placeholder, created.token) : text);
  return (
    <>
      <Section title={`1. A token for ${name}`}>
        <SetupToken agent={agent} created={created} onCreated={setCreated} />
      </Section>
      <Section title={`2. Tell ${name} of this server`}>
        <p className="text-muted">{client.http.where}:</p>
        <CodeBlock label={`${name} over HTTP`} text={filled(client.http.text)} />
        {!created && (
          <p className="text-muted">
            Put the token where it says <code>{setup.placeholder}</code>. Or let the command make both, on the server's machine:
          </p>
        )}
        {!created && <CliCommand words={`connect ${agent}`} />}
        <details className="mt-2">
          <summary className="cursor-pointer py-1 font-medium">By stdio instead, with the bridge covibe-mcp</summary>
          <div className="mt-2 grid gap-3">
            <RepositoryFolder agent={agent} setup={setup} />
            <p className="text-muted">
              {client.stdio.where}. The token is read from COVIBE_MCP_TOKEN wherever {name} is started, or from what setup stored. The bridge comes with:
            </p>
            <CodeBlock label="Install the bridge" text={setup.install} />
            <CodeBlock label={`${name} by stdio`} text={client.stdio.text} />
          </div>
        </details>
      </Section>
      <Section title={`3. Start ${name}`}>
        <FirstCall agent={agent} tokenId={created?.token_id} />
      </Section>
    </>
  );
}
