import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { until } from '../../src/testing/until.ts';

test('external servers at the command line: list, call, change, approve, restart, logs [gateway.cli.servers] [gateway.config.file] [gateway.pin.approve] [gateway.start.merged]', async () => {
  const at = { home: temporaryFolder(), env: { SAYS: 'hello-from-far' } };
  const run = (...args: string[]) => covenant(at, ...args);
  const configure = (env: string) =>
    writeFileSync(
      join(at.home, 'secrets.toml'),
      `[[mcp.server]]\nname = "far"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["$CHILDREN/changes-description.mjs"]\nenv = { ${env} }\n\n[[mcp.server]]\nname = "wrong"\ncommand = "x"\nargs = ["$NOT_SET"]\n`.replace(
        '$CHILDREN',
        join(ROOT, 'src/testing/programs/children'),
      ),
      { mode: 0o600 },
    );
  configure('CHILD_DESCRIPTION = "Returns the text."');
  const server = await startProgram(at);

  await until(async () => expect((await run('servers', 'list', '--json')).json).toMatchObject({ items: [{ name: 'far', state: 'up' }] }));
  const { json, code } = await run('servers', 'list', '--json');
  expect(code).toBe(0);
  expect(json).toMatchObject({
    kind: 'server_list',
    items: [{ name: 'far', transport: 'stdio', state: 'up', tools: 2, withheld: [] }],
    problems: [{ line: 10, server: 'wrong', message: 'args.0: the environment variable NOT_SET is not set for Covenant.' }],
  });
  const listed = (await run('servers', 'list')).stdout;
  expect(listed).toMatch(/^SERVER +STATE +TRANSPORT +TOOLS +WITHHELD +RESTARTS +SINCE +WORKSPACES\nfar +up +stdio +2 +0 +0 /);
  expect(listed).toContain('! secrets.toml:10: wrong: args.0: the environment variable NOT_SET is not set');
  expect((await run('tools', 'list')).stdout).toMatch(/^far_echo +far +up +no +0$/m);
  expect((await run('capabilities', 'explain', 'far_echo')).stdout).toBe('✗ operator: no. Denied: the operator lacks tool.call.far_echo.\n');
  await run('capabilities', 'grant', 'tool.call.far_echo', '--expires-in-minutes', '60');
  expect((await run('capabilities', 'explain', 'far_echo')).stdout).toMatch(/^✓ operator: yes, by grant_\w+ \(until 20.*\)\n$/);
  expect(await run('tools', 'call', 'far_echo', '--args', '{"text":"hi"}')).toMatchObject({ code: 0, stdout: 'hi\n' });
  expect((await run('tools', 'call', 'far_echo', '--args', '{"text":"hi"}', '--json')).json).toMatchObject({
    kind: 'tool_result',
    content: [{ type: 'text', text: 'hi' }],
    isError: false,
  });

  configure('CHILD_DESCRIPTION = "Returns\\u200B another text."');
  const restarted = await run('servers', 'restart', 'far', '--json');
  expect(restarted).toMatchObject({ code: 0, json: { kind: 'server_restarted', server: 'far', state: 'up', problem: null } });
  expect((await run('tools', 'list')).stdout).toMatch(
    /^far_echo +far +withheld +yes +\d+\nWithheld tools of far: 1\. To review them: covenant servers approve far$/m,
  );
  expect(await run('tools', 'call', 'far_echo', '--args', '{"text":"hi"}')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('covenant servers approve far --tool echo'),
  });

  expect(await run('servers', 'approve', 'far', '--tool', 'nothing', '--json')).toMatchObject({ code: 1, json: { kind: 'error', code: 'TOOL_NOT_FOUND' } });
  expect(await run('servers', 'reject', 'far', '--tool', 'echo')).toMatchObject({ code: 0, stdout: expect.stringContaining('Rejected far_echo.') });
  expect((await run('servers', 'list')).stdout).toContain('far_echo (changed, rejected)');
  const approved = await run('servers', 'approve', 'far');
  expect(approved).toMatchObject({ code: 0, stdout: 'Approved far_echo.\n' });
  expect(approved.stderr).toContain('far_echo  tool, changed\n  description\n  - Returns the text.\n  + Returns\\u{200B} another text.\n');
  expect(await run('tools', 'call', 'far_echo', '--args', '{"text":"hi"}')).toMatchObject({ code: 0, stdout: 'hi\n' });
  expect(await run('servers', 'approve', 'far', '--json')).toMatchObject({ code: 0, json: { kind: 'server_approved', approved: [], left: [] } });

  expect(await run('servers', 'logs', 'far', '--lines', '5', '--json')).toMatchObject({
    code: 0,
    json: { kind: 'server_log', server: 'far', lines: expect.any(Array) },
  });
  expect(await run('servers', 'logs', 'far', '--lines', 'many')).toMatchObject({ code: 2 });
  for (const part of ['restart', 'approve', 'logs']) {
    expect(await run('servers', part, 'nowhere')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('secrets.toml has no server named "nowhere". It has far.'),
    });
  }

  expect(await run('doctor')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('secrets.toml:10: wrong: args.0: the environment variable NOT_SET is not set'),
  });

  await server.stop();
  expect((await run('servers', 'list', '--json')).json).toMatchObject({ items: [{ name: 'far', state: 'stopped', tools: 2 }] });
  expect(await run('servers', 'restart', 'far')).toMatchObject({ code: 1, stderr: expect.stringContaining('next: Run `covenant up` to start both.') });
});
