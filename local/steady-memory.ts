/**
 * Settings that keep the memory of API and worker level.
 *
 * For glibc's allocator (others ignore them): two arenas instead of eight per core, and blocks from 8 KiB on are
 * returned to the system once they are free. Otherwise the threads of the embedded vector store fragment memory, and
 * after runs a process holds 37 MB that V8's compilers have used and freed. At most 16,384 blocks are mapped at once,
 * because Linux allows 65,530 mappings and V8 needs some of them.
 *
 * For V8: with a heap of at most a gigabyte, garbage grows to less than twice the memory in use before it is
 * collected, with the default to four times; and 4 MB are enough for new objects: with the default of 16, API and worker
 * held 60 MB more after runs, at the same processor time. `--expose-gc` lets uploads and ingestions have what they used
 * collected (`infra/garbage.ts`).
 */
export const steadyMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '8192',
  MALLOC_MMAP_MAX_: '16384',
  MALLOC_TRIM_THRESHOLD_: '65536',
  NODE_OPTIONS: '--max-old-space-size=1024 --max-semi-space-size=4 --expose-gc',
}
