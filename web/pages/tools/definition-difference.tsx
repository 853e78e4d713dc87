import { useMemo } from 'react';
import type { Withheld } from '../../api.ts';
import { Notice } from '../../parts/layout.tsx';
import { hiddenIn, Revealed } from '../../parts/revealed.tsx';
import { counted } from '../../parts/values.tsx';
import { type WordPiece, wordDifference } from './word-difference.ts';

type Place = Withheld['difference'][number];

/** Shows word by word how a definition has changed. Invisible characters are written out. */
export function DefinitionDifference({ places }: { places: readonly Place[] }) {
  const hidden = places.reduce((sum, { path, after }) => sum + hiddenIn(path) + hiddenIn(after ?? ''), 0);
  return (
    <section aria-label="Difference" className="grid gap-3">
      {hidden > 0 && <Notice tone="you">{counted(hidden, 'invisible character')} in the new text, shown as [U+…].</Notice>}
      {places.length === 0 && <p className="text-muted">No visible difference.</p>}
      {places.map((place) => (
        <div key={place.path} className="grid gap-1">
          <h3 className="mono text-muted">
            <Revealed text={place.path} /> <span className="font-sans">{changeWord(place)}</span>
          </h3>
          <div className={`rounded-md bg-surface px-2 py-1.5 whitespace-pre-wrap ${isCode(place) ? 'mono' : ''}`}>
            <PlaceText place={place} />
          </div>
        </div>
      ))}
    </section>
  );
}

const changeWord = ({ before, after }: Place): string => (before === null ? 'added' : after === null ? 'removed' : 'changed');

function PlaceText({ place: { before, after } }: { place: Place }) {
  const pieces = useMemo(() => piecesOf(before, after), [before, after]);
  return pieces.map(({ kind, text }, at) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one difference have no other key
    if (kind === 'same') return <Revealed key={at} text={text} />;
    const [Tag, look] = kind === 'removed' ? (['del', 'bg-bad-tint text-bad line-through'] as const) : (['ins', 'bg-good-tint text-good underline'] as const);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one difference have no other key
      <Tag key={at} className={`rounded-sm decoration-1 ${look}`}>
        <Revealed text={text} />
      </Tag>
    );
  });
}

function piecesOf(before: string | null, after: string | null): WordPiece[] {
  if (before === null) return [{ kind: 'added', text: readable(after ?? '') }];
  if (after === null) return [{ kind: 'removed', text: readable(before) }];
  return wordDifference(before, after);
}

const isCode = ({ before, after }: Place): boolean => /^[[{]/.test(after ?? before ?? '');

/** Formats the text if it is JSON. Other text is not changed. */
function readable(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
