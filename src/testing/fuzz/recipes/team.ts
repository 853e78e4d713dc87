import type { CallerName } from '../scene.ts';
import { AGENTS, type Kitchen, other, type Recipe } from './kitchen.ts';

/** Returns the id of one of the caller's sessions, or sometimes undefined. */
async function session(at: Kitchen): Promise<string | undefined> {
  if (at.n % 3 === 0) return undefined;
  const open = at.mine('agent_sessions', (row) => row.ended_at === null && row.token_id === at.caller.tokenId);
  return open ? String(open.id) : (await at.first('covibe_session', { operation: 'start', agent_name: 'a' })).data.session_id;
}

async function task(at: Kitchen, status: 'active' | 'planned', by: CallerName = at.caller.name): Promise<string> {
  const { principal } = await at.scene.caller(by);
  const known = at.one('tasks', (row) => row.developer_id === principal.developerId && row.status === status);
  if (known) return String(known.id);
  const title = `${uncommon(at.n)} number ${at.scene.clock.now()}`;
  if (status === 'active') return await at.begun('covibe_task', title, by);
  return (await at.first('covibe_task', { operation: 'plan', title, task_type: 'chore' }, by)).data.task_id;
}

/** Returns words that do not occur in any other work, so that no verdict is needed. */
const uncommon = (n: number): string => `q${(n * 7_919).toString(36)}z x${(n * 104_729).toString(36)}y`;

async function workstream(at: Kitchen, status: 'active' | 'planned'): Promise<string> {
  const known = at.mine('workstreams', (row) => row.status === status && row.auto_created === 0);
  if (known) return String(known.id);
  const title = `${uncommon(at.n + 1)} stream ${at.scene.clock.now()}`;
  if (status === 'active') return await at.begun('covibe_workstream', title);
  return (await at.first('covibe_workstream', { operation: 'plan', title })).data.workstream_id;
}

async function claim(at: Kitchen): Promise<string> {
  const known = at.mine(
    'claims',
    (row) => row.released_at === null && Number(row.expires_at) > at.scene.clock.now() + 5_000 && row.actor === at.caller.principal.actor,
  );
  const paths = [`made/${at.scene.captured.rows('claims').length}.ts`];
  return known ? String(known.id) : (await at.first('covibe_coordination', { operation: 'claim', repo: 'acme/app', paths })).data.claim_id;
}

/** Returns an open warning which says that the caller's work is the same as somebody else's. */
async function warning(at: Kitchen): Promise<string> {
  const open = () => at.mine('overlap_warnings', (row) => row.status === 'open');
  const known = open();
  if (known) return String(known.id);
  const words = {
    title: `Rewrite the invoice importer to stream rows ${at.n}`,
    task_type: 'feature',
    scope: 'Stream CSV rows of invoices instead of loading the file',
  };
  await at.first('covibe_task', { operation: 'plan', ...words }, other(at));
  await at.first('covibe_task', { operation: 'check', ...words });
  return String(open()?.id);
}

const team = (cook: (at: Kitchen) => Promise<object> | object = () => ({})): Recipe => ({
  by: AGENTS,
  with: async (at) => ({ session_id: await session(at), ...(await cook(at)) }),
});

const own = async (at: Kitchen) => String((await at.first('covibe_session', { operation: 'start' })).data.session_id);
const words = (at: Kitchen) => ({ title: `${uncommon(at.n)} ${at.scene.clock.now()}` });

