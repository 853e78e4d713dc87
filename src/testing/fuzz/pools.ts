import fc from 'fast-check';
import type { Row, Table } from './captured.ts';
import { ownerOf } from './owners.ts';
import { Pick, type Whose } from './pick.ts';
import { type Caller, ELSEWHERE, type FuzzScene, REPOSITORY } from './scene.ts';
import type { Hint } from './schema.ts';
import type { Target } from './targets.ts';

/** For each pool, the table and the column that its values come from. */
const COLUMNS: Readonly<Record<string, readonly [Table, string]>> = {
  names: ['developers', 'name'],
  codes: ['device_grants', 'user_code'],
  threads: ['messages', 'thread_id'],
  actors: ['tokens', 'actor'],
  seqs: ['events', 'seq'],
  step_names: ['workflow_tasks', 'name'],
};

const FIELDS: Readonly<Record<string, string>> = {
  task_id: 'tasks',
  task_ids: 'tasks',
  planned_task_id: 'tasks',
  workstream_id: 'workstreams',
  planned_workstream_id: 'workstreams',
  check_id: 'preflight_checks',
  warning_id: 'overlap_warnings',
  subject_id: 'tasks',
  session_id: 'agent_sessions',
  session: 'agent_sessions',
  claim_id: 'claims',
  claim_ids: 'claims',
  ask_id: 'asks',
  handoff_id: 'handoffs',
  context_id: 'session_contexts',
  to: 'names',
  developer: 'names',
  owner: 'names',
  agent_id: 'agents',
  sender_id: 'agents',
  recipient_id: 'agents',
  workflow_id: 'workflows',
  from_workflow_id: 'workflows',
  current_task_id: 'workflow_tasks',
  template_id: 'workflow_templates',
  workspace_id: 'worktrees',
  message_ids: 'messages',
  reply_to_id: 'messages',
  question_id: 'messages',
  thread_id: 'threads',
  depends_on: 'step_names',
  blocks: 'step_names',
  instance_id: 'instances',
  instance_ids: 'instances',
  instance: 'instances',
  approval_id: 'approvals',
  token_id: 'tokens',
  token: 'tokens',
  device_id: 'device_grants',
  code: 'codes',
  grant_id: 'grants',
};

/** Returns the pool for a field. This depends on the target, because the same field name has different meanings in some targets. */
function poolOf({ noun, name, contract: { toolset } }: Target, field: string): string | undefined {
  const [area = ''] = name.split(noun === 'tool' ? '_' : '.');
  if (field === 'id') {
    const own = {
      agent: 'agents',
      task: 'workflow_tasks',
      workflow: 'workflows',
      message: 'messages',
      messages: 'messages',
      workspace: 'worktrees',
      cycles: 'cycles',
    };
    return own[area as keyof typeof own];
  }
  if (field === 'task_id' || field === 'task_ids') return toolset === 'workflow' || area === 'workflows' ? 'workflow_tasks' : 'tasks';
  if (field === 'agent_id' && noun === 'action') return 'actors';
  if (name === 'cycles.close_session') return 'role_sessions';
  if (name === 'messages.broadcast' && field === 'to') return undefined;
  // In these targets, `depends_on` refers to tasks in the same plan, so a recipe fills it in.
  if (['workflow_set_plan', 'template_create'].includes(name) && field === 'depends_on') return undefined;
  return FIELDS[field];
}

const pick = (pool: string): fc.Arbitrary<Pick> => {
  const whose = fc.oneof(
    { weight: 12, arbitrary: fc.constant<Whose>('mine') },
    { weight: 5, arbitrary: fc.constant<Whose>('any') },
    { weight: 2, arbitrary: fc.constantFrom<Whose>('others', 'elsewhere', 'invented') },
  );
  return fc.tuple(whose, fc.nat(1_000)).map(([of, n]) => new Pick(pool, of, n));
};

