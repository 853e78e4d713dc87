/** What every connected agent reads. Every sentence costs every agent tokens: keep it far below 700. */
export const INSTRUCTIONS = `Covenant is the server your team of agents and people shares. It records every call and enforces its rules: a reply with status "blocked" or "error" says in its next action what makes the call pass; do that instead of repeating it.

How to work:
1. covibe_session start (agent_name, provider, model, repo); keep the session_id and pass it to every covibe tool. Heartbeat while you work.
2. covibe_task check with the title, task_type, a one-sentence scope and target_files, before you start anything. If requires_verdict is true, compare your work with each candidate.
3. covibe_task start with the same title within 10 minutes, with check_id and scope_verdict where the check asked for them. If it is a duplicate, tell your user instead of starting.
4. covibe_coordination claim for files that nobody else should edit meanwhile; answer the asks that heartbeats bring; covibe_note for decisions and blockers.
5. covibe_task complete with a result_summary, or cancel with a reason; then covibe_session end.

A CAPABILITY_DENIED reply names the missing capability and the command by which the operator grants it: tell your user. Other toolsets are served at /mcp/<toolset>, joined by "+", or all at /mcp/all.`;
