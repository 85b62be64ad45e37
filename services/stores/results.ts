/** Whether a change has found its record. */
export const isMatched = ({ matchedCount }: { matchedCount: number }): boolean => matchedCount > 0

/** Whether a removal has found its record. */
export const isDeleted = ({ deletedCount }: { deletedCount: number }): boolean => deletedCount > 0
