import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../testing/runs.ts';
import { MAX_EDITS } from '../wire/hook-question.ts';
import { filesWritten, LONGEST_LINE, MAX_PATH_CHARACTERS } from './shell.ts';

/** `/**` marks a path with everything below it, `^` separates the folder from a path relative to its top. */
const written = (line: string): string[] =>
  filesWritten(line).files.map(({ path, tree, fromTop }) => `${path}${fromTop === undefined ? '' : `^${fromTop}`}${tree ? '/**' : ''}`);

describe('the files that a command line names as written', () => {
  const lines: [line: string, files: string[]][] = [
    // Redirections.
    ['echo a > b.txt 2>&1', ['b.txt']],
    ['echo a>b >> c', ['b', 'c']],
    ['make 2>err.log &>all.log >|forced <in', ['err.log', 'all.log', 'forced']],
    ['exec 3<>both >&-', ['both']],
    ["cat > 'a b.ts' <<'EOF'\nx > y\nEOF\necho hi >> z", ['a b.ts', 'z']],
    ['cat <<-A > one <<B\n\tbody > no\n\tA\nother > no\nB\ntouch two', ['one', 'two']],
    // Programs.
    ['X=1 sudo -u me tee -a log /abs/log | cat', ['log', '/abs/log']],
    ['touch -r ref new; truncate -s 0 cut; rm -rf -- -odd old', ['new', 'cut', '-odd/**', 'old/**']],
    ['cp a b', ['b', 'b/a/**']],
    ['cp -t dir a sub/b; cp a c d/', ['dir/a/**', 'dir/b/**', 'd/a/**', 'd/c/**']],
    ['mv a b', ['a/**', 'b', 'b/a/**']],
    ['ln -s /x/target; install -m 755 tool bin/', ['target', 'bin/tool/**']],
    ['rsync -a here there; rsync -a here host:there', ['there', 'there/here/**']],
    ['dd if=a of=b bs=1k', ['b']],
    ["sed -i 's/a/b/' f1 f2; sed -n p f3; sed -i.bak -e s/a/b/ f4", ['f1', 'f2', 'f4']],
    ["perl -pi -e 's/a/b/' x y; perl -e 1 z", ['x', 'y']],
    ["patch -p1 <<'E'\n--- a/m.c\n+++ b/m.c\t2026\nE", ['m.c']],
    ['curl -o page.html https://x; sort -o sorted in; wget -O got x', ['page.html', 'sorted', 'got']],
    ["apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: k.ts\n*** Move to: l.ts\n@@\n-a\n+*** b\n*** End Patch\nEOF", ['k.ts', 'l.ts']],
    ['git -C sub checkout HEAD -- p1 p2; git restore -s HEAD p3; git restore --staged p4', ['sub/p1/**', 'sub/p2/**', 'p3/**']],
    ['git rm gone; git mv from to', ['gone/**', 'from/**', 'to', 'to/from/**']],
    ['git checkout src/a.ts; git checkout HEAD~1 b c/; git checkout main; git checkout -b new.branch; git rm --cached kept', ['src/a.ts/**', 'b/**', 'c//**']],
    ['git restore -S index; git restore -S -W both', ['both/**']],
    ["sed -i '' 's/a/b/' mac.ts; curl -sSLo got.json https://x; ls | xargs -n 1 tee -a all.log", ['mac.ts', 'got.json', 'all.log']],
    // Folders with their content.
    ['git checkout -- .; git checkout ./lib; git checkout docs/; git checkout main', ['./**', './lib/**', 'docs//**']],
    ['git -C sub restore .; git stash push -m why -- src; git stash', ['sub/**', 'src/**']],
    ['git clean -fd; (cd x; git clean -fdx build); git clean -n y; git clean -fX', ['x/build/**']],
    ['git restore :/; git -C sub checkout -- :/src ":(top)docs" a; git clean -fd :/', ['.^/**', 'sub^src/**', 'sub^docs/**', 'sub/a/**']],
    ['git rm -r :/gone; cd "$X"; git restore :/', ['.^gone/**']],
    ['git stash push -um src; git stash push -um why -- lib; git stash push -mwhy docs', ['lib/**', 'docs/**']],
    ['rsync -a --delete new/ src/; rsync -a new/ host:src/', ['src//**', 'src/new/**']],
    ['cp -r new/. src', ['src', 'src/./**']],
    ['mkdir -p src/deep; rmdir old', []],
    // Continued lines, and Windows line endings.
    ['cp \\\n  a \\\n  b && X=1 \\\n tee f', ['b', 'b/a/**', 'f']],
    ['cat <<EOF > f\r\nhi\r\nEOF\r\ntouch g', ['f', 'g']],
    // A value may be unknown, as long as it is clear that it is a value.
    ['A=$B tee f; env C="$(d)" cp a g/', ['f', 'g/a/**']],
    ['cat > src/app/[id]/page.tsx <<EOF\nx\nEOF', ['src/app/[id]/page.tsx']],
    // Characters in quotes and here-documents do not close what is around them.
    ['git commit -m "$(cat <<\'EOF\'\nDon\'t (do "that" > no.ts\nEOF\n)" && touch after', ['after']],
    ['git commit -m "$(cat <<\'EOF\'\n1) a "b > no.ts" c\nEOF\n)"; touch after', ['after']],
    [`x=$( # don't\n  date); y=$((1 << 2)); z=\${a:-b > no}; echo $'it\\'s' > f\ntouch g`, ['f', 'g']],
    ['for ((i = 9; i > 0; i--)); do touch f; done; while (( i > 5 )); do :; done', ['f']],
    // The working folder.
    ['pushd x; touch a; popd; touch unknown', ['x/a']],
    ['cd src && touch a; cd .. ; touch b', ['src/a', 'b']],
    ['(cd x; rm a); touch q; { cd y; touch r; }', ['x/a/**', 'q', 'y/r']],
    ['cd "$X" && echo > lost; echo > /abs', ['/abs']],
    ['env -C sub touch a; env --chdir=s tee b > c; env -C "$X" touch lost; touch d', ['sub/a', 's/b', 'c', 'd']],
    ['cd x | true; touch a; true |& cd y; touch b; cd z & touch c; cd w || true; touch d', ['a', 'b', 'c', 'w/d']],
    ['((cd x; touch a); touch b); echo $((1))', ['x/a', 'b']],
    ['timeout 5 env -u A B=1 nohup tee out', ['out']],
    ['if true; then echo > f; fi; for x in a; do touch g; done; ! touch h', ['f', 'g', 'h']],
    // Command lines inside command lines.
    ["bash -lc 'echo hi > in.txt'; sh <<E\ntouch from-document\nE\neval 'touch evaluated'", ['in.txt', 'from-document', 'evaluated']],
    ['echo `echo 1 > inner` "$(touch quoted)" | tee >(cat > piped)', ['inner', 'quoted', 'piped']],
  ];
  it.each(lines)('%s', (line, files) => {
    expect(written(line).sort()).toEqual([...files].sort());
  });

  it('leaves out what only a shell can know', () => {
    const unknown = [
      'echo > $FILE',
      'rm *.ts',
      'touch {a,b}',
      'tee ~/x',
      'echo > "$(name)"',
      'make install',
      "python - <<E\nopen('x','w')\nE",
      'xargs rm',
      'git stash',
      'git clean -fd',
    ];
    expect(unknown.flatMap(written)).toEqual([]);
  });

  it('distinguishes removed paths from written ones', () => {
    const removed = filesWritten('rm -rf a; mv b c; git rm d; git mv e f; cp -r g h; git checkout -- i').files.filter((file) => file.removed);
    expect(removed.map(({ path }) => path)).toEqual(['a', 'b', 'd', 'e']);
  });

  it('recognizes a redirection after a test', () => {
    expect(written('[[ a > b ]] && echo > f; [[ c > d ]] > g; echo [[ > h')).toEqual(['f', 'g', 'h']);
  });

  it('ignores everything that is not a redirection', () => {
    const none = [
      '[[ a > b ]]',
      'if [[ a > b && (c > d || e < f) ]]; then :; fi',
      '((a > 5))',
      'echo $((1 > 2))',
      "git commit -m 'x > y'",
      'echo "a > b"',
      'echo hi # > c',
      'echo \\> d',
      'cat < in',
    ];
    expect(none.flatMap(written)).toEqual([]);
  });
});

