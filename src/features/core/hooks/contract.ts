import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { contract, type Input, id, repo, text } from '../../../kernel/contract.ts';
import { HOOK_EVENTS, type HookAnswer, type HookQuestion, LONGEST, MAX_EDITS, MAX_FILES, TOP } from '../../../wire/hook-question.ts';

/**
 * Whether the path has the form that git uses. Paths that no claim can contain, for example with a backslash, are accepted, too.
 * A claim may cover their folder, and the other paths of the call must still be checked.
 */
const isFromTop = (path: string): boolean => !/^\/|(^|\/)\.\.?(\/|$)|\/$|\/\//.test(path);
const path = z.string().min(1).max(LONGEST.path);
const NOT_FROM_TOP = { error: 'expected a path relative to the top of the working tree, with forward slashes and without "." or ".."' };
const files = z.array(path.refine(isFromTop, NOT_FROM_TOP)).max(MAX_FILES);

const edit = z.strictObject({
  repo,
  path: path.refine((name) => name === TOP || isFromTop(name), NOT_FROM_TOP),
  tree: z.boolean().optional(),
  unread: z.boolean().optional(),
});

const question = z.strictObject({
  client_session: text(LONGEST.name).optional(),
  folder: text(LONGEST.folder).optional(),
  repo: repo.optional(),
  branch: text(LONGEST.branch).optional(),
  source: z.enum(['startup', 'resume', 'clear', 'compact']).optional(),
  model: text(LONGEST.model).optional(),
  tool: text(LONGEST.name).optional(),
  edits: z.array(edit).max(MAX_EDITS).optional(),
  session_id: id.optional(),
  session_started: z.boolean().optional(),
  again: z.boolean().optional(),
  dirty_files: files.optional(),
  unpushed_files: files.optional(),
  unpushed_commits: z.int().min(0).max(100_000).optional(),
  person: z.boolean().optional(),
});
question satisfies z.ZodType<HookQuestion>;

const answer = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  reason: z.string().nullable(),
  context: z.string().nullable(),
  notice: z.string().nullable(),
  session_id: z.string().nullable(),
  fail_closed: z.boolean(),
});
answer satisfies z.ZodType<HookAnswer>;

export const hearHook = contract({
  name: 'hooks.hear',
  essential: true,
  toolset: 'admin',
  access: 'token',
  quiet: true,
  title: 'Report a hook',
  description:
    'Called by the hooks of agent programs and git. Reports what happened, answers whether an edit is allowed, and returns the items that wait for the agent.',
  input: question.extend({
    client: z.enum([...CLIENT_NAMES, 'git']),
    event: z.enum(HOOK_EVENTS),
    hears: z.boolean().default(true).describe("Whether the agent sees the answer's context at this event. If not, nothing is delivered."),
  }),
  output: answer,
});

/** The input of a hook call, which an agent run or git sends. */
export type RunQuestion = Input<typeof hearHook>;
