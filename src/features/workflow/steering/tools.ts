import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { agentsById, agentViewer } from '../agents/index.ts';
import { previewOf } from '../recovery/index.ts';
import { tasksClaimedIn } from '../steps/index.ts';
import { edgesOf, taskNamed, type WorkflowPorts, workflowNamed } from '../workflows/index.ts';
import { workflowsCheckpoints, workflowsContext, workflowsGraph, workflowsTask, workflowsTimeline } from './contract.ts';
import { graphOf } from './graph.ts';
import { taskSteering, workflowSteering } from './steer.ts';
import { graphTasks } from './store.ts';
import { checkpointPage, taskPage } from './task.ts';
import { timelineOf } from './timeline.ts';

export const steeringTools = (ports: WorkflowPorts): Implementation[] => [...viewTools, ...workflowSteering(ports), ...taskSteering];

const viewTools: Implementation[] = [
  implement(workflowsGraph, {
    read: async ({ workflow_id, turned }, { reader, workspace, principal, clock }) => {
      const workflow = await workflowNamed(reader, workspace, workflow_id);
      const held = await tasksClaimedIn(reader, workspace, workflow.id);
      const agents = await agentsById(reader, workspace, [...new Set(held.map(({ assigned_agent_id }) => assigned_agent_id as string))]);
      const { view } = await agentViewer(reader, principal, clock.now());
      const names = new Map([...agents].map(([id, row]) => [id, view(row).name]));
      // Reading and laying out thousands of rows takes time, so other calls may run between the steps.
      const tasks = await graphTasks(reader, workflow);
      await yieldToEventLoop();
      const edges = await edgesOf(reader, workflow);
      await yieldToEventLoop();
      return ok({ workflow_id: workflow.id, ...graphOf({ tasks, edges, names, turned: new Set(turned) }) });
    },
  }),
  implement(workflowsTimeline, {
    read: async ({ workflow_id }, { reader, workspace, principal, clock }) =>
      ok(await timelineOf(reader, await workflowNamed(reader, workspace, workflow_id), principal, clock.now())),
  }),
  implement(workflowsTask, {
    read: async ({ task_id }, { reader, workspace, principal, clock }) =>
      ok(await taskPage(reader, await taskNamed(reader, workspace, task_id), principal, clock.now())),
  }),
  implement(workflowsCheckpoints, {
    read: async ({ task_id, ...page }, { reader, workspace, principal, clock }) =>
      ok(await checkpointPage(reader, await taskNamed(reader, workspace, task_id), principal, clock.now(), page)),
  }),
  implement(workflowsContext, {
    read: async ({ task_id, max_tokens }, { reader, workspace }) => {
      const { pack, sections } = await previewOf(reader, await taskNamed(reader, workspace, task_id), max_tokens);
      return ok({ max_tokens, tokens: pack.token_estimate, sections, omitted: pack.omitted, pack });
    },
  }),
];
