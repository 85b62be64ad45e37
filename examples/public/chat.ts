/**
 * Talks to a public assistant with the official `openai` package, to which only an address and a key
 * are given.
 *
 *   eval "$(sh examples/public/open-assistant.sh)"
 *   npm run --silent example:public
 */
import OpenAI from 'openai'

const { API_URL: apiUrl, PUBLIC_TOKEN: token } = process.env
if (!apiUrl || !token) {
  console.error('Set API_URL and PUBLIC_TOKEN; examples/public/open-assistant.sh prints both.')
  process.exit(1)
}
const client = new OpenAI({ baseURL: `${apiUrl}/public/compat/v1`, apiKey: token })

console.log('1. A chat completion, streamed\n')
const chunks = await client.chat.completions.create({
  model: 'assistant',
  messages: [{ role: 'user', content: 'Hello! Who are you?' }],
  stream: true,
  stream_options: { include_usage: true },
})
for await (const chunk of chunks) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
  if (chunk.usage) console.log(`\n   (${chunk.usage.total_tokens} tokens)`)
}

console.log('\n2. A conversation that the service remembers\n')
const [assistant] = (await client.beta.assistants.list()).data
if (assistant === undefined) throw new Error('the token has no assistant')
const thread = await client.beta.threads.create()
for (const question of ['My name is Ada.', 'What is my name?']) {
  console.log(`   > ${question}`)
  await client.beta.threads.messages.create(thread.id, { role: 'user', content: question })
  const run = await client.beta.threads.runs.createAndPoll(
    thread.id,
    { assistant_id: assistant.id },
    { pollIntervalMs: 200 },
  )
  if (run.status !== 'completed') throw new Error(`the run is ${run.status}: ${run.last_error?.message}`)
}
for await (const { role, content } of client.beta.threads.messages.list(thread.id, { order: 'asc' })) {
  const text = content.map((block) => (block.type === 'text' ? block.text.value : '')).join('')
  console.log(`   ${role}: ${text}`)
}
