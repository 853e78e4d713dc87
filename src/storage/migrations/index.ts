import type { Migration } from '../migrate.ts';
import { foundation } from './0001_foundation.ts';
import { overlap } from './0002_overlap.ts';
import { work } from './0003_work.ts';
import { sessions } from './0004_sessions.ts';
import { telemetry } from './0005_telemetry.ts';
import { coordination } from './0006_coordination.ts';
import { workflows } from './0007_workflows.ts';
import { gateway } from './0008_gateway.ts';
import { cycles } from './0009_cycles.ts';
import { reviews } from './0010_reviews.ts';
import { dashboard } from './0011_dashboard.ts';
import { hooks } from './0012_hooks.ts';
import { retention } from './0013_retention.ts';
import { quota } from './0014_quota.ts';
import { people } from './0015_people.ts';
import { machine } from './0016_machine.ts';

/** In order, without gaps. A released migration never changes; a new one goes below it. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  overlap,
  work,
  sessions,
  telemetry,
  coordination,
  workflows,
  gateway,
  cycles,
  reviews,
  dashboard,
  hooks,
  retention,
  quota,
  people,
  machine,
];
