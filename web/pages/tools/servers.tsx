import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { ForOperator, useRights } from './for-operator.tsx';
import { ForgetServer } from './forget-server.tsx';
import { useServers } from './read-servers.ts';
import { serverColumns } from './server-columns.tsx';
import { ServerPanel } from './server-panel.tsx';

const route = getRouteApi('/tools/servers');

const SNIPPET = `[[mcp.server]]
name    = "filesystem"
command = "npx"
args    = ["-y", "@modelcontextprotocol/server-filesystem", "$HOME"]`;

/** The other MCP servers whose tools are offered here. */
export function Servers() {
  const { server: opened } = route.useSearch();
  const navigate = useNavigate();
  const rights = useRights();
  const { data, error, refetch } = useServers(rights);
  const usage = useRead('tools.usage', {}).data;
  const columns = useMemo(() => serverColumns(usage?.items ?? []), [usage]);
  const close = (): void => void navigate({ to: '/tools/servers', resetScroll: false });
  if (rights === 'member' || rights === 'elsewhere') return <ForOperator title="Servers" rights={rights} />;
  return (
    <>
      <title>Servers · Covenant</title>
      <div className="grid gap-6">
        {data && data.problems.length > 0 && <FileProblems problems={data.problems} />}
        <section aria-label="Servers" className="panel">
          {error && <Problem what="The servers could not be read." error={error} onRetry={() => void refetch()} />}
          {!data && !error && <TableSkeleton />}
          {data?.items.length === 0 && <NoServers />}
          {data && data.items.length > 0 && <Table label="Servers" columns={columns} rows={data.items} rowKey={({ name }) => name} />}
        </section>
        {data && data.unconfigured.length > 0 && <Unconfigured servers={data.unconfigured} />}
      </div>
      {opened && data && (
        <ServerPanel key={opened} name={opened} server={data.items.find(({ name }) => name === opened)} usage={usage?.items} onClose={close} />
      )}
    </>
  );
}

function FileProblems({ problems }: { problems: Result<'servers.list'>['problems'] }) {
  return (
    <Notice tone="wait">
      <p className="font-semibold">secrets.toml has faults; what they concern is skipped.</p>
      <ul className="mt-1 grid gap-1">
        {problems.map(({ line, server, message }) => (
          <li key={`${line} ${server} ${message}`}>
            <code>{line === null ? 'secrets.toml' : `secrets.toml:${line}`}</code> {server !== null && <Said text={`${server}: `} />}
            <Said text={message} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function NoServers() {
  return (
    <Nothing>
      <p>There is no external server. Write one into ~/.covenant/secrets.toml (mode 0600); it is started as soon as the file is saved:</p>
      <div className="w-full text-left text-text">
        <CodeBlock label="an entry of secrets.toml" text={SNIPPET} />
      </div>
      <p>Then look at it:</p>
      <CliCommand words="servers list" />
    </Nothing>
  );
}

/** They keep the names of their tools, so that no other server takes them over with the grants that were given for them. */
function Unconfigured({ servers }: { servers: readonly string[] }) {
  const [forgetting, setForgetting] = useState<string>();
  return (
    <Section title="In the file no more" about="They keep the names of their tools until they are forgotten.">
      <ul className="panel divide-y divide-line">
        {servers.map((server) => (
          <li key={server} className="flex flex-wrap items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1 font-medium">
              <Said text={server} />
            </span>
            <ActButton needs="operator" look="bad" aria-label={`Forget ${server}`} onClick={() => setForgetting(server)}>
              Forget
            </ActButton>
          </li>
        ))}
      </ul>
      {forgetting && <ForgetServer server={forgetting} onClose={() => setForgetting(undefined)} />}
    </Section>
  );
}
