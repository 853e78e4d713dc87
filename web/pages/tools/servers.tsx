import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ActionResult, ExternalServer } from '../../api.ts';
import { ActButton, ConfirmAction } from '../../parts/actions.tsx';
import { CliCommand, CodeBlock } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, Notice, PanelList, Problem, Section, State, type Tone } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { wholeList } from '../../parts/paging.ts';
import { Written } from '../../parts/revealed.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, milliseconds, Time, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { useServers } from './tools.tsx';
import { ForOperator, useRights } from './viewer-rights.tsx';

const SNIPPET = `[[mcp.server]]
name    = "filesystem"
command = "npx"
args    = ["-y", "@modelcontextprotocol/server-filesystem", "$HOME"]`;

/** The page that lists the external MCP servers whose tools this server offers. */
export function Servers() {
  const [{ server: opened }, change] = usePageSearch('/tools/servers');
  const rights = useRights();
  const query = useServers(rights);
  const { data } = query;
  const usage = useRead('tools.usage', {}).data;
  const columns = useMemo(() => serverColumns(usage?.items ?? []), [usage]);
  if (rights === 'member' || rights === 'elsewhere') return <ForOperator title="Servers" rights={rights} />;
  return (
    <>
      <title>Servers · Covenant</title>
      <div className="grid gap-6">
        {data && data.problems.length > 0 && <FileProblems problems={data.problems} />}
        <section aria-label="Servers" className="panel">
          <DataList noun="servers" label="Servers" list={wholeList(query)} columns={columns} rowKey={({ name }) => name} empty={<NoServers />} />
        </section>
        {data && data.unconfigured.length > 0 && <Unconfigured servers={data.unconfigured} />}
      </div>
      {opened && data && (
        <ReadPanel
          key={opened}
          what="The server"
          title={opened}
          query={query}
          value={data.items.find(({ name }) => name === opened)}
          missing={<p>No server with this name in secrets.toml.</p>}
          onClose={() => void change({ server: undefined })}
        >
          {(server) => <ServerDetails server={server} usage={usage?.items} />}
        </ReadPanel>
      )}
    </>
  );
}

