import { AGENTS, type Kitchen, other, type Recipe } from './kitchen.ts';

const by = (cook: (at: Kitchen) => Promise<object> | object): Recipe => ({ by: AGENTS, with: cook });

/** Returns a workflow task that the caller holds. `said` contains the fields that identify the agent, with or without the fence. */
async function holding(at: Kitchen, status?: 'pending' | 'planning' | 'in_progress') {
  const held = await at.heldStep(status);
  return { ...held, said: { agent_id: held.agent_id, fence: at.either(held.fence, undefined) } };
}

async function message(at: Kitchen): Promise<string> {
  const to = await at.agent();
  const sent = { sender_id: await at.agent(other(at)), recipient_id: to, message_type: 'query', body: 'How far?' };
  return (await at.first('message_send', sent, other(at))).id;
}

async function worktree(at: Kitchen): Promise<{ id: string; step: Awaited<ReturnType<typeof holding>> }> {
  const step = await holding(at);
  const made = {
    workflow_id: step.workflow_id,
    path: `/srv/trees/${at.scene.captured.rows('worktrees').length}`,
    branch: `work/${at.scene.captured.rows('worktrees').length}`,
  };
  const { id } = await at.first('workspace_create', { ...made, task_ids: [step.id], agent_id: step.agent_id });
  return { id, step };
}

async function template(at: Kitchen): Promise<{ template_id: string }> {
  const definition = {
    tasks: [{ name: 'do {{what}}', description: 'x', sequence: 1 }],
    variables: [{ name: 'what', description: 'What', required: false, default: 'it' }],
  };
  const known = at.one('workflow_templates', ({ name }) => String(name).startsWith('Known'));
  if (known) return { template_id: String(known.id) };
  return { template_id: (await at.first('template_create', { name: `Known ${at.n} ${at.scene.clock.now()}`, description: 'x', template: definition })).id };
}

/** For each new status, the status that a workflow task must have before it. */
const BEFORE = { planning: 'pending', in_progress: 'planning', paused: 'in_progress', completed: 'in_progress', failed: 'in_progress' } as const;

