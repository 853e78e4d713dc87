import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { AgentClient, ClientConnection, SetupContext } from './client.ts';
import { bearer, bridgeEnvironment, indentedJson, inFolder, serverEntry, TOKEN } from './config-entries.ts';
import { fileArgument, hooksLikeClaude, patchArgument, shellArgument } from './hook-payload.ts';

/**
 * The plugin that opencode loads. opencode has no hooks that run commands, so the plugin runs `command` with the event appended. That command runs on
 * this machine and extracts names, ids and paths from the payload. The plugin may throw only before a tool, where an error prevents the call; anywhere
 * else it would break opencode. Its first line must stay the same in all versions, because setup recognizes the file by it.
 */
export const opencodePlugin = (command: readonly string[]): string => `// Written by \`covibe-local setup\`; \`covibe-local setup --remove\` takes it out again.
import { spawn } from 'node:child_process';

const COMMAND = ${JSON.stringify(command)};
const LONGEST_MS = 10_000;

/** Runs the hook command and returns its answer. If that fails, the answer is empty and the agent continues. */
function hook(event, payload) {
  return new Promise((resolve) => {
    const [program, ...args] = [...COMMAND, event];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    // Resolves without waiting for the output to close, because a program that the command started may keep it open.
    const timer = setTimeout(() => {
      child.kill();
      resolve({});
    }, LONGEST_MS);
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stdin.on('error', () => {});
    child.on('error', () => {
      clearTimeout(timer);
      resolve({});
    });
    child.on('close', () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(said) ?? {});
      } catch {
        resolve({});
      }
    });
    child.stdin.end(JSON.stringify(payload));
  });
}

export const Covibe = async ({ client, directory }) => {
  /** Maps the session of a subagent to its parent session, because both belong to one run. */
  const parents = new Map();
  const created = new Set();
  const started = new Set();
  /** Context for a run that the agent will see with the next message or tool output. */
  const waiting = new Map();
  /** Runs that continue because a stop was denied. */
  const held = new Set();
  const prompted = new Set();

  const runOf = (id) => {
    let run = id;
    while (parents.has(run)) run = parents.get(run);
    return run;
  };
  const tellPerson = async (message) => {
    try {
      await client.tui.showToast({ body: { title: 'Covenant', message, variant: 'warning' } });
    } catch {}
  };
  const ask = async (event, id, more = {}) => {
    const answer = await hook(event, { hook_event_name: event, session_id: runOf(id), cwd: directory, ...more });
    if (answer.notice) void tellPerson(answer.notice);
    return answer;
  };
  const later = (id, context) => {
    if (context) waiting.set(runOf(id), [waiting.get(runOf(id)), context].filter(Boolean).join('\\n\\n'));
  };
  const told = (id) => {
    const context = waiting.get(runOf(id));
    waiting.delete(runOf(id));
    return context;
  };
  const start = async (id) => {
    const run = runOf(id);
    if (started.has(run)) return;
    started.add(run);
    later(run, (await ask('session-start', run, { source: created.has(run) ? 'startup' : 'resume' })).context);
  };
  const end = async (run) => {
    if (started.delete(run)) await ask('session-end', run);
  };
  const stop = async (run) => {
    const { deny } = await ask('stop', run, { stop_hook_active: held.has(run) });
    if (!deny) return;
    held.add(run);
    prompted.add(run);
    await client.session.promptAsync({ path: { id: run }, body: { parts: [{ type: 'text', text: deny }] } });
  };

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {};
      try {
        if (event.type === 'session.created' && info?.parentID) parents.set(info.id, info.parentID);
        else if (event.type === 'session.created') created.add(info?.id);
        else if (event.type === 'session.deleted') await end(info?.id);
        else if (event.type === 'session.compacted') later(sessionID, (await ask('compact', sessionID)).context);
        else if (event.type === 'session.idle' && started.has(sessionID)) await stop(sessionID);
      } catch {}
    },
    'chat.message': async ({ sessionID }, { message, parts }) => {
      if (parents.has(sessionID)) return;
      if (!prompted.delete(sessionID)) held.delete(sessionID);
      await start(sessionID);
      later(sessionID, (await ask('prompt', sessionID)).context);
      const text = told(sessionID);
      const last = parts.at(-1);
      // opencode sorts the parts by id, and this id comes after the id of the last part.
      if (text && last) parts.push({ id: \`\${last.id}c\`, sessionID, messageID: message.id, type: 'text', synthetic: true, text });
    },
    'tool.execute.before': async ({ tool, sessionID }, { args }) => {
      await start(sessionID);
      const { deny } = await ask('before-tool', sessionID, { tool_name: tool, tool_input: args });
      if (deny) throw new Error(deny);
    },
    'tool.execute.after': async ({ tool, sessionID, args }, output) => {
      // Only inputs and answers of Covenant's own tools are passed on, because they contain the id of the session.
      const more = /covibe_/.test(tool) ? { tool_input: args, tool_response: output } : {};
      later(sessionID, (await ask('after-tool', sessionID, { tool_name: tool, ...more })).context);
      const text = told(sessionID);
      if (!text) return;
      if (Array.isArray(output.content)) output.content.push({ type: 'text', text });
      else output.output = \`\${output.output ?? ''}\\n\\n\${text}\`;
    },
    dispose: async () => {
      await Promise.all([...started].map(end));
    },
  };
};
`;

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'opencode: add to opencode.json',
    text: indentedJson({ mcp: { covenant: { type: 'remote', url, headers: bearer(token) } } }),
  }),
  file: 'opencode: opencode.json in your repository',
  section: 'mcp',
  format: 'json',
  // The entry has no field `cwd`, because opencode refuses a file with unknown fields.
  stdio: (bridge) => ({ type: 'local', command: inFolder(bridge), environment: bridgeEnvironment('opencode', bridge, `{env:${TOKEN}}`) }),
};

/** The plugin above runs these hooks and reads the answer as plain JSON. The event names are the names of opencode's own events and hooks. */
const hooks = hooksLikeClaude({
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
  fileTools: {
    write: fileArgument('filePath'),
    edit: fileArgument('filePath'),
    multiedit: fileArgument('filePath'),
    apply_patch: patchArgument('patchText'),
    patch: patchArgument('patchText'),
    bash: shellArgument('command', 'workdir'),
  },
  render: (event, { decision, reason, context, notice }) => ({
    ...(decision === 'deny' && { deny: reason }),
    ...(context && hooks.contextEvents.includes(event) && { context }),
    ...(notice && { notice }),
  }),
});

/** Returns `opencode.jsonc` if it exists, and otherwise `opencode.json`. opencode reads both files. */
function configFile({ root }: SetupContext): string {
  const commented = join(root, 'opencode.jsonc');
  return existsSync(commented) ? commented : join(root, 'opencode.json');
}

export const opencode: AgentClient = {
  name: 'opencode',
  displayName: 'opencode',
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
  commandMarks: { set: ['OPENCODE'], rank: 5 },
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
