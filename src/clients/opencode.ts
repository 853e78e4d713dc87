import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { AgentClient, ClientConnection, HookClient, SetupContext } from './client.ts';
import { bearer, bridgeEnvironment, indentedJson, inFolder, serverEntry, TOKEN } from './config-entries.ts';
import { named, patch, reduced, shell } from './hook-payload.ts';
import { opencodePlugin } from './opencode-plugin.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'opencode: add to opencode.json',
    text: indentedJson({ mcp: { covenant: { type: 'remote', url, headers: bearer(token) } } }),
  }),
  file: 'opencode: opencode.json in your repository',
  section: 'mcp',
  // It refuses a file with a field that it does not know, and `cwd` is one.
  stdio: (bridge) => ({ type: 'local', command: inFolder(bridge), environment: bridgeEnvironment('opencode', bridge, `{env:${TOKEN}}`) }),
};

const FILE_TOOLS = {
  write: named('filePath'),
  edit: named('filePath'),
  multiedit: named('filePath'),
  apply_patch: patch('patchText'),
  patch: patch('patchText'),
  bash: shell('command', 'workdir'),
};

/** It has no hooks that run commands: our plugin calls, and reads the answer as it is. Names are those of the plugin's hooks. */
const hooks: HookClient = {
  events: {
    'session-start': 'session.created',
    'session-end': 'session.deleted',
    prompt: 'chat.message',
    'before-tool': 'tool.execute.before',
    'after-tool': 'tool.execute.after',
    compact: 'session.compacted',
    stop: 'session.idle',
  },
  contextEvents: ['session-start', 'prompt', 'after-tool', 'compact'],
  reduce: (event, native) => reduced(event, native, FILE_TOOLS),
  render: (event, { decision, reason, context, notice }) => ({
    ...(decision === 'deny' && { deny: reason }),
    ...(context && hooks.contextEvents.includes(event) && { context }),
    ...(notice && { notice }),
  }),
};

/** Whichever is there; it reads both. */
function configFile({ root }: SetupContext): string {
  const commented = join(root, 'opencode.jsonc');
  return existsSync(commented) ? commented : join(root, 'opencode.json');
}

export const opencode: AgentClient = {
  name: 'opencode',
  programs: ['opencode'],
  folders: (env) => [join(env.XDG_CONFIG_HOME || join(userHome(env), '.config'), 'opencode'), join(userHome(env), '.opencode')],
  folderVariables: ['XDG_CONFIG_HOME'],
  connection,
  hooks,
  files: (setting) => [
    { path: configFile(setting), scope: 'repository', entries: [serverEntry(connection, setting)] },
    {
      path: join(setting.root, '.opencode/plugins/covibe.js'),
      scope: 'repository',
      entries: [
        {
          kind: 'whole',
          what: 'plugin',
          text: opencodePlugin([...setting.programs.companionArgs, 'hook', '--base-url', setting.origin, 'opencode']),
        },
      ],
    },
  ],
  commandMarks: { set: ['OPENCODE'] },
  usageSources: [],
  instance: {
    agent: 'opencode',
    runtime: 'opencode',
    launcher: {
      command: 'opencode',
      args: ['--prompt={{prompt}}'],
      headless_args: ['run', '--', '{{prompt}}'],
      env: { OPENCODE_CONFIG: '{{mcp_config}}/opencode.json' },
      pass_env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
      prompt: 'argument',
    },
    serverFile: {
      name: 'opencode.json',
      content: (url) => ({ mcp: { covenant: { type: 'remote', url, headers: bearer(`{env:${TOKEN}}`), enabled: true } } }),
    },
  },
};
