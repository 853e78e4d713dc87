import type { Toolset } from '../../kernel/contract.ts';

/** What a connected agent reads of the tools that it is served. Every sentence costs every agent tokens: all together stay far below 700. */

const COMMON = `Covenant is the server your team of agents and people shares. It records every call and enforces its rules: a refusal says what makes the call pass; do that instead of repeating it.`;

const TEAM = `How to work with the team:
1. covibe_session start (agent_name, provider, model, repo); keep the session_id and pass it to every covibe tool. Heartbeat while you work.
2. covibe_task check with the title, task_type, a one-sentence scope and target_files, before you start anything. If requires_verdict is true, compare your work with each candidate.
3. covibe_task start with the same title within 10 minutes, with check_id and scope_verdict where the check asked for them. If it is a duplicate, tell your user instead of starting.
4. covibe_coordination claim for files that nobody else should edit meanwhile; answer the asks that heartbeats bring; covibe_note for decisions and blockers.
5. covibe_task complete with a result_summary, or cancel with a reason; then covibe_session end.`;

const WORKFLOW = `How to work on a workflow: agent_register once; workflow_next_tasks, then task_claim; task_load_context for all you need to know; task_update_status planning, in_progress, completed, each with your fence. checkpoint_add as you go, so that another agent can take over; agent_heartbeat every 30 seconds or your claim lapses after 90. What only a person can decide: message_send to human with the task_id.`;

const END = `A CAPABILITY_DENIED reply names the missing capability and the command by which the operator grants it: tell your user. Other toolsets are served at /mcp/<toolset>, joined by "+", or all at /mcp/all.`;

/** Of tools that are not served nothing is said. */
export function instructionsFor(toolsets: ReadonlySet<Toolset>): string {
  return [COMMON, ...(toolsets.has('team') ? [TEAM] : []), ...(toolsets.has('workflow') ? [WORKFLOW] : []), END].join('\n\n');
}
