import { createDemoModel } from './server.ts'

/** The demo model as a separate process. Prints `{"port":N}` when it listens, and ends on SIGTERM or SIGINT. */
const port = wholeNumber('DEMO_MODEL_PORT', 0)
const tokenDelayMs = wholeNumber('DEMO_MODEL_TOKEN_DELAY_MS', 15)

const server = createDemoModel({ tokenDelayMs })
server.once('error', (error) => {
  console.error(`The demo model cannot listen on port ${port}: ${error.message}`)
  process.exit(1)
})
server.listen(port, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }))
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit(0))
    server.closeAllConnections()
  })
}

function wholeNumber(name: string, fallback: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= 65535) return value
  console.error(`${name} must be a whole number from 0 to 65535`)
  process.exit(1)
}
