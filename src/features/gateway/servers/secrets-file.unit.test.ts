import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { workspaceId } from '../../../kernel/ids.ts';
import { runs } from '../../../testing/runs.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import type { EntryOptions } from './check-entry.ts';
import { type ServerEntry, serves } from './entry.ts';
import { parseEntries, readEntries } from './secrets-file.ts';

const OPTIONS: EntryOptions = {
  env: { HOME: '/users/ana', LEVEL: 'info', TOKEN: 'sesame-open', EMPTY: '' },
  home: '/users/ana/.covenant',
  toolTimeoutMs: 30_000,
};

const read = (text: string) => parseEntries(text, OPTIONS);
const problemsOf = (text: string) => read(text).problems.map(({ line, server, message }) => `${line} ${server}: ${message}`);
/** A file with the table of one server, which begins in line 3. */
const server = (lines: string) => `# a comment\n\n[[mcp.server]]\n${lines}\n`;

test('the documented table is read and its variables are expanded [gateway.config.file] [gateway.config.stdio-keys]', () => {
  const home = temporaryFolder();
  const path = join(home, 'secrets.toml');
  const text = `[[mcp.server]]
name    = "filesystem"
command = "npx"
args    = ["-y", "@modelcontextprotocol/server-filesystem", "$HOME/notes"]
env     = { LOG_LEVEL = "info" }
`;
  writeFileSync(path, text, { mode: 0o600 });
  expect(readEntries(path, OPTIONS)).toEqual({
    entries: [
      {
        name: 'filesystem',
        enabled: true,
        prefix: true,
        include: undefined,
        exclude: [],
        lazy: false,
        workspaces: ['default'],
        timeoutMs: 30_000,
        protocol: 'auto',
        transport: {
          kind: 'stdio',
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-filesystem', '/users/ana/notes'],
          env: { LOG_LEVEL: 'info' },
          cwd: undefined,
        },
        line: 1,
      },
    ],
    problems: [],
  });
});

test('a server serves the workspaces that its table names, and by default the default workspace [harden.workspaces.setting] [harden.workspaces.every]', () => {
  const workspacesOf = (line: string) => read(server(`name = "x"\ncommand = "x"\n${line}`));
  const inAll = (line: string) => ['default', 'shop', 'other'].filter((name) => serves(workspacesOf(line).entries[0] as ServerEntry, workspaceId(name)));
  expect(inAll('')).toEqual(['default']);
  expect(inAll('workspaces = ["shop"]')).toEqual(['shop']);
  expect(inAll('workspaces = ["default", "shop"]')).toEqual(['default', 'shop']);
  expect(inAll('workspaces = ["*"]')).toEqual(['default', 'shop', 'other']);
  for (const line of [
    'workspaces = []',
    'workspaces = "shop"',
    'workspaces = ["Shop"]',
    'workspaces = ["ws_shop"]',
    'workspaces = ["shop*"]',
    'workspaces = [1]',
  ]) {
    expect(workspacesOf(line), line).toMatchObject({ entries: [], problems: [{ line: 6, server: 'x', message: expect.stringMatching(/^workspaces/) }] });
  }
});

test('every key of either transport is read', () => {
  const { entries, problems } = read(`
[[mcp.server]]
name = "a"
url = "https://example.org/\${LEVEL}/mcp"
headers = { Authorization = "Bearer $TOKEN", X-Price = "$$5 and $1" }
enabled = false
prefix = false
include = ["one"]
exclude = ["two"]
lazy = true
timeout_s = 1.5
protocol = "modern"
[[mcp.server]]
name = "b"
command = "$HOME/bin/b"
cwd = "work/$LEVEL"
[mcp.server.env]
KEY = "\${TOKEN}x"
NONE = "$EMPTY"
WHERE = "$COVENANT_HOME"
`);
  expect(problems).toEqual([]);
  expect(entries[0]).toMatchObject({
    ...{ name: 'a', enabled: false, prefix: false, include: ['one'], exclude: ['two'], lazy: true, timeoutMs: 1500, protocol: 'modern', line: 2 },
    transport: { kind: 'http', url: 'https://example.org/info/mcp', headers: { Authorization: 'Bearer sesame-open', 'X-Price': '$5 and $1' } },
  });
  expect(entries[1]?.transport).toEqual({
    kind: 'stdio',
    command: '/users/ana/bin/b',
    args: [],
    env: { KEY: 'sesame-openx', NONE: '', WHERE: '/users/ana/.covenant' },
    cwd: '/users/ana/.covenant/work/info',
  });
});