export const TEAM: Readonly<Record<string, Recipe>> = {
  'covibe_coordination.announce': team(),
  'covibe_coordination.claim': team((at) => ({
    repo: 'acme/app',
    paths: [`own/${at.caller.name}/${at.n}/*.ts`],
    symbols: at.either(undefined, ['parse']) && [`own/${at.caller.name}.ts#x${at.n}`],
  })),
  'covibe_coordination.release': team(async (at) => ({ claim_id: await claim(at) })),
  'covibe_coordination.check_conflicts': team(() => ({ repo: 'acme/app', paths: ['src/a.ts'] })),
  'covibe_coordination.ask': team((at) => ({ to: other(at) })),
  'covibe_coordination.reply': team(async (at) => {
    const waiting = at.one('asks', (row) => row.to_developer_id === at.caller.principal.developerId && row.answered_at === null && row.to_agent_type === null);
    const asked = async () => (await at.first('covibe_coordination', { operation: 'ask', to: await at.nameable(), message: 'Why?' }, other(at))).data.ask_id;
    return { ask_id: waiting ? waiting.id : await asked() };
  }),
  'covibe_coordination.handoff': team(async (at) => ({
    to: other(at),
    task_ids: at.n % 3 ? [await task(at, 'active')] : undefined,
    claim_ids: at.n % 4 ? [await claim(at)] : undefined,
  })),
  'covibe_coordination.accept_handoff': team(async (at) => {
    const waiting = at.one(
      'handoffs',
      (row) => row.to_developer_id === at.caller.principal.developerId && row.status === 'offered' && row.to_agent_type === null,
    );
    const given = async () =>
      (await at.first('covibe_coordination', { operation: 'handoff', to: await at.nameable(), message: 'Yours' }, other(at))).data.handoff_id;
    return { handoff_id: waiting ? waiting.id : await given() };
  }),
  'covibe_coordination.list': team(),
  'covibe_coordination.summary': team(),
  covibe_ingest_agent_telemetry: team((at) => ({
    source: 'openai',
    payload: { id: `resp_${at.n}`, model: 'gpt-5', usage: { input_tokens: 1_000 + at.n, output_tokens: 20, total_tokens: 1_020 + at.n } },
  })),
  covibe_note: team(async (at) => ({
    task_id: at.n % 3 ? await task(at, 'active') : undefined,
    workstream_id: at.n % 2 ? await workstream(at, 'active') : undefined,
  })),
  'covibe_session.publish_context': team(async (at) => ({ task_ids: at.either([await task(at, 'active')], undefined) })),
  'covibe_session.get_context': {
    by: AGENTS,
    with: async (at) => {
      const made = await at.first('covibe_session', { operation: 'publish_context', title: 'Here', summary: 'So far', repo: 'acme/app' }, other(at));
      return at.either({ context_id: made.data.context_id, developer: undefined }, { developer: other(at), context_id: undefined });
    },
  },
  'covibe_session.revoke_context': {
    by: AGENTS,
    with: async (at) => ({
      context_id: (await at.first('covibe_session', { operation: 'publish_context', title: 'Here', summary: 'So far', repo: 'acme/app' })).data.context_id,
    }),
  },
  'covibe_session.heartbeat': { by: AGENTS, with: async (at) => ({ session_id: await session(at), companion_version: at.either('1.2.3', undefined) }) },
  'covibe_session.snapshot': { by: AGENTS, with: async (at) => ({ session_id: await own(at), repo: 'acme/app', branch: 'main' }) },
  'covibe_session.activity': { by: AGENTS, with: async (at) => ({ session_id: await own(at) }) },
  'covibe_session.end': { by: AGENTS, with: async (at) => ({ session_id: await own(at) }) },
  'covibe_task.check': team(async (at) => ({ planned_task_id: at.n % 2 ? await task(at, 'planned') : undefined })),
  'covibe_task.plan': team(async (at) => ({ ...words(at), workstream_id: at.either(await workstream(at, 'active'), undefined) })),
  'covibe_task.start': team(async (at) => ({
    ...(await judged(at, 'covibe_task', { title: await contested(at, 'covibe_task'), task_type: 'chore' })),
    workstream_id: at.either(await workstream(at, 'active'), undefined),
  })),
  'covibe_task.start_planned': team(async (at) => {
    const id = at.n % 3 === 1 ? await plannedTwice(at, 'covibe_task') : await task(at, 'planned');
    return {
      planned_task_id: id,
      ...(await judgedPlan(at, 'covibe_task', { planned_task_id: id, title: at.scene.captured.find('tasks', id)?.title, task_type: 'chore' })),
    };
  }),
  // Texts of a task can be changed only while the task is planned.
  'covibe_task.update': team(async (at) => {
    const fixed = Object.fromEntries(['title', 'task_type', 'priority', ...WORDS].map((name) => [name, undefined]));
    if (at.n % 3 === 0) return { ...fixed, task_id: await task(at, 'active'), status: 'blocked' };
    return { task_id: await task(at, 'planned'), status: undefined };
  }),
  'covibe_task.complete': team(async (at) => ({ task_id: await task(at, 'active') })),
  'covibe_task.cancel': team(async (at) => ({ task_id: await task(at, at.either('active', 'planned')) })),
  'covibe_team.state': team(),
  'covibe_team.feedback': team(),
  'covibe_team.audit_parallel_work': team(),
  'covibe_team.generate_weekly_summary': team(),
  'covibe_warning.dismiss': team(async (at) => ({ warning_id: await warning(at) })),
  'covibe_workstream.check': team(),
  'covibe_workstream.plan': team(words),
  'covibe_workstream.start': team(async (at) => judged(at, 'covibe_workstream', { title: await contested(at, 'covibe_workstream') })),
  'covibe_workstream.start_planned': team(async (at) => {
    const id = at.n % 3 === 1 ? await plannedTwice(at, 'covibe_workstream') : await workstream(at, 'planned');
    return { planned_workstream_id: id, ...(await judgedPlan(at, 'covibe_workstream', { title: at.scene.captured.find('workstreams', id)?.title })) };
  }),
  'covibe_workstream.update': team(async (at) => ({ workstream_id: await workstream(at, 'active') })),
  'covibe_workstream.complete': team(async (at) => ({ workstream_id: await workstream(at, 'active') })),
  'covibe_workstream.cancel': team(async (at) => ({ workstream_id: await workstream(at, at.either('active', 'planned')) })),
};

