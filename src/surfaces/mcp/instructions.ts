import type { Toolset } from '../../kernel/contract.ts';

/**
 * What a connected agent reads of the tools that it is served, before it calls any: with the descriptions of the team's tools it is
 * the primer, which every agent pays for in every run and which is held under 700 tokens (primer.test.ts).
 */

const COMMON = `Covenant is the server your team of agents and people shares. It records every call and enforces its rules: a refusal says what makes the call pass; do that instead of repeating it.`;

const TEAM = `How to work with the team:
1. covibe_session start (agent_name, provider, model, repo), unless a hook told you your session_id. Pass it to every covibe tool. Heartbeat every few minutes while you work.
2. covibe_task check with title, task_type, a one-sentence scope and target_files, before you start anything. If requires_verdict is true, compare your work with each candidate.
3. covibe_task start with the same title within 10 minutes, with check_id, and scope_verdict where the check asked for it. If it is a duplicate, tell your user instead of starting.
4. covibe_coordination claim for files that nobody else should edit meanwhile. If your edit is denied, ask the holder it names, wait, or work elsewhere; never write the file another way. Answer the asks that heartbeats or hooks bring. covibe_note for decisions and blockers.
5. covibe_task complete with a result_summary, or cancel with a reason; then end the session that you started.`;

const WORKFLOW = `How to work on a workflow: agent_register once; workflow_next_tasks, then task_claim; task_load_context for all you need to know; task_update_status planning, in_progress, completed, each with your fence. checkpoint_add as you go, so that another agent can take over; agent_heartbeat every 30 seconds or your claim lapses after 90. What only a person can decide: message_send to human with the task_id.`;

const END = `CAPABILITY_DENIED names the command by which the operator grants what is missing: tell your user. Other toolsets: /mcp/<toolset>, joined by "+", or /mcp/all.`;

/** Of tools that are not served nothing is said. */
export function instructionsFor(toolsets: ReadonlySet<Toolset>): string {
  return [COMMON, ...(toolsets.has('team') ? [TEAM] : []), ...(toolsets.has('workflow') ? [WORKFLOW] : []), END].join('\n\n');
}
