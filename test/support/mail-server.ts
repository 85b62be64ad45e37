import { SMTPServer } from 'smtp-server'

/** A mail server of one test. `answer` may refuse a recipient with an SMTP reply code. */
export async function startMailServer({ port = 0, answer = () => 250 }: { port?: number; answer?: () => number } = {}) {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => {
      const responseCode = answer()
      done(responseCode === 250 ? undefined : Object.assign(new Error('not now'), { responseCode }))
    },
    onData: (stream, _session, done) => {
      let text = ''
      stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
      stream.on('end', () => {
        mails.push(text)
        done()
      })
    },
  })
  // Clients that go away in the middle are the client's affair.
  server.on('error', () => undefined)
  const listening = Promise.withResolvers<void>()
  const listener = server.listen(port, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
