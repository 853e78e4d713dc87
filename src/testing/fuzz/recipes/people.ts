import { join } from 'node:path';
import { until } from '../../until.ts';
import { REPOSITORY } from '../scene.ts';
import { cycleCooking as cycles } from './cycle.ts';
import { ADMINS, Kitchen, type Recipe, SIGNED_IN } from './kitchen.ts';

const admin = (cook: (at: Kitchen) => Promise<object> | object): Recipe => ({ by: ADMINS, with: cook });
const member = (cook: (at: Kitchen) => Promise<object> | object): Recipe => ({ by: SIGNED_IN, with: cook });

/** Creates a call that waits for approval by a person. */
async function approval(at: Kitchen): Promise<{ approval_id: string }> {
  const action = 'tool.call.agent_list';
  const token = await at.scene.developer('dan', 'codex');
  await at.done('capabilities.revoke', { action: 'toolset.workflow', token: token.tokenId });
  await at.done('capabilities.grant', { action, token: token.tokenId, scope: { approve: true } });
  const call = at.scene.tool('agent_list', {}, token).catch(() => undefined);
  const approval_id = await until(async () => {
    await at.scene.captured.changes();
    const waiting = at.scene.captured.rows('approvals').find((row) => row.status === 'waiting' && row.token_id === token.tokenId);
    if (!waiting) throw new Error('nothing waits yet');
    return String(waiting.id);
  });
  at.scene.waiting.set(approval_id, call);
  return { approval_id };
}

