/** `node scripts/check-health.ts` exits with 0 if the API or worker of this container is healthy, else with 1. */
const port = process.env['METRICS_PORT'] || '9464'
try {
  const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4000) })
  if (!response.ok) throw new Error(`/health answered ${response.status}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
