import { useState } from 'react';
import type { ActionResult } from '../../api.ts';
import { FILLS, PanelPart, Problem, Scrolled, type Tone } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';

type Preview = ActionResult<'workflows.context'>;
type SectionName = Preview['sections'][number]['name'];

const BUDGETS = [2_000, 8_000, 32_000] as const;
const SECTIONS: Record<SectionName, { label: string; tone: Tone }> = {
  workflow: { label: 'Workflow', tone: 'you' },
  current: { label: 'This task', tone: 'live' },
  prior: { label: 'Earlier tasks', tone: 'good' },
  related: { label: 'Related tasks', tone: 'wait' },
};

/** Shows the context that an agent would receive if it claimed the task now. It is loaded only on request, because the server needs some time to build it. */
export function ContextPreview({ task }: { task: string }) {
  const [max, setMax] = useState<number>();
  return (
    <PanelPart title="Context preview" about="what an agent receives">
      <div className="flex flex-wrap gap-2">
        {BUDGETS.map((budget) => (
          <button
            key={budget}
            type="button"
            className={`button ${max === budget ? 'border-live text-live' : ''}`}
            aria-pressed={max === budget}
            onClick={() => setMax(budget)}
          >
            {budget.toLocaleString()} tokens
          </button>
        ))}
      </div>
      {max !== undefined && <Preview key={max} task={task} max={max} />}
    </PanelPart>
  );
}

function Preview({ task, max }: { task: string; max: number }) {
  const { data, error, refetch } = useRead('workflows.context', { task_id: task, max_tokens: max });
  if (error) return <Problem what="The context could not be built." error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  return (
    <div className="grid gap-2">
      <Shares preview={data} />
      <Cut omitted={data.omitted} />
      <details>
        <summary className="cursor-pointer text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">Full context</summary>
        <Scrolled label="Full context" className="mono mt-1 max-h-96 rounded border border-line p-2">
          <UntrustedText text={JSON.stringify(data.pack, null, 2)} />
        </Scrolled>
      </details>
    </div>
  );
}

/** Draws the token budget as a bar. Each section has a part of the bar, which is filled as far as the section uses its share. */
function Shares({ preview: { sections, tokens, max_tokens } }: { preview: Preview }) {
  return (
    <>
      <div aria-hidden="true" className="flex h-3 gap-0.5 overflow-hidden rounded">
        {sections.map(({ name, share, tokens: used }) => (
          <span key={name} className="overflow-hidden bg-quiet-tint" style={{ width: `${share}%` }}>
            <span
              className={`block h-full ${FILLS[SECTIONS[name].tone]}`}
              style={{ width: `${Math.min(100, (100 * used) / Math.max(1, (share / 100) * max_tokens)).toFixed(1)}%` }}
            />
          </span>
        ))}
      </div>
      <table aria-label="Tokens by section" className="w-full text-left">
        <thead>
          <tr className="text-label text-muted">
            {['Section', 'Share', 'Tokens used'].map((head) => (
              <th key={head} scope="col" className="font-medium last:text-right">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sections.map(({ name, share, tokens: used }) => (
            <tr key={name}>
              <td>
                <span aria-hidden="true" className={`mr-1.5 inline-block size-2.5 rounded-xs ${FILLS[SECTIONS[name].tone]}`} />
                {SECTIONS[name].label}
              </td>
              <td>{share} %</td>
              <td className="text-right">{used.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className="font-medium">
            <td colSpan={2}>Total</td>
            <td className="text-right">{`${tokens.toLocaleString()} of ${max_tokens.toLocaleString()}`}</td>
          </tr>
        </tfoot>
      </table>
    </>
  );
}

function Cut({ omitted }: { omitted: Preview['omitted'] }) {
  if (omitted.length === 0) return <p className="text-muted">Complete: nothing was cut.</p>;
  return (
    <div>
      <p className="font-medium">Cut to fit:</p>
      <ul className="list-disc pl-5">
        {omitted.map(({ section, count, reason }) => (
          <li key={`${section} ${reason}`}>
            {section.replaceAll('_', ' ')}: {count.toLocaleString()} ({reason})
          </li>
        ))}
      </ul>
      <p className="text-muted">{counted(omitted.length, 'part')} cut. Agents read the rest with task_get and checkpoint_list.</p>
    </div>
  );
}
