import { ownerOf as developerOf } from '../../kernel/actor.ts';
import type { Captured, Row, Table } from './captured.ts';

type Store = { readonly captured: Pick<Captured, 'find'> };

const DEVELOPER = (row: Row) => row.developer_id;
const BY = (column: string) => (row: Row, of: Lookup) => of.actor(row[column]);

interface Lookup {
  actor(actor: unknown): unknown;
  row(table: Table, id: unknown): unknown;
}

/** For each table, how to find the owner of a row. If a table is not listed, its rows belong to the team. */
const OWNERS: Partial<Record<Table, (row: Row, of: Lookup) => unknown>> = {
  developers: ({ id }) => id,
  tokens: DEVELOPER,
  signin_links: DEVELOPER,
  page_tickets: ({ token_id }, of) => of.row('tokens', token_id),
  device_grants: DEVELOPER,
  client_runs: DEVELOPER,
  grants: ({ subject }, of) => {
    const [kind, id] = String(subject).split(/:(.*)/s);
    if (kind === 'developer') return id;
    return kind === 'token' ? of.row('tokens', id) : kind === 'instance' ? of.row('instances', id) : 'operator';
  },
  approvals: DEVELOPER,
  call_rounds: ({ token_id }, of) => of.row('tokens', token_id),
  role_sessions: BY('actor'),
  psk_failures: ({ token_id }, of) => of.row('tokens', token_id),
  instances: DEVELOPER,
  instance_relationships: ({ parent_instance }, of) => of.row('instances', parent_instance),
  review_feedback: ({ review_instance }, of) => of.row('instances', review_instance),
  overlap_items: ({ owner_id }) => owner_id,
  overlap_vectors: ({ item_id }, of) => of.row('overlap_items', item_id),
  file_marks: DEVELOPER,
  preflight_checks: DEVELOPER,
  overlap_warnings: DEVELOPER,
  scope_verdicts: DEVELOPER,
  tasks: DEVELOPER,
  workstreams: DEVELOPER,
  parallel_audits: DEVELOPER,
  agent_sessions: DEVELOPER,
  session_activity: ({ session_id }, of) => of.row('agent_sessions', session_id),
  machines: DEVELOPER,
  registered_repos: DEVELOPER,
  local_worktrees: DEVELOPER,
  repo_commits: ({ worktree_id }, of) => of.row('local_worktrees', worktree_id),
  session_contexts: DEVELOPER,
  claims: DEVELOPER,
  announcements: DEVELOPER,
  asks: ({ from_developer_id }) => from_developer_id,
  handoffs: ({ from_developer_id }) => from_developer_id,
  notes: DEVELOPER,
  agent_spans: DEVELOPER,
  agents: DEVELOPER,
  /** A task of a workflow belongs to the developer of the agent that holds it. If no agent holds it, it belongs to the team. */
  workflow_tasks: ({ assigned_agent_id }, of) => (assigned_agent_id === null ? null : of.row('agents', assigned_agent_id)),
  checkpoints: BY('actor'),
  worktrees: BY('actor'),
  workflow_templates: BY('actor'),
  messages: BY('actor'),
};

/** Returns the owner of a row: the id of a developer, `operator`, or null for the team. */
export function ownerOf(scene: Store, table: Table, row: Row): string | null {
  const of: Lookup = {
    actor: (actor) => {
      const name = String(actor);
      if (name === 'operator') return 'operator';
      return name.startsWith('instance:') ? of.row('instances', name.slice('instance:'.length)) : developerOf(name);
    },
    row: (inner, id) => {
      const found = scene.captured.find(inner, id);
      return found ? ownerOf(scene, inner, found) : null;
    },
  };
  return (OWNERS[table]?.(row, of) as string | null | undefined) ?? null;
}
