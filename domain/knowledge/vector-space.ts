/**
 * The name of a space of an assistant in the vector store. A space holds vectors of one embedding model. The first
 * has the assistant's id; a change of the model makes a new one, with the next generation behind a colon, which ids
 * of assistants do not contain.
 */
export function vectorSpace(assistantId: string, generation = 0): string {
  return generation === 0 ? assistantId : `${assistantId}${generationMark}${generation}`
}

/** The assistant and the generation of a space. */
export function spaceOwner(space: string): { assistantId: string; generation: number } {
  const end = space.lastIndexOf(generationMark)
  return end < 0
    ? { assistantId: space, generation: 0 }
    : { assistantId: space.slice(0, end), generation: Number(space.slice(end + 1)) }
}

const generationMark = ':'
