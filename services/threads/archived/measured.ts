/** What is told of a thread that was archived or brought back, or could not be. */
export interface MeasuredThread {
  work: 'archive' | 'restore'
  outcome: 'ok' | 'failed'
  seconds: number
  /** Of its objects. */
  bytes: number
}

export type OnMeasured = (measured: MeasuredThread) => void

/** Measures work on a thread, which says how many bytes each object has that it has moved. Without any, nothing is told. */
export async function measured<T>(
  work: MeasuredThread['work'],
  onMeasured: OnMeasured | undefined,
  execute: (onMoved: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  let bytes = 0
  const tell = (outcome: MeasuredThread['outcome']) =>
    onMeasured?.({ work, outcome, seconds: (performance.now() - begun) / 1000, bytes })
  try {
    const result = await execute((moved) => void (bytes += moved))
    if (bytes > 0) tell('ok')
    return result
  } catch (error) {
    tell('failed')
    throw error
  }
}
