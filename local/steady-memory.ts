/**
 * Settings that keep the memory of API and worker level.
 *
 * For glibc's allocator (others ignore them): two arenas instead of eight per core, and large blocks returned at
 * once. Otherwise the threads of the embedded vector store fragment memory: writing 75,000 vectors grew a process
 * by 330 MB, and by 140 MB with these settings.
 *
 * For V8: with a heap of at most a gigabyte, garbage grows to less than twice the memory in use before it is
 * collected, with the default to four times; and 4 MB are enough for new objects: with the default of 16, API and worker
 * held 60 MB more after runs, at the same processor time.
 */
export const steadyMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
  NODE_OPTIONS: '--max-old-space-size=1024 --max-semi-space-size=4',
}
