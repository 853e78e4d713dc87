import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import type { TableEntry } from '../../../clients/client.ts';
import { put, stateOf, takeAll } from './edit.ts';

const FILE = '~/.codex/config.toml';
const entry: TableEntry = {
  kind: 'table',
  what: 'server entry',
  at: ['mcp_servers', 'covibe'],
  value: { command: 'covibe-mcp', env: { COVIBE_AGENT: 'codex' }, env_vars: ['PWD'] },
};

const FOREIGN = [
  '',
  '# mine\nmodel = "x" # why\n',
  'model = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
  'text = """\n[mcp_servers.covibe]\ncommand = "not this"\n"""\nlist = [\n  "[mcp_servers.covibe]", # [x]\n]\n',
  "[projects.'/a.b/[c]']\ntrust_level = 'trusted'\n\n# the end\n",
  '\uFEFFmodel = "x"\n',
];

test.each(FOREIGN)('appends the table after everything else and removes it without a trace: %j', (text) => {
  const { text: after, written } = put(text, entry, FILE);
  expect(after.startsWith(text)).toBe(true);
  expect(stateOf(after, entry, FILE)).toBe('good');
  expect(put(after, entry, FILE)).toEqual({ text: after });
  expect(takeAll(after, written ? [written] : [], FILE)).toEqual({ text, stays: [] });
});

test('adds a missing final newline and keeps everything else', () => {
  expect(put('model = "x"', entry, FILE).text).toMatch(/^model = "x"\n\n\[mcp_servers\.covibe\]\n/);
});

const OLDER = `model = "x"

[mcp_servers.covibe] # ours
command = "old"
startup_timeout_sec = 20
# a remark
env_vars = [
  "A",
]
cwd = "/pinned"

[mcp_servers.covibe.env]
COVIBE_AGENT = "old"

[mcp_servers.covibe.tools.covibe_task]
approval_mode = "approve"

[z]
a = 1
`;

test('updates an older table and keeps keys that someone else has added', () => {
  expect(stateOf(OLDER, entry, FILE)).toBe('stale');
  const { text } = put(OLDER, entry, FILE);
  expect(text).toBe(`model = "x"

[mcp_servers.covibe] # ours
command = "covibe-mcp"
env = { COVIBE_AGENT = "codex" }
env_vars = ["PWD"]
startup_timeout_sec = 20
# a remark


[mcp_servers.covibe.tools.covibe_task]
approval_mode = "approve"

[z]
a = 1
`);
});

test("removes Codex's tool permissions together with the table, but keeps the table if someone has changed it", () => {
  const { text, written } = put('model = "x"\n', entry, FILE);
  const entries = written ? [written] : [];
  const learned = `${text}\n[mcp_servers.covibe.tools.covibe_task]\napproval_mode = "approve"\n\n[z]\na = 1\n`;
  expect(parse(takeAll(learned, entries, FILE).text)).toEqual({ model: 'x', z: { a: 1 } });
  const changed = `${text}startup_timeout_sec = 20\n`;
  expect(takeAll(changed, entries, FILE)).toEqual({ text: changed, stays: ['the server entry was changed by hand'] });
});

test.each([
  'mcp_servers = { covibe = { command = "x" } }\n',
  '[mcp_servers]\ncovibe.command = "x"\n',
  'mcp_servers.covibe.command = "x"\n',
  'mcp_servers = {}\n',
])('refuses a table in another form instead of writing a second table: %j', (text) => {
  expect(() => put(text, entry, FILE)).toThrow(expect.objectContaining({ code: 'OTHER_FORM', next: expect.stringContaining('[mcp_servers.covibe]') }));
});

test('refuses invalid TOML with the position', () => {
  expect(() => put('a = 1\nb = \n', entry, FILE)).toThrow(/^~\/\.codex\/config\.toml, line 2, column \d+: it is not valid TOML\. Nothing was changed\.$/);
});
