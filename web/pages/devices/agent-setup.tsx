import { getRouteApi, Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { ActionResult } from '../../api.ts';
import { useLastValue } from '../../live/stable-rows.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand, CodeBlock, Command, SetupCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Notice, Problem, Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { Time, UntrustedText } from '../../parts/values.tsx';
import { Views } from '../../parts/views.tsx';
import { useAct, useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { AGENTS, type AgentType, agentOf, nameOf } from '../identity/agent.ts';
import { NewToken } from '../identity/new-token.tsx';

const route = getRouteApi('/settings/agents/$agent');

/** How to connect an agent to this server. */
export function AgentSetup() {
  const { agent: named } = route.useParams();
  const { cwd } = route.useSearch();
  const agent = agentOf(named) ?? 'claude-code';
  const query = useRead('setup.agents', { base_url: location.origin, cwd });
  // A token that was just made must not go while another folder is looked at.
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
              Start again without that folder
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
            <RepositoryFolder setup={setup} />
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

interface SetupTokenProps {
  agent: AgentType;
  created: ActionResult<'tokens.create'> | undefined;
  onCreated: (created: ActionResult<'tokens.create'> | undefined) => void;
}

/** The token's value is kept while this page is open, because the text to paste contains it. */
function SetupToken({ agent, created, onCreated }: SetupTokenProps) {
  const create = useAct('tokens.create');
  if (created) return <NewToken label={created.label} token={created.token} onDone={() => onCreated(undefined)} />;
  return (
    <>
      <p className="text-muted">
        A token of its own, typed for {nameOf(agent)}: it stands in what you copy below, and is not shown again once you leave this page.
      </p>
      {create.error && <Problem what="No token was created." error={create.error} />}
      <ActButton look="primary" className="justify-self-start" pending={create.isPending} onClick={() => create.mutate({ agent }, { onSuccess: onCreated })}>
        Create a token for {nameOf(agent)}
      </ActButton>
    </>
  );
}

/** A bridge started anywhere else would report another repository, or none. */
function RepositoryFolder({ setup: { cwd, cwd_known, repositories } }: { setup: Setup }) {
  const [, change] = usePageSearch('/settings/agents/$agent');
  const chosen = useRepository();
  const [text, setText] = useState(cwd_known ? cwd : '');
  // Folders of the selected repository come first.
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
          hint="absolute, on the machine of the agent"
          mono
          max={1_000}
          placeholder={cwd}
          choices={ordered}
          value={text}
          onChange={setText}
        />
      </div>
      <button type="submit" className="button" disabled={text.trim() === (cwd_known ? cwd : '')}>
        Use this folder
      </button>
    </form>
  );
}

/** The first use of a token appends no event. */
const POLL_MS = 2_000;
const LATEST = 200;

/** Whether the agent has called: with the token that was just made, or else with any of its kind. */
function FirstCall({ agent, tokenId }: { agent: AgentType; tokenId: string | undefined }) {
  const input = tokenId === undefined ? { own: true, status: 'live' as const, limit: LATEST } : { token_id: tokenId };
  const tokens = useRead('tokens.list', input, { pollMs: POLL_MS }).data?.items ?? [];
  const own = tokens.filter((token) => token.agent === agent);
  const last = own.reduce<(typeof own)[number] | undefined>((best, token) => ((token.last_used_at ?? 0) > (best?.last_used_at ?? 0) ? token : best), undefined);
  const name = nameOf(agent);
  if (last?.last_used_at) {
    return (
      <Notice tone="good" role="status">
        {tokenId === undefined ? 'It has called' : 'First call received'}: <UntrustedText text={last.label} />, <Time at={last.last_used_at} />.{' '}
        <Link to="/activity" className="underline underline-offset-2">
          See what it does
        </Link>
      </Notice>
    );
  }
  return (
    <Notice tone={tokenId === undefined ? 'quiet' : 'wait'} role="status">
      {tokenId === undefined && own.length === 0
        ? `${name} has no token of yours yet.`
        : `Waiting for the first call. Start ${name} anew, so that it reads its settings, and ask it for the state of the team.`}
    </Notice>
  );
}

/** All agents of a machine at once, by the companion. */
function MachineSetup({ setup: { install, block, watch } }: { setup: Setup }) {
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