/** Returns a title for new work. Sometimes somebody else has already planned work with that title, so that a verdict is needed. */
async function contested(at: Kitchen, tool: 'covibe_task' | 'covibe_workstream'): Promise<string> {
  const title = at.n % 3 === 1 ? `Migrate the ${uncommon(at.n)} warehouse exporter to streaming rows` : words(at).title;
  if (at.n % 3 === 1)
    await at.scene.tool(tool, { operation: 'plan', title, ...(tool === 'covibe_task' ? { task_type: 'chore' } : {}) }, await at.scene.caller(other(at)));
  await at.scene.captured.changes();
  return title;
}

/** Returns work that the caller has planned. Sometimes someone else has planned the same work. */
async function plannedTwice(at: Kitchen, tool: 'covibe_task' | 'covibe_workstream'): Promise<string> {
  const title = await contested(at, tool);
  const fields = tool === 'covibe_task' ? { task_type: 'chore' } : {};
  const { data } = await at.first(tool, { operation: 'plan', title, ...fields });
  return data.task_id ?? data.workstream_id;
}

/** In most cases, runs the overlap check for the same words and adds verdicts on the candidates. */
async function judged(at: Kitchen, tool: string, fields: object): Promise<object> {
  const words = Object.fromEntries(WORDS.flatMap((name) => (at.input[name] === undefined ? [] : [[name, at.input[name]]])));
  return { ...fields, ...(await judgedPlan(at, tool, { ...words, ...fields })) };
}

const WORDS = ['description', 'scope', 'action', 'component', 'target_files'];

async function judgedPlan(at: Kitchen, tool: string, fields: object): Promise<object> {
  const none = { check_id: undefined, scope_verdict: undefined, warning_id: undefined, confirmation_reason: undefined };
  if (at.n % 3 === 0) return none;
  const { workstream_id: _, ...asked } = fields as { workstream_id?: string };
  const { data } = await at.first(tool, { operation: 'check', ...asked });
  const candidates = (data.candidates ?? []).map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'other work' }));
  const confirmation = at.n % 3 === 1 && data.warning_id ? { warning_id: data.warning_id, confirmation_reason: 'It is other work.' } : {};
  return { ...none, check_id: data.check_id, scope_verdict: { verdict: 'distinct', candidates }, ...confirmation };
}