export const WORKFLOW: Readonly<Record<string, Recipe>> = {
  echo: { by: ['ana', 'ben'] },
  agent_heartbeat: by(async (at) => {
    const { id, agent_id } = await at.heldStep();
    return { agent_id, current_task_id: at.either(id, undefined) };
  }),
  agent_unregister: by(async (at) => ({ id: (await at.first('agent_register', { name: 'short', runtime: 'custom' })).id })),
  agent_update: by(async (at) => {
    const { id, agent_id } = await at.heldStep();
    return { id: agent_id, current_task_id: at.n % 3 ? id : null, status: at.either('busy', undefined) };
  }),
  checkpoint_add: by(async (at) => {
    const { id, said } = await holding(at);
    return { task_id: id, ...said };
  }),
  checkpoint_list: by(async (at) => ({ task_id: (await at.heldStep()).id })),
  message_archive: by(async (at) => ({ message_ids: [await message(at)] })),
  message_mark_read: by(async (at) => ({ message_ids: [await message(at)] })),
  message_get: by(async (at) => ({ id: await message(at) })),
  message_list: by(async (at) => ({ agent_id: await at.agent(), workflow_id: at.n % 5 ? undefined : (await at.heldStep()).workflow_id })),
  message_count_unread: by(async (at) => ({ agent_id: await at.agent() })),
  message_broadcast: by(async (at) => {
    const recipients = await at.agent(other(at));
    return {
      sender_id: await at.agent(),
      recipient_filter: at.either({}, { runtime: 'codex' }),
      workflow_id: recipients && at.n % 3 ? undefined : (await at.heldStep()).workflow_id,
    };
  }),
  message_send: by(async (at) => {
    const { id, agent_id, workflow_id } = await at.heldStep();
    const about = at.n % 3 ? { task_id: undefined, workflow_id: undefined } : { task_id: id, workflow_id };
    if (at.n % 4 === 0)
      return {
        sender_id: agent_id,
        recipient_id: await at.agent(other(at)),
        reply_to_id: await message(at),
        message_type: 'response',
        task_id: undefined,
        workflow_id: undefined,
      };
    return { sender_id: agent_id, recipient_id: await at.agent(other(at)), reply_to_id: undefined, message_type: 'notification', ...about };
  }),
  repository_get: by(async (at) => ({ path: (await at.first('repository_register', { path: '/srv/app' })) && '/srv/app' })),
  task_assign_workspace: by(async (at) => {
    const { id, step } = await worktree(at);
    return { task_id: step.id, workspace_id: id, ...step.said };
  }),
  task_check_dependencies: by(async (at) => ({ task_id: await at.freeStep() })),
  task_claim: by(async (at) => ({ task_id: await at.freeStep(), agent_id: await at.agent() })),
  task_get: by(async (at) => ({ id: (await at.heldStep()).id })),
  task_get_available: by(async (at) => ({ agent_id: await at.agent(), workflow_id: at.either(undefined, (await at.workflow()).id) })),
  task_load_context: by(async (at) => ({ task_id: (await at.heldStep()).id, max_tokens: at.either(undefined, 8_000) })),
  task_release: by(async (at) => {
    const { id, said } = await holding(at);
    return { task_id: id, ...said };
  }),
  task_replan: by(async (at) => {
    const { id, said } = await holding(at);
    return { id, ...said };
  }),
  task_set_plan: by(async (at) => {
    const { id, said } = await holding(at, 'planning');
    return { id, ...said };
  }),
  task_update_status: by(async (at) => {
    const status = (['planning', 'completed', 'failed', 'in_progress', 'completed', 'failed', 'paused'] as const)[at.n % 7] ?? 'planning';
    const { id, said } = await holding(at, BEFORE[status]);
    const nothing = { outcome: undefined, outcome_detail: undefined, error: undefined };
    if (status === 'completed') return { id, status, ...said, outcome: 'Done.', error: undefined };
    return { id, status, ...said, ...nothing, ...(status === 'failed' ? { error: 'It broke.' } : {}) };
  }),
  template_apply: by(async (at) => ({ ...(await template(at)), repository_path: '/srv/app', variables: at.either({ what: 'this' }, undefined) })),
  template_create: by(async (at) => {
    const name = { name: `Template ${at.n} ${at.scene.clock.now()}` };
    const definition = {
      tasks: [
        { name: 'a', description: 'x', sequence: 1 },
        { name: 'b', description: 'y', sequence: 2, depends_on: ['a'] },
      ],
    };
    return at.n % 2
      ? { ...name, from_workflow_id: (await at.workflow(at.caller.name)).id, template: undefined }
      : { ...name, template: definition, from_workflow_id: undefined };
  }),
  workflow_add_task: by(async (at) => {
    const { id, steps } = await at.workflow(at.caller.name);
    const [first, second, third] = steps;
    return {
      workflow_id: id,
      name: `more ${at.n}`,
      after: at.either(first, undefined),
      depends_on: at.n % 3 ? [second] : undefined,
      blocks: at.n % 5 ? undefined : [third],
    };
  }),
  workflow_create: by(() => ({ repository_path: '/srv/app' })),
  workflow_get: by(async (at) => ({ id: (await at.workflow()).id })),
  workflow_next_tasks: by(async (at) => ({ workflow_id: (await at.workflow()).id })),
  workflow_progress: by(async (at) => ({ workflow_id: (await at.workflow()).id })),
  workflow_remove_task: by(async (at) => {
    const { id, steps } = await at.workflow(at.caller.name);
    return { workflow_id: id, task_id: steps[2] };
  }),
  workflow_set_parallelism: by(async (at) => ({ id: (await at.workflow(at.caller.name)).id })),
  workflow_set_plan: by(async (at) => {
    const { id } = await at.first('workflow_create', { name: 'Bare', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
    const plan = at.input.plan as { tasks: { name: string }[] };
    // Every task gets a unique name and no dependencies, so that the plan is valid.
    const tasks = plan.tasks.map((task, index) => ({ ...task, name: `${index} ${task.name}`.slice(0, 40), depends_on: [] }));
    return { id, plan: { ...plan, tasks } };
  }),
  workflow_update_status: by(async (at) => ({ id: (await at.workflow(at.caller.name)).id, status: at.either('in_progress', 'abandoned') })),
  workspace_create: by(async (at) => {
    const { id, workflow_id, said } = await holding(at);
    const fresh = at.scene.captured.rows('worktrees').length;
    return { workflow_id, path: `/srv/trees/new-${fresh}`, branch: `new/${fresh}`, task_ids: at.either([id], undefined), ...said };
  }),
  workspace_list: by(async (at) => ({ workflow_id: (await worktree(at)).step.workflow_id })),
  workspace_update: by(async (at) => {
    const { id, step } = await worktree(at);
    const { agent_id } = step;
    return at.either({ id, agent_id, status: 'merged', merge_commit: 'b'.repeat(40) }, { id, agent_id, status: 'abandoned', merge_commit: undefined });
  }),
};
