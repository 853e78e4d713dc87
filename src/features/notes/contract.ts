import { z } from 'zod';
import { contract } from '../../kernel/contract.ts';
import { id, sessionId, text, title } from '../../kernel/fields.ts';
import { NOTE_KINDS } from './tables.ts';

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
  description:
    'Records a decision ("we use X because Y") or a blocker ("cannot go on until Z") for the team: it shows in covibe_team state and in the weekly ' +
    'summary. Attach it to your own task or workstream where it belongs to one. Record a decision when others would build on it, a blocker as soon ' +
    'as you are stuck.',
  input: z.strictObject({
    kind: z.enum(NOTE_KINDS).describe('decision: what was settled, and why. blocker: what is in the way.'),
    title,
    body: text(8_000).optional().describe('Reasons and details. No file contents, prompts or secrets.'),
    task_id: id.optional().describe('A task of yours that it belongs to.'),
    workstream_id: id.optional().describe('A workstream of yours that it belongs to.'),
    session_id: sessionId,
  }),
  output: z.strictObject({ note_id: z.string(), kind: z.enum(NOTE_KINDS) }),
});
