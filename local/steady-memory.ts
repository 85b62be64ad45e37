/**
 * What keeps the memory of API and worker level.
 *
 * For glibc's allocator (others ignore it): two arenas instead of eight a core, and large blocks given
 * back at once. The threads of the embedded vector store otherwise leave memory in pieces: writing
 * 75,000 vectors grew a process by 330 MB, and by 140 MB like this.
 *
 * For V8: with a heap of at most a gigabyte it lets garbage grow to less than twice what is in use
 * before it collects, with its default to four times; and it needs no more than 16 MB for what is new.
 */
export const steadyMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
  NODE_OPTIONS: '--max-old-space-size=1024 --max-semi-space-size=16',
}
