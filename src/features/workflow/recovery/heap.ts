/** The lowest number first. */
export class Heap {
  readonly #numbers: number[] = [];

  push(number: number): void {
    const numbers = this.#numbers;
    let at = numbers.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((numbers[parent] as number) <= number) break;
      numbers[at] = numbers[parent] as number;
      at = parent;
    }
    numbers[at] = number;
  }

  pop(): number | undefined {
    const numbers = this.#numbers;
    const lowest = numbers[0];
    const last = numbers.pop();
    if (last === undefined || numbers.length === 0) return lowest;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= numbers.length) break;
      if (child + 1 < numbers.length && (numbers[child + 1] as number) < (numbers[child] as number)) child++;
      if ((numbers[child] as number) >= last) break;
      numbers[at] = numbers[child] as number;
      at = child;
    }
    numbers[at] = last;
    return lowest;
  }
}
