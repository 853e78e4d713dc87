import type { Target } from '../targets.ts';
import { CYCLE } from './cycle.ts';
import { ADMINS, AGENTS, type Recipe, SIGNED_IN } from './kitchen.ts';
import { PEOPLES } from './people.ts';
import { REVIEW } from './review.ts';
import { TEAM } from './team.ts';
import { WORKFLOW } from './workflow.ts';

const RECIPES: Readonly<Record<string, Recipe>> = { ...TEAM, ...WORKFLOW, ...CYCLE, ...REVIEW, ...PEOPLES };

const BY_ACCESS = { capability: AGENTS, token: AGENTS, member: SIGNED_IN, operator: ADMINS, machine: ['operator'], server: ['operator'] } as const;

/** Returns the recipe for a target. A target without its own recipe succeeds with input from its schema and the pools. */
export const recipeFor = ({ label, contract: { access } }: Target): Recipe => RECIPES[label] ?? { by: BY_ACCESS[access] };
