import { Link } from '@tanstack/react-router';
import type { ExternalServer } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { RestartServer } from './restart-server.tsx';
import { p95Of, SERVER_TONES, type ServerUsage } from './server-columns.tsx';
import { Written } from './written.tsx';

interface ServerPanelProps {
  name: string;
  /** Missing where the file has none of this name. */
  server: ExternalServer | undefined;
  usage: ServerUsage | undefined;
  onClose: () => void;
}

export function ServerPanel({ name, server, usage, onClose }: ServerPanelProps) {
  return (
    <SidePanel title={name} onClose={onClose}>
      {server ? <Shown server={server} usage={usage} /> : <p>There is no server of this name in secrets.toml.</p>}
    </SidePanel>
  );
}

function Shown({ server, usage }: { server: ExternalServer; usage: ServerUsage | undefined }) {
  const day = usage?.find((each) => each.server === server.name);
  const { server_info } = server;
  return (
    <>
      {server.problem !== null && (
        <Notice tone="bad">
          <Said text={server.problem} />
          {server.next_start_at !== null && <p>It is started again by itself.</p>}
        </Notice>
      )}
      {server.withheld.length > 0 && (
        <Notice tone="you">
          {counted(server.withheld.length, 'definition')} withheld.{' '}
          <Link to="/tools/changes" className="underline underline-offset-2">
            Look at what changed
          </Link>
        </Notice>
      )}
      <Facts>
        <Fact name="State">
          <State tone={SERVER_TONES[server.state]}>{server.state}</State>
        </Fact>
        <Fact name="Since">{server.since && <Time at={server.since} />}</Fact>
        <Fact name="Restarts">{counted(server.restarts, 'restart')}</Fact>
        <Fact name="Transport">{server.transport}</Fact>
        <Fact name="Reached at">
          <span className="mono">
            <Said text={server.target} />
          </span>
        </Fact>
        <Fact name="Process">{server.pid}</Fact>
        <Fact name="Calls itself">{server_info?.name && <Said text={[server_info.name, server_info.version].filter(Boolean).join(' ')} />}</Fact>
        <Fact name="Protocol">{server.protocol_version}</Fact>
        <Fact name="Offers">{`${counted(server.tools, 'tool')}, ${counted(server.prompts, 'prompt')}, ${counted(server.resources, 'resource')}`}</Fact>
        <Fact name="Last 24 h">{day && `${counted(day.calls_24h, 'call')}, ${counted(day.errors_24h, 'error')}`}</Fact>
        <Fact name="p95">{p95Of(usage, server.name)}</Fact>
        <Fact name="Workspaces">{server.workspaces.includes('*') ? 'every one' : server.workspaces.join(', ')}</Fact>
        <Fact name="Entry">{`secrets.toml:${server.line}`}</Fact>
      </Facts>
      <div className="flex flex-wrap gap-2">
        <RestartServer server={server} />
        <Link to="/tools" search={{ server: server.name }} className="button">
          Its tools
        </Link>
      </div>
      <Log server={server.name} />
    </>
  );
}

const EVERY_MS = 5_000;

/** No event tells that a server wrote something, so it is read again while it is looked at. */
function Log({ server }: { server: string }) {
  const { data, error, refetch } = useRead('servers.logs', { server, lines: 200 }, { everyMs: EVERY_MS });
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">What it wrote to its standard error</h3>
      {error && <Problem what="The log could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data?.lines.length === 0 && <p className="text-muted">Nothing.</p>}
      {data && data.lines.length > 0 && <Written label={`Log of ${server}`} text={data.lines.join('\n')} />}
      <CliCommand words={`servers logs ${server}`} />
    </div>
  );
}
