import type { HookClient } from '../client.ts';
import { named, shell } from '../file-tools.ts';
import { reduced } from '../native.ts';

const FILE_TOOLS = {
  write_file: named('file_path'),
  replace: named('file_path'),
  run_shell_command: shell('command', 'dir_path'),
};

/** Its `PreCompress` comes before every question to the model, whether anything is compacted or not: it says nothing, and is not used. */
export const gemini: HookClient = {
  events: {
    'session-start': 'SessionStart',
    'session-end': 'SessionEnd',
    prompt: 'BeforeAgent',
    'before-tool': 'BeforeTool',
    'after-tool': 'AfterTool',
    stop: 'AfterAgent',
  },
  hears: ['session-start', 'prompt', 'after-tool'],
  reduce: (event, native) => reduced(event, native, FILE_TOOLS),
  render(event, { decision, reason, context, notice }) {
    const denied = decision === 'deny' && (event === 'before-tool' || event === 'stop');
    return {
      ...(notice && { systemMessage: notice }),
      ...(denied && { decision: 'deny', reason }),
      ...(context && gemini.hears.includes(event) && { hookSpecificOutput: { hookEventName: gemini.events[event], additionalContext: context } }),
    };
  },
};
