import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { rowsById, view } from '../../../storage/rows.ts';
import type { Viewer } from '../../core/identity/index.ts';
import { PLACES } from '../lookup/index.ts';
import { type agentsLanes, type ShownSpan, shownSpan } from './contract.ts';
import { type ActorFacts, actorOfSpan, type RosterFacts } from './gather.ts';
import { spansIn, type WorkSpan } from './spans.ts';
import { shortened } from './views.ts';

const MAX_LANES = 60;
const MAX_SPANS = 1_000;

export async function lanesOf(
  db: Db,
  workspace: string,
  { facts, events, agentActor }: RosterFacts,
  viewer: Viewer,
  { from, to }: { from: number; to: number },
): Promise<Output<typeof agentsLanes>> {
  const past = spansIn(events, from).filter((span) => span.to !== null);
  const all = [...past, ...[...facts.values()].flatMap(heldNow)].toSorted((a, b) => a.from - b.from);
  const kept = all.slice(-MAX_SPANS);
  const shown = await showSpans(db, workspace, kept);
  const lanes = new Map<string, Output<typeof agentsLanes>['lanes'][number]>();
  kept.forEach((span, index) => {
    const actor = actorOfSpan(span, agentActor);
    if (actor === undefined) return;
    const developerId = facts.get(actor)?.developerId;
    const ref = viewer.agent(actor, developerId);
    const lane = lanes.get(ref.name) ?? { ...ref, spans: [] };
    lanes.set(ref.name, lane);
    const each = shown[index] as ShownSpan;
    // The title of an instance is its branch, which may contain a person's name.
    const title = each.kind === 'instance' ? viewer.show(developerId, each.title) : each.title;
    lane.spans.push({ ...each, title, from: Math.max(from, each.from) });
  });
  const latest = [...lanes.values()].toSorted((a, b) => endOf(b) - endOf(a));
  return { from, to, lanes: latest.slice(0, MAX_LANES), cut: all.length > kept.length || latest.length > MAX_LANES };
}

const endOf = ({ spans }: { spans: readonly ShownSpan[] }): number => Math.max(...spans.map(({ to }) => to ?? Number.POSITIVE_INFINITY));

/** Returns the work that the actor holds now. It comes from the tables, because the events in memory may not include the start of the work. */
export function heldNow({ actor, steps, tasks, instance }: ActorFacts): WorkSpan[] {
  const open = { to: null, end: 'held', reason: null } as const;
  return [
    ...steps.map(({ id, name, assigned_agent_id, claimed_at }) => ({
      kind: 'step' as const,
      id,
      holder: { agentId: assigned_agent_id as string },
      title: name,
      from: claimed_at ?? 0,
      ...open,
    })),
    ...tasks.map(({ id, title, started_at, updated_at }) => ({ kind: 'task' as const, id, holder: { actor }, title, from: started_at ?? updated_at, ...open })),
    ...(instance && instance.ended_at === null
      ? [{ kind: 'instance' as const, id: instance.id, holder: { actor }, title: instance.branch_name, from: instance.created_at, ...open }]
      : []),
  ];
}

/** Adds the title and the dashboard page of the work to each span. */
export async function showSpans(db: Db, workspace: string, spans: readonly WorkSpan[]): Promise<ShownSpan[]> {
  const steps = spans.flatMap(({ kind, id }) => (kind === 'step' ? [id] : []));
  const rows = await rowsById(db, 'workflow_tasks', workspace, steps, ['name', 'workflow_id']);
  const pathOf = ({ kind, id }: WorkSpan): string | null => {
    if (kind !== 'step') return PLACES[kind](id, '');
    const workflow = rows.get(id)?.workflow_id;
    return workflow === undefined ? null : PLACES['workflow task'](id, workflow);
  };
  return spans.map((each) => view(shownSpan, each, { title: shortened(rows.get(each.id)?.name ?? each.title ?? each.id), path: pathOf(each) }));
}
