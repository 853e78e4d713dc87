import type { HookClient } from '../client.ts';
import { named, patch, shell } from '../file-tools.ts';
import { reduced } from '../native.ts';

const FILE_TOOLS = {
  write: named('filePath'),
  edit: named('filePath'),
  multiedit: named('filePath'),
  apply_patch: patch('patchText'),
  patch: patch('patchText'),
  bash: shell('command', 'workdir'),
};

/** It has no hooks that run commands: our plugin calls, and reads the answer as it is. Names are those of the plugin's hooks. */
export const opencode: HookClient = {
  events: {
    'session-start': 'session.created',
    'session-end': 'session.deleted',
    prompt: 'chat.message',
    'before-tool': 'tool.execute.before',
    'after-tool': 'tool.execute.after',
    compact: 'session.compacted',
    stop: 'session.idle',
  },
  hears: ['session-start', 'prompt', 'after-tool', 'compact'],
  reduce: (event, native) => reduced(event, native, FILE_TOOLS),
  render: (event, { decision, reason, context, notice }) => ({
    ...(decision === 'deny' && { deny: reason }),
    ...(context && opencode.hears.includes(event) && { context }),
    ...(notice && { notice }),
  }),
};
