import type { EngineKind } from './engine.ts';
export const SCHEMA: Record<EngineKind, string> = { sqlite: '', postgres: '' };
