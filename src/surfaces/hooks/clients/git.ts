import type { HookClient } from '../client.ts';

/** The commit guard asks with a question that is reduced already, and prints the answer itself. */
export const git: HookClient = {
  events: { commit: 'pre-commit', push: 'pre-push' },
  hears: [],
  reduce: () => ({}),
  render: (_event, { decision, reason, notice }) => ({ decision, reason, notice }),
};
