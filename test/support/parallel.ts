/** Does all of them, so many at once; the results come in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  at_once: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index]!, index)
  }
  await Promise.all(Array.from({ length: at_once }, lane))
  return results
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
