import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesWritten } from './shell.ts';

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
    ['touch -r ref new; truncate -s 0 cut; rm -rf -- -odd old', ['new', 'cut', '-odd', 'old']],
    ['cp a b', ['b', 'b/a']],
    ['cp -t dir a sub/b; cp a c d/', ['dir/a', 'dir/b', 'd/a', 'd/c']],
    ['mv a b', ['a', 'b', 'b/a']],
    ['ln -s /x/target; install -m 755 tool bin/', ['target', 'bin/tool']],
    ['rsync -a here there; rsync -a here host:there', ['there', 'there/here']],
    ['dd if=a of=b bs=1k', ['b']],
    ["sed -i 's/a/b/' f1 f2; sed -n p f3; sed -i.bak -e s/a/b/ f4", ['f1', 'f2', 'f4']],
    ["perl -pi -e 's/a/b/' x y; perl -e 1 z", ['x', 'y']],
    ["patch -p1 <<'E'\n--- a/m.c\n+++ b/m.c\t2026\nE", ['m.c']],
    ['curl -o page.html https://x; sort -o sorted in; wget -O got x', ['page.html', 'sorted', 'got']],
    ["apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: k.ts\n*** Move to: l.ts\n@@\n-a\n+*** b\n*** End Patch\nEOF", ['k.ts', 'l.ts']],
    ['git -C sub checkout HEAD -- p1 p2; git restore -s HEAD p3; git restore --staged p4', ['sub/p1', 'sub/p2', 'p3']],
    ['git rm gone; git mv from to', ['gone', 'from', 'to', 'to/from']],
    ['git checkout src/a.ts; git checkout HEAD~1 b c/; git checkout main; git checkout -b new.branch; git rm --cached kept', ['src/a.ts', 'b', 'c/']],
    ['git restore -S index; git restore -S -W both', ['both']],
    ["sed -i '' 's/a/b/' mac.ts; curl -sSLo got.json https://x; ls | xargs -n 1 tee -a all.log", ['mac.ts', 'got.json', 'all.log']],
    // Lines that go on, and line ends of Windows.
    ['cp \\\n  a \\\n  b && X=1 \\\n tee f', ['b', 'b/a', 'f']],
    ['cat <<EOF > f\r\nhi\r\nEOF\r\ntouch g', ['f', 'g']],
    // What a value is does not matter, that it is one does.
    ['A=$B tee f; env C="$(d)" cp a g/', ['f', 'g/a']],
    ['cat > src/app/[id]/page.tsx <<EOF\nx\nEOF', ['src/app/[id]/page.tsx']],
    // What stands in quotes and here-documents closes nothing around them.
    ['git commit -m "$(cat <<\'EOF\'\nDon\'t (do "that" > no.ts\nEOF\n)" && touch after', ['after']],
    ['git commit -m "$(cat <<\'EOF\'\n1) a "b > no.ts" c\nEOF\n)"; touch after', ['after']],
    [`x=$( # don't\n  date); y=$((1 << 2)); z=\${a:-b > no}; echo $'it\\'s' > f\ntouch g`, ['f', 'g']],
    ['for ((i = 9; i > 0; i--)); do touch f; done; while (( i > 5 )); do :; done', ['f']],
    // Where it runs.
    ['pushd x; touch a; popd; touch unknown', ['x/a']],
    ['cd src && touch a; cd .. ; touch b', ['src/a', 'b']],
    ['(cd x; rm a); touch q; { cd y; touch r; }', ['x/a', 'q', 'y/r']],
    ['cd "$X" && echo > lost; echo > /abs', ['/abs']],
    ['timeout 5 env -u A B=1 nohup tee out', ['out']],
    ['if true; then echo > f; fi; for x in a; do touch g; done; ! touch h', ['f', 'g', 'h']],
    // Lines in lines.
    ["bash -lc 'echo hi > in.txt'; sh <<E\ntouch from-document\nE\neval 'touch evaluated'", ['in.txt', 'from-document', 'evaluated']],
    ['echo `echo 1 > inner` "$(touch quoted)" | tee >(cat > piped)', ['inner', 'quoted', 'piped']],
  ];
  it.each(lines)('%s', (line, files) => {
    expect(filesWritten(line).sort()).toEqual([...files].sort());
  });

  it('what only a shell can know is left out rather than guessed', () => {
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
    ];
    expect(unknown.flatMap(filesWritten)).toEqual([]);
  });

  it('what is no redirection is none', () => {
    const none = ['[[ a > b ]]', '((a > 5))', 'echo $((1 > 2))', "git commit -m 'x > y'", 'echo "a > b"', 'echo hi # > c', 'echo \\> d', 'cat < in'];
    expect(none.flatMap(filesWritten)).toEqual([]);
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

  it('is read without a fault, and names only files that stand in it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
        ),
        (text) => {
          for (const file of filesWritten(text)) expect(typeof file).toBe('string');
        },
      ),
      { numRuns: 400 },
    );
  });

  // A text a hundred times as long would take ten thousand times as long if anything were read again and again: minutes.
  it.each(['$(', '((', '`', "'", '"', '<<a\n', '>', '(', 'a;', '\\', '$((', '<(', '| tee x ', 'cd x\n', '<<E <<E\n', '$(a)', '`a`', '<<$(', '$(<<a\n', '${'])(
    'takes a time in proportion to its length: %j',
    (unit) => {
      filesWritten(unit.repeat(1_000_000 / unit.length));
    },
  );
});
