import type { Recipe } from './kitchen.ts';

export const REVIEW: Readonly<Record<string, Recipe>> = {
  request_review: { by: ['coder'] },
  create_pull_request: { by: ['coder'] },
  create_pr: { by: ['coder'] },
  create_issues: { by: ['planner'], with: () => ({ issues: [{ title: 'Split it', body: 'In two.', labels: ['later'] }] }) },
  send_feedback: { by: ['reviewer'] },
};
