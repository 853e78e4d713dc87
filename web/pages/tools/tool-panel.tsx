import { Link } from '@tanstack/react-router';
import type { Result } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Revealed } from '../../parts/revealed.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { TOOL_TONES } from './catalogue-columns.tsx';
import { milliseconds } from './duration.ts';
import { GrantLink } from './grant-link.tsx';
import { Written } from './written.tsx';

/** One tool as agents are offered it. */
export function ToolPanel({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, refetch } = useRead('tools.show', { name });
  return (
    <SidePanel title={name} onClose={onClose}>
      {error && <Problem what="The tool could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && <Shown tool={data} />}
    </SidePanel>
  );
}

const YOU = { open: 'yes, it needs no grant', yes: 'yes', no: 'no' };

function Shown({ tool }: { tool: Result<'tools.show'> }) {
  const { name, title, server, state, toolset, you, tokens, calls_24h, errors_24h, p95_ms, description } = tool;
  return (
    <>
      <Facts>
        <Fact name="State">
          <State tone={TOOL_TONES[state]}>{state}</State>
        </Fact>
        <Fact name="Server">
          {server === 'native' ? (
            'native: part of Covenant'
          ) : (
            <Link to="/tools/servers" search={{ server }} className="link">
              <Said text={server} />
            </Link>
          )}
        </Fact>
        {title !== '' && title !== name && (
          <Fact name="Title">
            <Said text={title} />
          </Fact>
        )}
        <Fact name="Toolset">{toolset}</Fact>
        <Fact name="You may call it">{YOU[you]}</Fact>
        <Fact name="Definition">{tokens === null ? null : `${counted(tokens, 'token')} of an agent’s context`}</Fact>
        <Fact name="Last 24 h">{`${counted(calls_24h, 'call')}, ${counted(errors_24h, 'error')}`}</Fact>
        <Fact name="p95">{p95_ms === null ? null : milliseconds(p95_ms)}</Fact>
      </Facts>
      {state === 'withheld' ? (
        <p>
          Its definition is shown where it is approved:{' '}
          <Link to="/tools/changes" className="link">
            Changes
          </Link>
        </p>
      ) : (
        <>
          <div className="grid gap-1">
            <h3 className="text-muted">Description</h3>
            <p className="whitespace-pre-wrap">{description === '' ? '—' : <Revealed text={description} />}</p>
          </div>
          <Schema title="Input" schema={tool.inputSchema} />
          {tool.outputSchema && <Schema title="Output" schema={tool.outputSchema} />}
          {Object.keys(tool.annotations).length > 0 && <Schema title="Annotations, as its server says" schema={tool.annotations} />}
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <GrantLink action={`tool.call.${name}`} />
        <Link to="/tools/matrix" search={{ q: name }} className="button">
          Who may call it
        </Link>
      </div>
      <CliCommand words={`capabilities explain ${name}`} />
    </>
  );
}

function Schema({ title, schema }: { title: string; schema: Record<string, unknown> }) {
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">{title}</h3>
      <Written label={title} text={JSON.stringify(schema, null, 2)} />
    </div>
  );
}
