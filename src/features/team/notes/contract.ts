import { z } from 'zod';
import { contract, id, sessionId, text, title } from '../../../kernel/contract.ts';

export const NOTE_KINDS = ['decision', 'blocker'] as const;

export const noteView = z.strictObject({
  note_id: z.string(),
  kind: z.enum(NOTE_KINDS),
  title: z.string(),
  body: z.string().nullable(),
  developer: z.string(),
  task_id: z.string().nullable(),
  workstream_id: z.string().nullable(),
  created_at: z.int(),
});

export const takeNote = contract({
  name: 'covibe_note',
  toolset: 'team',
  title: 'Decisions and blockers',
  description: 'Records a decision that others will build on, or a blocker as soon as you are stuck.',
  input: z.strictObject({
    kind: z
      .enum(NOTE_KINDS)
      .describe('decision: "we use X because Y". blocker: "cannot continue until Z". Both appear in covibe_team state and the weekly summary.'),
    title,
    body: text(8_000).optional().describe('Reasons and details. No file contents, prompts or secrets.'),
    task_id: id.optional().describe('Your task that it belongs to.'),
    workstream_id: id.optional().describe('Your workstream that it belongs to.'),
    session_id: sessionId,
  }),
  output: z.strictObject({ note_id: z.string(), kind: z.enum(NOTE_KINDS) }),
});
