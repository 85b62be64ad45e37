/**
 * Has V8 collect its garbage each time that so many bytes were used and dropped; returns the function that notes them.
 * By itself V8 waits until garbage is as large as what is in use, and counts bytes outside of its heap only from 64 MB on.
 * `minor`: what was used for a moment, which takes a millisecond; `major`: also what has outlived some of those, twenty
 * with a worker's heap. Does nothing in a process without Node's option `--expose-gc`.
 */
export function collectEvery(bytes: number, type: 'minor' | 'major'): (used: number) => void {
  let uncollected = 0
  return (used) => {
    uncollected += used
    if (uncollected < bytes) return
    uncollected = 0
    globalThis.gc?.({ type })
  }
}