function FileProblems({ problems }: { problems: ActionResult<'servers.list'>['problems'] }) {
  return (
    <Notice tone="wait">
      <p className="font-semibold">secrets.toml has errors. The affected entries are skipped.</p>
      <ul className="mt-1 grid gap-1">
        {problems.map(({ line, server, message }) => (
          <li key={`${line} ${server} ${message}`}>
            <code>{line === null ? 'secrets.toml' : `secrets.toml:${line}`}</code> {server !== null && <UntrustedText text={`${server}: `} />}
            <UntrustedText text={message} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function NoServers() {
  return (
    <EmptyState>
      <p>No external servers. Add an entry to ~/.covenant/secrets.toml (mode 0600). The server starts when you save the file:</p>
      <div className="w-full text-left text-text">
        <CodeBlock label="secrets.toml entry" text={SNIPPET} />
      </div>
      <p>Then check its state:</p>
      <CliCommand words="servers list" />
    </EmptyState>
  );
}

/** Lists servers that were removed from secrets.toml. Their tool names stay reserved, because another server with the same names would get their grants too. */
function Unconfigured({ servers }: { servers: readonly string[] }) {
  return (
    <Section title="Removed servers" about="Their tool names stay reserved until you forget the server.">
      <PanelList items={servers} empty={null}>
        {(server) => (
          <li key={server} className="flex flex-wrap items-center gap-3 px-3 py-2">
            <UntrustedText text={server} className="min-w-0 flex-1 font-medium" />
            <ConfirmAction
              button="Forget"
              name={`Forget ${server}`}
              needs="operator"
              title={`Forget ${server}?`}
              act="Forget server"
              typed={server}
              action="servers.forget"
              input={{ server }}
              failed="Could not forget the server."
              command={`servers forget ${server}`}
              toast={`Forgot ${server}.`}
            >
              <p>
                Its approvals are deleted and its tool names become free. Grants for these names stay and will apply to any server that uses the names next.
              </p>
            </ConfirmAction>
          </li>
        )}
      </PanelList>
    </Section>
  );
}

const TONES: Record<ExternalServer['state'], Tone> = {
  up: 'good',
  idle: 'quiet',
  starting: 'wait',
  down: 'bad',
  stopped: 'quiet',
  disabled: 'quiet',
};

type ServerUsage = ActionResult<'tools.usage'>['items'];

const serverColumns = (usage: ServerUsage): readonly Column<ExternalServer>[] => [
  {
    label: 'Name',
    role: 'title',
    width: 'sm:w-[20%]',
    cell: ({ name }) => (
      <SearchLink set={{ server: name }} className="font-medium hover:underline">
        <UntrustedText text={name} brief />
      </SearchLink>
    ),
  },
  { label: 'State', role: 'state', width: 'sm:w-26 lg:w-34', cell: ({ state }) => <State tone={TONES[state]}>{state}</State> },
  { label: 'Transport', role: 'meta', from: 'lg', width: 'lg:w-24', cell: ({ transport }) => transport },
  {
    label: 'Tools',
    width: 'sm:w-40 lg:w-44',
    cell: ({ tools, withheld }) => (
      <>
        {counted(tools, 'tool')}
        {withheld.length > 0 && <span className="text-you">, {withheld.length} withheld</span>}
      </>
    ),
  },
  { label: 'Restarts', role: 'none', from: 'lg', width: 'lg:w-24', cell: ({ restarts }) => restarts },
  { label: 'p95', role: 'meta', width: 'sm:w-18 lg:w-24', prefix: 'p95', cell: ({ name }) => p95Of(usage, name) },
  {
    label: 'Last error',
    role: 'wide',
    cell: ({ problem }) =>
      problem === null ? <span className="max-sm:hidden">—</span> : <span className="text-bad">{<UntrustedText text={problem} brief />}</span>,
  },
];

function p95Of(usage: ServerUsage | undefined, server: string): string {
  const p95 = usage?.find((each) => each.server === server)?.p95_ms ?? null;
  return p95 === null ? '—' : milliseconds(p95);
}

function ServerDetails({ server, usage }: { server: ExternalServer; usage: ServerUsage | undefined }) {
  const day = usage?.find((each) => each.server === server.name);
  const { server_info } = server;
  return (
    <>
      {server.problem !== null && (
        <Notice tone="bad">
          <UntrustedText text={server.problem} />
          {server.next_start_at !== null && <p>It restarts automatically.</p>}
        </Notice>
      )}
      {server.withheld.length > 0 && (
        <Notice tone="you">
          {counted(server.withheld.length, 'definition')} withheld.{' '}
          <Link to="/tools/changes" className="underline underline-offset-2">
            Review changes
          </Link>
        </Notice>
      )}
      <Facts
        facts={{
          State: <State tone={TONES[server.state]}>{server.state}</State>,
          Since: server.since && <Time at={server.since} />,
          Restarts: counted(server.restarts, 'restart'),
          Transport: server.transport,
          Target: <UntrustedText text={server.target} className="mono" />,
          Process: server.pid,
          'Server name': server_info?.name ? <UntrustedText text={[server_info.name, server_info.version].filter(Boolean).join(' ')} /> : null,
          Protocol: server.protocol_version,
          Offers: `${counted(server.tools, 'tool')}, ${counted(server.prompts, 'prompt')}, ${counted(server.resources, 'resource')}`,
          'Last 24 h': day ? `${counted(day.calls_24h, 'call')}, ${counted(day.errors_24h, 'error')}` : null,
          p95: p95Of(usage, server.name),
          Workspaces: server.workspaces.includes('*') ? 'all' : server.workspaces.join(', '),
          Entry: `secrets.toml:${server.line}`,
        }}
      />
      <div className="flex flex-wrap gap-2">
        <RestartServer server={server} />
        <Link to="/tools" search={{ server: server.name }} className="button">
          Show tools
        </Link>
      </div>
      <Log server={server.name} />
    </>
  );
}

/** The button that restarts a server. If the server is up, a dialog asks for confirmation, because calls may be in progress. */
function RestartServer({ server: { name, state, tools } }: { server: ExternalServer }) {
  const restart = useAct('servers.restart');
  const say = useToast();
  const [problem, setProblem] = useState<string | null>(null);
  const done = (result: ActionResult<'servers.restart'>): void => {
    setProblem(result.problem);
    if (result.problem === null) say(`${name} was restarted and is ${result.state}.`);
  };
  return (
    <>
      {state === 'up' ? (
        <ConfirmAction
          button="Restart"
          look="plain"
          needs="operator"
          title={`Restart ${name}?`}
          act="Restart"
          action="servers.restart"
          input={{ server: name }}
          failed={`${name} was not restarted.`}
          command={`servers restart ${name}`}
          onDone={done}
        >
          <p>
            Calls in progress fail. {counted(tools, 'tool')} {tools === 1 ? 'is' : 'are'} unavailable until the server is up again. secrets.toml is read again.
          </p>
        </ConfirmAction>
      ) : (
        <ActButton
          needs="operator"
          pending={restart.isPending}
          disabled={state === 'disabled'}
          onClick={() => restart.mutate({ server: name }, { onSuccess: done })}
        >
          Restart
        </ActButton>
      )}
      {restart.error && <Problem what={`${name} was not restarted.`} error={restart.error} />}
      {problem !== null && <Notice tone="bad">{problem}</Notice>}
    </>
  );
}

const LOG_POLL_MS = 5_000;

/** Shows the log of a server. It is polled while it is visible, because no event reports a new line. */
function Log({ server }: { server: string }) {
  const query = useRead('servers.logs', { server, lines: 200 }, { pollMs: LOG_POLL_MS });
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">Log (stderr)</h3>
      <Loaded what="The log" query={query}>
        {({ lines }) => (lines.length === 0 ? <p className="text-muted">Empty.</p> : <Written label={`Log of ${server}`} text={lines.join('\n')} />)}
      </Loaded>
      <CliCommand words={`servers logs ${server}`} />
    </div>
  );
}
