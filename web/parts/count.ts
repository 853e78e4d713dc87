/** "1 task", "12 tasks": a number without its unit says nothing. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString()} ${count === 1 ? one : many}`;
