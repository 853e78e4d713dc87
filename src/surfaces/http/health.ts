import { DEFAULT_SETTINGS } from '../../features/team/overlap/index.ts';
import type { App } from '../../main.ts';
import { missingFromSchema } from '../../storage/migrate.ts';
import { VERSION } from '../../version.ts';

const KEEP_MS = 2_000;

/** The server's defaults. Settings of workspaces are not public. */
const CONFIG = { overlap: { warn: DEFAULT_SETTINGS.warn, escalate: DEFAULT_SETTINGS.escalate } };

export interface HealthReport {
  status: 'ok' | 'failing';
  version: string;
  /** The id of the running server process. The CLI uses it to check that it reached the right server. */
  instance: string;
  store: 'sqlite' | 'postgres';
  schema: number;
  /** Public settings that affect decisions. */
  config: { overlap: { warn: number; escalate: number } };
  checks: { database: 'ok' | 'unreachable'; schema: 'ok' | 'damaged' | 'unknown' };
}

/** Checks that the database answers and has every table, column and index. The report contains no data from the database. */
export function createHealth(app: App, instance: string): () => Promise<HealthReport> {
  let kept: { health: Promise<HealthReport>; until: number } | undefined;
  return () => {
    if (!kept || performance.now() >= kept.until) kept = { health: check(), until: performance.now() + KEEP_MS };
    return kept.health;
  };

  async function check(): Promise<HealthReport> {
    const checks = await runChecks(app);
    const healthy = checks.database === 'ok' && checks.schema === 'ok';
    return { status: healthy ? 'ok' : 'failing', version: VERSION, instance, store: app.store.kind, schema: app.store.schemaVersion, config: CONFIG, checks };
  }
}

async function runChecks(app: App): Promise<HealthReport['checks']> {
  try {
    const missing = await missingFromSchema(app.store.engine);
    if (missing.length > 0) app.log.error('the database lacks parts of its schema', { missing: missing.slice(0, 10) });
    return { database: 'ok', schema: missing.length === 0 ? 'ok' : 'damaged' };
  } catch (error) {
    app.log.error('health check failed', { error });
    return { database: 'unreachable', schema: 'unknown' };
  }
}
