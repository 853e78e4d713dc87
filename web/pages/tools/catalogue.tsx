import { Link } from '@tanstack/react-router';
import { type ActionInput, type ActionResult, type CatalogueTool, call } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, Section, State, type Tone } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { Revealed, Written } from '../../parts/revealed.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted, milliseconds, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { GrantLink } from './access.tsx';
import { FilterText, ServerFilter } from './filters.tsx';
import { MayCall } from './may-call.tsx';

const PAGE = 200;
const STATES = [
  ['up', 'Up'],
  ['starting', 'Starting'],
  ['down', 'Down'],
  ['withheld', 'Withheld'],
] as const;

/** The page that lists all tools. It shows how much of an agent's context each tool takes, and how often it was called in the last day. */
export function Catalogue() {
  const [{ q, server, state, who, can, tool: opened }, change] = usePageSearch('/tools/');
  const tools = useTools({ text: q, server, state });
  const total = tools.first?.total;
  return (
    <>
      <title>Tools · Covenant</title>
      <div className="grid gap-6">
        <MayCall who={who} can={can} onAsk={(question) => void change({ tool: undefined, ...question })} />
        <Section title="Catalogue" about={total !== undefined && counted(total, 'tool')}>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <FilterText label="Filter by name" value={q} onChange={(text) => void change({ q: text, tool: undefined })} />
            <ServerFilter chosen={server} onChoose={(choice) => void change({ server: choice, tool: undefined })} />
            <Filter label="State" otherwise="All" choices={STATES} chosen={state} onChoose={(choice) => void change({ state: choice, tool: undefined })} />
          </div>
          <div className="panel">
            <DataList
              noun="tools"
              what="The catalogue"
              label="Tools by name"
              list={tools}
              columns={COLUMNS}
              rowKey={({ name }) => name}
              empty={
                <EmptyState all={{ to: '/tools', label: 'Show all tools' }}>
                  <p>No tool matches the filter. To list all tools, run:</p>
                  <CliCommand words="tools list" />
                </EmptyState>
              }
            />
          </div>
        </Section>
      </div>
      {opened && <ToolPanel key={opened} name={opened} onClose={() => void change({ tool: undefined })} />}
    </>
  );
}

const useTools = (filter: Pick<ActionInput<'tools.page'>, 'text' | 'server' | 'state'>) =>
  usePages({
    key: ['tools.page', filter],
    read: (offset: number | undefined, limit, signal) => call('tools.page', { ...filter, limit, offset: offset ?? 0 }, signal),
    next: ({ total }, held) => (held < total ? held : undefined),
    sizes: [PAGE, PAGE],
  });

const TOOL_TONES: Record<CatalogueTool['state'], Tone> = { up: 'good', starting: 'wait', down: 'bad', withheld: 'you' };

/** Shows a number. In a card, which has no column headings, it also shows the unit. */
function Amount({ value, unit }: { value: number | null; unit: string }) {
  if (value === null) return '—';
  return (
    <>
      <span className="max-sm:hidden">{value.toLocaleString()}</span>
      <span className="sm:hidden">{counted(value, unit)}</span>
    </>
  );
}

const COLUMNS: readonly Column<CatalogueTool>[] = [
  {
    label: 'Tool',
    role: 'title',
    cell: ({ name }) => (
      <SearchLink set={{ tool: name }} className="mono font-medium hover:underline">
        <UntrustedText text={name} brief />
      </SearchLink>
    ),
  },
  { label: 'Server', width: 'sm:w-[16%]', cell: ({ server }) => <UntrustedText text={server} brief /> },
  { label: 'State', role: 'state', cell: ({ state }) => <State tone={TOOL_TONES[state]}>{state}</State> },
  { label: 'Tokens', role: 'meta', width: 'sm:w-18 lg:w-24', cell: ({ tokens }) => <Amount value={tokens} unit="token" /> },
  { label: 'Calls 24 h', role: 'meta', width: 'sm:w-22 lg:w-28', cell: ({ calls_24h }) => <Amount value={calls_24h} unit="call" /> },
  {
    label: 'Errors 24 h',
    width: 'sm:w-16 lg:w-24',
    cell: ({ errors_24h }) => (
      <span className={errors_24h > 0 ? 'font-medium text-bad' : 'text-muted'}>
        <Amount value={errors_24h} unit="error" />
      </span>
    ),
  },
];

/** The panel of a tool. It shows the tool's definition as agents receive it. */
function ToolPanel({ name, onClose }: { name: string; onClose: () => void }) {
  const query = useRead('tools.show', { name });
  return (
    <ReadPanel what="The tool" title={name} query={query} value={query.data} facts={factsOf} onClose={onClose}>
      {(tool) => <Definition tool={tool} />}
    </ReadPanel>
  );
}

const YOU = { open: 'yes (no grant needed)', yes: 'yes', no: 'no' };

const factsOf = ({ name, title, server, state, toolset, you, tokens, calls_24h, errors_24h, p95_ms }: ActionResult<'tools.show'>): FactValues => ({
  State: <State tone={TOOL_TONES[state]}>{state}</State>,
  Server:
    server === 'native' ? (
      'native (part of Covenant)'
    ) : (
      <Link to="/tools/servers" search={{ server }} className="link">
        <UntrustedText text={server} />
      </Link>
    ),
  Title: title !== '' && title !== name && <UntrustedText text={title} />,
  Toolset: toolset,
  'Your access': YOU[you],
  Definition: tokens === null ? null : `${counted(tokens, 'token')} of an agent’s context`,
  'Last 24 h': `${counted(calls_24h, 'call')}, ${counted(errors_24h, 'error')}`,
  p95: p95_ms === null ? null : milliseconds(p95_ms),
});

function Definition({ tool }: { tool: ActionResult<'tools.show'> }) {
  const { name, state, description } = tool;
  return (
    <>
      {state === 'withheld' ? (
        <p>
          Withheld. Review its definition in{' '}
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
          {Object.keys(tool.annotations).length > 0 && <Schema title="Annotations" schema={tool.annotations} />}
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <GrantLink action={`tool.call.${name}`} />
        <Link to="/tools/matrix" search={{ q: name }} className="button">
          Show access
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
