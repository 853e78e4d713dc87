import type { HookClient } from '../client.ts';
import { patch, shell } from '../file-tools.ts';
import { reduced, rendered } from '../native.ts';

/** Its hooks call every shell `Bash`, and give the patch as the command. The folder of a single command is not told. */
const FILE_TOOLS = {
  apply_patch: patch('command'),
  Bash: shell('command'),
};

/** A compaction is told as a session's start with `source: "compact"`. */
export const codex: HookClient = {
  events: {
    'session-start': 'SessionStart',
    'session-end': 'SessionEnd',
    prompt: 'UserPromptSubmit',
    'before-tool': 'PreToolUse',
    'after-tool': 'PostToolUse',
    stop: 'Stop',
  },
  hears: ['session-start', 'prompt', 'before-tool', 'after-tool'],
  reduce: (event, native) => reduced(event, native, FILE_TOOLS),
  render: (event, answer) => rendered(codex, event, answer),
};
