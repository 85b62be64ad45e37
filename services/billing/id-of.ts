/** The provider answers with the id of an object, or with the object itself. */
export function idOf(reference: string | { id: string }): string {
  return typeof reference === 'string' ? reference : reference.id
}
