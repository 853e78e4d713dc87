/**
 * Matches characters that are invisible or look like others: control and format characters, lone surrogates, unusual spaces, and characters that programs
 * ignore by default. Does not match ordinary spaces and line ends.
 */
const HIDDEN = /(?![\n ])[\p{C}\p{Z}\p{DI}\u2800]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');

const NAMES: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'carriage return',
  27: 'escape',
  160: 'no-break space',
  173: 'soft hyphen',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of direction',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8297: 'end of isolate',
  12288: 'ideographic space',
  65279: 'zero width no-break space',
};

export const hiddenIn = (text: string): number => text.match(EACH_HIDDEN)?.length ?? 0;

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

/** Names an invisible character. Tag characters are shown with their letters, because they can spell words that only a model reads. */
function nameOf(code: number): string {
  if (code > 0xe0020 && code < 0xe007f) return `tag ${String.fromCodePoint(code - 0xe0000)}`;
  return NAMES[code] ?? 'hidden character';
}

const written = (character: string): string => `[U+${codeOf(character).toString(16).toUpperCase().padStart(4, '0')}]`;

/** If there are more invisible characters than this, they are written as plain text, because so many elements would freeze the page. */
const MAX_MARKED = 2_000;

/** Shows text with all invisible characters written out, so that nothing is hidden from the reader. */
export function Revealed({ text }: { text: string }) {
  if (hiddenIn(text) > MAX_MARKED) return <bdi className="wrap-anywhere">{text.replace(EACH_HIDDEN, written)}</bdi>;
  const pieces = text.split(new RegExp(`(${HIDDEN.source})`, 'u'));
  return (
    <bdi className="wrap-anywhere">
      {pieces.map((piece, at) =>
        at % 2 === 0 ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other key
          <span key={at} title={nameOf(codeOf(piece))} className="mx-px rounded-sm bg-you-tint px-0.5 font-mono text-label font-semibold text-you">
            {written(piece)}
          </span>
        ),
      )}
    </bdi>
  );
}

/** Shows text from a program unchanged, in a box that can be scrolled with the keyboard. */
export function Written({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to focus a scroll box
    <section tabIndex={0} aria-label={label} className="mono max-h-80 overflow-auto rounded-md bg-surface px-2 py-1.5 whitespace-pre-wrap">
      <Revealed text={text} />
    </section>
  );
}