const some = (...values: unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(...values);
const PATHS = some('src/a.ts', 'src/b.ts', 'src/deep/c.ts', 'docs/é.md', 'a b.txt');

/** Values that are neither ids nor free text. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  repository_path: some(REPOSITORY, '/srv/other'),
  repo: some('acme/app', 'https://github.com/acme/app.git', 'other'),
  repository: some('app', 'acme/app'),
  paths: some('src/a.ts', 'src/**', 'docs/*.md', 'x'),
  symbols: some('src/a.ts#parse', 'parseDate'),
  target_files: PATHS,
  files_touched: PATHS,
  files_likely_affected: PATHS,
  files_changed: PATHS,
  files_to_modify: PATHS,
  files_to_create: PATHS,
  dirty_files: PATHS,
  unpushed_files: PATHS,
  path: some('src/a.ts'),
  workspace_path: some('/srv/agents/one'),
  folder: some('/srv/app', '/home/ana/app'),
  cwd: some('/srv/app'),
  branch: some('main', 'work/one'),
  base_branch: some('main'),
  base_url: some('http://127.0.0.1:4000', 'https://covenant.example'),
  role: some('coordinator', 'worker'),
  agent: some('tiny', 'codex', 'claude'),
  server: some('tools', 'native'),
  action: some('tool.call.echo', 'toolset.review', 'tool.call.clock', 'resource.read.tools'),
  name: some('echo', 'covibe_task', 'create_pr'),
  key: some('review.max_iterations', 'review.timeout_hours', 'hooks.fail_closed'),
  turned: some('g1', 'done'),
  before: some('01JGFJJZ000000000000000000'),
  // If this were true, calls would wait for a decision, and nobody would make it.
  approve: some(false),
  merge_commit: some('b'.repeat(40)),
  assignees: some('octocat'),
  model: some('gpt-5', 'claude-opus-5*', 'gpt-5*'),
};

/** Fields for which the schema is sufficient. The values above would be wrong for them. */
const LEFT = new Set([
  'covibe_task.action',
  'messages.threads.before',
  'events.list.before',
  'cycles.handoffs.before',
  'workflows.checkpoints.before',
  'tokens.create.agent',
]);

export function hintFor(target: Target): Hint {
  const properties = (target.schema.properties ?? {}) as Record<string, { enum?: unknown }>;
  return (field) => {
    const schema = properties[field];
    if (schema?.enum || LEFT.has(`${target.label}.${field}`)) return undefined;
    const pool = poolOf(target, field);
    if (pool) return pick(pool);
    if (field === 'name' && !['tools.show', 'capabilities.explain'].includes(target.name)) return undefined;
    if (field === 'before' && !['claims.list', 'overlap.list'].includes(target.name)) return undefined;
    if (field === 'action' && !target.name.startsWith('capabilities.')) return undefined;
    if (field === 'path' && ['repository_register', 'repository_get', 'workspace_create'].includes(target.name)) return some(REPOSITORY, '/srv/other');
    return VALUES[field];
  };
}

const INVENTED = ['task_01JGFJJZ000000000000000000', 'x', 'nobody', 'dev_0', '%', 'human'];

/** Returns a value for the placeholder, as this caller could send it. */
export function meant(scene: FuzzScene, caller: Caller, { pool, whose, n }: Pick): unknown {
  const invented = INVENTED[n % INVENTED.length];
  const [table, column] = COLUMNS[pool] ?? [pool as Table, 'id'];
  const { workspace, developerId } = caller.principal;
  const far = workspace === ELSEWHERE ? 'ws_default' : ELSEWHERE;
  const fits: Record<Whose, (row: Row) => boolean> = {
    mine: (row) => row.workspace_id === workspace && (developerId === null || [developerId, null].includes(ownerOf(scene, table, row))),
    any: (row) => row.workspace_id === workspace || !row.workspace_id,
    others: (row) => row.workspace_id === workspace && ownerOf(scene, table, row) !== developerId,
    elsewhere: (row) => row.workspace_id === far,
    invented: () => false,
  };
  const found = scene.captured.rows(table).filter(fits[whose]);
  // Choose among the newest rows, because they are most likely to be usable.
  const row = found.at(-1 - (n % Math.min(found.length, 12)));
  return row ? (named(row, column) ?? invented) : invented;
}

function named(row: Row, column: string): unknown {
  if (column !== 'actor') return row[column];
  return row.agent_type ? `${row.agent_type}@${row.developer_id}` : row.developer_id;
}
