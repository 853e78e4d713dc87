/**
 * `npm run schema`: runs all migrations, and writes the resulting schema to src/storage/schema.ts and schema-rows.ts. `npm test` fails if these files are out
 * of date.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type StoreOptions } from '../src/storage/open.ts';
import { startPostgres } from '../src/testing/store/postgres.ts';
import { rowTypes } from '../src/testing/store/row-types.ts';

const folder = mkdtempSync(join(tmpdir(), 'covenant-schema-'));
const postgres = await startPostgres();
const sqliteSchema = await dump({});
const postgresSchema = await dump({ url: `${postgres.url}/postgres` });
await postgres.stop();
rmSync(folder, { recursive: true, force: true });

writeFileSync(
  new URL('../src/storage/schema.ts', import.meta.url),
  `// Written by \`npm run schema\` from the migrations. Do not edit.
import type { EngineKind } from './engine.ts';

export const SCHEMA: Record<EngineKind, string> = {
  sqlite: \`${sqliteSchema}\`,
  postgres: \`${postgresSchema}\`,
};
`,
);

writeFileSync(new URL('../src/storage/schema-rows.ts', import.meta.url), rowTypes());

async function dump(where: Partial<StoreOptions>): Promise<string> {
  const store = await openStore({ path: join(folder, 'covenant.db'), now: Date.now, statementTimeoutMs: 30_000, ...where });
  const text = await store.engine.dumpSchema();
  await store.close();
  return text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${');
}