describe('any text at all', () => {
  const piece = fc.constantFrom(
    "'",
    '"',
    '`',
    '$(',
    '$((',
    '((',
    ')',
    '<<',
    '<<-E',
    '\n',
    '>',
    '>&',
    '&>',
    '|',
    ';',
    ' ',
    '\\',
    'tee',
    'cd',
    'x',
    '#',
    '[[',
    '\u0000',
    '🙂',
  );

  const plain = fc.constantFrom(' ', ' ', ' ', 'a', 'b/c', 'd.ts', ' tee ', ' cp ', ' rm ', '; cd ', ' > ', '; ', '\n');

  /** Whether the letters occur in the text in this order, possibly with quotes between them. */
  const standsIn = (text: string, letters: string): boolean => {
    let at = 0;
    for (const letter of letters) {
      const found = text.indexOf(letter, at);
      if (found < 0) return false;
      at = found + letter.length;
    }
    return true;
  };

  it('is parsed without an error, and names only files that occur in it', () => {
    let named = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: piece }), { maxLength: 60 }).map((pieces) => pieces.join('')),
        ),
        (text) => {
          const { files } = filesWritten(text);
          named += files.length;
          for (const { path } of files) {
            expect(path).not.toBe('');
            for (const name of path.split('/')) expect([name, standsIn(text, name)]).toEqual([name, true]);
          }
        },
      ),
      runs(400),
    );
    expect(named).toBeGreaterThan(10);
  });

  const DEEP = `${'d'.repeat(250)}/`.repeat(16);
  const shapes: [start: string, unit: string][] = [
    ...[
      '$(',
      '((',
      '`',
      "'",
      '"',
      '<<a\n',
      '>',
      '(',
      'a;',
      '\\',
      '$((',
      '<(',
      '| tee x ',
      'cd x\n',
      '<<E <<E\n',
      '$(a)',
      '`a`',
      '<<$(',
      '$(<<a\n',
      '${',
      '[[',
    ].map((unit): [string, string] => ['', unit]),
    [`cd ${DEEP}; touch `, 'a '],
    [`cd ${DEEP}; touch `, '<n> '],
    [`cd ${DEEP};`, 'cd .;'],
    [`cp -t ${DEEP} `, '<n> '],
    ['cp a ', '/'],
    ['curl ', '-o '],
    ['curl ', '-<n>o '],
    ['sed -i ', '-<n>e '],
    ['git clean ', '-'],
    ['git checkout ', '.'],
  ];

  const letters = (index: number) => index.toString(2).replaceAll('0', 'n').replaceAll('1', 'r');

  // The longest line would take minutes if any part were read repeatedly.
  it.each(shapes)('takes time and memory proportional to its length: %j %j', (start, unit) => {
    const units = Array.from({ length: Math.ceil(LONGEST_LINE / unit.length) }, (_, index) => unit.replace('<n>', letters(index)));
    const { files } = filesWritten((start + units.join('')).slice(0, LONGEST_LINE - 1) + (unit === '/' || unit === '.' ? 'a' : ''));
    expect(files.length).toBeLessThanOrEqual(MAX_EDITS);
    expect(files.reduce((sum, { path }) => sum + path.length, 0)).toBeLessThanOrEqual(MAX_PATH_CHARACTERS);
  });

  it('reports if there may be more files than it read', () => {
    const many = (count: number) => `touch ${Array.from({ length: count }, (_, index) => `f${index}`).join(' ')}`;
    expect([filesWritten(many(MAX_EDITS)).unread, filesWritten(many(MAX_EDITS + 1)).unread]).toEqual([false, true]);
    expect(filesWritten(many(MAX_EDITS + 1)).files).toHaveLength(MAX_EDITS);
    const long = (length: number) => `touch f #${'x'.repeat(length)}`.slice(0, length);
    expect(filesWritten(long(LONGEST_LINE))).toEqual({ files: [{ path: 'f' }], unread: false });
    expect(filesWritten(long(LONGEST_LINE + 1))).toEqual({ files: [{ path: 'f' }], unread: true });
    expect(filesWritten(`cd ${DEEP}; touch ${'a '.repeat(100)}`).unread).toBe(true);
    const nested = (depth: number): string => (depth === 0 ? 'touch f' : `: $(${nested(depth - 1)})`);
    expect([filesWritten(nested(5)), filesWritten(nested(6))]).toEqual([
      { files: [{ path: 'f' }], unread: false },
      { files: [], unread: true },
    ]);
  });
});
