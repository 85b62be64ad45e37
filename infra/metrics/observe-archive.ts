import type { OnMeasured } from '../../services/threads/archived/measured.ts'
import type { Metrics } from './create-metrics.ts'

/** Measures threads that are archived and brought back. */
export function observeArchive(metrics: Pick<Metrics, 'threadArchiveSeconds' | 'threadArchiveBytes'>): OnMeasured {
  return ({ work, outcome, seconds, bytes }) => {
    metrics.threadArchiveSeconds.observe({ work, outcome }, seconds)
    metrics.threadArchiveBytes.inc({ work }, bytes)
  }
}
