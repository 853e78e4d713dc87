import type { Feature } from '../kernel/tool.ts';
import { capabilities } from './capabilities/index.ts';
import { events } from './events/index.ts';
import { type Catalogue, gateway } from './gateway/index.ts';
import { grantSubjects, identity } from './identity/index.ts';
import { operations, type ServerFacts } from './operations/index.ts';

export interface FeatureParts {
  readonly catalogue: Catalogue;
  readonly facts: ServerFacts;
}

/** Everything the product can do, one line each. */
export const productFeatures = ({ catalogue, facts }: FeatureParts): Feature[] => [
  identity,
  capabilities(grantSubjects),
  events,
  gateway(catalogue),
  operations(facts),
];
