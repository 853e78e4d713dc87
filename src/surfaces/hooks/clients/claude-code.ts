import type { HookClient } from '../client.ts';
import { named, shell } from '../file-tools.ts';
import { reduced, rendered } from '../native.ts';

const FILE_TOOLS = {
  Write: named('file_path'),
  Edit: named('file_path'),
  MultiEdit: named('file_path'),
  NotebookEdit: named('notebook_path'),
  Bash: shell('command'),
};

/** A compaction is told as a session's start with `source: "compact"`. */
export const claudeCode: HookClient = {
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
  render: (event, answer) => rendered(claudeCode, event, answer),
};
