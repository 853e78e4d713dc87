import type { ErrorCodes } from './index.ts';

export const teamCodes = {
  ADDRESSEE_IS_CALLER: {
    meaning: 'The message is addressed to its own sender.',
    cause: "`to` names the caller's own developer or agent.",
    next: 'Call `covibe_coordination` again with `to` set to another developer, or to another of your agents, such as "codex@mira".',
  },
  ALREADY_COMPLETED: {
    meaning: 'The task or workstream was completed earlier. Nothing changed.',
    cause: 'An earlier call has already completed the work.',
    next: 'Do nothing: the work is recorded as completed.',
  },
  ALREADY_INGESTED: {
    meaning: 'This usage payload was already counted. It is not counted again.',
    cause: 'The companion or a script sent the same payload twice, for example after a lost answer.',
    next: 'Continue: no call is needed.',
  },
  ALREADY_RESOLVED: {
    meaning: 'The overlap warning already has a result. Nothing changed.',
    cause: 'A verdict, a dismissal or the end of the work resolved the warning earlier.',
    next: 'Continue: no call is needed. `covibe_team` operation `state` lists open warnings.',
  },
  ASK_ALREADY_ANSWERED: {
    meaning: 'The ask already has an answer. The first answer counts.',
    cause: 'Another agent of the same developer, or a person, answered earlier.',
    next: 'To say more, call `covibe_coordination` operation `ask` with the `to` that the message names, if it names one. People read the answer with `covenant messages show ID`.',
  },
  ASK_NOT_FOUND: {
    meaning: 'No ask with this id is addressed to you.',
    cause: 'The id is wrong, or the ask is addressed to another agent or developer.',
    next: 'Call `covibe_coordination` operation `list` with `what` "asks" for the asks that you can answer. The operator can run `covenant messages answer ID TEXT`.',
  },
  CHECK_EXPIRED: {
    meaning: 'The check is more than 10 minutes old.',
    cause: 'Too much time passed between the check and the start, and other work may have begun since.',
    next: 'Call operation `check` of the same tool (`covibe_task` with the same title and `task_type`, or `covibe_workstream` with the same title). Then start within 10 minutes with the new `check_id`.',
  },
  CHECK_MISMATCH: {
    meaning: '`check_id` is not your latest check with this title.',
    cause: 'A newer check replaced this check, or you made the check with another title.',
    next: 'Send the `check_id` of your latest check with this title, or call `check` again.',
  },
  CHECK_REQUIRED: {
    meaning: 'There is no unused check for this work.',
    cause: 'The agent called `start` without a check with the same title, or the check was already used for another start.',
    next: 'Call operation `check` of the same tool (`covibe_task` with the same title and `task_type`, or `covibe_workstream` with the same title). Then start within 10 minutes with the new `check_id`.',
  },
  CLAIM_ALREADY_RELEASED: {
    meaning: 'The claim was released earlier. Nothing changed.',
    cause: 'An earlier call or a person has already released the claim.',
    next: 'Continue. To edit the files again, call `covibe_coordination` operation `claim`.',
  },
  CLAIM_CONFLICT: {
    meaning: 'Another agent has a claim that covers one of these paths.',
    cause: 'A live claim of another agent overlaps yours, and at least one of the two is exclusive.',
    next: 'Ask the holder with `covibe_coordination` operation `ask`, wait until the lease ends, or work on other files.',
  },
  CLAIM_EXPIRED: {
    meaning: 'The claim ended because its lease ran out.',
    cause: 'The claim was not renewed by a heartbeat before its end time.',
    next: 'Call `covibe_coordination` operation `claim` again if you still need the files.',
  },
  CLAIM_LIMIT: {
    meaning: 'You hold the maximum number of live claims.',
    cause: 'Each path was claimed separately, or old claims were not released.',
    next: 'Call `covibe_coordination` operation `list` with `what` "claims", then `release` with the `claim_id` of a claim that you no longer need. Or claim one pattern that covers several paths.',
  },
  CLAIM_NOT_FOUND: {
    meaning: 'You have no claim with this id.',
    cause: 'The id is wrong, or the claim belongs to another agent.',
    next: 'Call `covibe_coordination` operation `list` for your claims. People run `covenant claims list`.',
  },
  CONFIRMATION_REASON_REQUIRED: {
    meaning: 'A confirmation needs a reason.',
    cause: 'The verdict is "duplicate", or `warning_id` was sent without a reason.',
    next: 'If your verdict is "duplicate", do not start the work; if your user wants it anyway, repeat the call with their reason as `confirmation_reason`. If you sent `warning_id`, add `confirmation_reason` or leave out `warning_id`.',
  },
  CONFIRM_REQUIRED: {
    meaning: 'The planned work looks like other work, so a person must confirm it.',
    cause: 'The overlap check found candidates for the title.',
    next: 'Read the candidates. To plan the work anyway, send the request again with `confirm: true`.',
  },
  CONTEXT_NOT_FOUND: {
    meaning: 'You have no active context with this id.',
    cause: 'The id is wrong, or the context has ended.',
    next: 'Call `covibe_session` operation `get_context` for the active contexts.',
  },
  COST_MISMATCH: {
    meaning: 'The usage was counted. The submitted cost differs from the cost that the server computed.',
    cause: 'The price of the model on the server is missing or out of date.',
    next: 'Continue. If the submitted cost is right, ask the operator to run `covenant prices set MODEL --input USD --output USD`.',
  },
  FIELDS_FIXED: {
    meaning: 'The task has started, so these fields cannot change any more.',
    cause: 'The update changes the title, scope or another field that the overlap check used.',
    next: 'To change the status, call `covibe_task` operation `update` with `task_id` and only `status` "active" or "blocked". For other work, check and start a new task.',
  },
  FILE_OVERLAP: {
    meaning: 'The snapshot was stored. Other agents work on files that you changed.',
    cause: 'The changed files of two sessions overlap.',
    next: 'Read `data.file_conflicts`, then call `covibe_coordination` operation `ask` for each owner before you change these files further. If all owners are private, work on other files or ask your user.',
  },
  HANDOFF_ALREADY_ACCEPTED: {
    meaning: 'You accepted this hand-off earlier. Nothing changed.',
    cause: 'An earlier call has already accepted the hand-off.',
    next: 'Continue with the work.',
  },
  HANDOFF_NOT_FOUND: {
    meaning: 'There is no hand-off with this id for you.',
    cause: 'The id is wrong, the hand-off is offered to another agent, or the cycle has no hand-off with that number.',
    next: 'Call `covibe_coordination` operation `list`, or run `covenant cycle read ROLE` for a cycle.',
  },
  NEW_OVERLAP: {
    meaning: 'Other work that looks the same has appeared since your check.',
    cause: 'Another agent started or planned similar work, or your title or scope changed.',
    next: 'Compare your work with the new candidates and send `scope_verdict` with the new `check_id`.',
  },
  OPEN_TASKS: {
    meaning: 'The workstream still has unfinished tasks and stays open.',
    cause: 'A completion closes a workstream only when its tasks are finished.',
    next: 'Complete or cancel the tasks, or send the call again with `confirm_open_tasks: true`.',
  },
  OVERLAP_ESCALATED: {
    meaning: 'The work looks like work of another agent and needs a verdict.',
    cause: 'The similarity reached the threshold of the workspace and the other work is still open.',
    next: 'Compare your work with each candidate. Then call `start` with `check_id` and `scope_verdict`. After `plan`: cancel the plan if it is the same work. Otherwise check again before `start_planned`.',
  },
  PARALLEL_WORK: {
    meaning: 'Work in progress looks the same as other work in progress or recently finished work.',
    cause: 'Agents work on similar tasks, and no verdict exists that says whether these are the same work.',
    next: 'For each entry of `data.conflicts` (after `state`: `data.parallel_audit_conflicts`) whose `kind` is not "historical", ask the other `owner` with `covibe_coordination` operation `ask` which work continues. If both are yours or the other owner is private, ask your user. The owner of the open work that stops calls `covibe_task` operation `complete` or `cancel`; for a workstream, `covibe_workstream` operation `complete`.',
  },
  SESSION_ALREADY_ENDED: {
    meaning: 'The session ended earlier. Nothing changed.',
    cause: 'An earlier call ended the session, or the session timed out.',
    next: 'To continue working, call `covibe_session` operation `start`.',
  },
  SESSION_ENDED: {
    meaning: 'The session has ended and can no longer be used.',
    cause: 'A call ended the session, or the server ended it after a long silence.',
    next: 'Call `covibe_session` operation `start` and use the new `session_id`.',
  },
  SESSION_NOT_FOUND: {
    meaning: 'The server does not know this session.',
    cause: 'The id is wrong, belongs to another agent, or is an MCP session from before a restart.',
    next: 'Call `covibe_session` operation `start`. An MCP client sends `initialize` again without `Mcp-Session-Id`.',
  },
  STALE_SESSIONS: {
    meaning: 'Some sessions of the team have been silent for a long time.',
    cause: 'An agent stopped without ending its session.',
    next: 'Read `data.stale_sessions` before you take over work. For a session of your own, call `covibe_session` operation `heartbeat` or `end` with its `session_id`. A person frees the work with `covenant agents release ID`.',
  },
  VERDICT_INCOMPLETE: {
    meaning: 'The verdict does not judge every candidate.',
    cause: '`scope_verdict.candidates` leaves out a candidate of the check.',
    next: 'Send one entry `{id, same_scope, reason}` for each candidate.',
  },
  VERDICT_INCONSISTENT: {
    meaning: 'The verdict contradicts its candidates.',
    cause: 'A "distinct" verdict marks a candidate as the same scope, or a "duplicate" verdict marks none.',
    next: 'If a candidate is the same work, do not start. If your user wants it anyway, send "duplicate", that candidate with `same_scope: true`, and their reason as `confirmation_reason`. Otherwise send "distinct" and mark no candidate as the same scope.',
  },
  VERDICT_MISMATCH: {
    meaning: 'The verdict names work that is not a candidate of your check.',
    cause: 'The ids are from another check, or the check found nothing to judge.',
    next: 'Use the candidate ids of your latest check. If it found no candidate, leave out `scope_verdict`.',
  },
  VERDICT_REQUIRED: {
    meaning: 'The work needs a verdict before it can start.',
    cause: 'The check found candidates at or above the threshold.',
    next: 'Compare your work with each candidate, then call `start` with `check_id` and `scope_verdict`.',
  },
  WARNING_MISMATCH: {
    meaning: '`warning_id` is not the warning of your latest check.',
    cause: 'The warning belongs to an earlier check or to another title.',
    next: 'Send the `warning_id` of your latest check, or leave it out.',
  },
  WARNING_NOT_FOUND: {
    meaning: 'You have no overlap warning with this id.',
    cause: 'The id is wrong, or the warning belongs to another developer.',
    next: 'Call `covibe_team` operation `state` for your warnings. People run `covenant overlap list`.',
  },
  WORKSTREAM_NOT_FOUND: {
    meaning: 'You have no workstream with this id.',
    cause: 'The id is wrong, or the workstream belongs to another developer.',
    next: 'For `covibe_task` `plan` or `start`, leave out `workstream_id`: the server then chooses one. Otherwise call `covibe_team` operation `state` for the ids of your workstreams.',
  },
  WORKSTREAM_NOT_OPEN: {
    meaning: 'A workstream in this status accepts no tasks.',
    cause: 'Only an active or blocked workstream accepts tasks.',
    next: 'Call again without `workstream_id`. If the workstream is planned, you can start it first: `covibe_workstream` operation `check` with its title, then `start_planned` with `planned_workstream_id`.',
  },
} satisfies ErrorCodes;
