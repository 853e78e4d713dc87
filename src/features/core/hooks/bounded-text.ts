/** Collects lines up to a size limit. A line is added only if it still fits. */
export class BoundedText {
  readonly #lines: string[] = [];
  readonly #size: (text: string) => number;
  #left: number;

  constructor(room: number, size: (text: string) => number = Buffer.byteLength) {
    this.#left = room;
    this.#size = size;
  }

  /** Returns whether the line fitted. */
  add(line: string): boolean {
    const size = this.#size(`${line}\n`);
    if (size > this.#left) return false;
    this.#left -= size;
    this.#lines.push(line);
    return true;
  }

  get left(): number {
    return this.#left;
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

/** Returns an upper bound for the number of tokens in a text with names and paths. An exact count would take longer than the rest of the hook. */
export const estimateTokens = (text: string): number =>
  (text.match(/[a-z]{1,3}|[\s\S]/gu) ?? []).reduce((sum, part) => sum + (/[a-z]/.test(part) ? 1 : Buffer.byteLength(part)), 0);
