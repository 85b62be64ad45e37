/** How many cases a property is tried with, and the seed: the same cases each time, unless another seed is asked for. */
export const cases = (usual = 300) => ({
  numRuns: Number(process.env['FUZZ_RUNS'] ?? usual),
  seed: Number(process.env['FUZZ_SEED'] ?? 20261122),
})
