/** Adds items to a list one by one: `push(...items)` puts all of them on the stack, which overflows when they are many. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