test.each([
  ['name = "a"', '4 a: name: expected either command (a program to run) or url (an address), not both.'],
  ['name = "a"\ncommand = "x"\nurl = "http://x"', '6 a: url: expected either command (a program to run) or url (an address), not both.'],
  ['command = "x"', '3 null: name: is missing.'],
  ['name = "a"\ncommand = ""', '5 a: command: is empty.'],
  ['name = "a"\ncommand = "$EMPTY"', '5 a: command: is empty.'],
  ['name = "a"\ncommand = "x"\nheaders = { A = "b" }', '6 a: headers: applies only to servers with url, not command.'],
  ['name = "a"\nurl = "http://x"\nargs = ["b"]', '6 a: args: applies only to servers with command, not url.'],
  ['name = "a"\nurl = "http://x"\n[mcp.server.env]\nA = "b"', '6 a: env: applies only to servers with command, not url.'],
  ['name = "a"\ncommand = "x"\ncomand = "y"', '6 a: comand: unknown key.'],
  ['name = "a"\ncommand = "x"\nargs = "y"', '6 a: args: expected a list of strings.'],
  ['name = "a"\ncommand = "x"\nargs = ["y", 1]', '6 a: args.1: expected a string.'],
  ['name = "a"\ncommand = "x"\nenabled = "yes"', '6 a: enabled: expected true or false.'],
  ['name = "a"\ncommand = "x"\ntimeout_s = 0', '6 a: timeout_s: expected more than 0 seconds.'],
  ['name = "a"\ncommand = "x"\nprotocol = "old"', '6 a: protocol: expected "auto", "legacy" or "modern".'],
  ['name = "a"\ncommand = "x"\n[mcp.server.env]\nA = "b"\nB = 1', '8 a: env.B: expected a string.'],
  ['name = "a"\ncommand = "x"\nenv.A = "b"\nenv.B = "$UNSET"', '7 a: env.B: the environment variable UNSET is not set for Covenant.'],
  [`name = "a"\ncommand = "x"\nargs = [\n  "y",\n  "\${UNSET}",\n]`, '6 a: args.1: the environment variable UNSET is not set for Covenant.'],
  [`name = "a"\ncommand = "x"\ncwd = "\${NOT A NAME}"`, '6 a: cwd: the braces after a dollar must contain a variable name.'],
  [`name = "a"\ncommand = "x"\ncwd = "\${LEVEL"`, '6 a: cwd: the braces after a dollar must contain a variable name.'],
  ['name = "a"\ncommand = "x"\nargs = ["$toString"]', '6 a: args.0: the environment variable toString is not set for Covenant.'],
  ['name = "a"\ncommand = "x"\nargs = ["sesame\\u0000"]', '6 a: args.0: contains a NUL character.'],
  ['name = "a"\nurl = "ftp://x"', '5 a: url: expected http://… or https://….'],
  ['name = "a"\nurl = "sesame-open"', '5 a: url: expected http://… or https://….'],
  ['name = "a"\nurl = "https://ana:sesame-open@x"', '5 a: url: contains a user name or password; send them as headers = { Authorization = "…" }.'],
  ['name = "a"\nurl = "http://x"\nheaders = { "A b" = "c" }', '6 a: headers.A b: is not a header name.'],
  ['name = "a"\nurl = "http://x"\nheaders = { A = "sesame\\nopen" }', '6 a: headers.A: contains characters that are not allowed in a header.'],
  ['name = "-a"\ncommand = "x"', '4 -a: name: expected 1 to 32 letters, digits, "_" and "-", starting with a letter or digit.'],
  [`name = "${'a'.repeat(33)}"\ncommand = "x"`, `4 ${'a'.repeat(33)}: name: expected 1 to 32 letters, digits, "_" and "-", starting with a letter or digit.`],
  ['name = "Covenant-x"\ncommand = "x"', '4 Covenant-x: name: its tools would have names reserved for Covenant; choose another name.'],
  ['name = "native"\ncommand = "x"', '4 native: name: its tools would have names reserved for Covenant; choose another name.'],
  ['name = "task"\ncommand = "x"', '4 task: name: its tools would have names reserved for Covenant; choose another name.'],
  ['name = "covibe"\ncommand = "x"', '4 covibe: name: its tools would have names reserved for Covenant; choose another name.'],
])('a faulty entry is skipped and reported by its line: %s', (lines, problem) => {
  const { entries, problems } = read(`${server(lines)}\n[[mcp.server]]\nname = "good"\ncommand = "x"\n`);
  expect(problems.map(({ line, server: name, message }) => `${line} ${name}: ${message}`)).toEqual([problem]);
  expect(entries.map(({ name }) => name)).toEqual(['good']);
  expect(JSON.stringify(problems)).not.toContain('sesame');
});

