import type { Kysely } from 'kysely';
import type { Db, Engine, EngineKind } from './engine.ts';
import { SchemaMismatch } from './errors.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { SCHEMA } from './schema.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The tables it adds, in the language of `schema-text.ts`. The row types are generated from it. */
  readonly tables?: string;
  /** Immutable once released. Rows are untyped here, because a migration outlives the types of its time. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  up(db: Kysely<any>, engine: EngineKind): Promise<void>;
}

export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.number ?? 0;

/** Why a database older than the first migration is refused, or undefined. */
export function whyObsolete(version: number, [first]: readonly Migration[] = MIGRATIONS): string | undefined {
  if (version === 0 || first === undefined || version >= first.number) return undefined;
  return (
    `the database has schema ${version}, but this program migrates only from ${first.number} on: start covenant of commit c09f4ba on it once, ` +
    'to migrate it, or export its workspaces with that commit and import them here'
  );
}

/** The name that migrations lock to take turns. It belongs to no workspace. */
const MIGRATION_TURN = 'schema';

export interface SchemaState {
  current: number;
  pending: readonly Migration[];
}

/** The version of the database and its pending migrations. Refuses a database that is newer than the program, too old, or of another program. */
export async function inspectSchema(engine: Engine, db: Db = engine.reader, migrations: readonly Migration[] = MIGRATIONS): Promise<SchemaState> {
  const newest = migrations.at(-1)?.number ?? 0;
  const oldest = migrations[0]?.number ?? 0;
  const applied = await appliedMigrations(engine, db);
  const current = applied.at(-1)?.number ?? 0;
  const obsolete = whyObsolete(current, migrations);
  if (obsolete !== undefined) throw new SchemaMismatch('obsolete', obsolete);
  for (const { number, name } of applied) {
    // A database older than the baseline lists the migrations that the baseline replaces.
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

/** Applies missing migrations, each in a transaction that also records it. Several servers may start at the same time. */
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

/** Parts of the newest schema that this database lacks. If there are any, the database is damaged or foreign. */
export async function missingFromSchema(engine: Engine): Promise<string[]> {
  const present = new Set((await engine.dumpSchema()).split('\n'));
  return SCHEMA[engine.kind].split('\n').filter((line) => line !== '' && !present.has(line));
}
