/** The seed of the faults in tests; `npm run faults` takes others. */
export const seed = 'continuous integration'

export const timeoutMs = 900_000
