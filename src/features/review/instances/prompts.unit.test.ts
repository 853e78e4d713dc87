import { expect, test } from 'vitest';
import { codingPrompt, planningPrompt } from './prompts.ts';

test('prompts name the agent, its branch, its task and the tools to call', () => {
  const task = { id: 'planning-a1', branch: 'planning/planning-a1', baseBranch: 'next', issue: null, prompt: 'Plan the move.' };
  expect(planningPrompt(task)).toMatch(
    /^You are planning-a1, a planning agent\.[\s\S]*planning\/planning-a1[\s\S]*Plan the move\.[\s\S]*create_issues[\s\S]*create_pull_request/,
  );
  const coding = codingPrompt({ ...task, id: 'work-7-a1', issue: 7, prompt: undefined });
  for (const word of ['issue 7', 'gh issue view 7', 'Commit', 'request_review', 'REVIEW_FEEDBACK.md', 'create_pull_request (base_branch next)']) {
    expect(coding).toContain(word);
  }
  expect(coding).not.toContain('undefined');
});
