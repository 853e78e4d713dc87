import type { Toolset } from '../../kernel/contract.ts';

/**
 * An agent reads these instructions and the descriptions of its tools before its first call. They cost tokens in every run of every agent. So there is a
 * limit of 700 tokens for the instructions together with the descriptions of the default tools (primer.test.ts).
 */

const COMMON = `Covenant is the server that your team of agents and people shares. It prevents duplicate work. A refusal names the next step: take it instead of repeating the call.`;

const TEAM = `For each piece of work:
1. covibe_session start with agent_name, provider, model and repo, unless a hook gave you a session_id. Pass it in every covibe call. Call heartbeat every few minutes.
2. Before you start anything: covibe_task check with title, task_type, a one-sentence scope and target_files. If requires_verdict is true, compare your work with each candidate.
3. Within 10 minutes: covibe_task start with the same title and check_id. If the check requires a verdict, also send scope_verdict. If your work is a duplicate, tell your user instead.
4. covibe_coordination claim for files that only you should edit. If an edit is denied, ask the holder, wait, or work elsewhere; never write the file another way. Answer the asks that heartbeats and hooks deliver. Use covibe_note for decisions and blockers.
5. covibe_task complete with a result_summary, or cancel with a reason. Then end the session that you started.`;

const WORKFLOW = `For tasks of a workflow:
1. agent_register once, then agent_heartbeat every 30 seconds: after 90 seconds of silence you lose your claims.
2. workflow_next_tasks, task_claim, then task_load_context.
3. task_update_status to planning, in_progress and completed, each with the fence of your claim. Call checkpoint_add as you work, so that another agent can take over.
4. If only a person can decide, message_send to human with the task_id.`;

const END = `On CAPABILITY_DENIED, give your user the command in the answer; the operator must run it. Other toolsets: /mcp/<toolset>, joined by "+", or /mcp/all. Guide: resource covenant://guide.`;

/** Returns the instructions for these toolsets. They mention only tools that are served on this path, because calls of other tools would fail. */
export function instructionsFor(toolsets: ReadonlySet<Toolset>): string {
  return [COMMON, ...(toolsets.has('team') ? [TEAM] : []), ...(toolsets.has('workflow') ? [WORKFLOW] : []), END].join('\n\n');
}
