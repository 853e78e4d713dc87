import { getRouteApi, Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { ActionResult } from '../../api.ts';
import { useLastValue } from '../../live/stable-rows.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CodeBlock, Command, SetupCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Problem, Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { Views } from '../../parts/views.tsx';
import { useAct, useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { AGENTS, type AgentType, agentOf, nameOf } from '../identity/agent.ts';
import { NewToken } from '../identity/new-token.tsx';
import { ConnectCommand, ConnectionState, useConnectedAgents } from './connect-agent.tsx';

const route = getRouteApi('/settings/agents/$agent');

/** The page that shows how to connect agents to this server. */
export function AgentSetup() {
  const { agent: named } = route.useParams();
  const { cwd } = route.useSearch();
  const agent = agentOf(named) ?? 'claude-code';
  const query = useRead('setup.agents', { base_url: location.origin, cwd });
  // Keep the previous setup while the one for another folder loads, so that a new token stays visible.
  const setup = useLastValue(query.data, query.data === undefined);
  return (
    <>
      <title>Agent setup · Covenant</title>
      <Views label="Agents" views={AGENTS.map(([type, label]) => ({ to: '/settings/agents/$agent', params: { agent: type }, search: { cwd }, label }))} />
      <Loaded what="The setup" query={{ data: setup, error: query.error, refetch: query.refetch }} />
      <div className="grid gap-8">
        {setup && <Connect key={agent} agent={agent} setup={setup} />}
        {setup && <MachineSetup setup={setup} />}
        {query.error && cwd !== undefined && (
          <p>
            <Link to="/settings/agents/$agent" params={{ agent }} search={{}} className="link">
              Reset the folder
            </Link>
          </p>
        )}
      </div>
    </>
  );
}

type Setup = ActionResult<'setup.agents'>;

function Connect({ agent, setup }: { agent: AgentType; setup: Setup }) {
  const [created, setCreated] = useState<ActionResult<'tokens.create'>>();
  const connected = useConnectedAgents();
  const name = nameOf(agent);
  const client = setup.clients.find((each) => each.client === agent);
  if (!client) return null;
  const filled = (text: string): string => (created ? text.replaceAll(setup.placeholder, created.token) : text);
  return (
    <>
      <Section title={`Connect ${name}`}>
        <ConnectCommand agent={agent} />
        <ConnectionState agent={agent} lastCall={connected.get(agent)} />
      </Section>
      <Section title="Set up by hand">
        <h3 className="font-medium">1. Create a token</h3>
        <SetupToken agent={agent} created={created} onCreated={setCreated} />
        <h3 className="mt-2 font-medium">2. Add this server to {name}</h3>
        <p className="text-muted">{client.http.where}:</p>
        <CodeBlock label={`${name} over HTTP`} text={filled(client.http.text)} />
        {!created && (
          <p className="text-muted">
            Replace <code>{setup.placeholder}</code> with the token.
          </p>
        )}
        <details className="mt-2">
          <summary className="cursor-pointer py-1 font-medium">Use stdio instead, with the bridge covibe-mcp</summary>
          <div className="mt-2 grid gap-3">
            <RepositoryFolder setup={setup} />
            <p className="text-muted">
              {client.stdio.where}. The bridge reads the token from COVIBE_MCP_TOKEN in the environment of {name}, or from the setup of the companion. To
              install the bridge, run:
            </p>
            <CodeBlock label="Install the bridge" text={setup.install} />
            <CodeBlock label={`${name} by stdio`} text={client.stdio.text} />
          </div>
        </details>
      </Section>
    </>
  );
}

interface SetupTokenProps {
  agent: AgentType;
  created: ActionResult<'tokens.create'> | undefined;
  onCreated: (created: ActionResult<'tokens.create'> | undefined) => void;
}

/** Creates a token for the agent. The page keeps the token's value while it is open, because the configuration that people copy contains it. */
function SetupToken({ agent, created, onCreated }: SetupTokenProps) {
  const create = useAct('tokens.create');
  if (created) return <NewToken label={created.label} token={created.token} onDone={() => onCreated(undefined)} />;
  return (
    <>
      <p className="text-muted">The token is filled into the configuration below. It is not shown again after you leave this page.</p>
      {create.error && <Problem what="The token was not created." error={create.error} />}
      <ActButton look="primary" className="justify-self-start" pending={create.isPending} onClick={() => create.mutate({ agent }, { onSuccess: onCreated })}>
        Create token for {nameOf(agent)}
      </ActButton>
    </>
  );
}

/** Lets the person choose the folder of their repository. If the bridge were started in another folder, it would report the wrong repository or none. */
function RepositoryFolder({ setup: { cwd, cwd_known, repositories } }: { setup: Setup }) {
  const [, change] = usePageSearch('/settings/agents/$agent');
  const chosen = useRepository();
  const [text, setText] = useState(cwd_known ? cwd : '');
  // List the folders of the selected repository first.
  const ordered = [...repositories].sort((a, b) => Number(b.endsWith(`/${chosen}`)) - Number(a.endsWith(`/${chosen}`)));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void change({ cwd: text.trim() || undefined }, { replace: true });
  };
  return (
    <form onSubmit={submit} aria-label="Repository" className="flex flex-wrap items-end gap-2">
      <div className="min-w-0 flex-1 basis-60">
        <TextField
          label="Folder of your repository"
          hint="absolute path on the agent’s machine"
          mono
          max={1_000}
          placeholder={cwd}
          choices={ordered}
          value={text}
          onChange={setText}
        />
      </div>
      <button type="submit" className="button" disabled={text.trim() === (cwd_known ? cwd : '')}>
        Use folder
      </button>
    </form>
  );
}

/** Shows how to install the companion, which sets up all agents on a machine. */
function MachineSetup({ setup: { install, block, watch } }: { setup: Setup }) {
  return (
    <Section title="Set up a whole machine">
      <p className="text-muted">
        Install the companion once. On another machine, first copy this server’s folder there and run <code>npm ci</code> in it:
      </p>
      <Command text={install} />
      <p className="text-muted">
        Then run setup in a repository on that machine. It finds the installed agents and shows a code. After you{' '}
        <Link to="/setup/authorize" className="link">
          approve the device
        </Link>
        , each agent gets its own token.
      </p>
      <SetupCommand />
      <p className="mt-2 text-muted">
        To use one token for all agents instead, paste this block into a terminal. It installs the companion, asks for the token without showing it, runs setup
        and checks the result. The token is not written to a file: start the agents with <code>COVIBE_MCP_TOKEN</code> set.
      </p>
      <CodeBlock label="Local setup" text={block} />
      <p className="mt-2 text-muted">Setup also installs a service that reports model usage. To report in the foreground instead, run:</p>
      <Command text={watch} />
    </Section>
  );
}
