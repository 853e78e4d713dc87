import type { Kysely } from 'kysely';
import type { Db, Engine, EngineKind } from './engine.ts';
import { SchemaMismatch } from './errors.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { SCHEMA } from './schema.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The tables that the migration adds, in the language of `schema-text.ts`. Row types are generated from this text. */
  readonly tables?: string;
  /** Must not change after its release. Rows are untyped, because the types change later and the migration does not. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  up(db: Kysely<any>, engine: EngineKind): Promise<void>;
}

export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.number ?? 0;

/** Returns the reason for refusing a database that is older than the first migration, or undefined if it is not. */
export function whyObsolete(version: number, [first]: readonly Migration[] = MIGRATIONS): string | undefined {
  if (version === 0 || first === undefined || version >= first.number) return undefined;
  return (
    `the database has schema ${version}, but this program migrates only from ${first.number} on: start covenant of commit c09f4ba on it once, ` +
    'to migrate it, or export its workspaces with that commit and import them here'
  );
}

/** Servers lock this name so that only one of them migrates at a time. It is not the name of a workspace. */
const MIGRATION_TURN = 'schema';

export interface SchemaState {
  current: number;
  pending: readonly Migration[];
}

/**
 * Returns the schema version of the database and the migrations that it still needs. Throws if the database is newer than this program, too old, or belongs
 * to another program.
 */
export async function inspectSchema(engine: Engine, db: Db = engine.reader, migrations: readonly Migration[] = MIGRATIONS): Promise<SchemaState> {
  const newest = migrations.at(-1)?.number ?? 0;
  const oldest = migrations[0]?.number ?? 0;
  const applied = await appliedMigrations(engine, db);
  const current = applied.at(-1)?.number ?? 0;
  const obsolete = whyObsolete(current, migrations);
  if (obsolete !== undefined) throw new SchemaMismatch('obsolete', obsolete);
  for (const { number, name } of applied) {
    // A database that was created before the baseline also lists the migrations that the baseline replaced. They are skipped.
    if (number < oldest) continue;
    if (number > newest) {
      throw new SchemaMismatch(
        'newer',
        `the database has schema ${number} (${name}) but this program only knows ${newest}: start the newer covenant version that created it, or restore an older backup`,
      );
    }
    const known = migrations.find((migration) => migration.number === number);
    if (known?.name !== name) {
      throw new SchemaMismatch(
        'foreign',
        `the database has migration ${number} "${name}" where this program has "${known?.name ?? 'none'}": it belongs to another program`,
      );
    }
  }
  return { current, pending: migrations.filter((migration) => migration.number > current) };
}

/** Applies the missing migrations. Each one runs in its own transaction, which also records it, because several servers may start at the same time. */
export async function migrate(engine: Engine, now: () => number, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  for (;;) {
    const next = await engine.transaction(MIGRATION_TURN, async (db) => {
      const { pending } = await inspectSchema(engine, db, migrations);
      const [migration] = pending;
      if (!migration) return undefined;
      await migration.up(db, engine.kind);
      await db.insertInto('schema_migrations').values({ number: migration.number, name: migration.name, applied_at: now() }).execute();
      return migration.number;
    });
    if (next === undefined) return;
  }
}

async function appliedMigrations(engine: Engine, db: Db): Promise<{ number: number; name: string }[]> {
  if (!(await engine.hasTable(db, 'schema_migrations'))) return [];
  return await db.selectFrom('schema_migrations').select(['number', 'name']).orderBy('number').execute();
}

/** Returns the parts of the newest schema that this database lacks. If it lacks any, the database is damaged or belongs to another program. */
export async function missingFromSchema(engine: Engine): Promise<string[]> {
  const present = new Set((await engine.dumpSchema()).split('\n'));
  return SCHEMA[engine.kind].split('\n').filter((line) => line !== '' && !present.has(line));
}