test('only the first of two servers with the same name counts', () => {
  const text = '[[mcp.server]]\nname = "a"\ncommand = "one"\n[[mcp.server]]\ncommand = "two"\nname = "a"\n';
  expect(read(text).entries.map(({ transport }) => transport)).toMatchObject([{ command: 'one' }]);
  expect(problemsOf(text)).toEqual(['6 a: name: already used in line 1, so this server is skipped.']);
});

test.each([
  ['a value is missing', 'command = \n', '6 bad: column 11: invalid value.'],
  ['a string is not closed', 'command = "sesame\n', '6 bad: column 11: unfinished string.'],
  ['a list is not closed', 'command = "x"\nargs = ["sesame"\n', '7 bad: column'],
  ['a long string is not closed', 'command = """sesame\n', '6 bad: column'],
  ['a key is written twice', 'command = "x"\ncommand = "sesame"\n', '7 bad: column 1: trying to redefine an already defined table or value.'],
])('if %s, only that table is lost', (_case, lines, problem) => {
  const text = `[[mcp.server]]\nname = "one"\ncommand = "x"\n[[mcp.server]]\nname = "bad"\n${lines}[[mcp.server]]\nname = "two"\ncommand = "y"\n[other]\nmcp = 1\n`;
  const { entries, problems } = read(text);
  expect(entries.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(problems).toHaveLength(1);
  expect(problemsOf(text)[0]).toContain(problem);
  expect(JSON.stringify(problems)).not.toContain('sesame');
});

test('a header inside a text or a list does not define a server', () => {
  const text = `[[mcp.server]]
name = "a"
command = "x"
args = ["""
[[mcp.server]]
name = "b"
command = "evil"
""", '[[mcp.server]]', "\\"[[mcp.server]]", # [[mcp.server]]
]
`;
  const quotes = '[[mcp.server]]\nname = "a"\ncommand = "x"\nargs = ["""y"""", """\n[[mcp.server]]\nname = "b"\ncommand = "evil"\n"""]\n';
  expect(read(quotes)).toMatchObject({ entries: [{ name: 'a', transport: { args: ['y"', expect.stringContaining('evil')] } }], problems: [] });
  expect(read(text)).toMatchObject({
    entries: [{ name: 'a', transport: { args: [expect.stringContaining('evil'), '[[mcp.server]]', '"[[mcp.server]]'] } }],
    problems: [],
  });
});

test('other tables are ignored, and their faults are reported', () => {
  expect(read('token = "x"\n[github]\nserver = 1\n[mcp]\nlevel = 2\n')).toEqual({ entries: [], problems: [] });
  expect(problemsOf('[github]\nx = \n[[mcp.server]]\nname = "a"\ncommand = "x"\n')).toEqual(['2 null: column 5: invalid value.']);
  expect(problemsOf('[a]\n[a]\n')).toEqual(['2 null: column 2: trying to redefine an already defined table or value.']);
  expect(problemsOf('\n[mcp.server]\nname = "a"\n')).toEqual(['2 null: mcp.server: write each server as its own [[mcp.server]] table.']);
  for (const header of ['[[mcp.servers]]', '[mcp_servers.a]', '[mcpServers.a]'])
    expect(problemsOf(`\n${header}\ncommand = "x"\n`)).toEqual(['2 null: mcp.server: write each server as its own [[mcp.server]] table.']);
});

test('servers may also be written as a list, and files with other line endings are read', () => {
  const text = '[mcp]\r\nserver = [{ name = "a", command = "x" }, { name = "b", command = 1 }]\r\n';
  expect(read(text).entries).toMatchObject([{ name: 'a', line: 1 }]);
  expect(problemsOf(text)).toEqual(['2 b: command: expected a string.']);
});

test('a missing file means no entries; an unreadable file, or one readable by others, is reported', () => {
  const home = temporaryFolder();
  const path = join(home, 'secrets.toml');
  expect(readEntries(path, OPTIONS)).toEqual({ entries: [], problems: [] });
  mkdirSync(path);
  expect(readEntries(path, OPTIONS)).toEqual({ entries: [], problems: [{ line: null, server: null, message: `Cannot read ${path}: EISDIR.` }] });
  const open = join(home, 'open.toml');
  writeFileSync(open, '[[mcp.server]]\nname = "a"\ncommand = "x"\n');
  chmodSync(open, 0o640);
  expect(readEntries(open, OPTIONS)).toMatchObject({
    entries: [{ name: 'a' }],
    problems: [{ message: `${open} is readable by other users (mode 0640). Run \`chmod 600 ${open}\`.` }],
  });
});

test('strings of an entry are read exactly as written', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.replaceAll('\0', ''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), fc.dictionary(fc.stringMatching(/^[A-Z]{1,8}$/), text, { maxKeys: 4 }), (args, env) => {
      const plain = (value: string) => value.replaceAll('$', '$$$$');
      const table = { name: 'a', command: 'x', args: args.map(plain), env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, plain(value)])) };
      const { entries, problems } = read(stringify({ mcp: { server: [table, { name: 'b', command: 'y' }] } }));
      expect(problems).toEqual([]);
      expect(entries).toMatchObject([{ transport: { args, env } }, { name: 'b' }]);
    }),
    runs(200),
  );
});