async function device(at: Kitchen): Promise<string> {
  const asked = await fetch(`${at.scene.server.url}/api/setup/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ machine_name: `laptop-${at.n}`, agents: ['codex'] }),
  });
  const { user_code, data } = (await asked.json()) as { user_code?: string; data?: { retry_after: number } };
  await at.scene.captured.changes();
  if (user_code) return user_code;
  // The server limits the number of pending requests from one network address, so wait until the limit allows another.
  at.scene.clock.advance((data?.retry_after ?? 600) * 1_000);
  return await device(at);
}

/** Creates a question from an agent to people. */
async function question(at: Kitchen): Promise<string> {
  const { id, agent_id } = await at.heldStep('in_progress', 'ana');
  return (await at.first('message_send', { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which?', task_id: id }, 'ana')).id;
}

async function instance(at: Kitchen): Promise<string> {
  return (await at.done('instances.start', { repository_path: REPOSITORY, type: 'coding', issue: 1 + at.n, agent: 'tiny' })).id;
}

const ofInstance = async (at: Kitchen) => ({ instance_id: await instance(at) });

async function task(at: Kitchen): Promise<string> {
  const name = at.caller.principal.developerName === 'ben' ? 'ben' : 'ana';
  const title = `k${(at.n * 7_919).toString(36)} j${at.scene.captured.rows('tasks').length}`;
  return (await at.first('covibe_task', { operation: 'plan', title, task_type: 'chore' }, name)).data.task_id;
}

const SUBJECTS = { developer: undefined, token: undefined, instance: undefined };

/** Returns a subject. Successive calls use a developer, a token, an instance and none. */
async function subject(at: Kitchen): Promise<object> {
  const kind = (at.n + at.scene.clock.now() / 200) % 4;
  if (kind < 1) return { ...SUBJECTS, developer: 'cleo' };
  if (kind < 2) return { ...SUBJECTS, token: (await at.scene.caller('cleo')).tokenId };
  return kind < 3 ? { ...SUBJECTS, instance: String(at.one('instances')?.id ?? (await instance(at))) } : SUBJECTS;
}

const step = async (at: Kitchen) => ({ task_id: (await at.heldStep('in_progress', 'ana')).id });
const workflow = async (at: Kitchen) => ({ workflow_id: (await at.workflow()).id });

export const PEOPLES: Readonly<Record<string, Recipe>> = {
  'agents.release': admin(async (at) => ({
    agent_id: (await at.heldStep('in_progress', 'ana')) && `codex@${(await at.scene.caller('ana')).principal.developerId}`,
  })),
  'agents.show': member(async (at) => ({ agent_id: (await at.agent('ben')) && `codex@${(await at.scene.caller('ben')).principal.developerId}` })),
  'approvals.approve': admin(approval),
  'approvals.refuse': admin(approval),
  'capabilities.explain': member(async (at) => (at.caller.principal.operator ? await subject(at) : SUBJECTS)),
  'capabilities.grant': admin(async (at) => {
    const ends = at.n % 3 ? { scope: { max_uses: 5 } } : { scope: undefined };
    return { ...(await subject(at)), action: 'tool.call.echo', ...ends };
  }),
  'capabilities.list': admin(async (at) => {
    const grant = at.one('grants')?.id;
    return at.n % 5
      ? { ...(await subject(at)), grant_id: undefined, before: at.n % 3 ? undefined : grant }
      : { ...SUBJECTS, grant_id: grant, before: undefined };
  }),
  'capabilities.revoke': admin(async (at) => {
    const whom = await subject(at);
    const given = Object.fromEntries(Object.entries(whom).filter(([, value]) => value !== undefined));
    const made = await at.done('capabilities.grant', { action: 'tool.call.echo', ...given });
    return at.n % 5 ? { ...whom, action: 'tool.call.echo', grant_id: undefined } : { ...SUBJECTS, action: undefined, grant_id: made.id ?? made.grant_id };
  }),
  'claims.release': member(async (at) => ({
    claim_id: (
      await at.first(
        'covibe_coordination',
        { operation: 'claim', repo: 'acme/app', paths: [`p/${at.scene.captured.rows('claims').length}`] },
        at.caller.principal.developerName === 'ben' ? 'ben' : 'ana',
      )
    ).data.claim_id,
  })),
  'cycles.archive': admin((at) => cycleIn(at, 'complete')),
  'cycles.cancel': admin((at) => cycleIn(at, 'frontend')),
  'cycles.complete': admin((at) => cycleIn(at, 'frontend_refine')),
  'cycles.start': admin(async (at) => {
    await cycles.clear(at);
    return { ...cycles.here(at), feature: `by hand ${at.n}`, mode: at.either('approval', undefined) };
  }),
  'cycles.close_session': admin(async (at) => {
    await cycles.open(await anas(at), 'gemini');
    return { session_id: at.one('role_sessions', ({ closed_at }) => closed_at === null)?.id };
  }),
  'cycles.handoff': member(async (at) => ({ id: await handedOver(at), number: 1 })),
  'cycles.handoffs': member(async (at) => ({ id: await handedOver(at) })),
  'cycles.show': member((at) => cycleIn(at, 'backend')),
  'cycles.list': member((at) => ({ repository_path: at.either(at.scene.broker, undefined), repo: at.either(undefined, 'app') })),
  'cycles.sessions': member(cycles.here),
  'demo.begin': { by: ['operator'], workspace: 'demo', with: async (at) => (await endDemo(at)) ?? {} },
  'demo.end': { by: ['operator'], workspace: 'demo', with: async (at) => (await beginDemo(at)) ?? {} },
  'demo.show': { by: ['operator'], workspace: 'demo', with: async (at) => (await beginDemo(at)) ?? {} },
  'devices.find': member(async (at) => ({ code: await device(at) })),
  'devices.approve': member(async (at) => ({ code: await device(at), developer: at.caller.name === 'operator' ? 'ana' : undefined })),
  'devices.refuse': member(async (at) => ({ code: await device(at) })),
  'devices.revoke': { by: ADMINS, with: async (at) => ({ device_id: (await approved(at))?.id }) },
  'events.list': member((at) => ({
    after: undefined,
    before: undefined,
    latest: undefined,
    ...[{ after: at.n }, { before: 1 + at.n }, { latest: 5, limit: undefined }][at.n % 3],
  })),
  'events.verify': member(async (at) => {
    if (at.n % 3 === 0) return { after: undefined, previous: undefined };
    const { verified_to, root } = await at.done('events.verify', { limit: 1 });
    return { after: verified_to, previous: root };
  }),
  'instances.abandon': admin(ofInstance),
  'instances.allow_review': admin(async (at) => {
    const named = await ofInstance(at);
    if (at.n % 2) await at.done('instances.allow_review', named);
    return { ...named, withdraw: at.either(true, undefined) };
  }),
  'instances.clean': admin(async (at) => {
    const id = await instance(at);
    await at.done('instances.stop', { instance_id: id });
    return { instance_id: id };
  }),
  'instances.clear_orphans': { by: ['operator'], with: () => ({ force: undefined }) },
  'instances.diff': admin(ofInstance),
  'instances.logs': admin(ofInstance),
  'instances.message': { by: ['operator'], with: ofInstance },
  'instances.show': member(ofInstance),
  'instances.start': { by: ['operator'], with: () => ({ repository_path: REPOSITORY, agent: 'tiny', base_branch: 'main' }) },
  'developers.set_run_agents': { by: ['operator'], with: () => ({ developer: 'ben' }) },
  'instances.stop': admin(ofInstance),
  'instances.unsaved': admin(ofInstance),
  'journal.prune': { by: ['operator'], with: (at) => at.either({ before: 1 + at.n, keep_days: undefined }, { before: undefined, keep_days: 40 }) },
  'messages.answer': member(async (at) => ({ id: await question(at) })),
  'messages.broadcast': {
    by: ['operator', 'ana_web'],
    with: async (at) => {
      await at.agent('ana');
      const named = at.caller.name === 'operator' ? { developer: await at.nameable('ana') } : { developer: undefined };
      return at.either({ to: 'agents', developer: undefined }, { to: 'team', role: undefined, ...named });
    },
  },
  'messages.remind': member(async (at) => {
    const { ask_id } = (await at.first('covibe_coordination', { operation: 'ask', to: await at.nameable('ben'), message: 'When?' }, 'ana')).data;
    at.scene.clock.advance(REMINDED_AFTER_MS);
    return { id: ask_id };
  }),
  'messages.thread': member(async (at) => ({ id: await question(at) })),
  'overlap.configure': admin((at) =>
    at.n % 3 ? { warn: 1.4, escalate: 3.8, reset: undefined } : Object.fromEntries([...FIGURES.map((name) => [name, undefined]), ['reset', true]]),
  ),
  'overlap.dismiss': member(async (at) => ({ warning_id: await warning(at) })),
  'overlap.show': member(async (at) => ({ warning_id: await warning(at) })),
  'questions.answer': member(async (at) => ({ question_id: await question(at) })),
  'server.backup': { by: ['operator'], with: (at) => ({ path: join(at.scene.database.home, `copy-${at.scene.clock.now()}`) }) },
  'servers.approve': admin(() => ({ server: 'tools', tool: undefined })),
  'servers.reject': admin(() => ({ server: 'tools', tool: undefined })),
  'servers.list': admin((at) => ({ server: at.either('tools', undefined) })),
  'servers.logs': admin(() => ({ server: 'tools' })),
  'servers.restart': admin(() => ({ server: 'tools' })),
  'settings.set': admin((at) => ({ key: 'review.max_iterations', value: at.either(3, null) })),
  'developers.sign_out': member((at) => ({ developer: at.caller.principal.operator ? 'cleo' : undefined })),
  'session.end': { by: ['ana_web', 'ben_web'], with: () => ({}) },
  'session.ticket': { by: ['ana_web', 'ben_web'], with: (at) => ({ path: at.either('/api/events', '/api/instances/work-7-a1/terminal') }) },
  'signin.link': admin((at) => ({ developer: at.either('ana', undefined) })),
  'tasks.cancel': member(async (at) => ({ task_id: await task(at) })),
  'tasks.plan': {
    by: ['ana_web', 'ben_web'],
    with: async (at) => {
      const name = at.caller.principal.developerName === 'ben' ? 'ben' : 'ana';
      const title = `m${at.n} w${at.scene.clock.now()}`;
      return { title, workstream_id: at.n % 2 ? await at.begun('covibe_workstream', `v${at.scene.clock.now()} u${at.n}`, name) : undefined };
    },
  },
  'tasks.show': member(async (at) => ({ task_id: await task(at) })),
  'tokens.create': member((at) => ({ developer: at.caller.principal.operator ? 'cleo' : undefined })),
  'tokens.rotate': member(async (at) => ({ token_id: (await at.scene.developer(at.caller.principal.developerName ?? 'cleo', 'codex')).tokenId })),
  'tokens.revoke': member(async (at) => ({ token_id: (await at.scene.developer(at.caller.principal.developerName ?? 'cleo', 'codex')).tokenId })),
  'workflows.abandon': admin(workflow),
  'workflows.complete': admin(async (at) => {
    const { id, steps } = await at.workflow();
    for (const task_id of steps) await failed(at, task_id);
    for (const task_id of steps) await at.done('workflows.skip', { task_id });
    return { workflow_id: id };
  }),
  'workflows.pause': admin(async (at) => ({ workflow_id: (await at.heldStep('in_progress', 'ana')).workflow_id })),
  'workflows.resume': admin(async (at) => {
    const { workflow_id } = await at.heldStep('in_progress', 'ana');
    await at.done('workflows.pause', { workflow_id });
    return { workflow_id };
  }),
  'workflows.release': admin(step),
  'workflows.retry': admin(async (at) => ({ task_id: await failed(at) })),
  'workflows.skip': admin(async (at) => ({ task_id: await failed(at) })),
  'workflows.set_parallelism': admin(workflow),
  'workflows.create': admin(() => ({ repository_path: REPOSITORY })),
  'workflows.context': member(async (at) => ({ ...(await step(at)), max_tokens: 8_000 })),
  'workflows.task': member(step),
  'workflows.checkpoints': member(step),
  'workflows.show': member(workflow),
  'workflows.tasks': member(workflow),
  'workflows.graph': member(workflow),
  'workflows.timeline': member(workflow),
  'workstreams.plan': { by: ['ana_web', 'ben_web'] },
};

/** Returns a workflow task that Ana's agent has marked as failed. */
async function failed(at: Kitchen, step?: string): Promise<string> {
  const agent_id = await at.agent('ana');
  const id = step ?? (await at.heldStep('in_progress', 'ana')).id;
  if (step) {
    await at.first('task_claim', { task_id: step, agent_id }, 'ana');
    for (const status of ['planning', 'in_progress']) await at.first('task_update_status', { id, status, agent_id }, 'ana');
  }
  await at.first('task_update_status', { id, status: 'failed', error: 'x', agent_id }, 'ana');
  return id;
}

const REMINDED_AFTER_MS = 3_600_000;

const FIGURES = ['warn', 'escalate', 'text_weight', 'file_weight', 'meaning_weight', 'meaning_evidence', 'meaning_floor'];

/** Returns a kitchen in which Ana is the caller. */
const anas = async (at: Kitchen): Promise<Kitchen> => new Kitchen(at.scene, await at.scene.caller('ana'), at.n);

/** Brings the cycle to this phase. Returns the fields that identify it, either its id or its repository. */
async function cycleIn(at: Kitchen, phase: Parameters<typeof cycles.cycleIn>[1]): Promise<object> {
  await cycles.cycleIn(await anas(at), phase);
  return at.either({ id: cycles.active(at)?.id, repository_path: undefined }, { id: undefined, ...cycles.here(at) });
}

async function handedOver(at: Kitchen): Promise<unknown> {
  await cycles.cycleIn(await anas(at), 'backend');
  return cycles.active(at)?.id;
}

async function inDemo(at: Kitchen, name: string, args: object): Promise<undefined> {
  const { operator, app } = at.scene;
  await app.dispatch.action({ name, args, principal: operator.principal, surface: 'api', workspace: 'demo' });
  await at.scene.captured.changes();
}

const endDemo = (at: Kitchen) => inDemo(at, 'demo.end', { keep: false });
const beginDemo = (at: Kitchen) => inDemo(at, 'demo.begin', {});

async function approved(at: Kitchen) {
  const user_code = await device(at);
  await at.done('devices.approve', { code: user_code, developer: 'ana' });
  const row = at.scene.captured.rows('device_grants').find((grant) => grant.user_code === user_code.replaceAll('-', ''));
  return row;
}

async function warning(at: Kitchen): Promise<unknown> {
  const name = at.caller.principal.developerName === 'ben' ? 'ben' : 'ana';
  const { principal } = await at.scene.caller(name);
  const open = () => at.one('overlap_warnings', (row) => row.status === 'open' && row.developer_id === principal.developerId);
  if (open()) return open()?.id;
  const words = {
    title: `Rewrite the ledger exporter to stream rows ${at.n}`,
    task_type: 'feature',
    scope: 'Stream CSV rows of ledgers instead of loading the file',
  };
  await at.first('covibe_task', { operation: 'plan', ...words }, name === 'ben' ? 'ana' : 'ben');
  await at.first('covibe_task', { operation: 'check', ...words }, name);
  return open()?.id;
}
