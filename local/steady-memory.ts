/**
 * For glibc's allocator (others ignore it): two arenas instead of eight a core, and large blocks given
 * back at once. The threads of the embedded vector store otherwise leave memory in pieces: writing
 * 75,000 vectors grew a process by 330 MB, and by 140 MB like this.
 */
export const steadyMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
}
