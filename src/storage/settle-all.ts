/**
 * Statements that do not need each other's answers travel together. All are waited for even where one fails, because none may
 * be carried out when its callback is over; the first of them that failed is told.
 */
export async function settleAll<const T extends readonly Promise<unknown>[]>(statements: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(statements);
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as { -readonly [K in keyof T]: Awaited<T[K]> };
}
