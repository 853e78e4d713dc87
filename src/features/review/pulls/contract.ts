import { z } from 'zod';
import { branch, contract, text, title } from '../../../kernel/contract.ts';

export const createPullRequest = contract({
  name: 'create_pull_request',
  toolset: 'review',
  title: 'Create a pull request',
  description:
    'Push the branch and open a pull request on GitHub. Coding and planning agents: for their own branch. Review agents: for the branch that ' +
    'they review, which approves the work and ends the review. Includes only commits. Called again after more commits, it pushes them to the ' +
    'same pull request and updates its title and description.',
  input: z.strictObject({
    title: title.max(256),
    description: text(60_000),
    base_branch: branch.default('main').describe('Branch on GitHub to merge the work into.'),
  }),
  output: z.strictObject({
    pr_number: z.int(),
    pr_url: z.string(),
    branch_name: z.string(),
    not_included: z.string().nullable().describe('What is left out: uncommitted changes, or commits after the approved one.'),
  }),
  annotations: { openWorldHint: true },
});

const issue = z.strictObject({
  title: title.max(256),
  body: text(60_000),
  labels: z.array(title.max(50)).max(50).optional(),
  assignees: z.array(title.max(100)).max(10).optional(),
});

export const createIssues = contract({
  name: 'create_issues',
  agentType: 'planning',
  toolset: 'review',
  title: 'Create issues',
  description:
    'For planning agents: create GitHub issues, in order. Returns which were created and which failed, and why; repeat the call with only the ' +
    'failed ones. If the call times out, the rest is still created and a message reports the result.',
  input: z.strictObject({ issues: z.array(issue).min(1).max(50) }),
  output: z.strictObject({
    created: z.array(z.strictObject({ index: z.int(), number: z.int(), url: z.string(), title: z.string() })),
    failed: z.array(z.strictObject({ index: z.int(), title: z.string(), message: z.string() })),
  }),
  annotations: { openWorldHint: true },
});
