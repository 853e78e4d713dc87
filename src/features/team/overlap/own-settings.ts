import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import { type OwnSettings, ownSettings } from './contract.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { readState } from './store.ts';

/** One object for each text of settings: whoever caches by them must meet the same one again. */
const made = new Map<string, OverlapSettings>();
const MOST_MADE = 1_000;

/** What holds in a workspace: the defaults, with what it has set for itself. */
export async function settingsOf(db: Db, workspace: string): Promise<OverlapSettings> {
  const text = (await readState(db, workspace))?.settings;
  if (!text) return DEFAULT_SETTINGS;
  const known = made.get(text);
  if (known) return known;
  if (made.size >= MOST_MADE) made.clear();
  const settings = withOwn(readJson(ownSettings, text));
  made.set(text, settings);
  return settings;
}

function withOwn(own: OwnSettings): OverlapSettings {
  const { warn, escalate, weights, embeddingEvidence, embeddingFloor } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    warn: own.warn ?? warn,
    escalate: own.escalate ?? escalate,
    weights: {
      text: own.text_weight ?? weights.text,
      files: own.file_weight ?? weights.files,
      embedding: own.meaning_weight ?? weights.embedding,
    },
    embeddingEvidence: own.meaning_evidence ?? embeddingEvidence,
    embeddingFloor: own.meaning_floor ?? embeddingFloor,
  };
}

/** As it is told to people. */
export const figuresOf = ({ warn, escalate, weights, embeddingEvidence, embeddingFloor }: OverlapSettings) => ({
  warn,
  escalate,
  text_weight: weights.text,
  file_weight: weights.files,
  meaning_weight: weights.embedding,
  meaning_evidence: embeddingEvidence,
  meaning_floor: embeddingFloor,
});
