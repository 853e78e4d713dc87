import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, direct, ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { collector } from '../../src/testing/stand-ins/collector.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** This code makes Node write the names of all files that it loads to stderr. */
const WATCH = `import { registerHooks } from 'node:module'; registerHooks({ load(url, ctx, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, ctx); } });`;
const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(WATCH)}`;

/** Returns the built files that contain the exporters of OpenTelemetry. */
function exporters(): string[] {
  const folder = join(ROOT, 'dist/covenant');
  return readdirSync(folder).filter((name) => name.endsWith('.js') && readFileSync(join(folder, name), 'utf8').includes('OTLPTraceExporter'));
}

test('without an endpoint no exporter is loaded; with an endpoint in the standard variables, everything up to the last call is exported', async () => {
  const files = exporters();
  expect(files.length).toBeGreaterThan(0);
  const home = temporaryFolder();
  const quiet = await startProgram({ home, env: { NODE_OPTIONS } });
  expect(quiet.log()).toContain('loaded file:');
  expect(files.filter((file) => quiet.log().includes(`/${file}\n`))).toEqual([]);
  expect(await quiet.stop()).toBe(0);

  const to = await collector();
  const env = { NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: to.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc', OTEL_SERVICE_NAME: 'team-server' };
  const told = await startProgram({ home, env });
  expect(files.filter((file) => told.log().includes(`/${file}\n`))).toEqual(files);
  const { token } = (await covenant({ home }, 'tokens', 'create', '--developer', 'ana', '--json')).json as { token: string };
  await direct(told.url, token, 'covibe_team', { operation: 'state' });
  expect(await told.stop()).toBe(0);

  const call = to.spans().find(({ name }) => name === 'tools/call covibe_team');
  expect(call?.resource).toMatchObject({ 'service.name': 'team-server', 'service.version': expect.any(String) });
  expect(to.points('covenant_calls_total').some(({ attributes }) => attributes.tool === 'covibe_team')).toBe(true);
  expect(to.headers.map((headers) => headers['x-key'])).toEqual(to.headers.map(() => 'abc'));
  expect(to.bodies.join('')).not.toContain(token);
});
