import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigEntry } from '../../../clients/client.ts';
import { runs } from '../../../testing/runs.ts';
import { put, stateOf, takeAll } from './edit.ts';
import { jsonIn } from './json-text.ts';

const FILE = 'settings.json';

const server: ConfigEntry = { kind: 'member', what: 'server entry', at: ['mcpServers', 'covibe'], value: { command: 'covibe-mcp', args: ['-x'] } };
const hook = (command: string): ConfigEntry => ({
  kind: 'item',
  what: 'Stop hook',
  list: ['hooks', 'Stop'],
  ours: 'covibe-local hook',
  value: { matcher: 'a|b', hooks: [{ type: 'command', command: `covibe-local hook ${command}` }] },
});

/** Generates JSON as people write it: with comments and blanks anywhere, trailing commas and any line endings. */
const gap = fc.constantFrom('', '', ' ', '\n', '\n\t', '\n    ', ' /* { "a": [1, */ ', ' // , ] }\n  ', '\n  // mine\n  ');
const key = fc.constantFrom('"mcpServers"', '"hooks"', '"Stop"', '"covibe"', '"a"', '"ü \\" }"');
const json = fc.letrec<{ value: string; members: string; container: string; items: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.constantFrom('1', '"x // y"', 'null', 'true'), tie('container')),
  container: fc.oneof(
    tie('members').map((inner) => `{${inner}}`),
    tie('items').map((inner) => `[${inner}]`),
  ),
  members: listOf(fc.tuple(gap, key, gap, gap, tie('value'), gap).map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`)),
  items: listOf(fc.tuple(gap, tie('value'), gap).map(([a, value, b]) => `${a}${value}${b}`)),
}));

function listOf(element: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(element, { maxLength: 4 }), fc.boolean(), gap)
    .map(([elements, comma, end]) => elements.join(',') + (comma && elements.length > 0 ? ',' : '') + end);
}

const file = fc
  .tuple(fc.constantFrom('', '\uFEFF'), gap, json.members, gap, fc.boolean())
  .map(([bom, before, members, after, crlf]) => bom + (crlf ? `${before}{${members}}${after}`.replaceAll('\n', '\r\n') : `${before}{${members}}${after}`));

/** Undefined if the entry cannot be added, because another value is in its place. */
function putOrRefused(text: string, entry: ConfigEntry) {
  try {
    return put(text, entry, FILE);
  } catch (error) {
    expect((error as Error).message).toMatch(/^settings\.json, line \d+, column \d+: .*Nothing was changed\.$/);
    return undefined;
  }
}

const isWithin = (inner: string, outer: string): boolean => {
  let at = 0;
  for (const each of outer) if (each === inner[at]) at++;
  return at === inner.length;
};

const bare = (text: string): string => text.replace(/[\s,]/g, '');

test('adding an entry to any file leaves every other byte unchanged, and the entry is found again', () => {
  fc.assert(
    fc.property(file, fc.constantFrom(server, hook('stop')), (text, entry) => {
      fc.pre(stateOf(text, entry, FILE) === 'missing');
      const done = putOrRefused(text, entry);
      if (!done) return;
      expect(isWithin(text, done.text)).toBe(true);
      expect(stateOf(done.text, entry, FILE)).toBe('good');
      expect(put(done.text, entry, FILE)).toEqual({ text: done.text });
      expect(done.text.includes('\r\n') && /[^\r]\n/.test(done.text)).toBe(false);
    }),
    runs(200),
  );
});

test('removing an entry restores the file and removes nothing else', () => {
  fc.assert(
    fc.property(file, fc.constantFrom([server], [hook('stop')], [server, hook('stop')]), (text, entries) => {
      fc.pre(entries.every((entry) => stateOf(text, entry, FILE) === 'missing'));
      let now = text;
      const written = entries.flatMap((entry) => {
        const done = putOrRefused(now, entry);
        now = done?.text ?? now;
        return done?.written ?? [];
      });
      const { text: without, stays } = takeAll(now, written, FILE);
      expect(stays).toEqual([]);
      expect(jsonIn(without, FILE)).toEqual(jsonIn(text, FILE));
      expect(bare(without)).toBe(bare(text));
    }),
    runs(200),
  );
});

test.each([
  ['tabs and a comment after the last', '{\n\t"a": 1 // mine\n}\n'],
  ['a trailing comma and Windows line endings', '\uFEFF{\r\n  "mcpServers": {\r\n    "x": {}, // y\r\n  },\r\n}'],
  [
    'other entries of the same kind',
    '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  },\n  "hooks": {\n    "Stop": [\n      { "hooks": [] }\n    ]\n  }\n}',
  ],
])('adding and removing an entry leaves a file with %s byte for byte the same', (_, text) => {
  const first = put(text, server, FILE);
  const second = put(first.text, hook('stop'), FILE);
  const written = [first, second].flatMap((each) => each.written ?? []);
  expect(takeAll(second.text, written, FILE)).toEqual({ text, stays: [] });
});

test('a new entry follows the formatting around it', () => {
  expect(put('{\n\t"mcpServers": {\n\t\t"x": 1 // mine\n\t}\n}', server, FILE).text).toBe(
    '{\n\t"mcpServers": {\n\t\t"x": 1, // mine\n\t\t"covibe": {\n\t\t\t"command": "covibe-mcp",\n\t\t\t"args": [\n\t\t\t\t"-x"\n\t\t\t]\n\t\t}\n\t}\n}',
  );
  expect(put('{"mcpServers": {"x": 1}}', server, FILE).text).toBe('{"mcpServers": {"x": 1, "covibe": {"command":"covibe-mcp","args":["-x"]}}}');
});

test('replaces an older entry in place, and moves our hook out of a group of other hooks', () => {
  const old = '{ "mcpServers": { "covibe": { "command": "old" }, "x": 1 } /* z */ }';
  expect(jsonIn(put(old, server, FILE).text, FILE)).toEqual({ mcpServers: { covibe: server.kind === 'member' && server.value, x: 1 } });
  const theirs = { type: 'command', command: 'mine' };
  const text = JSON.stringify({
    hooks: { Stop: [{ hooks: [theirs, { command: 'npx covibe-local hook old' }] }, { hooks: [{ command: 'covibe-local hook older' }] }] },
  });
  const wanted = hook('stop');
  expect(stateOf(text, wanted, FILE)).toBe('stale');
  expect(jsonIn(put(text, wanted, FILE).text, FILE)).toEqual({ hooks: { Stop: [{ hooks: [theirs] }, wanted.kind === 'item' && wanted.value] } });
});

test('an entry that was changed by hand stays, and the result names it', () => {
  const { text, written } = put('{}', hook('stop'), FILE);
  const edited = text.replace('a|b', 'a');
  expect(takeAll(edited, written ? [written] : [], FILE)).toEqual({ text: edited, stays: ['the Stop hook was changed by hand'] });
});

test.each([
  ['{ "a": 1', 'settings.json, line 1, column 9: it is not valid JSON (CloseBraceExpected)'],
  ['{\n  "a": tru\n}', 'settings.json, line 2, column 8: it is not valid JSON (InvalidSymbol)'],
  ['{\n  "mcpServers": []\n}', 'settings.json, line 2, column 17: "mcpServers" must be an object'],
  ['[]', 'settings.json, line 1, column 1: this must be an object'],
])('refuses a file to which the entry cannot be added, with the position and the fix: %j', (text, message) => {
  expect(() => put(text, server, FILE)).toThrow(
    expect.objectContaining({ message: `${message}. Nothing was changed.`, next: expect.stringContaining('move the file away') }),
  );
});
