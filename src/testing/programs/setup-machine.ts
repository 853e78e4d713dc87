import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CLIENT_NAMES, type ClientName } from '../../clients/client.ts';
import type { SetupPlan } from '../../surfaces/companion/desired-files.ts';
import { applySetup, planSetup } from '../../surfaces/companion/files.ts';
import { removeSetup } from '../../surfaces/companion/remove.ts';
import { temporaryFolder } from '../store/database.ts';

export const ORIGIN = 'http://127.0.0.1:3001';

/** Creates a machine with a repository, and with Covenant's programs on the PATH. */
export function setupMachine({
  clients = CLIENT_NAMES,
  hooks = 'http',
  programs = ['covibe-mcp', 'covibe-local'],
}: {
  clients?: readonly ClientName[];
  hooks?: SetupPlan['hooks'];
  programs?: string[];
} = {}) {
  const folder = realpathSync(temporaryFolder());
  const [root, home, bin] = [join(folder, 'app'), join(folder, 'home'), join(folder, 'bin')];
  for (const each of [root, home, bin]) mkdirSync(each);
  for (const program of programs) writeFileSync(join(bin, program), '#!/bin/sh\n', { mode: 0o755 });
  const env = { HOME: home, PATH: bin };
  const planOf = (more: Partial<SetupPlan> = {}): SetupPlan => ({ env, root, origin: ORIGIN, hooks, clients, now: 1, ...more });
  return {
    root,
    home,
    env,
    bin,
    planOf,
    write(file: string, text: string, mode = 0o644) {
      const path = join(folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    },
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    json: (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')),
    setup: (more: Partial<SetupPlan> = {}) => applySetup(planSetup(planOf(more))),
    remove: (from = root) => removeSetup({ env, root: from }),
    /** Returns all files on the machine except the companion's own, with their modes and modification times. */
    tree: (times = true) =>
      Object.fromEntries(
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((path) => !path.startsWith('home/.covibe') && path !== 'home')
          .map((path) => {
            const { mode, mtimeNs } = lstatSync(join(folder, path), { bigint: true });
            const what = lstatSync(join(folder, path));
            const text = what.isSymbolicLink() ? readlinkSync(join(folder, path)) : what.isFile() ? readFileSync(join(folder, path), 'latin1') : '';
            return [path, [mode, ...(times && what.isFile() ? [mtimeNs] : []), text].join(' ')];
          }),
      ),
  };
}

export type SetupMachine = ReturnType<typeof setupMachine>;

/**
 * Writes configuration files as people write them, for example with comments, tabs, Windows line endings, a byte order mark, and hooks and servers of their
 * own.
 */
export function handWritten(m: SetupMachine) {
  m.write('app/.mcp.json', '{\r\n  "mcpServers": {\r\n    "other": { "command": "x" }\r\n  }\r\n}');
  m.write(
    'app/.claude/settings.json',
    '{\n\t// mine\n\t"hooks": {\n\t\t"Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }], // loud\n\t},\n\t"model": "x"\n}\n',
    0o666,
  );
  m.write('home/.codex/config.toml', '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n', 0o600);
  m.write('app/.cursor/hooks.json', '\uFEFF{ "version": 1, "hooks": { "stop": [] } }');
  m.write('app/dotfiles/gemini.json', '{}');
  mkdirSync(join(m.root, '.gemini'));
  symlinkSync('../dotfiles/gemini.json', join(m.root, '.gemini/settings.json'));
  m.write('app/opencode.jsonc', '{\n  // mine\n}\n');
}
