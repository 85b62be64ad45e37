import Fastify from 'fastify'
import { mongo } from 'mongoose'
import { createTokens } from '../../services/auth/tokens.ts'
import { sendPaced } from './paced.ts'

/**
 * The minimum that Fastify can do: an answer without headers, limits or logs, and a read of one thread after the
 * same check of the token, with the plain database driver.
 */
const client = new mongo.MongoClient(process.env['MONGODB_URI'] ?? '')
await client.connect()
const database = client.db()
const named = (name: string) => database.collection<{ _id: string; user_id: string }>(name)
const [users, projects, threads] = [named('users'), named('projects'), named('threads')]
const tokens = createTokens({
  jwtAlgorithms: ['HS256'],
  jwtIssuer: 'assistant-platform',
  jwtAudience: 'assistant-platform',
  jwtSecret: process.env['JWT_SECRET'] ?? '',
})

const app = Fastify()
app.get('/ok', async () => ({ ok: true }))
app.get<{ Params: { tid: string } }>('/threads/:tid', async (request, reply) => {
  const claims = await tokens.verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  const [user, project] = await Promise.all([
    users.findOne({ _id: claims.user_id }),
    projects.findOne({ _id: claims.project_id, user_id: claims.user_id }),
  ])
  const thread = user && project && (await threads.findOne({ _id: request.params.tid, user_id: user._id }))
  return thread ?? reply.code(404).send()
})
/** The same events for all readers, `words` of them, one every `ms` milliseconds. Each has the time of its sending. */
app.get<{ Querystring: { words: string; ms: string } }>('/stream', (request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  const wordAt = (sentAt: number) => {
    const message = { type: 'AIMessage', data: { id: 'm', content: `${sentAt} ` } }
    return `event: data\nid: ${sentAt}-0\ndata: ${JSON.stringify([message])}\n\n`
  }
  const pace = { words: Number(request.query.words), everyMs: Number(request.query.ms) }
  sendPaced(reply.raw, pace, wordAt, 'event: end\ndata:\n\n')
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(JSON.stringify({ url }))
process.once('SIGTERM', () => void app.close().then(() => client.close()))