/** Lines that have another meaning inside a text, a list or a comment. */
const LINES = [
  ...[
    '[[mcp.server]]',
    '[mcp.server.env]',
    '[other]',
    '[[other]]',
    '[mcp]',
    'name = "a"',
    "name = 'b'",
    'name = "c"',
    'command = "x"',
    'url = "http://x"',
    'K = "v"',
  ],
  ...[
    'args = [',
    'args = ["""',
    '"y",',
    "'[[mcp.server]]',",
    '"""',
    "'''",
    'cwd = """',
    "cwd = '''",
    ']',
    '"""]',
    '# [[mcp.server]]',
    'env.K = "\\"#"',
    'env = { K = "}" }',
    '',
  ],
  ...['  [[ mcp . "server" ]] # here', 'server = [{ name = "d", command = "x" }]', 'enabled = true ]', '"', '['],
];

test('a valid file is read as the parser reads it, in any notation; a file with a fault never fails as a whole', () => {
  let sound = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const text = lines.join(end);
      const { entries } = read(text);
      let document: { mcp?: { server?: unknown } };
      try {
        document = parse(text.replaceAll('\r\n', '\n'));
      } catch {
        return;
      }
      const server = document.mcp?.server;
      const tables = Array.isArray(server) ? server : [];
      if (tables.length > 0) sound++;
      const placeless = (list: typeof entries) => list.map(({ line: _, ...entry }) => entry);
      expect(placeless(entries)).toEqual(placeless(read(stringify({ mcp: { server: tables } })).entries));
    }),
    runs(5_000),
  );
  // Makes sure that the test has compared something.
  expect(sound).toBeGreaterThan(50);
});
